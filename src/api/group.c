// SPDX-License-Identifier: BSD-3-Clause
// MPI_Group_*: everything about groups except how they are got from communicators and sessions.
#include "api/api.h"

// Two groups, as the set operations take them.
static int arg_groups(MPI_Group first, MPI_Group second, shoal_group **a, shoal_group **b)
{
    int rc = shoal_arg_group(first, a);
    return rc == 0 ? shoal_arg_group(second, b) : rc;
}

// An array of n entries.
static int arg_array(int n, const void *array, const char *name)
{
    if (n < 0) return shoal_fail(SHOAL_E_ARG, "n=%d is negative", n);
    return n > 0 ? shoal_arg_pointer(array, name) : 0;
}

int PMPI_Group_size(MPI_Group group, int *size)
{
    shoal_group *g = NULL;
    int rc = shoal_enter("MPI_Group_size");
    if (rc == 0) rc = shoal_arg_group(group, &g);
    if (rc == 0) rc = shoal_arg_pointer(size, "size");
    if (rc == 0) *size = g->size;
    return shoal_leave(rc);
}

int PMPI_Group_rank(MPI_Group group, int *rank)
{
    shoal_group *g = NULL;
    int rc = shoal_enter("MPI_Group_rank");
    if (rc == 0) rc = shoal_arg_group(group, &g);
    if (rc == 0) rc = shoal_arg_pointer(rank, "rank");
    if (rc == 0) *rank = g->rank;
    return shoal_leave(rc);
}

// One rank of the first group in the second.
static int translate(const shoal_group *a, int rank, int place, const shoal_group *b, int *out)
{
    if (rank == MPI_PROC_NULL) {
        *out = MPI_PROC_NULL;
        return 0;
    }
    if (rank < 0 || rank >= a->size)
        return shoal_fail(SHOAL_E_RANK, "ranks1[%d]=%d is outside group1, which has %d ranks",
                          place, rank, a->size);
    *out = shoal_group_rank_of(b, a->peers[rank]);
    return 0;
}

int PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2,
                               int ranks2[])
{
    shoal_group *a = NULL, *b = NULL;
    int rc = shoal_enter("MPI_Group_translate_ranks");
    if (rc == 0) rc = arg_groups(group1, group2, &a, &b);
    if (rc == 0) rc = arg_array(n, ranks1, "ranks1");
    if (rc == 0) rc = arg_array(n, ranks2, "ranks2");
    for (int i = 0; rc == 0 && i < n; i++) rc = translate(a, ranks1[i], i, b, &ranks2[i]);
    return shoal_leave(rc);
}

int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result)
{
    shoal_group *a = NULL, *b = NULL;
    int rc = shoal_enter("MPI_Group_compare");
    if (rc == 0) rc = arg_groups(group1, group2, &a, &b);
    if (rc == 0) rc = shoal_arg_pointer(result, "result");
    if (rc == 0) *result = shoal_group_compare(a, b);
    return shoal_leave(rc);
}

typedef int set_fn(const shoal_group *, const shoal_group *, shoal_group **);

static int set_operation(const char *call, set_fn *operation, MPI_Group group1, MPI_Group group2,
                         MPI_Group *newgroup)
{
    shoal_group *a = NULL, *b = NULL, *made = NULL;
    int rc = shoal_enter(call);
    if (rc == 0) rc = arg_groups(group1, group2, &a, &b);
    if (rc == 0) rc = shoal_arg_pointer(newgroup, "newgroup");
    if (rc == 0) rc = operation(a, b, &made);
    if (rc == 0) *newgroup = shoal_group_give(made);
    return shoal_leave(rc);
}

int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return set_operation("MPI_Group_union", shoal_group_union, group1, group2, newgroup);
}

int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return set_operation("MPI_Group_intersection", shoal_group_intersection, group1, group2,
                         newgroup);
}

int PMPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return set_operation("MPI_Group_difference", shoal_group_difference, group1, group2, newgroup);
}

typedef int ranks_fn(const shoal_group *, int, const int[], shoal_group **);

static int by_ranks(const char *call, ranks_fn *operation, MPI_Group group, int n,
                    const int ranks[], MPI_Group *newgroup)
{
    shoal_group *g = NULL, *made = NULL;
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_group(group, &g);
    if (rc == 0) rc = arg_array(n, ranks, "ranks");
    if (rc == 0) rc = shoal_arg_pointer(newgroup, "newgroup");
    if (rc == 0) rc = operation(g, n, ranks, &made);
    if (rc == 0) *newgroup = shoal_group_give(made);
    return shoal_leave(rc);
}

int PMPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    return by_ranks("MPI_Group_incl", shoal_group_incl, group, n, ranks, newgroup);
}

int PMPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    return by_ranks("MPI_Group_excl", shoal_group_excl, group, n, ranks, newgroup);
}

typedef int ranges_fn(const shoal_group *, int, int[][3], shoal_group **);

static int by_ranges(const char *call, ranges_fn *operation, MPI_Group group, int n,
                     int ranges[][3], MPI_Group *newgroup)
{
    shoal_group *g = NULL, *made = NULL;
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_group(group, &g);
    if (rc == 0) rc = arg_array(n, ranges, "ranges");
    if (rc == 0) rc = shoal_arg_pointer(newgroup, "newgroup");
    if (rc == 0) rc = operation(g, n, ranges, &made);
    if (rc == 0) *newgroup = shoal_group_give(made);
    return shoal_leave(rc);
}

int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    return by_ranges("MPI_Group_range_incl", shoal_group_range_incl, group, n, ranges, newgroup);
}

int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    return by_ranges("MPI_Group_range_excl", shoal_group_range_excl, group, n, ranges, newgroup);
}

int PMPI_Group_free(MPI_Group *group)
{
    shoal_group *g = NULL;
    int rc = shoal_enter("MPI_Group_free");
    if (rc == 0) rc = shoal_arg_pointer(group, "group");
    if (rc == 0) rc = shoal_arg_group(*group, &g);
    if (rc == 0) {
        shoal_group_take_back(g);
        *group = MPI_GROUP_NULL;
    }
    return shoal_leave(rc);
}

#include "weak_group.h"
