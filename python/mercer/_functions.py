"""What can be asked of a kernel: proofs, shapes, Gram matrices, features."""
from __future__ import annotations

import ctypes

import numpy as np

from . import _arrays, _header, _model
from ._library import Handle, lib, parse, record, session, text
from ._types import ArrayLike, NDArray, Rows

_VERDICTS = ("proved", "refuted", "unknown")


class Proof:
    """The answer of prove: verdict ('proved', 'refuted', 'unknown'), canonical (the expression), domain (the points for which it has a
    value, '' where it has one everywhere), derivation (steps with claim, rule, because, premises), witness (kernel: the expression with a
    value for all that it leaves open; points, texts by column, weights, value, bound; None unless refuted by points), frequency (kernel, frequency, mean,
    value, bound: at that frequency the Fourier transform is negative, or the mean over all points is; with a series, coefficient number
    order of that power series is; None unless refuted so), order (of what is not proved: 1 where it is
    conditionally positive definite, 2 where it is so of order 2, which the derivation then derives; else 0), proof_object (all of it as
    JSON, for programs that check it without Mercer). As text it is the whole argument; it counts
    as true when proved."""

    def __init__(self, canonical: str, verdict: str, argument: str, domain: str, derivation: list[_model.Record],
                 witness: _model.Record | None, order: int = 0, proof_object: str = "",
                 frequency: _model.Record | None = None) -> None:
        self.canonical, self.verdict, self.argument, self.domain = canonical, verdict, argument, domain
        self.derivation, self.witness, self.order, self.proof_object = derivation, witness, order, proof_object
        self.frequency = frequency

    def __bool__(self):
        return self.verdict == "proved"

    def __str__(self):
        return self.argument

    def __repr__(self):
        return f"<mercer.Proof: {self.canonical} is {self.verdict}>"


def _step(step):
    premises = ctypes.cast(step.premises, ctypes.POINTER(ctypes.c_int))
    return _model.Record(claim=text(step.claim), rule=text(step.rule), because=text(step.because),
                         premises=[premises[i] for i in range(step.premise_count)])


def _numbers(address, *shape):
    """A copy of doubles that belong to the library."""
    count = int(np.prod(shape))
    return np.array((ctypes.c_double * count).from_address(address)).reshape(shape) if count else np.empty(shape)


def _witness(found):
    if not found:
        return None
    w = found.contents
    return _model.Record(kernel=text(w.kernel), points=_numbers(w.points, w.count, w.d), weights=_numbers(w.weights, w.count),
                         value=w.value, bound=w.bound, texts=_texts(w))


def _texts(w):
    """Of every column of text, by its name, those of the points."""
    held = [ctypes.cast(a, ctypes.POINTER(ctypes.c_char_p)) for a in (w.text, w.text_column)]
    return {text(held[1][t]): [text(held[0][i * w.texts + t]) for i in range(w.count)] for t in range(w.texts)}


def _frequency(found):
    if not found:
        return None
    w = found.contents
    return _model.Record(kernel=text(w.kernel), frequency=_numbers(w.frequency, w.d), mean=bool(w.mean), value=w.value, bound=w.bound,
                         series=text(w.series) if w.series else None, order=w.order)


def prove(kernel: str, d: int = 0) -> Proof:
    """Whether an expression is a positive definite kernel on R^d (d=0: whatever the expression allows), with the reasons.

    >>> import mercer
    >>> bool(mercer.prove("exp(0.3*linear) + rbf(gamma=2)"))
    True
    >>> refuted = mercer.prove("linear - 2*rbf(gamma=1)", 1)
    >>> refuted.verdict, bool(refuted.witness.value < 0)
    ('refuted', True)
    """
    with session() as context:
        expression = parse(context, kernel)
        proof = Handle(context.make("mercer_prove", expression, d), "proof")
        steps = [_step(lib.mercer_proof_step(proof, i).contents) for i in range(lib.mercer_proof_steps(proof))]
        return Proof(text(lib.mercer_kernel_text(expression)), _VERDICTS[lib.mercer_proof_verdict(proof)],
                     text(lib.mercer_proof_text(proof)), text(lib.mercer_proof_domain(proof)), steps,
                     _witness(lib.mercer_proof_witness(proof)), lib.mercer_proof_order(proof),
                     text(lib.mercer_proof_object(proof)), _frequency(lib.mercer_proof_frequency(proof)))


def _bound(context, kernel, X, fitted=None):
    """The kernel with every parameter it takes from the rows X, or from those of a fit, put in, and the rows X."""
    data, expression = _arrays.data(context, X), parse(context, kernel)
    seen = data if fitted is None else _arrays.data(context, fitted)
    return Handle(context.make("mercer_kernel_bind", expression, seen), "kernel"), data


def gram(kernel: str, X: Rows, Y: Rows | None = None) -> NDArray:
    """K(x_i, z_j) for the rows of X and of Y (X itself without Y), n x m. Parameters left open come from X.

    >>> import mercer
    >>> mercer.gram("(1 + linear)^2", [[1.0], [2.0]]).tolist()
    [[4.0, 9.0], [9.0, 25.0]]
    """
    return fitted_gram(kernel, None, _arrays.check_rows(X, "gram"), None if Y is None else _arrays.check_rows(Y, "gram"))


def fitted_gram(kernel, fitted, X, Y=None):
    """The same for checked rows and a kernel that was fitted to others: texts to predict for may be shorter than any it could be fitted to."""
    out = np.empty((X.shape[0], (X if Y is None else Y).shape[0]))
    with session() as context:
        bound, data = _bound(context, kernel, X, fitted)
        other = None if Y is None else _arrays.data(context, Y)
        context.call("mercer_gram", bound, data, other, out.ctypes.data)
    return out


def gram_apply(kernel: str, X: Rows, V: ArrayLike, Y: Rows | None = None, *, single: bool = False) -> NDArray:
    """K V without storing K, V a vector or a matrix with a row for each row of Y (of X without Y). Parameters left open come from X.
    single: in single precision, about twice as fast.

    >>> import mercer
    >>> mercer.gram_apply("linear", [[1.0], [2.0]], [1.0, 1.0]).tolist()
    [3.0, 6.0]
    """
    X = _arrays.check_rows(X, "gram_apply")
    Y = None if Y is None else _arrays.check_rows(Y, "gram_apply")
    values = np.ascontiguousarray(V, dtype=np.float64)
    _arrays.check_length((X if Y is None else Y).shape[0], values, "V")
    out = fitted_gram_apply(kernel, None, X, values.reshape(len(values), -1), Y, single)
    return out[:, 0] if values.ndim == 1 else out


def fitted_gram_apply(kernel, fitted, X, columns, Y=None, single=False):
    """The same for checked rows and a kernel that was fitted to others."""
    out = np.empty((X.shape[0], columns.shape[1]))
    with session() as context:
        bound, data = _bound(context, kernel, X, fitted)
        other = None if Y is None else _arrays.data(context, Y)
        context.call("mercer_gram_apply", bound, data, other,
                     _header.MERCER_F32 if single else _header.MERCER_F64, columns.ctypes.data, columns.shape[1], out.ctypes.data)
    return out


def _shape(kernel, d):
    out = _header.mercer_shape()
    lib.mercer_kernel_shape(kernel, d, ctypes.byref(out))
    return out


def shape(kernel: str, d: int) -> _model.Record:
    """What is known of a kernel on R^d: stationary, isotropic, dot_product, normalised, bounded, bound, and the dimension of its feature
    space (-1: infinite or unknown).

    >>> import mercer
    >>> mercer.shape("(1 + linear)^2", 3).dimension, mercer.shape("rbf(gamma=1)", 3).stationary
    (10, True)
    """
    with session() as context:
        return _model.Record(record(_shape(parse(context, kernel), d)))


def parameters(kernel: str) -> dict[str, float]:
    """The numbers of an expression that can be chosen, such as a fit chooses them, by name; NaN where one comes from the data.

    >>> import mercer
    >>> mercer.parameters("2*rbf(gamma=0.5) + matern(length_scale=3)")
    {'factor': 2.0, 'rbf.gamma': 0.5, 'matern.length_scale': 3.0}
    """
    with session() as context:
        at = parse(context, kernel)
        return {text(lib.mercer_kernel_parameter_name(at, i)): lib.mercer_kernel_parameter(at, i)
                for i in range(lib.mercer_kernel_parameters(at))}


def feature_map(kernel: str, X: Rows) -> NDArray:
    """The map phi with k(x, z) = <phi(x), phi(z)> of a kernel whose feature space has a finite dimension: a row for each of X.

    >>> import mercer, numpy as np
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> phi = mercer.feature_map("(1 + linear)^2", X)
    >>> phi.shape, bool(np.allclose(phi @ phi.T, mercer.gram("(1 + linear)^2", X)))
    ((3, 6), True)
    """
    X = _arrays.check_rows(X, "feature_map")
    with session() as context:
        bound, data = _bound(context, kernel, X)
        dimension = _shape(bound, X.shape[1]).dimension
        out = np.empty((X.shape[0], max(dimension, 0)))
        context.call("mercer_features", bound, data, out.ctypes.data)
    return out


def bound_text(kernel: str, X: Rows) -> str:
    """An expression with every parameter it takes from the rows X put in."""
    with session() as context:
        return text(lib.mercer_kernel_text(_bound(context, kernel, X)[0]))


def _square(K: ArrayLike) -> np.ndarray:
    K = np.ascontiguousarray(K, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"a Gram matrix is square, got shape {K.shape}")
    return K


def gram_check(K: ArrayLike) -> _model.Record:
    """Facts about a square matrix that a Gram matrix must satisfy: symmetry, eigenvalues, Cauchy-Schwarz, rank.

    >>> import mercer
    >>> mercer.gram_check([[1.0, 2.0], [2.0, 1.0]]).positive
    False
    """
    K = _square(K)
    facts = _header.mercer_gram_facts()
    with session() as context:
        context.call("mercer_gram_check", K.ctypes.data, K.shape[0], ctypes.byref(facts))
    return _model.Record(record(facts))


def gram_prove(K: ArrayLike) -> _model.Record:
    """Is a square matrix positive semidefinite, with every rounding error bounded? verdict: 'proved' (no eigenvalue is below bound), 'refuted'
    (w'Kw / w'w is at most bound for w = weights, or K is not symmetric by asymmetry) or 'unknown' (rounding hides the sign).

    >>> import mercer
    >>> mercer.gram_prove([[1.0, 2.0], [2.0, 1.0]]).verdict
    'refuted'
    """
    K = _square(K)
    proof, weights = _header.mercer_gram_proof(), np.zeros(len(K))
    with session() as context:
        context.call("mercer_gram_prove", K.ctypes.data, K.shape[0], weights.ctypes.data, ctypes.byref(proof))
    return _model.Record(verdict=_VERDICTS[proof.verdict], bound=proof.bound, rounding=proof.rounding, asymmetry=proof.asymmetry,
                         weights=weights)


def gram_repair(K: ArrayLike, keep_diagonal: bool = False) -> _model.Record:
    """The nearest positive semidefinite matrix to a square one in the Frobenius norm, proved to be one. matrix: it; distance from K, relative: that
    by the norm of K; least: no positive semidefinite matrix (with keep_diagonal: with the diagonal of K, as of a correlation) is nearer;
    bound: no eigenvalue of matrix is below; largest: what an entry moved by at most, at moved; eigenvalue_min and negative: the least
    eigenvalue of K and how many are below 0; iterations.

    >>> import mercer
    >>> r = mercer.gram_repair([[1.0, 2.0], [2.0, 1.0]])
    >>> r.matrix.round(6), round(r.distance, 6), mercer.gram_prove(r.matrix).verdict
    (array([[1.5, 1.5],
           [1.5, 1.5]]), 1.0, 'proved')
    """
    K = _square(K)
    out, facts = np.empty_like(K), _header.mercer_gram_repaired()
    with session() as context:
        context.call("mercer_gram_repair", K.ctypes.data, K.shape[0], bool(keep_diagonal), out.ctypes.data, ctypes.byref(facts))
    return _model.Record(matrix=out, **record(facts))


def gram_factor(K: ArrayLike, tolerance: float = 0.0) -> _model.Record:
    """P with K = P'P of a positive semidefinite matrix, by Cholesky's factorisation with the largest diagonal entry first. P: rank rows; what is left,
    K - P'P, has a norm of at most residual, and relative by that of K; diagonal entries of at most tolerance (as given: by the largest of
    K; 0: rounding) are left out. A matrix without a factor is an error.

    >>> import mercer
    >>> f = mercer.gram_factor([[4.0, 2.0], [2.0, 1.0]])
    >>> f.P, f.rank, f.residual < 1e-13
    (array([[2., 1.]]), 1, True)
    """
    K = _square(K)
    P, facts = np.empty_like(K), _header.mercer_gram_factored()
    with session() as context:
        context.call("mercer_gram_factor", K.ctypes.data, K.shape[0], float(tolerance), P.ctypes.data, ctypes.byref(facts))
    return _model.Record(P=P[:facts.rank].copy(), **record(facts))
