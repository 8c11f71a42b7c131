#!/usr/bin/env python3
"""test.py [--long] [LEG...]: the whole test run, leg by leg, with one closing line 'N passed, N failed, N skipped'.

gcc      release build, every test
asan     the other compiler, clang, with AddressSanitizer, UndefinedBehaviorSanitizer and the leak checker, every test but the slow ones
tsan     ThreadSanitizer on the tests of parallel code (clang)
clang    clang's release build, every test but the slow ones: only with --long or by name
--long   every leg with its slow tests, and after gcc LIBSVM's own programs on every small data set of MERCER_DATA
         and the instructions that fixed jobs take"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Lines in traces, and little else to compile and link.
STRICT = ["-Dwerror=true"]  # here and nowhere else: a warning of a compiler to come must not stop whoever only wants to build
SANITIZED = STRICT + ["-Dbuildtype=plain", "-Doptimization=1", "-Dc_args=-g1", "-Db_lundef=false"]
# Nobody goes on after what is undefined: the programs need not be able to.
ADDRESSES = ["-Db_sanitize=address,undefined", "-Dc_args=-g1 -fno-sanitize-recover=undefined"]
FEWER = {"MERCER_TEST_SPARSE": "12", "MERCER_TEST_SHAPES": "15", "MERCER_TEST_ROUNDS": "200"}  # the gcc leg and --long try all
MORE = {"MERCER_TEST_MOMENTS": "50", "MERCER_TEST_SPOILT": "all"}  # with --long
LEGS = {
    "gcc": dict(cc="gcc", build="build", setup=STRICT, only=[], skip=[]),
    "asan": dict(cc="clang", build="build-asan", setup=SANITIZED + ADDRESSES, only=[], skip=["slow"],
                 environment=FEWER),
    "tsan": dict(cc="clang", build="build-tsan", setup=SANITIZED + ["-Db_sanitize=thread"], only=["parallel"], skip=["slow"],
                 environment={**FEWER, "MERCER_TEST_SHAPES": "8"}),  # ten times as slow as without
    "clang": dict(cc="clang", build="build-clang", setup=STRICT, only=[], skip=["slow"]),
}
EVERY_TIME = ["gcc", "asan", "tsan"]
ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1",
    "LSAN_OPTIONS": f"suppressions={ROOT / 'tests/leaks.txt'}:print_suppressions=0",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "TSAN_OPTIONS": "ignore_noninstrumented_modules=1:die_after_fork=0",  # BLAS is not built with it
}


def run(command, environment, log):
    with open(log, "a") as out:
        return subprocess.run(command, cwd=ROOT, env=environment, stdout=out, stderr=subprocess.STDOUT).returncode


def count(test):
    """[passed, failed, skipped] of one test: its TAP lines where it prints them, itself otherwise. A C test that skips itself says
    '# skipped: why' and passes (tests/support.h).

    >>> count(dict(result="OK", stdout="1..3\\nok 1 - a\\n# skipped: no such processor\\nok 2 - b\\nok 3 - c # SKIP"))
    [1, 0, 2]
    >>> count(dict(result="FAIL", stdout="ok 1 - a\\nnot ok 2 - b")), count(dict(result="FAIL")), count(dict(result="OK"))
    ([1, 1, 0], [0, 1, 0], [1, 0, 0])
    >>> count(dict(result="SKIP", stdout="1..0 # SKIP nothing here"))
    [0, 0, 1]
    """
    lines = test.get("stdout", "").splitlines()
    skipped = sum(l.startswith("ok ") and "# SKIP" in l or l.startswith("# skipped: ") for l in lines)
    passed = sum(l.startswith("ok ") for l in lines) - skipped
    failed = sum(l.startswith("not ok ") for l in lines)
    if test["result"] == "SKIP":
        return [0, 0, 1]
    if test["result"] == "OK":
        return [passed if passed + skipped else 1, 0, skipped]
    return [passed, max(failed, 1), skipped]


def complaint(test):
    """What a person needs of a failed test: of a long list the lines that failed, with what is said under them.

    >>> print(complaint(dict(stdout="not ok 1 - b\\n# because\\n" + "ok 2 - a long list\\n" * 500)))
    not ok 1 - b
    # because
    """
    text, kept, failed = test.get("stdout", "") + test.get("stderr", ""), [], False
    for line in text.splitlines():
        failed = line.startswith("not ok ") or failed and line.startswith("# ")
        kept += [line] * failed
    return text if len(text) <= 4000 else ("\n".join(kept) or text)[-4000:]


def read_log(path):
    total, failures = [0, 0, 0], []
    for line in open(path, encoding="utf-8", errors="replace"):
        test = json.loads(line)
        counts = count(test)
        total = [a + b for a, b in zip(total, counts)]
        if counts[1]:
            failures.append((test["name"], complaint(test)))
    return total, failures


def targets(spec, folder):
    """What to build: everything, or the programs of the only suites that run."""
    tests = json.load(open(folder / "meson-info/intro-tests.json"))
    mine = [t for t in tests if any(label.endswith(f":{suite}") for label in t["suite"] for suite in spec["only"])]
    return [os.path.relpath(t["cmd"][0], folder) for t in mine]


def build(spec, environment, log):
    folder = ROOT / spec["build"]
    if not (folder / "build.ninja").exists() and run(["meson", "setup", str(folder), *spec["setup"]], environment, log):
        return False
    return run(["ninja", "-C", str(folder), *targets(spec, folder)], environment, log) == 0


def seed(long):
    """$MERCER_TEST_SEED, or a fixed one, so that a run can be repeated; with --long one that the commit decides: each draws other data."""
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout[:8] if long else ""
    return {"MERCER_TEST_SEED": os.environ.get("MERCER_TEST_SEED") or str(int(head, 16) if head else 20261115)}


def fast_linker():
    """Each test is a program with the whole library in it: LLVM's linker takes a fifth of the time of the usual one."""
    return {"CC_LD": "lld"} if shutil.which("ld.lld") and "CC_LD" not in os.environ else {}


def leg(name, long):
    """Configure, build and test one leg; its counts."""
    spec = LEGS[name]
    environment = dict(os.environ, CC=spec["cc"], **fast_linker(), **seed(long), **ENVIRONMENT, **(MORE if long else spec.get("environment", {})))
    log, began = ROOT / f"{spec['build']}.log", time.time()
    log.unlink(missing_ok=True)
    if not build(spec, environment, log):
        print(log.read_text()[-6000:])
        print(f"{name}: the build failed ({log})")
        return [0, 1, 0]
    command = ["meson", "test", "-C", spec["build"], "--no-rebuild", "--timeout-multiplier", "4"]
    command += [f"--suite={suite}" for suite in spec["only"]] + [f"--no-suite={suite}" for suite in spec["skip"]]
    record = ROOT / spec["build"] / "meson-logs/testlog.json"
    record.unlink(missing_ok=True)
    run(command, environment, log)
    total, failures = read_log(record)
    for test, text in failures:
        print(f"---- {name}: {test} failed\n{text}")
    log.unlink(missing_ok=True)
    print(f"{name:6} {total[0]:5} passed {total[1]:3} failed {total[2]:3} skipped   {time.time() - began:.0f} s", flush=True)
    return total


def script(name, what, command):
    """A script that exits with 0 or, where it cannot run, 77: its counts."""
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True)
    if done.returncode not in (0, 77):
        print(done.stdout[-4000:] + done.stderr[-2000:])
    total = [int(done.returncode == code) for code in (0, None, 77)]
    total[1] = 1 - total[0] - total[2]
    print(f"{name:6} {total[0]:5} passed {total[1]:3} failed {total[2]:3} skipped   {what}", flush=True)
    return total


def main(arguments):
    if "--long" in arguments:
        for spec in LEGS.values():
            spec["skip"] = []
    chosen = [a for a in arguments if not a.startswith("--")] or (list(LEGS) if "--long" in arguments else EVERY_TIME)
    totals = [leg(name, "--long" in arguments) for name in chosen]
    if "--long" in arguments and "gcc" in chosen:
        totals.append(script("libsvm", "every small data set", ["tests/model/libsvm.py", "build/mercer", "--all"]))
        totals.append(script("counts", "instructions of fixed jobs", ["bench/instructions.py", "build/mercer"]))
    passed, failed, skipped = (sum(t[i] for t in totals) for i in range(3))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return bool(failed or not passed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
