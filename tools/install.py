#!/usr/bin/env python3
"""install.py BUILD: what is installed can be used: a program compiles and links by pkg-config, with the shared library and all static, and
runs; and `make install PREFIX=X` installs to X whatever the build folder was set up with. Exits with 77 where tools are missing."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = r"""
#include <math.h>
#include <mercer.h>
#include <stdio.h>
int main(int argc, char **argv) {
    mercer_ctx *ctx = NULL;
    mercer_kernel *kernel = NULL;
    (void)argv;
    if (mercer_open(NULL, &ctx) || mercer_kernel_parse(ctx, "rbf(gamma=0.5)", &kernel))
        return 1;
    printf("%s %.4f\n", mercer_kernel_text(kernel), exp((double)argc));
    mercer_kernel_free(kernel);
    mercer_close(ctx);
    return 0;
}
"""


def output(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def link(folder, pc, prefix, static):
    """The program's own words, once it is built the way a stranger would."""
    environment = dict(os.environ, PKG_CONFIG_PATH=f"{pc}:{os.environ.get('PKG_CONFIG_PATH', '')}")
    words = ["--cflags", "--libs"] + (["--static"] if static else [])
    flags = output("pkg-config", f"--define-variable=prefix={prefix}", *words, "mercer", env=environment).split()
    assert "-lm" in flags, f"pkg-config says {flags}, without the C library's mathematics"
    program = folder / ("static" if static else "shared")
    output("cc", *(["-static"] if static else []), folder / "program.c", "-o", program, *flags)
    return output(program, env=dict(environment, LD_LIBRARY_PATH=str(pc.parent)))


def check_prefix(build):
    """Only what make would run: to install from the folder that others test would change it under them."""
    said = output("make", "-n", "-C", ROOT, "install", "PREFIX=/some/where", f"BUILD={build}")
    assert "--prefix=/some/where" in said, f"make install PREFIX=/some/where runs\n{said}"


def main(build):
    if not all(map(shutil.which, ("cc", "make", "pkg-config", "meson"))):
        print("cc, make, pkg-config or meson is missing")
        return 77
    check_prefix(build)
    with tempfile.TemporaryDirectory(prefix="mercer-install-") as name:
        folder = pathlib.Path(name)
        output("meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", folder / "root")
        pc = next((folder / "root").rglob("mercer.pc")).parent
        prefix = next((folder / "root").rglob("include/mercer.h")).parent.parent
        (folder / "program.c").write_text(PROGRAM)
        for static in (False, True):
            assert link(folder, pc, prefix, static) == "rbf(gamma=0.5) 2.7183\n"
    print("what is installed links and runs, shared and static")
    return 0


sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
