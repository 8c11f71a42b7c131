#!/usr/bin/env python3
"""abi.py SHARED [--update]: the binary interface is the one that tests/abi.txt keeps: exported symbols of the shared library, prototypes and
constants of include/mercer.h, sizes and offsets of its structs on a machine of 64 bits. What is new is added to the list; what has changed or
gone breaks programs that are built already."""
import ctypes
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = ROOT / "tests/abi.txt"
sys.path.insert(0, str(ROOT / "python"))
import generate  # noqa: E402

MADE_BY_US = ("mercer_progress", "mercer_machine", "mercer_step", "mercer_witness", "mercer_frequency", "mercer_report", "mercer_tune_report")
NEW = """
The interface has grown. Where that is meant, keep it: python3 tools/abi.py LIBRARY --update, and say it in CHANGELOG.md.
"""
BROKEN = """
Programs that were built with the interface as it was would break. Before version 1.0: only where it is worth it, with the next minor version,
and a line in CHANGELOG.md that tells callers what to write instead. From 1.0 on: do it another way. A struct that begins with size takes new
fields at its end, a call with other arguments gets another name, and the old one stays. Then python3 tools/abi.py LIBRARY --update.
"""


def symbols(shared):
    lines = subprocess.run(["nm", "-D", "--defined-only", shared], check=True, capture_output=True, text=True).stdout.splitlines()
    return [f"symbol {line.split()[-1].split('@')[0]}" for line in lines if " mercer_" in line]


def prototypes(code):
    """Types alone: another name for an argument changes nothing."""
    code = re.sub(r"^MERCER_DEFAULTS\((\w+), (\w+), \w+\)", r"MERCER_API void \2(\1 *set, size_t size);", code, flags=re.M)
    for result, name, inside in re.findall(r"^MERCER_API\s+([\w\s*]+?)(mercer_\w+)\((.*?)\);", code, flags=re.S | re.M):
        parts = [re.sub(r"(?<=[\s*])\w+$", "", " ".join(part.split())).strip() for part in inside.split(",") if part.strip() != "void"]
        yield f"call {name}: {result.strip()}({', '.join(parts)})"


def layouts(text):
    """Of the structs that python/generate.py makes, which tests/python/test_header.py compares with the compiler's."""
    made = {}
    exec(generate.generate(text), made)
    for name, value in made.items():
        if isinstance(value, type) and issubclass(value, ctypes.Structure) and value is not ctypes.Structure:
            yield f"struct {name}: {ctypes.sizeof(value)} bytes"
            for field, _ in value._fields_:
                at = getattr(value, field)
                yield f"field {name}.{field}: {at.size} bytes at {at.offset}"
        elif name.startswith("MERCER_"):
            yield f"constant {name} = {value}"
    for number, name in made["STATUS"].items():
        yield f"constant MERCER_{name} = {number}"


def interface(shared):
    text = (ROOT / "include/mercer.h").read_text()
    return sorted({*symbols(shared), *prototypes(generate.without_comments(text)), *layouts(text)})


def grows(gone, header):
    """A struct that begins with its size, or that the library alone makes, may become longer."""
    name = re.match(r"struct (\w+):", gone)
    return bool(name) and (name[1] in MADE_BY_US or f"field {name[1]}.size: 8 bytes at 0" in header)


def main(shared, *rest):
    if ctypes.sizeof(ctypes.c_void_p) != 8:
        print("the list is of a machine of 64 bits")
        return 0
    now = interface(shared)
    if "--update" in rest:
        KEPT.write_text("\n".join(now) + "\n")
        return 0
    kept = KEPT.read_text().splitlines()
    gone, new = [line for line in kept if line not in now], [line for line in now if line not in kept]
    broken = [line for line in gone if not grows(line, now)]
    print("\n".join([f"- {line}" for line in gone] + [f"+ {line}" for line in new]) or f"the interface holds: {len(now)} facts of it")
    print(BROKEN if broken else NEW if new else "", end="")
    return 1 if gone or new else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
