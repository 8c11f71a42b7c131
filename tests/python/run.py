#!/usr/bin/env python3
"""run.py [NAME...]: the Python tests, one TAP line each. A test that needs a package that is not there is skipped, visibly."""
import faulthandler
import pathlib
import sys
import time
import unittest
import warnings


class Tap(unittest.TestResult):
    """Says every result as it comes."""

    def startTest(self, test):
        super().startTest(test)
        self._began = time.perf_counter()

    def _say(self, word, test, note=""):
        seconds = time.perf_counter() - self._began
        print(f"{word} {self.testsRun} - {test.id()}{f' ({seconds:.1f} s)' if seconds > 0.5 else ''}{note}", flush=True)

    def addSuccess(self, test):
        self._say("ok", test)

    def addSkip(self, test, reason):
        self._say("ok", test, f" # SKIP {reason}")

    def _complain(self, test, text):
        self._say("not ok", test)
        print("\n".join("# " + line for line in text.splitlines()), flush=True)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._complain(test, self.failures[-1][1])

    def addError(self, test, error):
        super().addError(test, error)
        self._complain(test, self.errors[-1][1])

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self._complain(subtest, (self.failures + self.errors)[-1][1])


def main(names):
    faulthandler.enable()
    try:
        import numpy  # noqa: F401
    except ImportError:
        print("1..0 # SKIP there is no NumPy for this interpreter")
        return 0
    warnings.simplefilter("ignore")
    here = str(pathlib.Path(__file__).resolve().parent)
    sys.path.insert(0, here)
    loader = unittest.TestLoader()
    suite = loader.loadTestsFromNames(names) if names else loader.discover(here)
    result = Tap()
    suite.run(result)
    print(f"1..{result.testsRun}")
    return not result.wasSuccessful()


if __name__ == "__main__":  # children that are spawned import this file
    sys.exit(main(sys.argv[1:]))
