// SPDX-License-Identifier: BSD-3-Clause
// The environment of a rank: what the user's is or asks for, plus who the rank is, in the words of
// all the launchers that scripts know.
#ifndef SHOAL_MPIEXEC_ENV_H
#define SHOAL_MPIEXEC_ENV_H

#include "run.h"

// The environment of this rank; valid until the next call. NULL after shoal_fail().
char **shoal_env_of(const shoal_rank *);

// The value of a name in an environment, or NULL.
const char *shoal_env_get(char *const *env, const char *name);

#endif
