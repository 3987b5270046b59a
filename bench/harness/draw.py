# SPDX-License-Identifier: BSD-3-Clause
"""The pictures, as SVG written by hand: curves by size, by ranks, and the overview for the README.

A picture is a grid of panels. A panel has axes, grid lines and a line for each library; a panel
whose points were not measured is left out, and so is a picture without panels.
"""

import html
import math
import os

from .plan import BLOCKS, COLLECTIVES, NONBLOCKING, UNEVEN
from .results import bytes_text, size_of, split_key, value_text

COLOURS = {"shoal": "#0b63b6", "mpich": "#d9822b", "openmpi": "#5a9a4a", "intel": "#8b62b0",
           "machine": "#8a8a8a"}
INK, FAINT = "#222222", "#dddddd"
FONT = "font-family='Helvetica,Arial,sans-serif'"


class Canvas:
    """Shapes in SVG, white behind them so that it reads on any page."""

    def __init__(self, width, height):
        self.width, self.height = width, height
        self.parts = [f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' "
                      f"width='{width}' height='{height}' {FONT}>",
                      f"<rect width='{width}' height='{height}' fill='white'/>"]

    def line(self, x1, y1, x2, y2, colour=INK, width=1.0, dash=""):
        self.parts.append(f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' "
                          f"stroke='{colour}' stroke-width='{width}' stroke-dasharray='{dash}'/>")

    def text(self, x, y, text, size=11, anchor="start", colour=INK, weight="normal"):
        self.parts.append(f"<text x='{x:.1f}' y='{y:.1f}' font-size='{size}' fill='{colour}' "
                          f"text-anchor='{anchor}' font-weight='{weight}'>"
                          f"{html.escape(text)}</text>")

    def curve(self, points, colour, width=1.8, dash=""):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f"<polyline points='{path}' fill='none' stroke='{colour}' "
                          f"stroke-width='{width}' stroke-dasharray='{dash}'/>")
        if not dash:
            self.parts += [f"<circle cx='{x:.1f}' cy='{y:.1f}' r='2.4' fill='{colour}'/>"
                           for x, y in points]

    def bar(self, x, y, width, height, colour):
        self.parts.append(f"<rect x='{x:.1f}' y='{y:.1f}' width='{max(width, 0.5):.1f}' "
                          f"height='{height:.1f}' fill='{colour}' rx='2'/>")

    def save(self, path):
        with open(path, "w", encoding="utf-8") as out:
            out.write("\n".join(self.parts) + "\n</svg>\n")


def decades(low, high):
    """Powers of ten around the values, at least one whole decade."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return range(first, max(last, first + 1) + 1)


def amount(value, unit):
    if unit == "GB/s":
        return f"{value:g}"
    if value >= 1e6:
        return f"{value / 1e6:g} s"
    return f"{value / 1e3:g} ms" if value >= 1e3 else f"{value:g} µs"


def panel(canvas, box, title, series, unit="us", label=bytes_text):
    """One diagram; `series` maps a library to [(x, y)], x in equal steps, y on a log scale."""
    left, top, width, height = box
    x0, y0, x1, y1 = left + 52, top + 24, left + width - 12, top + height - 26
    xs = sorted({x for points in series.values() for x, _ in points})
    ys = [y for points in series.values() for _, y in points if y > 0]
    powers = decades(min(ys), max(ys))
    canvas.text((x0 + x1) / 2, top + 14, title, 12, "middle", weight="bold")

    def place(x, y):
        step = (x1 - x0 - 12) / max(len(xs) - 1, 1)
        share = (math.log10(y) - powers[0]) / (powers[-1] - powers[0])
        return x0 + 6 + xs.index(x) * step, y1 - share * (y1 - y0)

    for power in powers:
        y = place(xs[0], 10.0 ** power)[1]
        canvas.line(x0, y, x1, y, FAINT)
        canvas.text(x0 - 5, y + 3.5, amount(10.0 ** power, unit), 9, "end")
    every = max(1, math.ceil(len(xs) * 44 / (x1 - x0)))
    for i, x in enumerate(xs):
        if i % every == 0:
            canvas.text(place(x, 10.0 ** powers[0])[0], y1 + 14, label(x), 9, "middle")
    canvas.line(x0, y1, x1, y1)
    for name in sorted(series, key=lambda n: n == "shoal"):
        points = [place(x, y) for x, y in series[name] if y > 0]
        machine = name == "machine"
        canvas.curve(points, COLOURS[name], 2.4 if name == "shoal" else 1.6,
                     "4,3" if machine else "")


def legend(canvas, labels, names, y):
    x = 16
    for name in names:
        canvas.line(x, y - 4, x + 22, y - 4, COLOURS[name], 2.4, "4,3" if name == "machine" else "")
        text = labels.get(name, "the machine itself")
        canvas.text(x + 27, y, text, 11)
        x += 44 + 7 * len(text)


def grid(results, path, title, panels, columns=3, size=(330, 230)):
    """Draws the panels that have data; says whether there was one."""
    panels = [p for p in panels if any(p["series"].values())]
    if not panels:
        return False
    columns = min(columns, len(panels))
    rows = math.ceil(len(panels) / columns)
    width, height = max(columns * size[0] + 20, 480), rows * size[1] + 78
    canvas = Canvas(width, height)
    canvas.text(16, 26, title, 15, weight="bold")
    present = [n for n in COLOURS if any(p["series"].get(n) for p in panels)]
    legend(canvas, results.labels, present, 48)
    for i, p in enumerate(panels):
        box = (10 + i % columns * size[0], 60 + i // columns * size[1], size[0], size[1])
        series = {n: s for n, s in p["series"].items() if s}
        panel(canvas, box, p["title"], series, p.get("unit", "us"), p.get("label", bytes_text))
    canvas.text(width - 10, height - 6, f"Shoal, bench/run.py, {results.date[:10]}", 9, "end",
                "#777777")
    canvas.save(path)
    return True


def by_size(results, np, kind, convert=lambda size, value: value):
    """{library: [(size, value)]} of a kind of point, with the machine's own limit where known."""
    series = {}
    for key in results.points:
        key_np, name = split_key(key)
        size = size_of(name)
        if key_np != np or name.split("/")[0] != kind or size is None:
            continue
        for lib in results.labels:
            value = results.median(key, lib)
            if value is not None:
                series.setdefault(lib, []).append((size, convert(size, value)))
        limit = results.limit(key)[0]
        if limit:
            series.setdefault("machine", []).append((size, convert(size, limit)))
    return {lib: sorted(points) for lib, points in series.items()}


def by_ranks(results, name):
    series = {}
    for key in results.points:
        np, key_name = split_key(key)
        if key_name != name:
            continue
        for lib in results.labels:
            value = results.median(key, lib)
            if value is not None:
                series.setdefault(lib, []).append((np, value))
    return {lib: sorted(points) for lib, points in series.items()}


def gigabytes(size, value):
    return size / value / 1e3


def by_kind(results, directory, name, title, np, kinds):
    panels = [{"title": kind + (" (a block)" if kind in BLOCKS else ""),
               "series": by_size(results, np, kind)} for kind in kinds]
    grid(results, os.path.join(directory, f"{name}-np{np}.svg"), f"{title} by size, {np} ranks", panels)


def curves(results, directory):
    grid(results, os.path.join(directory, "latency-bandwidth.svg"),
         "Two ranks: one way of a ping-pong, and a stream of messages",
         [{"title": "latency", "series": by_size(results, 2, "latency")},
          {"title": "bandwidth, GB/s", "unit": "GB/s",
           "series": by_size(results, 2, "bandwidth", gigabytes)}],
         columns=2, size=(480, 330))
    for np in (2, 4, 8, 16):
        by_kind(results, directory, "collectives", "Collectives", np, COLLECTIVES)
    for np in (2, 8):
        by_kind(results, directory, "uneven", "Collectives of blocks that differ", np, UNEVEN)
        by_kind(results, directory, "nonblocking", "Non-blocking collectives", np, NONBLOCKING)
    names = ("barrier", "allreduce/8", "allreduce/1048576", "bcast/1048576", "alltoall/4096",
             "ring/8", "pairs-latency/8", "others-blocked/8")
    panels = [{"title": name.split("/")[0] + (f" {bytes_text(size_of(name))}" if size_of(name)
                                             else ""),
               "series": by_ranks(results, name), "label": str} for name in names]
    two = by_ranks(results, "latency/8")
    for lib, points in panels[-1]["series"].items():
        points[:0] = [p for p in two.get(lib, []) if p[0] == 2]
    grid(results, os.path.join(directory, "ranks.svg"), "By number of ranks", panels)
    grid(results, os.path.join(directory, "startup.svg"), "Start-up and shut-down of a job",
         [{"title": "mpiexec of a program that does nothing, by ranks",
           "series": by_ranks(results, "startup"), "label": str}], columns=1, size=(480, 300))
    grid(results, os.path.join(directory, "python.svg"), "mpi4py's wheel, buffers by size",
         [{"title": f"{kind[7:]}, {np} ranks", "series": by_size(results, np, kind)}
          for kind, np in (("python-Sendrecv", 2), ("python-Allreduce", 2),
                           ("python-Allreduce", 4))])


OVERVIEW = (
    ("np2/latency/8", "8 B message"), ("np2/latency/1048576", "1 MiB message"),
    ("np2/rate/8", "message rate"), ("np2/type-column", "a column of a matrix"),
    ("np2/allreduce/8", "allreduce of 8 B"), ("np2/allreduce/1048576", "allreduce of 1 MiB"),
    ("np8/allreduce/8", "allreduce of 8 B, 8 ranks"), ("np8/barrier", "barrier, 8 ranks"),
    ("np16/others-blocked/8", "8 B message, 14 others blocked"),
    ("np2/python-object-sendrecv", "Python: small object"),
    ("np2/python-array-sendrecv", "Python: 1 MiB array as an object"),
    ("np8/startup", "start of 8 ranks"), ("np64/startup", "start of 64 ranks"),
)


def overview(results, directory):
    """Bars: every library's time relative to the best rival, for the points people ask about."""
    rows = [(key, text) for key, text in OVERVIEW if results.median(key, "shoal") is not None
            and results.best_rival(key)[0]]
    if not rows:
        return
    libs, left, scale, top = list(results.labels), 210, 120, 74
    high = 9 * len(libs) + 12
    canvas = Canvas(left + 4 * scale + 150, top + high * len(rows) + 30)
    canvas.text(16, 26, "Time beside the best rival (shorter is better; bars end at 4 x)", 15,
                weight="bold")
    legend(canvas, results.labels, libs, 48)
    for i, (key, text) in enumerate(rows):
        y = top + i * high
        best = results.best_rival(key)[0]
        canvas.text(left - 8, y + high / 2, text, 11, "end")
        for k, lib in enumerate(libs):
            value = results.median(key, lib)
            if value is None:
                continue
            length = min(value / best, 4) * scale
            canvas.bar(left, y + 9 * k, length, 8, COLOURS[lib])
            mark = f" ({value / best:.0f} x)" if value / best > 4 else ""
            canvas.text(left + length + 4, y + 9 * k + 7.5,
                        value_text(value, "us") + ("" if value >= 1e4 else " µs") + mark, 8)
    canvas.line(left + scale, top - 6, left + scale, top + high * len(rows), INK, 1, "3,3")
    canvas.text(left + scale, top - 9, "best rival", 9, "middle")
    canvas.save(os.path.join(directory, "overview.svg"))


def everything(results, directory):
    """All pictures that the results have data for."""
    os.makedirs(directory, exist_ok=True)
    curves(results, directory)
    overview(results, directory)
