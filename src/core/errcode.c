// SPDX-License-Identifier: BSD-3-Clause
// Error classes, codes and their texts. Three ranges of numbers live side by side:
//
//     0 .. MPI_ERR_LASTCODE       the predefined classes (the tools interface's included)
//     above it                    classes and codes that the user adds, numbered without gaps
//     bit 30 set                  one particular failure: sequence << 8 | class
//
// The text of a failure lies in the place sequence % KEPT, until KEPT more failures have happened;
// a code whose text is gone still tells its class. Everything here is guarded by a lock of its
// own, because errors are looked up before MPI_Init, after MPI_Finalize and by any thread.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/errhandler.h"
#include "plat/error.h"

#define KEPT        4096u
#define SPECIFIC    (1 << 30)
#define SEQUENCES   (1u << 22)
#define FIRST_ADDED (MPI_ERR_LASTCODE + 1)
#define MAX_ADDED   (1 << 20)

typedef struct class_text {
    int class;
    const char *name, *text;
} class_text;

#define CLASS(name, text)                                                                          \
    {                                                                                              \
        name, #name, text                                                                          \
    }

// In the order of their values, 0 .. MPI_ERR_ABI: the table is indexed by class.
static const class_text classes[] = {
    CLASS(MPI_SUCCESS, "no error"),
    CLASS(MPI_ERR_BUFFER, "a buffer address is not valid for this call"),
    CLASS(MPI_ERR_COUNT, "a count is negative or too large"),
    CLASS(MPI_ERR_TYPE, "a datatype is null, freed, not committed or not allowed here"),
    CLASS(MPI_ERR_TAG, "a tag is negative or above MPI_TAG_UB"),
    CLASS(MPI_ERR_COMM, "a communicator is null, freed or of the wrong kind"),
    CLASS(MPI_ERR_RANK, "a rank is outside the communicator or group"),
    CLASS(MPI_ERR_REQUEST, "a request is null, freed or of the wrong kind"),
    CLASS(MPI_ERR_ROOT, "a root is not a rank of the communicator"),
    CLASS(MPI_ERR_GROUP, "a group is null, freed or does not fit the call"),
    CLASS(MPI_ERR_OP, "a reduction operation is not valid, or not defined on the datatype"),
    CLASS(MPI_ERR_TOPOLOGY, "a communicator has no topology of the kind that the call needs"),
    CLASS(MPI_ERR_DIMS, "dimensions do not fit the number of processes"),
    CLASS(MPI_ERR_ARG, "an argument has a value that the call cannot use"),
    CLASS(MPI_ERR_UNKNOWN, "an error that has no class of its own"),
    CLASS(MPI_ERR_TRUNCATE, "a message is longer than the receive buffer"),
    CLASS(MPI_ERR_OTHER, "the call failed; its error code tells more"),
    CLASS(MPI_ERR_INTERN, "the library found an inconsistency of its own"),
    CLASS(MPI_ERR_PENDING, "the operation has not completed yet"),
    CLASS(MPI_ERR_IN_STATUS, "the error code of each operation is in its status"),
    CLASS(MPI_ERR_ACCESS, "permission to the file is denied"),
    CLASS(MPI_ERR_AMODE, "file access modes contradict each other or differ between processes"),
    CLASS(MPI_ERR_ASSERT, "an assertion passed to a one-sided call is not valid"),
    CLASS(MPI_ERR_BAD_FILE, "a file name is not usable, for example too long"),
    CLASS(MPI_ERR_BASE, "a base address of a window is not valid"),
    CLASS(MPI_ERR_CONVERSION, "a data conversion function failed"),
    CLASS(MPI_ERR_DISP, "a displacement is not valid"),
    CLASS(MPI_ERR_DUP_DATAREP, "a data representation of that name exists already"),
    CLASS(MPI_ERR_FILE_EXISTS, "the file exists already"),
    CLASS(MPI_ERR_FILE_IN_USE, "the file is open in some process"),
    CLASS(MPI_ERR_FILE, "a file handle is null or closed"),
    CLASS(MPI_ERR_INFO_KEY, "an info key is empty, too long or out of range"),
    CLASS(MPI_ERR_INFO_NOKEY, "the info object has no such key"),
    CLASS(MPI_ERR_INFO_VALUE, "an info value is too long or not understood"),
    CLASS(MPI_ERR_INFO, "an info object is null or freed"),
    CLASS(MPI_ERR_IO, "reading or writing a file failed"),
    CLASS(MPI_ERR_KEYVAL, "an attribute key is not valid for this kind of object"),
    CLASS(MPI_ERR_LOCKTYPE, "a lock type is neither shared nor exclusive"),
    CLASS(MPI_ERR_NAME, "a service name is not published"),
    CLASS(MPI_ERR_NO_MEM, "memory is exhausted"),
    CLASS(MPI_ERR_NOT_SAME, "processes passed different arguments to a collective call"),
    CLASS(MPI_ERR_NO_SPACE, "the file system is full"),
    CLASS(MPI_ERR_NO_SUCH_FILE, "the file does not exist"),
    CLASS(MPI_ERR_PORT, "a port name is not valid"),
    CLASS(MPI_ERR_QUOTA, "a disk quota is exceeded"),
    CLASS(MPI_ERR_READ_ONLY, "the file or file system is read-only"),
    CLASS(MPI_ERR_RMA_ATTACH, "memory cannot be attached to the window"),
    CLASS(MPI_ERR_RMA_CONFLICT, "accesses to a window conflict"),
    CLASS(MPI_ERR_RMA_RANGE, "the target memory is not part of the window"),
    CLASS(MPI_ERR_RMA_SHARED, "memory cannot be shared between these processes"),
    CLASS(MPI_ERR_RMA_SYNC, "one-sided synchronization calls are in the wrong order"),
    CLASS(MPI_ERR_SERVICE, "a service name cannot be published or withdrawn"),
    CLASS(MPI_ERR_SIZE, "a size is not valid"),
    CLASS(MPI_ERR_SPAWN, "processes could not be started"),
    CLASS(MPI_ERR_UNSUPPORTED_DATAREP, "the data representation is not supported"),
    CLASS(MPI_ERR_UNSUPPORTED_OPERATION, "the operation is not supported"),
    CLASS(MPI_ERR_WIN, "a window is null or freed"),
    CLASS(MPI_ERR_RMA_FLAVOR, "the window is of a flavor that does not allow the call"),
    CLASS(MPI_ERR_PROC_ABORTED, "a process that takes part has ended"),
    CLASS(MPI_ERR_VALUE_TOO_LARGE, "a value does not fit the type of the result"),
    CLASS(MPI_ERR_SESSION, "a session is null or finalized"),
    CLASS(MPI_ERR_ERRHANDLER, "an error handler is null, freed or for another kind of object"),
    CLASS(MPI_ERR_ABI, "the request contradicts the binary interface in use"),
};
#define CLASSES ((int)(sizeof classes / sizeof classes[0]))
static_assert(CLASSES == MPI_ERR_ABI + 1, "one text for each class");
static_assert(MPI_ERR_ABI < 256, "a class must fit the low bits of a code");

// In the order of their values, from MPI_T_ERR_CANNOT_INIT.
static const class_text tool_classes[] = {
    CLASS(MPI_T_ERR_CANNOT_INIT, "the tools interface cannot be initialized now"),
    CLASS(MPI_T_ERR_NOT_ACCESSIBLE, "the tools interface's item cannot be used now"),
    CLASS(MPI_T_ERR_NOT_INITIALIZED, "the tools interface is not initialized"),
    CLASS(MPI_T_ERR_NOT_SUPPORTED, "the tools interface does not support this"),
    CLASS(MPI_T_ERR_MEMORY, "the tools interface is out of memory"),
    CLASS(MPI_T_ERR_INVALID, "an argument or its combination is not valid"),
    CLASS(MPI_T_ERR_INVALID_INDEX, "an index is outside the list of variables or categories"),
    CLASS(MPI_T_ERR_INVALID_ITEM, "an item index is outside the enumeration"),
    CLASS(MPI_T_ERR_INVALID_SESSION, "a performance session is not valid"),
    CLASS(MPI_T_ERR_INVALID_HANDLE, "a variable or event handle is not valid"),
    CLASS(MPI_T_ERR_INVALID_NAME, "no variable or category has that name"),
    CLASS(MPI_T_ERR_OUT_OF_HANDLES, "no more handles can be allocated"),
    CLASS(MPI_T_ERR_OUT_OF_SESSIONS, "no more performance sessions can be started"),
    CLASS(MPI_T_ERR_CVAR_SET_NOT_NOW, "the control variable cannot be set at this moment"),
    CLASS(MPI_T_ERR_CVAR_SET_NEVER, "the control variable cannot be set"),
    CLASS(MPI_T_ERR_PVAR_NO_WRITE, "the performance variable cannot be written"),
    CLASS(MPI_T_ERR_PVAR_NO_STARTSTOP, "the performance variable cannot be started or stopped"),
    CLASS(MPI_T_ERR_PVAR_NO_ATOMIC, "the performance variable cannot be read and written at once"),
};
#define TOOL_CLASSES ((int)(sizeof tool_classes / sizeof tool_classes[0]))
static_assert(MPI_T_ERR_CANNOT_INIT + TOOL_CLASSES == MPI_T_ERR_PVAR_NO_ATOMIC + 1,
              "one text for each class of the tools interface");

// A class or code that the user added.
typedef struct added_code {
    int class;    // itself for a class; -1: removed
    int codes;    // of a class: how many added codes belong to it
    char *string; // or NULL
} added_code;

static struct {
    pthread_mutex_t lock;
    uint32_t sequence; // of the last failure
    struct {
        int code;
        char *text;
    } kept[KEPT];
    added_code *added; // [i] is number FIRST_ADDED + i
    int added_count, added_room;
    int last_used; // the value of MPI_LASTUSEDCODE
} book = {.lock = PTHREAD_MUTEX_INITIALIZER, .last_used = MPI_ERR_LASTCODE};

static const class_text *predefined_class(int class)
{
    if (class >= 0 && class < CLASSES) return &classes[class];
    if (class < MPI_T_ERR_CANNOT_INIT || class >= MPI_T_ERR_CANNOT_INIT + TOOL_CLASSES) return NULL;
    return &tool_classes[class - MPI_T_ERR_CANNOT_INIT];
}

// The live entry of a number that the user added, or NULL.
static added_code *added_entry(int code)
{
    if (code < FIRST_ADDED || code - FIRST_ADDED >= book.added_count) return NULL;
    added_code *a = &book.added[code - FIRST_ADDED];
    return a->class < 0 ? NULL : a;
}

static bool is_specific(int code)
{
    return code > 0 && (code & SPECIFIC) && (code & 0xff) != 0 && (code & 0xff) < CLASSES;
}

int shoal_errcode_make(int internal_code, const char *text)
{
    if (internal_code >= 0) return internal_code;
    int class = -internal_code;
    if (class >= CLASSES) return predefined_class(class) ? class : MPI_ERR_INTERN;
    if (text == NULL || text[0] == '\0') return class;
    char *copy = strdup(text);
    if (copy == NULL) return class;
    pthread_mutex_lock(&book.lock);
    book.sequence = (book.sequence + 1) % SEQUENCES;
    uint32_t place = book.sequence % KEPT;
    int code = SPECIFIC | (int)(book.sequence << 8) | class;
    free(book.kept[place].text);
    book.kept[place].code = code;
    book.kept[place].text = copy;
    pthread_mutex_unlock(&book.lock);
    return code;
}

int shoal_errcode_class(int code)
{
    if (predefined_class(code)) return code;
    if (is_specific(code)) return code & 0xff;
    pthread_mutex_lock(&book.lock);
    const added_code *a = added_entry(code);
    int class = a ? a->class : MPI_ERR_UNKNOWN;
    pthread_mutex_unlock(&book.lock);
    return class;
}

bool shoal_errcode_known(int code)
{
    if (predefined_class(code) || is_specific(code)) return true;
    pthread_mutex_lock(&book.lock);
    bool known = added_entry(code) != NULL;
    pthread_mutex_unlock(&book.lock);
    return known;
}

static void write_text(char out[MPI_MAX_ERROR_STRING], const class_text *c, const char *text)
{
    snprintf(out, MPI_MAX_ERROR_STRING, "%s: %s", c->name, text ? text : c->text);
}

void shoal_errcode_text(int code, char out[MPI_MAX_ERROR_STRING])
{
    const class_text *c = predefined_class(code);
    if (c) {
        write_text(out, c, NULL);
        return;
    }
    pthread_mutex_lock(&book.lock);
    if (is_specific(code)) {
        uint32_t place = ((uint32_t)code >> 8) % SEQUENCES % KEPT;
        bool there = book.kept[place].code == code;
        write_text(out, &classes[code & 0xff], there ? book.kept[place].text : NULL);
    } else {
        const added_code *a = added_entry(code);
        if (a)
            snprintf(out, MPI_MAX_ERROR_STRING, "%s", a->string ? a->string : "");
        else
            snprintf(out, MPI_MAX_ERROR_STRING, "MPI_ERR_UNKNOWN: %d is not an error code", code);
    }
    pthread_mutex_unlock(&book.lock);
}

// A new number above all others; the lock is held.
static int add_number(int class_or_self, int *number_out)
{
    if (book.added_count == book.added_room) {
        int room = book.added_room ? 2 * book.added_room : 16;
        if (room > MAX_ADDED) return shoal_fail(SHOAL_E_NO_MEM, "too many error codes were added");
        added_code *more = realloc(book.added, (size_t)room * sizeof *more);
        if (!more) return shoal_fail(SHOAL_E_NO_MEM, "no memory for %d error codes", room);
        book.added = more;
        book.added_room = room;
    }
    int number = FIRST_ADDED + book.added_count;
    book.added[book.added_count++] = (added_code){.class = class_or_self ? class_or_self : number};
    book.last_used = number;
    *number_out = number;
    return 0;
}

int shoal_errcode_add_class(int *class_out)
{
    pthread_mutex_lock(&book.lock);
    int rc = add_number(0, class_out);
    pthread_mutex_unlock(&book.lock);
    return rc;
}

int shoal_errcode_add_code(int class, int *code_out)
{
    pthread_mutex_lock(&book.lock);
    const added_code *a = added_entry(class);
    bool predefined = class != MPI_SUCCESS && predefined_class(class);
    int rc;
    if (!predefined && !(a && a->class == class)) {
        rc = shoal_fail(SHOAL_E_ARG, "errorclass=%d is not an error class", class);
    } else {
        rc = add_number(class, code_out);
        // The table may have moved: look the class up again.
        if (rc == 0 && !predefined) added_entry(class)->codes++;
    }
    pthread_mutex_unlock(&book.lock);
    return rc;
}

int shoal_errcode_add_string(int code, const char *text)
{
    if (strlen(text) >= MPI_MAX_ERROR_STRING)
        return shoal_fail(SHOAL_E_ARG, "the string has %zu characters, at most %d are allowed",
                          strlen(text), MPI_MAX_ERROR_STRING - 1);
    char *copy = strdup(text);
    if (!copy) return shoal_fail(SHOAL_E_NO_MEM, "no memory for an error string");
    pthread_mutex_lock(&book.lock);
    added_code *a = added_entry(code);
    int rc = 0;
    if (a) {
        free(a->string);
        a->string = copy;
    } else {
        free(copy);
        rc = shoal_fail(SHOAL_E_ARG, "errorcode=%d was not added by the user", code);
    }
    pthread_mutex_unlock(&book.lock);
    return rc;
}

// Gives a number up, and with it all removed ones at the end of the table.
static void remove_number(added_code *a)
{
    a->class = -1;
    while (book.added_count > 0 && book.added[book.added_count - 1].class < 0) book.added_count--;
    book.last_used = MPI_ERR_LASTCODE + book.added_count;
}

int shoal_errcode_remove_class(int class)
{
    pthread_mutex_lock(&book.lock);
    added_code *a = added_entry(class);
    int rc = 0;
    if (!a || a->class != class)
        rc = shoal_fail(SHOAL_E_ARG, "errorclass=%d is not a class added by the user", class);
    else if (a->codes > 0)
        rc = shoal_fail(SHOAL_E_ARG, "errorclass=%d still has %d error codes", class, a->codes);
    else if (a->string)
        rc = shoal_fail(SHOAL_E_ARG, "errorclass=%d still has a string", class);
    else
        remove_number(a);
    pthread_mutex_unlock(&book.lock);
    return rc;
}

int shoal_errcode_remove_code(int code)
{
    pthread_mutex_lock(&book.lock);
    added_code *a = added_entry(code);
    int rc = 0;
    if (!a || a->class == code) {
        rc = shoal_fail(SHOAL_E_ARG, "errorcode=%d is not a code added by the user", code);
    } else if (a->string) {
        rc = shoal_fail(SHOAL_E_ARG, "errorcode=%d still has a string", code);
    } else {
        added_code *class = added_entry(a->class);
        if (class) class->codes--;
        remove_number(a);
    }
    pthread_mutex_unlock(&book.lock);
    return rc;
}

int shoal_errcode_remove_string(int code)
{
    pthread_mutex_lock(&book.lock);
    added_code *a = added_entry(code);
    int rc = 0;
    if (!a || !a->string) {
        rc = shoal_fail(SHOAL_E_ARG, "errorcode=%d has no string added by the user", code);
    } else {
        free(a->string);
        a->string = NULL;
    }
    pthread_mutex_unlock(&book.lock);
    return rc;
}

void shoal_errcode_lock(void)
{
    pthread_mutex_lock(&book.lock);
}

void shoal_errcode_unlock(void)
{
    pthread_mutex_unlock(&book.lock);
}

int *shoal_errcode_last_used(void)
{
    return &book.last_used;
}
