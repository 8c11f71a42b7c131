"""judge.py: how good an answer is, whoever gave it: objectives, gaps and residuals from the coefficients that a library left behind, by NumPy in
double. The same functions judge Mercer and its peers; nobody's own word for it counts. K is made anew in blocks, so that any number of rows fits.

arrays, libsvm_model: the coefficients of Mercer's and of LIBSVM's model files (Mercer's support vector machines are exported to the latter
first). dual, vector_machine: support vector machines, of two classes or of many, one against one. ridge, logistic, components: the others."""
import json
import re
import struct

import numpy as np

BLOCK = 1000  # rows of K at a time


def gaussian(X, S, gamma):
    squares = (X * X).sum(1)[:, None] + (S * S).sum(1) - 2 * X @ S.T
    return np.exp(-gamma * np.maximum(squares, 0, out=squares), out=squares)


def times(X, S, gamma, A):
    """K(X, S) A."""
    return np.concatenate([gaussian(X[i:i + BLOCK], S, gamma) @ A for i in range(0, len(X), BLOCK)])


# ---- Coefficients ----


def arrays(path):
    """The arrays of a model file of Mercer (docs/model-format.md)."""
    text = open(path, "rb").read()
    length, = struct.unpack("<Q", text[:8])
    head, types = json.loads(text[8:8 + length]), {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4"}
    place = lambda a: (types[a["dtype"]], text[8 + length:][slice(*a["data_offsets"])], a["shape"])  # noqa: E731
    return {name: np.frombuffer(data, kind).reshape(shape) for name, a in head.items() if name != "__metadata__" for kind, data, shape in [place(a)]}


def sparse_rows(words, least):
    """[["1:0.5", "7:2"], ...] as an array of so many columns at least."""
    parts = [[entry.split(":") for entry in row] for row in words]
    X = np.zeros((len(parts), max([least, *(int(j) for row in parts for j, _ in row)])))
    for i, row in enumerate(parts):
        X[i, [int(j) - 1 for j, _ in row]] = [float(v) for _, v in row]
    return X


def pairs(given, counts):
    """The coefficients of every pair of classes, rows x pairs, from LIBSVM's way to write them: k - 1 for each support vector, those of a class together."""
    of, k = np.repeat(np.arange(len(counts)), counts), len(counts)
    return np.stack([np.where(of == i, given[:, j - 1], 0) + np.where(of == j, given[:, i], 0) for i in range(k) for j in range(i + 1, k)], axis=1)


def libsvm_model(path, columns):
    """(labels, coefficients of every pair of classes, rows x pairs; the offset of each; the support vectors)"""
    head, body = re.split(r"\nSV *\n", open(path).read(), maxsplit=1)  # ThunderSVM leaves a space behind SV
    values = {line.split()[0]: line.split()[1:] for line in head.splitlines()}
    words = [line.split() for line in body.splitlines()]
    labels, k = [float(v) for v in values["label"]], int(values["nr_class"][0])
    given = np.array([[float(v) for v in row[:k - 1]] for row in words])
    offsets, S = np.array([float(v) for v in values["rho"]]), sparse_rows([row[k - 1:] for row in words], columns)
    return labels, pairs(given, [int(v) for v in values["nr_sv"]]), offsets, S


# ---- Verdicts ----


def dual(S, A, gamma):
    """sum |a| - a'Ka/2, a = y alpha over the support vectors S: to be large. Of several problems the sum."""
    A = A.reshape(len(S), -1)
    return float(np.abs(A).sum() - 0.5 * (A * times(S, S, gamma, A)).sum())


def vector_machine(path, X, y, C, gamma):
    """{primal, dual, gap} of a LIBSVM model file on the training rows; the gap relative to the primal objective. Of many classes the sums."""
    labels, A, rho, S = libsvm_model(path, X.shape[1])
    X, value = np.pad(X, ((0, 0), (0, S.shape[1] - X.shape[1]))), dual(S, A, gamma)
    energy, f, slack, p = np.abs(A).sum() - value, times(X, S, gamma, A) - rho, 0.0, 0
    for i in range(len(labels)):
        for j in range(i + 1, len(labels)):
            slack += np.maximum(0, 1 - f[y == labels[i], p]).sum() + np.maximum(0, 1 + f[y == labels[j], p]).sum()
            p += 1
    primal = float(energy + C * slack)
    return {"primal": primal, "dual": value, "gap": (primal - value) / primal}


def ridge(X, Y, A, gamma, penalty):
    """(|Y - (K + lambda) A| / |Y|, |Y - K A|^2 + lambda A'KA) for each column of A, which answers the same column of Y, or its only one."""
    F = times(X, X, gamma, A)
    residual = np.linalg.norm(Y - F - penalty * A, axis=0) / np.linalg.norm(Y, axis=0)
    return residual, ((Y - F) ** 2).sum(0) + penalty * (A * F).sum(0)


def logistic(X, y, a, gamma, penalty):
    """lambda/2 a'Ka + sum log(1 + exp(-y f)), y = -1 or 1: to be small."""
    f = times(X, X, gamma, a)
    return float(penalty / 2 * a @ f + np.logaddexp(0, -y * f).sum())


def components(X, gamma, V, theta):
    """max |H K H v - theta v| / max theta, v of unit length."""
    V = V - V.mean(axis=0)
    V = V / np.linalg.norm(V, axis=0)
    KV = times(X, X, gamma, V)
    return np.linalg.norm(KV - KV.mean(axis=0) - V * theta, axis=0).max() / theta.max()
