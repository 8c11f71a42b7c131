#!/usr/bin/env python3
"""calls.py HEADER TEST: every public call that takes a context to work with is tried with failing memory in TEST."""
import pathlib
import re
import sys


def main(header, test):
    text, tried = (pathlib.Path(path).read_text() for path in (header, test))
    calls = set(re.findall(r"\b(mercer_\w+)\(mercer_ctx \*ctx", text)) - {"mercer_close"}
    missing = sorted(name for name in calls if not re.search(rf"\b{name}\(", tried))
    print("\n".join(f"{name} is not tried with failing memory in {test}" for name in missing) or f"all {len(calls)} calls are tried")
    return bool(missing)


sys.exit(main(*sys.argv[1:3]))
