"""scikit-learn's own checks of estimators, all of them, for every estimator with its defaults, in every version of it since 1.2."""
import inspect
import pathlib
import re
import unittest

import numpy as np

import mercer
from mercer import _checks

try:
    from sklearn.base import BaseEstimator
    from sklearn.utils import estimator_checks
except ImportError:
    estimator_checks = None

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent.parent / "docs/python.md"


def estimators():
    values = (getattr(mercer, name) for name in mercer.__all__)
    return [value for value in values if inspect.isclass(value) and issubclass(value, BaseEstimator)]


def checks_of(estimator):
    """(estimator, check) of every check that scikit-learn has for it; those expected to fail skip themselves and say why."""
    if not hasattr(estimator_checks, "estimator_checks_generator"):
        return estimator_checks.check_estimator(estimator, generate_only=True)
    expected = mercer.expected_failed_checks(estimator)
    return estimator_checks.estimator_checks_generator(estimator, expected_failed_checks=expected, mark="skip")


def run(check, estimator):
    check(type(estimator).__name__, estimator, **({"kind": "zeros"} if "kind" in inspect.signature(check).parameters else {}))


@unittest.skipUnless(estimator_checks, "scikit-learn is not installed")
class Checks(unittest.TestCase):
    def test_expected_failures_do_fail_and_pass_with_the_parameters_that_explain_them(self):
        seen = 0
        for estimator, rows in _checks.TABLE.items():
            for name, (_, cure) in rows.items():
                check = getattr(estimator_checks, name, None)
                if check is None:
                    continue  # of another version
                with self.subTest(estimator=estimator, check=name):
                    seen += 1
                    with self.assertRaises((AssertionError, mercer.InvalidError)):
                        run(check, getattr(mercer, estimator)())
                    if cure is not None:
                        run(check, getattr(mercer, estimator)(**cure))
        self.assertGreater(seen, 0)

    def test_a_region_of_repeated_rows_is_that_of_weights(self):
        rng = np.random.RandomState(42)
        X, weights = rng.rand(15, 30), rng.randint(0, 5, size=15)
        weighted, repeated = (mercer.OneClassSVM(gamma=0.3, tol=1e-10) for _ in range(2))
        weighted.fit(X, sample_weight=weights)
        np.testing.assert_allclose(weighted.decision_function(X), repeated.fit(X.repeat(weights, axis=0)).decision_function(X), atol=1e-8)

    def test_the_document_lists_the_same(self):
        rows = re.findall(r"^\| `(\w+)` \| (`check_.*) \| (.*) \|$", DOCUMENT.read_text(), flags=re.M)
        said = {(estimator, check): reason for estimator, checks, reason in rows for check in re.findall(r"`(\w+)`", checks)}
        ours = {(estimator, check): reason for estimator, checks in _checks.TABLE.items() for check, (reason, _) in checks.items()}
        self.assertEqual(said, ours)


def add(estimator, check, number):
    def test(self):
        check(estimator)
    name = getattr(check, "func", check).__name__
    setattr(Checks, f"test_{type(estimator).__name__}_{number:02d}_{name}", test)


if estimator_checks:
    for kind in estimators():
        for number, (estimator, check) in enumerate(checks_of(kind())):
            add(estimator, check, number)
