#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The shoal command. It runs the Python of the environment it lies in, wherever that was moved to; in
# a --user installation there is none beside it, and the one on PATH is taken.
here=$(dirname -- "$(readlink -f -- "$0")")
for python in "$here/python3" "$here/python"; do
    if [ -x "$python" ]; then exec "$python" -m shoal "$@"; fi
done
exec python3 -m shoal "$@"
