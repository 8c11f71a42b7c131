"""What is given is looked at: missing values, parameters that cannot be, and what messages and docstrings say about them."""
import inspect
import pathlib
import re
import unittest

import numpy as np

import mercer
from mercer import _alone, _parameters, _words

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
X = np.random.RandomState(0).randn(8, 2)


def classes():
    return [getattr(mercer, name) for name in mercer.__all__ if inspect.isclass(getattr(mercer, name))]


def estimators(method="fit"):
    return [kind for kind in classes() if hasattr(kind, "get_params") and hasattr(kind, method)]


def with_target():
    return [kind for kind in estimators("score") if inspect.signature(kind.fit).parameters["y"].default is inspect.Parameter.empty]


def missing_among(good):
    """The labels with one that is missing, in every way that one can be."""
    for nothing in (None, float("nan"), np.float64("nan"), np.datetime64("NaT")):
        yield [*good[:-1], nothing]
        yield np.asarray([*good[:-1], nothing], dtype=object)
    try:
        import pandas
    except ImportError:
        return
    yield pandas.Series([*good[:-1], pandas.NA], dtype="string" if isinstance(good[0], str) else "Int64")
    yield pandas.Series([*good[:-1], None])
    yield pandas.Categorical([*good[:-1], None])
    yield np.asarray([*good[:-1], pandas.NA], dtype=object)


class Missing(unittest.TestCase):
    def test_a_missing_label_is_no_class_and_no_number(self):
        for kind in with_target():
            for good in (["a", "b"] * 4, [0, 1] * 4):
                for y in missing_among(good):
                    with self.subTest(estimator=kind.__name__, y=repr(y)), self.assertRaisesRegex(ValueError, "NaN|numeric"):
                        kind().fit(X, y)

    def test_nor_is_it_for_the_machines_by_name(self):
        for machine in ("svc", "logistic", "knn", "ridge", "svr", "gp"):
            for y in missing_among([0, 1] * 4):
                with self.subTest(machine=machine, y=repr(y)), self.assertRaisesRegex(ValueError, "NaN"):
                    mercer.fit(X, y, machine, "rbf")

    def test_groups_folds_weights_and_rows_are_not_missing_either(self):
        y, bad = np.arange(8.0), list(missing_among([0, 1] * 4))
        for some in bad:
            for call in (lambda: mercer.folds(X, y, groups=some), lambda: mercer.folds(X, y, folds=some),
                         lambda: mercer.tune(X, y, groups=some, lambda_=[1, 2]), lambda: mercer.KernelRidge().fit(X, y, sample_weight=some),
                         lambda: mercer.SVC().fit(X, y > 3, sample_weight=some),
                         lambda: mercer.SVC().fit(np.column_stack([some, y]), y > 3)):
                with self.subTest(some=repr(some)), self.assertRaisesRegex(ValueError, "NaN"):
                    call()

    def test_numbers_as_objects_are_numbers(self):
        self.assertEqual(mercer.fit(X, np.arange(8).astype(object), "ridge", "rbf").labels, [])
        self.assertEqual(mercer.SVC().fit(X, np.asarray([1, 2] * 4, dtype=object)).classes_.dtype.kind, "i")


class Parameters(unittest.TestCase):
    def test_a_parameter_that_cannot_be_is_named(self):
        y = np.arange(8) % 2
        for kind in estimators():
            for name in kind().get_params():
                row = _parameters.row_of(kind.__name__, name)
                if row.kind is None:
                    continue
                wrong = [object()] if row.kind.accepts(object) else object
                with self.subTest(estimator=kind.__name__, parameter=name):
                    with self.assertRaisesRegex(ValueError, f"'{name}' parameter of") as said:
                        kind(**{name: wrong}).fit(X, y)
                    self.assertIsInstance(said.exception, TypeError)

    def test_defaults_are_what_the_table_says(self):
        for kind in estimators():
            _parameters.check(kind())

    def test_the_noise_of_a_process_is_not_negative(self):
        for alpha in (-1, -1e-300, float("nan"), "rubbish", [1.0] * 7 + [-1], [], [[1.0]] * 8, None):
            with self.subTest(alpha=alpha), self.assertRaisesRegex(ValueError, "'alpha' parameter of GaussianProcessRegressor"):
                mercer.GaussianProcessRegressor(alpha=alpha).fit(X, np.arange(8.0))

    def test_weights_of_classes_may_name_more_than_there_are(self):
        y = np.arange(8) % 2
        np.testing.assert_array_equal(mercer.SVC(class_weight={0: 2, 1: 3, 7: 9}).fit(X, y).class_weight_, [2, 3])
        for wrong in ({0: 2, 7: 9}, {0: -1}, {0: float("nan")}, {0: None}, {0: "2"}):
            with self.subTest(class_weight=wrong), self.assertRaisesRegex(ValueError, "class_weight"):
                mercer.SVC(class_weight=wrong).fit(X, y)


class Documentation(unittest.TestCase):
    def test_every_parameter_is_documented_and_nothing_else(self):
        named = set()
        for value in (getattr(mercer, name) for name in mercer.__all__):
            for function, owner, doc in self.documented(value):
                given = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]
                found = re.search(r"\nParameters\n-{10}\n(.*?)(\n\n|\Z)", doc or "", flags=re.S)
                entries = re.findall(r"^\**(\w+) : \S.*\n    (\S.*)$", found.group(1) if found else "", flags=re.M)
                with self.subTest(function=function.__qualname__, owner=owner):
                    self.assertEqual([name for name, _ in entries], given)
                named |= {(owner, name) for name in given}
        alone = {name for kind in (getattr(_alone, name) for name in dir(_alone)) if inspect.isclass(kind)
                 for function in vars(kind).values() if inspect.isfunction(function) for name in inspect.signature(function).parameters}
        self.assertEqual(set(_parameters.ARGUMENTS) - {name for owner, name in named if owner == ""} - alone, set())
        self.assertEqual(set(_parameters.PARAMETERS) - {name for owner, name in named if owner}, set())
        self.assertEqual(set(_parameters.OWN) - named, set())

    def documented(self, value):
        """(function, the estimator whose constructor it is or '', docstring)"""
        if inspect.isfunction(value):
            yield value, "", value.__doc__
        for name, function in inspect.getmembers(value) if inspect.isclass(value) else ():
            function = function.__func__ if inspect.ismethod(function) else function
            if inspect.isfunction(function) and (function.__module__ or "").startswith("mercer"):
                if name == "__init__":
                    yield function, value.__name__ if hasattr(value, "get_params") else "", value.__doc__
                elif not name.startswith("_"):
                    yield function, "", function.__doc__


class Messages(unittest.TestCase):
    def test_a_message_speaks_of_parameters_by_their_names_in_python(self):
        y = np.sin(np.arange(8.0))
        cases = ((lambda: mercer.KernelRidge(alpha=0, kernel="linear", solver="pcg").fit(X, y), r"alpha", r"lambda"),
                 (lambda: mercer.fit(X, y, "ridge", "rbf", lambda_=-1), r"lambda_ must be", r"lambda must"),
                 (lambda: mercer.fit(X, y, "ridge", "linear - 2*rbf(gamma=1)"), r"pass allow_indefinite=True", r"--|in C and Python"),
                 (lambda: mercer.GaussianProcessRegressor("rbf(gamma=1e-9)", alpha=0.0, optimizer=None).fit(X, y), r"larger alpha",
                  r"noise|--"),
                 (lambda: mercer.KernelKNeighborsRegressor(3, weights="distance", kernel="rbf(gama=1)").fit(X, y), r"gama", r"--"))
        for call, said, unsaid in cases:
            with self.subTest(said=said), self.assertRaisesRegex(mercer.Error, said) as raised:
                call()
            self.assertNotRegex(str(raised.exception), unsaid)

    def test_no_sentence_of_the_library_keeps_an_option_of_the_command(self):
        """All texts of the C sources with an option in them, for every estimator and for functions."""
        texts = [text for path in (ROOT / "src").rglob("*.c") if "cli" not in path.parts
                 for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', path.read_text()) if re.search(r"--[a-zA-Z]", text)]
        self.assertGreater(len(texts), 10)
        for owner in (None, "SVC", "KernelRidge", "GaussianProcessRegressor", "KernelPCA"):
            for text in texts:
                with self.subTest(owner=owner, text=text):
                    self.assertNotRegex(_words.in_python(text, owner), r"--[a-zA-Z]")

    def test_what_is_quoted_stays(self):
        self.assertEqual(_words.in_python("ridge: class 'lambda --scale none' has lambda = 1", "KernelRidge"),
                         "KernelRidge: class 'lambda --scale none' has alpha = 1")
