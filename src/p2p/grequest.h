// SPDX-License-Identifier: BSD-3-Clause
// Generalized requests: operations that the user completes himself.
#ifndef SHOAL_P2P_GREQUEST_H
#define SHOAL_P2P_GREQUEST_H

#include "core/request.h"

int shoal_grequest_new(MPI_Grequest_query_function *, MPI_Grequest_free_function *,
                       MPI_Grequest_cancel_function *, void *extra, shoal_req **out);
// Asks the user for the status; the answer's code becomes the request's error.
void shoal_grequest_query(shoal_req *);
// The user has seen the end of it: calls his free function, now; returns its code.
int shoal_grequest_release(shoal_req *);
// Calls the user's cancel function; returns its code.
int shoal_grequest_cancel(shoal_req *);

#endif
