"""The types: every public name says what it takes and gives, the package agrees with itself, and a user's checker sees it."""
import inspect
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import mercer

# Under --strict names count only where the package gives them on.
STRICT = """
from mercer import SVC, KernelRidge, Model, ParameterError, gram, options
import numpy as np

X = np.zeros((4, 2))
model: Model = SVC(C=2.0).fit(X, np.array([0, 1, 0, 1])).model_
score: float = KernelRidge(kernel="rbf").fit(X, [0.0, 1.0, 2.0, 3.0]).score(X, [0.0, 1.0, 2.0, 3.0])
with options(threads=1):
    gram("linear", X)
"""

# A comment that silences nothing is an error, so the last lines fail where the types are not seen.
USER = """
import numpy as np
import mercer

X, y = np.zeros((4, 2)), np.array([0, 1, 0, 1])
classifier = mercer.SVC(C=2.0, kernel="rbf(gamma=1) + linear").fit(X, y)
model: mercer.Model = classifier.model_
score: float = classifier.score(X, y) + mercer.KernelRidge().fit(X, y).score(X, y)
proved: bool = bool(mercer.prove(model.kernel, 2)) and classifier.report_.stopped == "no"
mercer.KernelPCA(2).fit_transform(X).sum()
mercer.SVC(C="one")  # type: ignore[arg-type]
mercer.KernelRidge(gama=1)  # type: ignore[call-arg]
mercer.Modell  # type: ignore[attr-defined]
"""


def public():
    """(name, function) of everything public that is called."""
    for name in mercer.__all__:
        value = getattr(mercer, name)
        if inspect.isfunction(value):
            yield name, value
        for method, found in inspect.getmembers(value) if inspect.isclass(value) else ():
            function = found.fget if isinstance(found, property) else inspect.unwrap(found) if inspect.isroutine(found) else None
            if (not method.startswith("_") or method == "__init__") and (getattr(function, "__module__", None) or "").startswith("mercer"):
                yield f"{name}.{method}", function


class Types(unittest.TestCase):
    def test_everything_public_says_what_it_takes_and_gives(self):
        for name, function in public():
            signature = inspect.signature(function)
            bare = [p for p, row in signature.parameters.items() if row.annotation is row.empty and p not in ("self", "cls")]
            with self.subTest(name=name):
                self.assertEqual(bare, [])
                self.assertIsNot(signature.return_annotation, signature.empty)

    def test_a_strict_checker_finds_every_public_name(self):
        checker = shutil.which("mypy")
        if checker is None:
            self.skipTest("mypy is not installed")
        package = pathlib.Path(mercer.__file__).parent
        every = "".join(f"from mercer import {name} as Public{name}\n" for name in mercer.__all__)
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "user.py").write_text(every + STRICT)
            options = ["--strict", "--follow-imports=silent", "--ignore-missing-imports", "--no-error-summary"]
            run = subprocess.run([checker, *options, "--cache-dir", str(package.parent / ".mypy_cache"), "user.py"], cwd=folder,
                                 capture_output=True, text=True, env=dict(os.environ, MYPYPATH=str(package.parent)))
        self.assertEqual((run.stdout, run.stderr, run.returncode), ("", "", 0))

    def test_a_checker_agrees_with_the_package_and_with_a_user_of_it(self):
        checker = shutil.which("mypy")
        if checker is None:
            self.skipTest("mypy is not installed")
        package = pathlib.Path(mercer.__file__).parent
        self.assertTrue((package / "py.typed").exists())
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "user.py").write_text(USER)
            options = ["--check-untyped-defs", "--ignore-missing-imports", "--warn-unused-ignores", "--no-error-summary"]
            run = subprocess.run([checker, *options, "--cache-dir", str(package.parent / ".mypy_cache"), "user.py"], cwd=folder,
                                 capture_output=True, text=True, env=dict(os.environ, MYPYPATH=str(package.parent)))
        self.assertEqual((run.stdout, run.stderr, run.returncode), ("", "", 0))
