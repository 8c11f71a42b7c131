#!/usr/bin/env python3
"""layers.py ROOT: includes point up the list of rooms only; the public header sees no private header, and the command one: that of its
helpers; BLAS is called in one room."""
import pathlib
import re
import sys

ROOMS = ["base", "data", "kernel", "backend", "linalg", "gram", "iterative", "qp", "problem", "predict", "certify", "plan", "learn", "model", "select",
         "libsvm", "draw", "cli"]
BLAS_ROOMS = ("backend", "linalg")  # all others call BLAS and LAPACK through linalg/dense.h
HELPERS = "data/helpers.h"
LIBSVM_SEES = ("libsvm", "base", "data", "predict", "model")  # LIBSVM's interface fits by mercer.h, not by learners
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def broken(file, room, target):
    """Why this include breaks the order, or None."""
    if "/" not in target:
        return None if (file.parent / target).exists() else f"'{target}' is not beside it: write \"room/file.h\""
    seen = target.split("/")[0]
    if seen not in ROOMS:
        return f"'{target}' is in no room"
    if target == "backend/blas.h" and room not in BLAS_ROOMS:
        return "dense algebra is linalg's: use linalg/dense.h"
    if room == "draw" and seen != "draw":
        return f"pictures know nothing but paper: '{target}'"
    if room == "libsvm" and seen not in LIBSVM_SEES:
        return f"LIBSVM's interface stands on mercer.h and on {', '.join(LIBSVM_SEES[1:])}: '{target}'"
    if room == "cli" and seen not in ("cli", "draw") and target != HELPERS:
        return f"the command uses mercer.h and {HELPERS} only, not '{target}'"
    return None if ROOMS.index(seen) <= ROOMS.index(room) else f"{room} stands above {seen}: '{target}'"


def main(root):
    src = pathlib.Path(root) / "src"
    faults = []
    for file in sorted(src.rglob("*.[ch]")):
        room = file.relative_to(src).parts[0]
        for number, line in enumerate(file.read_text().splitlines(), 1):
            found = INCLUDE.match(line)
            why = broken(file, room, found.group(1)) if found else None
            if why:
                faults.append(f"{file}:{number}: {why}")
    header = (pathlib.Path(root) / "include/mercer.h").read_text()
    faults += [f"include/mercer.h includes {name}" for name in re.findall(r'#\s*include\s+"([^"]+)"', header)]
    print("\n".join(faults) or "the layers hold")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "."))
