"""kernel=: scikit-learn's names with its parameters, any expression of the kernel language, 'precomputed', or a function.

The bare names mean what they mean in scikit-learn, defaults included; everything else is read by the library. sigmoid is not positive
definite: it becomes tanh, and the machines that can are told to fit it all the same. A function is called once for a fit and once for a
prediction, and what it gives is a precomputed matrix."""
import numpy as np

from ._arrays import is_sparse
from ._objects import are_objects, refuse_objects

# name -> (template, parameters it takes); gamma, degree and coef0 are put in as numbers that read back to the same double
SKLEARN = {
    "linear": "linear",
    "rbf": "rbf(gamma={gamma})",
    "poly": "poly(degree={degree}, c={coef0}, gamma={gamma})",
    "polynomial": "poly(degree={degree}, c={coef0}, gamma={gamma})",
    "sigmoid": "tanh(a={gamma}, c={coef0})",
    "laplacian": "laplacian(gamma={gamma})",
    "chi2": "chi2(gamma={gamma})",
    "cosine": "cosine",
}


# What they are at gamma = 0, which the language does not take: the same for all rows.
CONSTANT = {"rbf": lambda degree, coef0: 1, "laplacian": lambda degree, coef0: 1, "chi2": lambda degree, coef0: 1,
            "poly": lambda degree, coef0: coef0**degree, "polynomial": lambda degree, coef0: coef0**degree}


def _variance(X, weights):
    """Of all entries; those of a row count as often as its weight says."""
    if weights is None or not weights.any():
        return X.multiply(X).mean() - X.mean() ** 2 if is_sparse(X) else _plain_variance(X)
    means, squares = X.mean(axis=1), (X.multiply(X) if is_sparse(X) else X * X).mean(axis=1)
    mean = np.average(np.ravel(means), weights=weights)
    return np.average(np.ravel(squares), weights=weights) - mean**2


def _plain_variance(X):
    """X.var() to the last bit, without what that looks at besides."""
    if X.dtype != np.float64:
        return X.var()
    apart = X - np.add.reduce(X, axis=None) / X.size
    return np.add.reduce(np.multiply(apart, apart, out=apart), axis=None) / X.size


def gamma_value(gamma, X, kernel=None, weights=None):
    """'scale': 1/(d var X); 'auto' and None: 1/d (1 for chi2, as in scikit-learn); a number is itself."""
    if isinstance(gamma, str):
        if gamma == "scale":
            variance = 0 if are_objects(X) else _variance(X, weights)
            return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
        if gamma != "auto":
            raise ValueError(f"gamma must be 'scale', 'auto' or a number that is not negative, got {gamma!r}")
    elif gamma is not None:
        if gamma < 0:
            raise ValueError(f"gamma must be 'scale', 'auto' or a number that is not negative, got {gamma!r}")
        return float(gamma)
    return 1.0 if kernel == "chi2" else 1.0 / X.shape[1]


def is_precomputed(kernel):
    """Whether the user gives values of the kernel instead of rows."""
    return isinstance(kernel, str) and kernel == "precomputed"


def by_matrix(kernel):
    """Whether the library gets values of the kernel instead of rows."""
    return callable(kernel) or is_precomputed(kernel)


def values(kernel, X, Z, by_rows, parameters=None):
    """What a function says about rows X and Z: of whole matrices, or by_rows of two rows at a time, as scikit-learn has it. Of
    objects it always sees two."""
    if not by_rows and not are_objects(X):
        K = kernel(X, Z)
        K = np.asarray(K.toarray() if is_sparse(K) else K, dtype=np.float64)
    else:
        K = _values_by_rows(kernel, X, Z, parameters or {})
    if K.shape != (X.shape[0], Z.shape[0]):
        raise ValueError(f"the kernel gave values of shape {K.shape} for {X.shape[0]} and {Z.shape[0]} rows")
    return K


def _values_by_rows(kernel, X, Z, parameters):
    """Of rows with themselves, as in scikit-learn, one half is asked for and is the other."""
    A, B = (rows.toarray() if is_sparse(rows) else rows[:, 0] if are_objects(rows) else rows for rows in (X, Z))
    if X is not Z:
        return np.asarray([[kernel(a, b, **parameters) for b in B] for a in A], dtype=np.float64)
    K = np.empty((len(A), len(A)))
    for i in range(len(A)):
        for j in range(i + 1):
            K[i, j] = K[j, i] = kernel(A[i], A[j], **parameters)
    return K


def square(K):
    """A matrix of the rows of a fit: square, and symmetric to the last bit where it is but for rounding."""
    refuse_objects(K, "precomputed")
    if K.shape[0] != K.shape[1]:
        raise ValueError("Precomputed matrix must be a square matrix: X.shape[0] should be equal to X.shape[1], got "
                         f"{K.shape[0]} x {K.shape[1]}")
    if (K == K.T).all() or not np.allclose(K, K.T, rtol=0, atol=1e-10 * np.abs(K).max()):
        return K
    return (K + K.T) / 2


def numbered(K, fitted):
    """Rows of values as the library wants them: before them the place in the matrix, from 1, or 0 for new rows."""
    K = K.toarray() if is_sparse(K) else K
    serial = np.arange(1, len(K) + 1) if fitted else np.zeros(len(K))
    return np.column_stack([serial, K])


def number(value):
    return repr(int(value)) if isinstance(value, (int, np.integer)) else repr(float(value))


def expression(kernel, X, gamma=None, degree=3, coef0=1, weights=None):
    """The expression of kernel= for rows X."""
    if by_matrix(kernel):
        return "precomputed"
    template = SKLEARN.get(kernel)
    if template is None:
        if kernel == "additive_chi2":
            raise ValueError("scikit-learn's additive_chi2, the sum of -(x - z)^2 / (x + z), is not positive definite; kernel='1*additive_chi2', "
                             "the sum of 2 x z / (x + z), and 'chi2' are, or use kernel='precomputed'")
        return kernel
    refuse_objects(X, kernel)
    degree, coef0 = 3 if degree is None else degree, 1 if coef0 is None else coef0
    width = gamma_value(gamma, X, kernel, weights) if "{gamma}" in template else None
    if width == 0 and kernel in CONSTANT:
        return number(CONSTANT[kernel](degree, coef0))
    whole = int(degree) if float(degree).is_integer() else degree
    return template.format(gamma="" if width is None else number(width), degree=number(whole), coef0=number(coef0))
