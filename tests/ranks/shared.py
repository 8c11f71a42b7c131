#!/usr/bin/env python3
"""shared.py FOLDER: what the processes of mpirun do with mercer.options(comm=), or one process without; the first writes what came of it."""
import pathlib
import sys

import numpy as np
from mpi4py import MPI

import mercer

world = MPI.COMM_WORLD
folder = pathlib.Path(sys.argv[1])
rng = np.random.default_rng(5)
rows = rng.normal(size=(3000, 6))
target = np.sin(rows[:, 0]) + rows[:, 1] ** 2
# each has a part of the rows, and hears of the others'
part = np.array_split(np.arange(len(rows)), world.size)[world.rank]
X, y = np.concatenate(world.allgather(rows[part])), np.concatenate(world.allgather(target[part]))
with mercer.options(threads=1, comm=world):
    ridge = mercer.KernelRidge(kernel="rbf(sigma=2)", alpha=0.1, solver="pcg").fit(X, y)
    svc = mercer.SVC(kernel="rbf(sigma=1)", C=3).fit(X, y > 1)
    found = ridge.predict(rows), svc.decision_function(rows)
    try:
        mercer.KernelRidge(kernel="rbf(sigma=2)").fit(X, np.where(np.arange(len(y)) == 7, np.nan, y))
        refused = "no error"
    except ValueError as error:
        refused = str(error)
try:
    with mercer.options(comm=3):
        mercer.KernelRidge().fit(X, y)
except ValueError as error:
    refused += "; " + str(error)
if world.rank == 0:
    ridge.model_.save(folder / f"ridge.{world.size}")
    svc.model_.save(folder / f"svc.{world.size}")
    np.concatenate(found).tofile(folder / f"predictions.{world.size}")
    print(world.size, refused)
