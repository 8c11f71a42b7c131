#!/usr/bin/env python3
"""draw.py [RESULTS.csv [PICTURE.svg]]: bench/results.csv as a picture, bench/results.svg. Above, how many times as fast as each peer Mercer is, on
a logarithmic axis from 1 to the right (to the left where it is slower), and kernel products and fits without parameters on the same axis; a row whose
bar is missed is hatched, so that the picture can be read without colour. Below, on two logarithmic axes, what there is of: error against seconds
beyond memory; growth with rows, columns, classes and threads; memory against its limit; forecasts against seconds; calibration."""
import csv
import math
import pathlib
import re
import sys
from xml.sax.saxutils import escape

BENCH = pathlib.Path(__file__).resolve().parent
HEADS = {  # the tables drawn as bars, by part and number, in this order
    ("gram", "1"): "Kernel products: share of the machine's ceiling",
    ("keops", "1"): "Products of a Gaussian kernel against KeOps",
    ("read", "1"): "Reading files, on all cores",
    ("ridge", "1"): "Exact ridge against KernelRidge",
    ("ridge", "2"): "A hundred lambdas against GridSearchCV",
    ("svm", "1"): "Support vector machines against LIBSVM",
    ("thunder", "1"): "Support vector machines against ThunderSVM on the CPU",
    ("r", "1"): "Support vector machines against packages of R",
    ("dlib", "1"): "Support vector machines against dlib",
    ("dlib", "2"): "Ridge against dlib",
    ("tune_svc", "1"): "A grid of C and gamma against LIBSVM",
    ("tune_default", "1"): "Fits without parameters: error of a grid over theirs",
    ("loss", "2"): "Logistic regression against GaussianProcessClassifier",
    ("gp", "1"): "Gaussian processes against scikit-learn, GPyTorch",
    ("pca", "1"): "Principal components against KernelPCA",
    ("pca", "2"): "Nearest neighbours against KNeighborsClassifier",
}
COMPARES = re.compile(r"^(ratio|ratio to (.*)|.*times as fast)$")  # columns that compare Mercer with a peer: the larger the better
NAMED = ("reader", "n", "d", "kernel")  # columns that tell rows of the same name apart
HEIGHT, LEFT, WIDTH, LEAST, MOST, TOP = 17, 380, 440, 0.5, 1000, 44
COLOURS = ("#4477aa", "#cc3311", "#228833", "#aa3377", "#ccaa00", "#66ccee", "#555555", "#ee8866")


def text_at(x, y, words, anchor="start", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def first_number(text):
    found = re.match(r"-?\d+(\.\d+)?(e[-+]?\d+)?", text)
    return float(found[0]) if found else None


# ---- The tables of the file ----


def records(path):
    """[(part, table, name of the row, [(column, value)])]: the cells of one row stand together, their columns counted from 2 up."""
    found, last = [], 0
    for cell in csv.DictReader(open(path, newline="")):
        place, column = cell["column"].split(" ", 1)
        if int(place) <= last or not found:
            found.append((cell["benchmark"], cell["table"], cell["row"], []))
        found[-1][3].append((column, cell["value"]))
        last = int(place)
    return found


def label_of(part, name, cells):
    values = dict(reversed(cells))
    told = [values[c] if c in ("reader", "kernel") else f"{c} = {values[c]}" for c in NAMED if c in values]
    return ", ".join([name.split(" (")[0], *told])


def ceilings(name, cells):
    """A kernel product beside gemm or exp2, on all cores."""
    values = dict(cells)
    if values["threads"] == "1" or not re.search("gemm|exp2", values["against"]):
        return []
    return [(f"{name}, against {values['against'].split()[1]}", first_number(values["ratio"]), "missed" in values["bar"])]


def defaults(name, cells):
    """The error of the best of a grid over that of a fit without parameters."""
    values = dict((re.sub(", mean.*", "", column), value) for column, value in cells)
    ours, best = (first_number(values[key]) for key in ("`mercer fit`", "best of a 10 x 10 grid"))
    ratio = best / ours if values["score"] == "rmse" else (1 - best) / (1 - ours)
    return [(f"{name.split('.')[0]}, {values['score']}", ratio, "no" in values["within 1%"])]


def comparisons(part, table, name, cells):
    """(label, ratio, missed) for every column of a row that compares."""
    if part in ("gram", "tune_default"):
        return ceilings(name, cells) if part == "gram" else defaults(name, cells)
    missed, found, before = any("missed" in value for _, value in cells), [], ""
    residual = [value for column, value in cells if column == "residual"]
    for column, value in cells:
        match, ratio = COMPARES.match(column), first_number(value)
        if match and ratio:
            kind = ", prediction" if "predict" in before else ", training" if part in ("svm", "thunder") else f", {match[2]}" if match[2] else ""
            exact = f", to {residual[-1].split()[0]}" if (part, table) == ("pca", "1") else ""
            worse = ", its answer worse" if part in ("r", "dlib") and any("worse" in v for _, v in cells) else ""
            found.append((label_of(part, name, cells) + kind + exact + worse, ratio, missed))
        before = column
    return found


# ---- Bars ----


def x_of(value):
    return LEFT + WIDTH * math.log(min(max(value, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)


def bar(y, label, value, missed):
    a, b = sorted((x_of(1), x_of(value)))
    fill = "url(#missed)" if missed else COLOURS[0]
    return (text_at(LEFT - 8, y + 12, label, "end") + f'<rect x="{a:.1f}" y="{y + 2:.1f}" width="{b - a:.1f}" height="{HEIGHT - 5}" fill="{fill}"/>'
            + text_at(b + 5, y + 12, f"{value:.3g}" if value < 1000 else f"{value:.0f}"))


def bars(rows):
    """(the picture of all bars, its height)"""
    y, body = TOP, []
    for key, head in HEADS.items():
        group = [c for part, table, name, cells in rows if (part, table) == key for c in comparisons(part, table, name, cells)]
        if group:
            body.append(text_at(LEFT - 8, y + 14, head, "end", ' font-weight="bold"'))
            body += [bar(y + HEIGHT * (i + 1), *c) for i, c in enumerate(group)]
            y += HEIGHT * (len(group) + 1) + 8
    ticks = [f'<line x1="{x_of(t):.1f}" y1="{TOP - 12}" x2="{x_of(t):.1f}" y2="{y}" stroke="{"#000" if t == 1 else "#ddd"}"/>'
             + text_at(x_of(t), TOP - 16, f"{t:g}", "middle") for t in (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)]
    return text_at(x_of(1), 14, "times as fast as the peer, or what the group says; hatched: the bar is missed") + "".join(ticks + body), y


# ---- Lines on two logarithmic axes ----


def powers(low, high):
    return [10.0 ** k for k in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def marks(low, high):
    """Where the axis has its ticks: powers of ten, or steps of 1, 2, 5 where there are few of them."""
    inside = [t for t in powers(low, high) if low <= t <= high]
    return inside if len(inside) >= 3 else [t * m for t in powers(low, high) for m in (1, 2, 5) if low <= t * m <= high]


def plain(value):
    return f"{value:g}" if 1e-3 <= value < 1e5 else f"1e{round(math.log10(value))}"


def panel(left, top, title, below, series, lines=True, width=330, height=250):
    """Lines with a name each, [(name, [(x, y)])], or points alone."""
    xs, ys = ([p[k] for _, line in series for p in line] for k in (0, 1))
    (x0, x1), (y0, y1) = ((min(v) / 1.2, max(v) * 1.2) for v in (xs, ys))
    at_x = lambda x: left + width * math.log(x / x0) / math.log(x1 / x0)  # noqa: E731
    at_y = lambda y: top + height * math.log(y1 / y) / math.log(y1 / y0)  # noqa: E731
    body = [f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#000"/>', text_at(left, top - 8, title, more=' font-weight="bold"'),
            text_at(left + width / 2, top + height + 32, below, "middle")]
    for t in marks(x0, x1):
        body += [f'<line x1="{at_x(t):.1f}" y1="{top}" x2="{at_x(t):.1f}" y2="{top + height}" stroke="#ddd"/>', text_at(at_x(t), top + height + 15, plain(t), "middle")]
    for t in marks(y0, y1):
        body += [f'<line x1="{left}" y1="{at_y(t):.1f}" x2="{left + width}" y2="{at_y(t):.1f}" stroke="#ddd"/>', text_at(left - 5, at_y(t) + 4, plain(t), "end")]
    for i, (name, line) in enumerate(series):
        colour, points = COLOURS[i % len(COLOURS)], sorted(line)
        dash = f' stroke-dasharray="{2 + 3 * (i % 4)} {i % 4 * 2}"' if i % 4 else ""
        body += [] if not lines else ['<polyline fill="none" stroke-width="2" stroke="{}"{} points="{}"/>'.format(colour, dash, " ".join(f"{at_x(x):.1f},{at_y(y):.1f}" for x, y in points))]
        body += [f'<circle cx="{at_x(x):.1f}" cy="{at_y(y):.1f}" r="3" fill="{colour}"/>' for x, y in points]
        body += [f'<line x1="{left}" y1="{top + height + 47 + 15 * i}" x2="{left + 24}" y2="{top + height + 47 + 15 * i}" stroke="{colour}" stroke-width="2"{dash}/>',
                 text_at(left + 30, top + height + 51 + 15 * i, name)]
    return "".join(body), top + height + 60 + 15 * len(series)


def gathered(rows, part, number, x, y, named=0):
    """By the first column (or the column named), the points (x, y) of a table, each given by a column or a function of the cells."""
    lines = {}
    for found, table, name, cells in rows:
        if (found, table) == (part, number):
            point = [f(dict(cells)) if callable(f) else first_number(dict(cells).get(f, "")) for f in (x, y)]
            if all(v and v > 0 for v in point):
                lines.setdefault(dict(cells)[named] if named else name, []).append(tuple(point))
    return list(lines.items())


def growths(rows, table):
    """By solver, (size, seconds)."""
    pairs = lambda cells: [tuple(float(v) for v in value.split(": ")) for column, value in cells if column == "size: s"]  # noqa: E731
    return [(name, pairs(cells)) for part, number, name, cells in rows if (part, number) == ("growth", table)]


def threads(rows):
    """By job, (threads, seconds over those of one thread)."""
    found = []
    for part, number, name, cells in rows:
        if (part, number) == ("growth", "4"):
            points = [(float(column[:-3]), float(value)) for column, value in cells if re.fullmatch(r"\d+: s", column)]
            found.append((name.rsplit(",", 1)[0], [(t, s / points[0][1]) for t, s in points]))
    return found


def with_diagonal(series, name):
    """The line x = y goes with them."""
    values = [v for _, line in series for point in line for v in point]
    return [*series, (name, [(min(values), min(values)), (max(values), max(values))])] if series else []


def beyond_the_command(cells):
    """Resident memory less that of a command that does nearly nothing."""
    return max(1.0, (first_number(cells["resident peak MiB"]) or 0) - (first_number(cells["of 200 rows, or one"]) or 0)) if "resident peak MiB" in cells else None


def panels(rows):
    """(title, what the axis says, series, whether points are joined)"""
    return [("Ridge beyond memory: distance from the exact answer", "seconds of the fit", gathered(rows, "error", "1", "s", "from the exact answer"), True),
            ("Growth with rows: seconds, on all cores", "rows", growths(rows, "1"), True),
            ("Growth with columns: seconds", "columns", growths(rows, "2"), True),
            ("Growth with classes or outputs: seconds", "classes", growths(rows, "3"), True),
            ("Growth with threads: seconds over those of one", "threads", threads(rows), True),
            ("Memory: MiB above an empty command", "MiB of the limit given", with_diagonal(gathered(rows, "memory", "1", "limit MiB", beyond_the_command), "the limit"), True),
            ("Seconds of a fit of ridge", "seconds forecast", with_diagonal(gathered(rows, "plan", "1", "forecast s", "seconds"), "as forecast"), True),
            ("Probabilities: log loss", "expected calibration error, %", gathered(rows, "calibration", "1", "ECE", "log loss", "machine"), False)]


def main(source=BENCH / "results.csv", target=BENCH / "results.svg"):
    rows = records(source)
    body, bottom = bars(rows)
    left, ends = 60, [bottom]
    for title, below, series, joined in (p for p in panels(rows) if p[2]):
        drawn, end = panel(left, bottom + 40, title, below, series, joined)
        body, ends = body + drawn, [*ends, end]
        bottom, left = (bottom, 480) if left == 60 else (max(ends), 60)
    hatch = '<pattern id="missed" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M0 6L6 0" stroke="#cc3311" stroke-width="2"/></pattern>'
    pathlib.Path(target).write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 60}" height="{max(ends) + 12:.0f}" font-family="DejaVu Sans, sans-serif" font-size="11">'
        f'<title>How fast Mercer is</title><defs>{hatch}</defs><rect width="100%" height="100%" fill="#fff"/>{body}</svg>\n')


if __name__ == "__main__":
    main(*sys.argv[1:])
