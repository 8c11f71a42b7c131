#!/usr/bin/env python3
"""embed.py OUT FILE...: a header with each file as a string, mc_source_NAME, for sources that are compiled at run time."""
import pathlib
import sys


def string_of(path):
    lines = path.read_text().splitlines()
    body = ", ".join(str(b) for line in lines for b in (line + "\n").encode())
    return f"static const char mc_source_{path.stem}[] = {{{body}, 0}};\n"


def main(out, *files):
    text = "/* Made by tools/embed.py. */\n" + "".join(string_of(pathlib.Path(f)) for f in files)
    pathlib.Path(out).write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
