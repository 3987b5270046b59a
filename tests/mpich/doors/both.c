// SPDX-License-Identifier: BSD-3-Clause
// Both interfaces in one process, on one engine, opened in the order and scope that the arguments
// say: a message sent through one is received through the other, handles are seen from both sides.
//
//     both DIRECTORY {standard,mpich} {local,global}
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define STD(value) ((void *)(uintptr_t)(value))
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: %s\n", __LINE__, #condition);                                         \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static void *library(const char *directory, const char *name, int scope)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    void *handle = dlopen(path, RTLD_NOW | scope);
    if (handle == NULL) printf("%s\n", dlerror());
    return handle;
}

int main(int argc, char **argv)
{
    CHECK(argc == 4);
    int scope = strcmp(argv[3], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
    int standard_first = strcmp(argv[2], "standard") == 0;
    void *first = library(argv[1], standard_first ? "libmpi_abi.so.1" : "libmpi.so.12", scope);
    void *second = library(argv[1], standard_first ? "libmpi.so.12" : "libmpi_abi.so.1", scope);
    CHECK(first != NULL && second != NULL);
    void *s = standard_first ? first : second, *m = standard_first ? second : first;

    int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(m, "MPI_Init");
    int (*finalize)(void) = (int (*)(void))dlsym(s, "MPI_Finalize");
    int (*version_s)(int *, int *) = (int (*)(int *, int *))dlsym(s, "MPI_Abi_get_version");
    int (*version_m)(int *, int *) = (int (*)(int *, int *))dlsym(m, "MPI_Abi_get_version");
    int (*send)(const void *, int, void *, int, int, void *) =
        (int (*)(const void *, int, void *, int, int, void *))dlsym(s, "MPI_Send");
    int (*recv)(void *, int, int, int, int, int, int *) =
        (int (*)(void *, int, int, int, int, int, int *))dlsym(m, "MPI_Recv");
    int (*dup)(int, int *) = (int (*)(int, int *))dlsym(m, "MPI_Comm_dup");
    void *(*fromint)(int) = (void *(*)(int))dlsym(s, "MPI_Comm_fromint");
    int (*size)(void *, int *) = (int (*)(void *, int *))dlsym(s, "MPI_Comm_size");

    int major = 0, minor = 0, value = 31, got = 0, status[5], made = 0, ranks = 0;
    CHECK(version_s(&major, &minor) == 0 && major == 1 && minor == 0);
    CHECK(version_m(&major, &minor) == 0 && major == -1 && minor == -1);
    CHECK(init(NULL, NULL) == 0);
    CHECK(send(&value, 1, STD(0x209), 0, 4, STD(0x101)) == 0);
    CHECK(recv(&got, 1, 0x4c000405, -2, -1, 0x44000000, status) == 0);
    CHECK(got == 31 && status[0] == 4 && status[2] == 0 && status[3] == 4);
    CHECK(dup(0x44000000, &made) == 0);
    CHECK(size(fromint((made & 0x03ffffff) + 4096), &ranks) == 0 && ranks == 1);
    CHECK(finalize() == 0);
    printf("both doors work\n");
    return 0;
}
