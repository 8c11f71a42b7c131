#!/usr/bin/env python3
"""draw.py: bench/results.csv as a picture, bench/results.svg: how many times as fast as its peer Mercer is in each row that says so, on a
logarithmic axis, a line at 1. Rows whose verdict is "missed" are hatched, so that the picture can be read without colour."""
import csv
import math
import pathlib
import re
from xml.sax.saxutils import escape

BENCH = pathlib.Path(__file__).resolve().parent
PARTS = {"read": "reading", "ridge": "ridge", "gp": "Gaussian process", "svm": "SVM", "loss": "logistic", "tune": "search",
         "pca": "PCA, neighbours", "r": "R"}
# Columns that compare Mercer with a peer: the larger the better.
COMPARES = re.compile(r"^\d+ (ratio|Mercer.*times as fast|.*: ratio)$")
OTHERS = {("svm", "2"), ("loss", "1")}  # ratios to Mercer's own times, the smaller the better
HEIGHT, LEFT, WIDTH, LEAST, MOST = 18, 330, 480, 0.5, 200


def first_number(text):
    found = re.match(r"-?\d+(\.\d+)?", text)
    return float(found[0]) if found else None


def comparisons(row):
    """(label, ratio, missed) of the comparisons in one row of a table."""
    size = "".join(f", {name} = {c['value']}" for name in "nd" for c in row if c["column"].split(" ", 1)[1] == name)
    missed = any("missed" in c["value"] for c in row)
    kinds = [", prediction" if before and "predict" in before["column"] else "" for before in [None, *row]]
    return [(f"{PARTS[c['benchmark']]}: {c['row']}{size}{kind}", first_number(c["value"]), missed)
            for c, kind in zip(row, kinds) if COMPARES.match(c["column"]) and first_number(c["value"])]


def rows():
    """(label, ratio, missed) of every comparison, in the order of the file."""
    cells = [dict(r) for r in csv.DictReader(open(BENCH / "results.csv", newline=""))]
    found, at = [], 0
    while at < len(cells):
        end = next((i for i in range(at + 1, len(cells)) if int(cells[i]["column"].split()[0]) <= int(cells[i - 1]["column"].split()[0])), len(cells))
        row = cells[at:end]
        if row[0]["benchmark"] in PARTS and (row[0]["benchmark"], row[0]["table"]) not in OTHERS:
            found += comparisons(row)
        at = end
    return found


def x_of(value):
    share = math.log(min(max(value, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return LEFT + WIDTH * share


def bar(i, label, value, missed):
    y = 30 + HEIGHT * i
    fill = "url(#missed)" if missed else "#4477aa"
    return (f'<text x="{LEFT - 6}" y="{y + 12}" text-anchor="end">{escape(label)}</text>'
            f'<rect x="{LEFT}" y="{y + 2}" width="{x_of(value) - LEFT:.1f}" height="{HEIGHT - 5}" fill="{fill}"/>'
            f'<text x="{x_of(value) + 5:.1f}" y="{y + 12}">{value:g}</text>')


def axis(count):
    bottom = 30 + HEIGHT * count
    lines = [f'<line x1="{x_of(t):.1f}" y1="24" x2="{x_of(t):.1f}" y2="{bottom}" stroke="{"#000" if t == 1 else "#ccc"}"/>'
             f'<text x="{x_of(t):.1f}" y="18" text-anchor="middle">{t:g}</text>' for t in (0.5, 1, 2, 5, 10, 20, 50, 100)]
    return "".join(lines)


def main():
    found = rows()
    height = 40 + HEIGHT * len(found)
    body = axis(len(found)) + "".join(bar(i, *r) for i, r in enumerate(found))
    hatch = '<pattern id="missed" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M0 6L6 0" stroke="#cc3311" stroke-width="2"/></pattern>'
    (BENCH / "results.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 60}" height="{height}" font-family="DejaVu Sans, sans-serif" font-size="11">'
        f'<title>Times as fast as the peer</title><defs>{hatch}</defs><rect width="100%" height="100%" fill="#fff"/>{body}</svg>\n')


if __name__ == "__main__":
    main()
