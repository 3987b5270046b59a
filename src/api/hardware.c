// SPDX-License-Identifier: BSD-3-Clause
// What of the machine this rank is bound to: MPI_Get_hw_resource_info. The keys are the names that
// MPI_Comm_split_type takes for mpi_hw_resource_type.
#include "api/api.h"
#include "plat/place.h"

static int describe(shoal_info *info)
{
    static const char *const names[SHOAL_HW_LEVELS] = {[SHOAL_HW_PACKAGE] = "package",
                                                       [SHOAL_HW_NUMA] = "numanode",
                                                       [SHOAL_HW_CORE] = "core",
                                                       [SHOAL_HW_THREAD] = "hwthread"};
    int rc = shoal_info_set(info, "machine", "true"); // a process runs on one machine
    for (int level = 0; rc == 0 && level < SHOAL_HW_LEVELS; level++)
        rc = shoal_info_set(info, names[level],
                            shoal_hw_place((enum shoal_hw)level) >= 0 ? "true" : "false");
    return rc;
}

int PMPI_Get_hw_resource_info(MPI_Info *hw_info)
{
    shoal_enter_any_time("MPI_Get_hw_resource_info");
    int rc = shoal_arg_pointer(hw_info, "hw_info");
    shoal_info *info = rc == 0 ? shoal_info_new() : NULL;
    if (rc == 0 && !info) rc = SHOAL_E_NO_MEM;
    if (rc == 0) rc = describe(info);
    if (rc == 0)
        *hw_info = shoal_object_handle(info);
    else if (info)
        shoal_info_free(info);
    return shoal_leave(rc);
}

#include "weak_hardware.h"
