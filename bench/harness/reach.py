# SPDX-License-Identifier: BSD-3-Clause
"""The goals: how far ahead of the best rival each kind of point has to be, and whether it is."""

import dataclasses
import math
import statistics
from typing import Callable, Optional

from .results import bytes_text, size_of, split_key

KIB, MIB = 1024, 1024 * 1024
SMALL_KINDS = ("latency", "rate", "ring", "barrier", "allreduce", "bcast", "reduce")
LARGE_KINDS = ("latency", "bandwidth", "bcast", "allreduce", "allgather", "alltoall")
ENOUGH = 3  # figures of a state of the machine
NOT_CROWD = ("others-blocked", "startup", "memory", "shared-memory", "idle", "python")


@dataclasses.dataclass(frozen=True)
class Goal:
    """A row of the table. `value` maps results and a key to the number that `bound` holds down."""

    text: str
    bound: float
    member: Callable
    value: Optional[Callable] = None
    unit: str = ""


def kind_of(name):
    return name.split("/")[0]


def small_at_two(np, name):
    size = size_of(name)
    kind = kind_of(name)
    if np != 2 or kind not in SMALL_KINDS:
        return False
    if kind in ("latency", "rate", "ring"):
        return size == 8
    return size is None or size <= 4 * KIB


def large_at_two(np, name):
    size = size_of(name)
    return np == 2 and kind_of(name) in LARGE_KINDS and size is not None and size >= 64 * KIB


def crowded(np, name):
    return np > 2 and not name.startswith(NOT_CROWD)


def python_small(_, name):
    return name.startswith("python-") and not name.startswith("python-array")


def beside_own(results, key):
    """A ping-pong under special conditions, over our own of two ranks alone; both in one state of the
    machine, that of which more is known. None if they have no state in common."""
    pairs = []
    for state in (False, True) if results.lines else (None,):
        alone = results.in_state(f"np2/latency/{size_of(key)}", "shoal", state)
        ours = results.in_state(key, "shoal", state)
        if alone and ours:
            pairs.append((min(len(alone), len(ours), ENOUGH), ours, alone))
    if not pairs:
        return None
    _, ours, alone = max(pairs, key=lambda pair: pair[0])
    return statistics.median(ours) / statistics.median(alone)


def our_own(results, key):
    return results.median(key, "shoal")


GOALS = (
    Goal("small messages and collectives, 2 ranks", 0.85, small_at_two),
    Goal("64 KiB - 16 MiB, 2 ranks", 0.85, large_at_two),
    Goal("strided and indexed types", 0.5, lambda _, n: n.startswith("type-")),
    Goal("everything at 4, 8, 16 ranks, all active", 0.7, crowded),
    Goal("ping-pong while the others are blocked", 0.2, lambda _, n: n == "others-blocked/8"),
    Goal("the same, beside our own of two alone", 1.5, lambda _, n: n == "others-blocked/8",
         beside_own),
    Goal("start-up and shut-down, 8 and 64 ranks", 0.1,
         lambda np, n: n == "startup" and np in (8, 64)),
    Goal("idle processor time of 16 blocked ranks, %", 1.0, lambda _, n: n.startswith("idle-"),
         our_own),
    Goal("Python: small objects and buffers", 0.9, python_small),
    Goal("Python: a 1 MiB array as an object", 0.3, lambda _, n: n.startswith("python-array")),
    Goal("MPI_THREAD_MULTIPLE beside SINGLE, our own", 1.15,
         lambda _, n: n.startswith("multiple-latency"), beside_own),
    Goal("shared memory of a rank, 64 ranks, idle, KiB", 256,
         lambda np, n: np == 64 and n == "shared-memory-after-init", our_own),
    Goal("no point behind the best rival", 1.05, lambda _, n: not n.startswith(("idle", "shared"))),
)


def readable(key):
    np, name = split_key(key)
    size = size_of(name)
    text = name if size is None else f"{name.rsplit('/', 1)[0]} {bytes_text(size)}"
    return f"{text}, {np} ranks"


BESIDE = 1.1


def is_as_bare(results, key):
    """Is Shoal's time that of the bare machine, as far as it has been measured?"""
    limit, ours = results.limit(key)[0], results.median(key, "shoal")
    return limit is not None and ours is not None and ours <= BESIDE * limit


def is_out_of_reach(results, key, bound):
    """Would the bare machine miss the bound too? Not if a rival is faster than it."""
    limit, best = results.limit(key)[0], results.best_rival(key)[0]
    return limit is not None and best is not None and bound * best < limit <= best


def beside_text(goal, results, over):
    """Of the points that miss the bound: how many the machine itself holds back."""
    if goal.value:
        return ""
    bare = [key for key in over if is_as_bare(results, key)]
    far = [key for key in over if key not in bare and is_out_of_reach(results, key, goal.bound)]
    beside = f"; {len(bare)} more take no longer than the bare machine" if bare else ""
    return beside + (f"; {len(far)} more the bare machine would miss too" if far else "")


def judge(goal, results):
    """One row: the worst point, its value, how many points hold, and whether all do."""
    values, missing = [], []
    for key in results.points:
        if not goal.member(*split_key(key)):
            continue
        value = (goal.value or (lambda r, k: r.ratio(k)))(results, key)
        if value is not None:
            values.append((value, key))
        elif results.median(key, "shoal") is None:
            missing.append(key)
    row = {"goal": goal.text, "bound": goal.bound, "worst": "-", "value": "-"}
    if not values and not missing:
        return {**row, "met": "not measured"}
    if values:
        worst, key = max(values)
        row.update(worst=readable(key), value="inf" if worst == math.inf else f"{worst:.2f}")
    over = [key for value, key in values if value > goal.bound]
    total = len(values) + len(missing)
    row["met"] = "met"
    if over or missing:
        beside = beside_text(goal, results, over)
        row["met"] = f"NOT MET ({len(values) - len(over)} of {total}{beside})"
    if missing:
        row["met"] += f", {len(missing)} missing"
        if not values:
            row["worst"] = readable(missing[0])
    return row


def evaluate(results):
    """All rows, stored in the results too."""
    rows = [judge(goal, results) for goal in GOALS]
    mean, count = results.geometric_mean()
    rows.append({"goal": f"geometric mean of {count} points", "bound": 0.5, "worst": "-",
                 "value": "-" if mean is None else f"{mean:.2f}",
                 "met": "not measured" if mean is None else
                        "met" if mean <= 0.5 else "NOT MET"})
    results.reach = rows
    return rows


def text(rows):
    width = max(len(r["goal"]) for r in rows)
    place = max(len(r["worst"]) for r in rows)
    lines = [f"{'goal'.ljust(width)}  {'bound':>6}  {'worst':>7}  {'at'.ljust(place)}  met"]
    lines += [f"{r['goal'].ljust(width)}  {r['bound']:>6}  {r['value']:>7}  "
              f"{r['worst'].ljust(place)}  {r['met']}" for r in rows]
    return "\n".join(lines)
