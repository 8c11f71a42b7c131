"""python -m mercer: the command."""
import os
import pathlib
import shutil
import sys


def command():
    """The command of this package: named by the user, in the build folder it lies in, in the bin beside it (pip install --target) or beside
    the lib it is in (any other way to install), or on the path."""
    here = pathlib.Path(__file__).resolve().parent
    bins = [up / "bin" / "mercer" for up in list(here.parents)[:4]]
    for path in (os.environ.get("MERCER_COMMAND"), here.parent.parent / "mercer", *bins):
        if path and os.path.isfile(path) and os.access(path, os.X_OK):
            return str(path)
    return shutil.which("mercer")


def main():
    path = command()
    if path is None:
        sys.exit("mercer: the command is not installed beside this package")
    os.execv(path, ["mercer", *sys.argv[1:]])


if __name__ == "__main__":
    main()
