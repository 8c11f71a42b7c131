"""scikit-learn's own checks of estimators, all of them, for every estimator with its defaults."""
import inspect
import unittest

import mercer

try:
    from sklearn.utils import estimator_checks
    from sklearn.base import BaseEstimator
except ImportError:
    estimator_checks = None


def estimators():
    return [value for value in (getattr(mercer, name) for name in mercer.__all__) if inspect.isclass(value) and issubclass(value, BaseEstimator)]


class Checks(unittest.TestCase):
    @unittest.skipIf(estimator_checks, "")
    def test_checks(self):
        self.skipTest("scikit-learn is not installed")

    @unittest.skipUnless(estimator_checks, "scikit-learn is not installed")
    def test_the_expected_failures_of_support_vectors_are_of_the_tolerance_alone(self):
        for machine in (mercer.SVC, mercer.NuSVC, mercer.SVR, mercer.NuSVR):
            with self.subTest(machine=machine.__name__):
                estimator_checks.check_sample_weights_invariance(machine.__name__, machine(tol=1e-10), kind="zeros")


def add(estimator, check, number):
    def test(self):
        check(estimator)
    name = getattr(check, "func", check).__name__
    setattr(Checks, f"test_{type(estimator).__name__}_{number:02d}_{name}", test)


if estimator_checks:
    for kind in estimators():
        for number, (estimator, check) in enumerate(estimator_checks.check_estimator(kind(), generate_only=True)):
            add(estimator, check, number)
