// SPDX-License-Identifier: BSD-3-Clause
// Communicators, groups, infos, topologies and the rest of the constants of the MPICH ABI.
#include "check.h"

static void groups_and_communicators(void)
{
    MPI_Group world, self, both;
    int result = -1, from[2] = {0, MPI_PROC_NULL}, to[2] = {-9, -9}, rank = -9;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Comm_group(MPI_COMM_SELF, &self));
    OK(MPI_Group_translate_ranks(self, 2, from, world, to));
    CHECK(to[0] == my_rank && to[1] == MPI_PROC_NULL);
    OK(MPI_Group_difference(world, world, &both));
    CHECK(both == MPI_GROUP_EMPTY);
    OK(MPI_Group_rank(both, &rank));
    CHECK(rank == MPI_UNDEFINED);
    OK(MPI_Group_compare(world, world, &result));
    CHECK(result == MPI_IDENT);
    OK(MPI_Group_compare(world, both, &result));
    CHECK(result == MPI_UNEQUAL);
    OK(MPI_Group_free(&world));
    OK(MPI_Group_free(&self));
    CHECK(self == MPI_GROUP_NULL);
    MPI_Comm dup, part, none, host;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    CHECK(dup != MPI_COMM_WORLD && MPI_Comm_f2c(MPI_Comm_c2f(dup)) == dup);
    OK(MPI_Comm_compare(MPI_COMM_WORLD, dup, &result));
    CHECK(result == MPI_CONGRUENT);
    OK(MPI_Comm_compare(dup, dup, &result));
    CHECK(result == MPI_IDENT);
    OK(MPI_Comm_split(dup, my_rank % 2, -my_rank, &part));
    OK(MPI_Comm_compare(part, MPI_COMM_WORLD, &result));
    CHECK(my_size > 1 ? result == MPI_UNEQUAL : result == MPI_CONGRUENT);
    OK(MPI_Comm_split(dup, MPI_UNDEFINED, 0, &none));
    CHECK(none == MPI_COMM_NULL);
    OK(MPI_Comm_split_type(dup, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
    OK(MPI_Comm_compare(host, dup, &result));
    CHECK(result == MPI_CONGRUENT);
    MPI_Comm old = part;
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_free(&host));
    FAILS(MPI_Comm_rank(old, &rank), MPI_ERR_COMM);
    FAILS(MPI_Comm_rank(0, &rank), MPI_ERR_COMM);
    FAILS(MPI_Comm_rank((MPI_Comm)MPI_INT, &rank), MPI_ERR_COMM);
    MPI_Request request;
    MPI_Comm later = MPI_COMM_NULL;
    OK(MPI_Comm_idup(dup, &later, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_compare(later, dup, &result));
    CHECK(result == MPI_CONGRUENT);
    OK(MPI_Comm_free(&later));
    OK(MPI_Comm_free(&dup));
}

static void collectives(void)
{
    int all[64], mine = my_rank + 1, sum = 0, root = my_size - 1;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < my_size; i++) CHECK(all[i] == i + 1);
    all[my_rank] = my_rank + 100;
    OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < my_size; i++) CHECK(all[i] == i + 100);
    int gathered = my_rank == root ? MPI_SUCCESS : -1;
    if (my_rank == root)
        OK(MPI_Reduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
    else
        OK(MPI_Reduce(&mine, NULL, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
    if (gathered == MPI_SUCCESS) CHECK(mine == my_size * (my_size + 1) / 2);
    sum = my_rank == 0 ? 77 : 0;
    MPI_Request request;
    OK(MPI_Ibcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(sum == 77);
    MPI_Datatype types[64];
    int ones[64], places[64], out[64], in[64];
    for (int i = 0; i < my_size; i++) {
        types[i] = MPI_INT;
        ones[i] = 1;
        places[i] = 4 * i;
        out[i] = 1000 * my_rank + i;
    }
    OK(MPI_Alltoallw(out, ones, places, types, in, ones, places, types, MPI_COMM_WORLD));
    for (int i = 0; i < my_size; i++) CHECK(in[i] == 1000 * i + my_rank);
    OK(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, out, ones, places, types, MPI_COMM_WORLD));
    for (int i = 0; i < my_size; i++) CHECK(out[i] == 1000 * i + my_rank);
    FAILS(MPI_Bcast(&sum, 1, MPI_INT, my_size, MPI_COMM_WORLD), MPI_ERR_ROOT);
    FAILS(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    FAILS(MPI_Ibcast(MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_WORLD, &request), MPI_ERR_BUFFER);
}

static void topologies(void)
{
    int kind = -1, dims[1] = {my_size}, periods[1] = {0}, source = -9, dest = -9;
    MPI_Comm line;
    OK(MPI_Topo_test(MPI_COMM_WORLD, &kind));
    CHECK(kind == MPI_UNDEFINED);
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &line));
    OK(MPI_Topo_test(line, &kind));
    CHECK(kind == MPI_CART);
    OK(MPI_Cart_shift(line, 0, 1, &source, &dest));
    CHECK(source == (my_rank == 0 ? MPI_PROC_NULL : my_rank - 1));
    CHECK(dest == (my_rank == my_size - 1 ? MPI_PROC_NULL : my_rank + 1));
    OK(MPI_Comm_free(&line));
    int next = (my_rank + 1) % my_size, last = (my_rank + my_size - 1) % my_size;
    MPI_Comm ring;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &last, MPI_UNWEIGHTED, 1, &next,
                                      MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring));
    OK(MPI_Topo_test(ring, &kind));
    CHECK(kind == MPI_DIST_GRAPH);
    int in = -1, out = -1, weighted = -1;
    OK(MPI_Dist_graph_neighbors_count(ring, &in, &out, &weighted));
    CHECK(in == 1 && out == 1 && !weighted);
    MPI_Datatype type = MPI_INT;
    MPI_Aint place = 0;
    int one = 1, sent = my_rank, got = -1;
    OK(MPI_Neighbor_alltoallw(&sent, &one, &place, &type, &got, &one, &place, &type, ring));
    CHECK(got == last);
    OK(MPI_Comm_free(&ring));
}

static void infos_and_names(void)
{
    MPI_Info info, copy;
    char value[MPI_MAX_INFO_VAL + 1], name[MPI_MAX_PROCESSOR_NAME], library[8192];
    int flag = 0, length = 0, version = 0, subversion = -1, major = 0, minor = 0, level = -1;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "colour", "blue"));
    OK(MPI_Info_dup(info, &copy));
    OK(MPI_Info_get(copy, "colour", MPI_MAX_INFO_VAL, value, &flag));
    CHECK(flag && strcmp(value, "blue") == 0);
    OK(MPI_Info_free(&info));
    OK(MPI_Info_free(&copy));
    CHECK(info == MPI_INFO_NULL);
    FAILS(MPI_Info_set(MPI_INFO_NULL, "a", "b"), MPI_ERR_INFO);
    OK(MPI_Info_get_nkeys(MPI_INFO_ENV, &length));
    OK(MPI_Get_processor_name(name, &length));
    CHECK(length > 0 && length < MPI_MAX_PROCESSOR_NAME && name[length] == '\0');
    OK(MPI_Get_version(&version, &subversion));
    CHECK(version == 5 && subversion == 0);
    OK(MPI_Get_library_version(library, &length));
    CHECK(strstr(library, "Shoal") != NULL);
    OK(MPI_Abi_get_version(&major, &minor));
    CHECK(major == -1 && minor == -1);
    OK(MPI_Query_thread(&level));
    CHECK(level >= MPI_THREAD_SINGLE && level <= MPI_THREAD_MULTIPLE);
    CHECK(MPI_Wtime() > 0 && MPI_Wtick() > 0);
    OK(MPI_Pcontrol(1, "anything"));
    CHECK(MPI_File_c2f(MPI_FILE_NULL) == 0 && MPI_File_f2c(0) == MPI_FILE_NULL);
    char place[4];
    MPI_Aint a = 0, b = 0;
    OK(MPI_Get_address(&place[0], &a));
    OK(MPI_Get_address(&place[3], &b));
    CHECK(MPI_Aint_diff(b, a) == 3 && MPI_Aint_add(a, 3) == b);
    static char room[4096];
    void *back = NULL;
    OK(MPI_Buffer_attach(room, sizeof room));
    OK(MPI_Bsend(&a, 1, MPI_AINT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    OK(MPI_Buffer_detach(&back, &length));
    CHECK(back == room && length == sizeof room);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    groups_and_communicators();
    infos_and_names();
    topologies();
    collectives();
    return finish();
}
