// SPDX-License-Identifier: BSD-3-Clause
// Where in the machine this process may run: for splitting communicators by hardware.
#ifndef SHOAL_PLAT_PLACE_H
#define SHOAL_PLAT_PLACE_H

// From the largest to the smallest.
enum shoal_hw { SHOAL_HW_PACKAGE, SHOAL_HW_NUMA, SHOAL_HW_CORE, SHOAL_HW_THREAD, SHOAL_HW_LEVELS };

// The number of the one package (NUMA node, core, hardware thread) that holds every processor this
// process may use, or -1 when they are spread over several or the system does not tell.
int shoal_hw_place(enum shoal_hw);

#endif
