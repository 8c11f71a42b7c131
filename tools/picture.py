#!/usr/bin/env python3
"""picture.py readme MERCER OUT.svg            a regression and a classification, from numbers that `mercer predict` wrote
picture.py truth DATA.csv PREDICTIONS.csv OUT.svg   predictions against the truth, the last column of DATA

Plain SVG: shapes and line styles carry the meaning, so that it reads without colour too."""
import csv
import math
import pathlib
import subprocess
import sys
import tempfile

STYLE = """<style>
text { font: 13px sans-serif; fill: #222 } .title { font-size: 14px; font-weight: 600 } .small { font-size: 11px; fill: #555 }
.frame { fill: none; stroke: #999 } .fit { fill: none; stroke: #0b5; stroke-width: 2.5 } .true { fill: none; stroke: #444;
stroke-dasharray: 5 4 } .dot { fill: none; stroke: #345 } .a { fill: #06c } .b { fill: none; stroke: #c40; stroke-width: 1.6 }
.region { fill: #06c; fill-opacity: 0.10 } .edge { stroke: #222; stroke-width: 2 } .margin { stroke: #222; stroke-dasharray: 3 3 }
</style>"""


class Panel:
    """A frame with its own scale: x to the right, y up."""

    def __init__(self, left, top, width, height, x, y, title):
        self.box, self.x, self.y = (left, top, width, height), x, y
        self.parts = [f'<text class="title" x="{left}" y="{top - 10}">{title}</text>']

    def at(self, x, y):
        left, top, width, height = self.box
        return (left + width * (x - self.x[0]) / (self.x[1] - self.x[0]), top + height * (self.y[1] - y) / (self.y[1] - self.y[0]))

    def line(self, points, kind):
        self.parts.append(f'<polyline class="{kind}" points="' + " ".join("%.1f,%.1f" % self.at(*p) for p in points) + '"/>')

    def segments(self, pairs, kind):
        ends = [(*self.at(*p), *self.at(*q)) for p, q in pairs]
        self.parts.append(f'<path class="{kind}" d="' + "".join("M%.1f %.1fL%.1f %.1f" % e for e in ends) + '"/>')

    def circle(self, x, y, kind="dot", r=2.6):
        self.parts.append('<circle class="%s" cx="%.1f" cy="%.1f" r="%.1f"/>' % (kind, *self.at(x, y), r))

    def cross(self, x, y, kind, r=3.2):
        u, v = self.at(x, y)
        self.parts.append(f'<path class="{kind}" d="M{u - r:.1f} {v - r:.1f}l{2 * r} {2 * r}m0 {-2 * r}l{-2 * r} {2 * r}"/>')

    def cell(self, x, y, dx, dy, kind):
        u, v = self.at(x, y + dy)
        w, t = self.at(x + dx, y)
        self.parts.append(f'<rect class="{kind}" x="{u:.1f}" y="{v:.1f}" width="{w - u:.2f}" height="{t - v:.2f}"/>')

    def ticks(self):
        """Numbers at about five round places of each axis."""
        left, top, width, height = self.box
        for v in round_places(*self.x):
            self.parts.append(f'<text class="small" text-anchor="middle" x="{self.at(v, 0)[0]:.1f}" y="{top + height + 15}">{v:g}</text>')
        for v in round_places(*self.y):
            self.parts.append(f'<text class="small" text-anchor="end" x="{left - 5}" y="{self.at(0, v)[1] + 4:.1f}">{v:g}</text>')

    def notes(self, *lines):
        left, top, width, height = self.box
        for k, line in enumerate(lines):
            self.parts.append(f'<text class="small" x="{left}" y="{top + height + 36 + 15 * k}">{line}</text>')

    def svg(self):
        left, top, width, height = self.box
        return "\n".join([f'<rect class="frame" x="{left}" y="{top}" width="{width}" height="{height}"/>'] + self.parts)


def round_places(low, high):
    step = 10 ** math.floor(math.log10((high - low) / 4))
    step *= next(k for k in (1, 2, 5, 10) if (high - low) / (k * step) <= 6)
    return [round(k * step, 10) for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def write(path, width, height, panels):
    body = "\n".join(p.svg() for p in panels)
    pathlib.Path(path).write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} '
                                  f'{height}">\n{STYLE}\n<rect width="{width}" height="{height}" fill="#fff"/>\n{body}\n</svg>\n')


def rows(path):
    return list(csv.reader(open(path)))[1:]


def mercer(command, folder, *words):
    subprocess.run([str(pathlib.Path(command).resolve()), *words, "-q"], cwd=folder, check=True)


def regression(command, folder):
    mercer(command, folder, "generate", "sinc", "-n", "80", "--noise", "0.1", "--seed", "5", "-o", "sinc.csv")
    mercer(command, folder, "fit", "sinc.csv", "-k", "rbf(sigma=1.5)", "--lambda", "0.1")
    data = [(float(x), float(y)) for x, y in rows(f"{folder}/sinc.csv")]
    low, high = min(x for x, _ in data), max(x for x, _ in data)
    grid = [low + (high - low) * i / 300 for i in range(301)]
    pathlib.Path(folder, "grid.csv").write_text("\n".join([open(f"{folder}/sinc.csv").readline().split(",")[0]] + [repr(x) for x in grid]) + "\n")
    mercer(command, folder, "predict", "sinc.mercer", "grid.csv", "-o", "p.csv")
    panel = Panel(45, 40, 370, 260, (low, high), (-0.5, 1.3), "ridge on 80 noisy values of sin(x)/x")
    panel.ticks()
    panel.line([(x, math.sin(x) / x if x else 1) for x in grid], "true")
    panel.line([(x, float(r[0])) for x, r in zip(grid, rows(f"{folder}/p.csv"))], "fit")
    for x, y in data:
        panel.circle(x, y)
    panel.notes("circles: data; dashed: the function behind them;", "solid: mercer fit sinc.csv -k 'rbf(sigma=1.5)' --lambda 0.1")
    return panel


def crossings(f, level, xs, ys):
    """Marching squares: the segments where the grid function f crosses a level."""
    for i in range(len(xs) - 1):
        for j in range(len(ys) - 1):
            corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
            hits = []
            for (a, b), (c, d) in zip(corners, corners[1:] + corners[:1]):
                u, v = f[a][b] - level, f[c][d] - level
                if (u < 0) != (v < 0):
                    t = u / (u - v)
                    hits.append((xs[a] + t * (xs[c] - xs[a]), ys[b] + t * (ys[d] - ys[b])))
            yield from zip(hits[::2], hits[1::2])


def regions(command, folder, side=60):
    mercer(command, folder, "generate", "moons", "-n", "160", "--noise", "0.15", "--seed", "2", "-o", "moons.csv")
    mercer(command, folder, "fit", "moons.csv", "-k", "rbf(sigma=0.5)", "--lambda", "0.1")
    xs, ys = [-1.5 + 4 * i / side for i in range(side + 1)], [-1.1 + 2.7 * j / side for j in range(side + 1)]
    head = open(f"{folder}/moons.csv").readline().rsplit(",", 1)[0]
    pathlib.Path(folder, "grid.csv").write_text("\n".join([head] + [f"{x!r},{y!r}" for x in xs for y in ys]) + "\n")
    mercer(command, folder, "predict", "moons.mercer", "grid.csv", "--decision", "-o", "p.csv")
    values = [float(r[-1]) for r in rows(f"{folder}/p.csv")]
    f = [values[i * (side + 1):(i + 1) * (side + 1)] for i in range(side + 1)]
    panel = Panel(475, 40, 370, 260, (xs[0], xs[-1]), (ys[0], ys[-1]), "ridge on two classes")
    panel.ticks()
    inside = lambda i, j: j < side and f[i][j] + f[i + 1][j] + f[i][j + 1] + f[i + 1][j + 1] > 0
    for i in range(side):
        for j in (j for j in range(side) if inside(i, j) and not (j and inside(i, j - 1))):
            top = next(t for t in range(j, side + 1) if not inside(i, t))  # cells in a column become one bar
            panel.cell(xs[i], ys[j], xs[1] - xs[0], ys[top] - ys[j], "region")
    for level, kind in ((0, "edge"), (0.5, "margin"), (-0.5, "margin")):
        panel.segments(crossings(f, level, xs, ys), kind)
    labels = sorted({r[-1] for r in rows(f"{folder}/moons.csv")})
    for x, y, label in rows(f"{folder}/moons.csv"):
        (panel.circle if label == labels[-1] else panel.cross)(float(x), float(y), "a" if label == labels[-1] else "b")
    panel.notes("discs and crosses: the classes; solid: where the decision changes;", "dashed: decision values 0.5 and -0.5")
    return panel


def readme(command, out):
    with tempfile.TemporaryDirectory() as folder:
        write(out, 865, 365, [regression(command, folder), regions(command, folder)])


def truth(data, predictions, out):
    y, p = [float(r[-1]) for r in rows(data)], [float(r[0]) for r in rows(predictions)]
    low, high = min(y + p), max(y + p)
    pad = 0.05 * (high - low)
    span = (low - pad, high + pad)
    panel = Panel(45, 40, 380, 380, span, span, f"{len(y)} rows the model has not seen")
    panel.line([(span[0], span[0]), (span[1], span[1])], "true")
    for a, b in zip(y, p):
        panel.circle(a, b)
    panel.ticks()
    panel.notes("across: the truth; up: the prediction; dashed: where they are equal")
    write(out, 450, 475, [panel])


if __name__ == "__main__":
    {"readme": readme, "truth": truth}[sys.argv[1]](*sys.argv[2:])
