"""python -m mercer: the command."""
import os
import pathlib
import shutil
import sys
import sysconfig


def command():
    """The command of this package: named by the user, in the build folder it lies in, installed with it, or on the path."""
    here = pathlib.Path(__file__).resolve().parent
    schemes = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")]
    for path in (os.environ.get("MERCER_COMMAND"), here.parent.parent / "mercer", *(pathlib.Path(s) / "mercer" for s in schemes)):
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
