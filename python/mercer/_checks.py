"""scikit-learn's checks of estimators that ours do not pass, each with the reason. There is no other list: older versions of scikit-learn
read it through the estimators' tags, newer ones are given expected_failed_checks. The tests show that every check listed does fail, and
that it passes with the parameters named in its reason."""
from __future__ import annotations

from typing import Any

_REPEATED = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")  # since 1.6
_ZERO = "check_sample_weights_invariance"  # until 1.5

_SCALE = "gamma='scale' looks at the rows and not at their weights, as in scikit-learn, whose own estimator fails this check"
_TOLERANCE = "the answer is optimal up to tol=1e-3, and the order of the rows decides which of those it is"
_UNEQUAL = "nu=0.5 is infeasible for classes of unequal weight; the library says up to which nu it is not"
_BOUNDARY = "support vectors lie on the boundary, and rounding decides whether inside or outside; decision_function agrees"
_ROWS = "n_neighbors counts rows, of which one of weight w has w votes: five rows repeated are fewer neighbours"

# estimator -> check -> (reason, parameters with which the check passes; None: there are none)
_SHARP = {"gamma": 0.3, "tol": 1e-10}
TABLE: dict[str, dict[str, tuple[str, dict[str, Any] | None]]] = {
    "SVC": dict.fromkeys(_REPEATED, (_SCALE, {"gamma": 0.3})),
    "SVR": dict.fromkeys(_REPEATED, (_SCALE, {"gamma": 0.3})),
    "NuSVR": {**dict.fromkeys(_REPEATED, (f"{_SCALE}; {_TOLERANCE}", _SHARP)), _ZERO: (_TOLERANCE, _SHARP)},
    "NuSVC": {**dict.fromkeys(_REPEATED, (_UNEQUAL, {"gamma": 0.3, "nu": 0.2})), "check_class_weight_classifiers": (_UNEQUAL, None)},
    "OneClassSVM": {**dict.fromkeys(_REPEATED, (f"{_SCALE}; {_BOUNDARY}", None)), _ZERO: (_BOUNDARY, None)},
    "KernelKNeighborsClassifier": dict.fromkeys(_REPEATED, (_ROWS, None)),
    "KernelKNeighborsRegressor": dict.fromkeys(_REPEATED, (_ROWS, None)),
}


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """The checks of scikit-learn that an estimator is known to fail, with the reason of each: for check_estimator and
    parametrize_with_checks of scikit-learn 1.6 and later.

    >>> import mercer
    >>> mercer.expected_failed_checks(mercer.KernelRidge())
    {}
    >>> sorted(mercer.expected_failed_checks(mercer.NuSVC()))[0]
    'check_class_weight_classifiers'
    """
    return {check: reason for check, (reason, _) in TABLE.get(type(estimator).__name__, {}).items()}
