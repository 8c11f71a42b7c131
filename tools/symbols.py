#!/usr/bin/env python3
"""symbols.py SHARED STATIC: the shared library exports mercer_* only; no object of the library holds mutable global data, but
what is the process's: how many regions of BLAS are open, whose number of threads is one for all; OpenMP's controls; the threads; what the bodies of loops took,
which decides whether they are shared and nothing else; and what the system said of quotas within the last second."""
import subprocess
import sys

GLOBAL = {"blas_threads", "openmp", "pool", "body_costs", "cpu_quota", "memory_left"}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exported(shared):
    return [line.split()[-1] for line in output("nm", "-D", "--defined-only", shared).splitlines()]


def writable(static):
    """Named objects in .data or .bss. Constant tables with relocations stand in .data.rel.ro and are fine."""
    for line in output("objdump", "-t", static).splitlines():
        parts = line.split()
        if len(parts) >= 5 and parts[-3] in (".data", ".bss") and parts[-1] not in {".data", ".bss"} | GLOBAL:
            yield parts[-1]


def main(shared, static):
    faults = [f"exported but not mercer_*: {name}" for name in exported(shared) if not name.startswith("mercer_")]
    faults += [f"mutable global: {name}" for name in writable(static)]
    print("\n".join(faults) or "the symbols hold")
    return bool(faults)


sys.exit(main(*sys.argv[1:3]))
