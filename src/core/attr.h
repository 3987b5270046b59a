// SPDX-License-Identifier: BSD-3-Clause
// Attributes cached on communicators, datatypes and windows, and the keyvals they are stored under.
// Callbacks run with the engine lock held and may call MPI, the object's own attributes included.
#ifndef SHOAL_CORE_ATTR_H
#define SHOAL_CORE_ATTR_H

#include <stdbool.h>
#include <stdint.h>

typedef struct shoal_attr shoal_attr;

// The attributes of one object, the one set last first: in this order delete callbacks run.
typedef struct shoal_attrs {
    shoal_attr *first;
} shoal_attrs;

enum shoal_attr_owner { SHOAL_ATTR_COMM, SHOAL_ATTR_TYPE, SHOAL_ATTR_WIN };

// All copy and delete callbacks have this form once the object's handle is passed as void *.
typedef int shoal_attr_copy_fn(void *handle, int keyval, void *extra, void *value_in,
                               void *value_out, int *flag);
typedef int shoal_attr_delete_fn(void *handle, int keyval, void *value, void *extra);

// A new keyval; `copy` may be the ABI's sentinels NULL_COPY_FN (0) and DUP_FN (1), `drop` 0.
int shoal_keyval_create(enum shoal_attr_owner, shoal_attr_copy_fn *copy, shoal_attr_delete_fn *drop,
                        void *extra, int *keyval_out);

// Frees the user's hold on a keyval; it lives on while attributes use it.
int shoal_keyval_free(enum shoal_attr_owner, int keyval);

// Set, get and delete on an object's list. A callback's own error code comes back through
// *user_error_out (otherwise 0) with the return value SHOAL_E_OTHER; the attribute is then kept.
int shoal_attr_set(shoal_attrs *, enum shoal_attr_owner, void *handle, int keyval, void *value,
                   int *user_error_out);
int shoal_attr_get(const shoal_attrs *, enum shoal_attr_owner, int keyval, void **value_out,
                   bool *found_out);
int shoal_attr_delete(shoal_attrs *, enum shoal_attr_owner, void *handle, int keyval,
                      int *user_error_out);

// For dup: calls the copy callbacks of `from` and fills `to`, which is empty. When a callback
// fails, what was copied before it stays in `to`, for shoal_attr_delete_all() of the new object.
int shoal_attr_copy_all(const shoal_attrs *from, void *from_handle, enum shoal_attr_owner,
                        shoal_attrs *to, int *user_error_out);

// For free, and for MPI_COMM_SELF at MPI_Finalize: calls the delete callbacks, last set first.
// Stops at the first callback that fails; its attribute and the older ones are then still there.
int shoal_attr_delete_all(shoal_attrs *, void *handle, enum shoal_attr_owner, int *user_error_out);

// Windows live above core: their layer registers how to find a window's list (NULL: no such
// window) and the value of a predefined attribute such as MPI_WIN_SIZE (false: it has none).
typedef struct shoal_attr_win_ops {
    shoal_attrs *(*list)(const void *handle);
    bool (*predefined)(const void *handle, int keyval, void **value_out);
} shoal_attr_win_ops;
void shoal_attr_register_win(const shoal_attr_win_ops *);
const shoal_attr_win_ops *shoal_attr_win(void); // NULL: there are no windows

// How many keyvals exist (for leak checks in tests).
int shoal_keyval_live(void);

#endif
