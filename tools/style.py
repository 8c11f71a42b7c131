#!/usr/bin/env python3
"""style.py ROOT: what the style guide can check by machine: sizes of files and functions, where threads and malloc may stand, names that
mean one thing, functions called by a verb and its object."""
import collections
import pathlib
import re
import sys

FILE_LINES, TEST_LINES, FUNCTION_LINES, COLUMNS = 600, 700, 60, 120  # a test file is a list of claims
HEADER_LINES = 1330  # the public header is the manual as well
LIBSVM_WARNS = {f"src/libsvm/{name}.c" for name in ("check_parameter", "class_groups", "cross_validation", "solve_problem")}  # on standard error
ONLY_IN = {  # a pattern and the one place it may stand
    r"#\s*pragma omp": set(),
    r"\bpthread_create\s*\(": {"src/base/threads.c"},
    r"\b(malloc|calloc|realloc|free)\s*\(": {"src/base/memory.c", "src/base/spare_blocks.c", "src/libsvm/model_memory.c"},
    r"\b(abort|exit|printf|perror|fprintf)\s*\(": LIBSVM_WARNS,
    r"\brand\s*\(|\bsrand\s*\(": {"src/libsvm/platt_folds.c", "src/libsvm/cross_validation.c"},  # LIBSVM's folds
    r"\b(v?sn?printf|strto[df]|strtold|atof)\s*\(": {"src/base/print.c"},  # the caller's locale may have a decimal comma
    r"\b(TODO|FIXME|XXX)\b": set(),
}
ONE_WORD = set(  # functions that need no second word: BLAS's and LAPACK's names and how they see a matrix,
    """gemm gemv syrk trmm trsm trsv trtri trtrs potrf potri potrs pstrf lauum ormtr syevd sytrd dot packed submatrix transposed
    alloc free sort hash print vprint fail for main prove
    iv beta binomial half moment sphere stirling""".split())  # the C library's, intervals and the functions of mathematics
NOWHERE = r"\bsetlocale\s*\("  # the command itself reads and writes numbers in the locale "C"
NOT_A_FUNCTION = re.compile(r"^(typedef|struct|enum|union|extern)\b")


def long_functions(lines):
    """(first line, length) of functions over the limit: a body opens with '{' at the end of a line that starts in column 0."""
    start = None
    for number, line in enumerate(lines, 1):
        opens = re.match(r"^[A-Za-z_ ].*\)\s*\{\s*$", line) and not line.startswith("    ") and not NOT_A_FUNCTION.match(line)
        if start is None and opens:
            start = number
        elif line.startswith("}") and start is not None:
            if number - start > FUNCTION_LINES:
                yield start, number - start
            start = None


def one_word_functions(lines):
    """(line, name) of functions whose name says what they do but not to what; the public header's verbs are read in its manual."""
    for number, line in enumerate(lines, 1):
        found = re.match(r"^(?!typedef|struct|enum|union|extern|return|else|#|[A-Z_]+\()[A-Za-z_][\w ]*[ *](?:F\(|mc_)?([a-z]\w*)\)?\(", line)
        vector = r"v[a-z0-9]+"  # vexp2, vmin: a function of a vector of numbers is called as that of one
        if found and "=" not in line.split("(")[0] and re.fullmatch(r"[a-z0-9]+", found[1]):
            if found[1] not in ONE_WORD and not (" F(v" in line and re.fullmatch(vector, found[1])):
                yield number, found[1]


def faults_in(name, text):
    lines = text.splitlines()
    limit = TEST_LINES if name.startswith("tests/") else HEADER_LINES if name.startswith("include/") else FILE_LINES
    if len(lines) > limit:
        yield f"{name}: {len(lines)} lines, over {limit}"
    for start, length in long_functions(lines):
        yield f"{name}:{start}: a function of {length} lines, over {FUNCTION_LINES}"
    for number, function in one_word_functions(lines) if name.startswith("src/") else ():
        yield f"{name}:{number}: a function called {function}: what does it do, and to what?"
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS:
            yield f"{name}:{number}: {len(line)} columns, over {COLUMNS}"
        if line.rstrip() != line or "\t" in line:
            yield f"{name}:{number}: a tab or trailing space"
        code = re.sub(r'"(\\.|[^"\\])*"|/\*.*?(\*/|$)', "", line)
        if name.startswith("src/") and re.search(NOWHERE, code):
            yield f"{name}:{number}: {NOWHERE} does not belong here"
        if name.startswith("src/") and not name.startswith(("src/cli/", "src/draw/", "src/libsvm/command/", "src/backend/cuda/", "src/base/mpi/")):  # a program, a library apart
            for pattern, places in ONLY_IN.items():
                if name not in places and re.search(pattern, code):
                    yield f"{name}:{number}: {pattern} does not belong here"


def defined_types(text):
    return re.findall(r"^typedef (?:struct|enum|union)\b[^{};]*\{[^}]*(?:\{[^}]*\}[^}]*)*\}\s*(\w+);", text, re.M)


def repeated_names(files, root):
    """A file name and the name of a type mean one thing in all of src/."""
    places = collections.defaultdict(set)
    for file in files:
        place = str(file.relative_to(root))
        places[f"the file name {file.name}"].add(place)
        for name in defined_types(file.read_text()):
            places[f"the type {name}"].add(place)
    for what, where in sorted(places.items()):
        if len(where) > 1:
            yield f"{what} stands for several things: {', '.join(sorted(where))}"


def main(root):
    root = pathlib.Path(root)
    faults = []
    for folder in ("src", "include", "tests", "examples", "bench"):
        for file in sorted((root / folder).rglob("*.[ch]")):
            faults += faults_in(str(file.relative_to(root)), file.read_text())
    faults += repeated_names(sorted((root / "src").rglob("*.[ch]")), root)
    print("\n".join(faults) or "the style holds")
    return bool(faults)


sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "."))
