"""Rows, and the same as Gram matrices: whole, as a test block, with LIBSVM's serial numbers, and broken in several ways."""
from math import exp, sin

rows = [(sin(3 * i), sin(5 * i + 1)) for i in range(12)]
new = [(0.1, 0.2), (-0.5, 0.9), (0.7, -0.3)]


def k(x, z):
    return exp(-sum((a - b) ** 2 for a, b in zip(x, z)) / 2)


def write(path, table, targets, head=""):
    with open(path, "w") as out:
        out.write(head)
        for row, y in zip(table, targets):
            out.write(",".join(map(repr, [*row, y])) + "\n")


def libsvm(path, table, serial):
    with open(path, "w") as out:
        for i, row in enumerate(table):
            pairs = " ".join(f"{j}:{v!r}" for j, v in enumerate(row, 1))
            out.write(f"{1 if row[0] > 0.5 else -1} 0:{serial(i)} {pairs}\n")


y, t = [x[0] + x[1] ** 2 for x in rows], [x[0] + x[1] ** 2 for x in new]
K, block = [[k(x, z) for z in rows] for x in rows], [[k(x, z) for z in rows] for x in new]
names = [f"k{j}" for j in range(1, 13)] + ["y"]
write("rows.csv", rows, y), write("new.csv", new, t)
write("K.csv", K, y, ",".join(names) + "\n"), write("block.csv", block, t, ",".join(names) + "\n")
write("known.csv", [[-1.0, *r] for r in block], t, ",".join(["serial"] + names) + "\n")
libsvm("K.libsvm", K, lambda i: i + 1), libsvm("block.libsvm", block, lambda i: 7)
write("tall.csv", [r[:9] for r in K], y)
write("asymmetric.csv", [[v + (i == 4 and j == 2) for j, v in enumerate(r)] for i, r in enumerate(K)], y)
write("indefinite.csv", [[v - 1.5 * (i == j) for j, v in enumerate(r)] for i, r in enumerate(K)], y)
