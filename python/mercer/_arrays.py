"""Arrays on their way to C: checked, converted only where they must be, and described by a mercer_table.

A C-contiguous array of float32 or float64 is passed as it is, and so are the values and column numbers of a SciPy CSR matrix."""
import ctypes
import sys
import warnings

import numpy as np

from . import _header
from ._library import Handle
from ._sklearn import DataConversionWarning

_REAL = (np.dtype(np.float32), np.dtype(np.float64))


def is_sparse(X):
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(X)


def column_names(X):
    """Names of the columns of a data frame, when all are text; None for anything else."""
    columns = getattr(X, "columns", None)
    if columns is None or isinstance(X, np.ndarray):
        return None
    names = np.asarray(columns, dtype=object)
    text = [isinstance(name, str) for name in names]
    if any(text) and not all(text):
        raise TypeError("Feature names are only supported if all input features have string names, but your input has "
                        f"{sorted({type(name).__name__ for name in names})} as feature name / column name types.")
    return names if len(names) and all(text) else None


# ---- X ----

def _as_real(X):
    """A C-contiguous array of float32 or float64, the same object where it is one."""
    array = np.asarray(X)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{array}")
    if array.dtype.kind in "USV":
        try:
            array = array.astype(np.float64)
        except ValueError as reason:
            raise ValueError(f"dtype='numeric' is not compatible with arrays of bytes/strings: {reason}") from None
    if array.dtype not in _REAL:
        array = array.astype(np.float64)
    return np.ascontiguousarray(array) if array.ndim else array


def _check_finite(values, what):
    """A sum that is finite says it of all values and needs no room; one that is not may have overflowed."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()) or np.isfinite(values).all():
            return
    seen = "NaN" if np.isnan(values).any() else f"infinity or a value too large for {values.dtype!r}"
    raise ValueError(f"Input {what} contains {seen}.")


def _check_size(shape, name, least_rows):
    if shape[0] < least_rows:
        raise ValueError(f"Found array with {shape[0]} sample(s) (shape={shape}) while a minimum of {least_rows} is required by {name}.")
    if shape[1] < 1:
        raise ValueError(f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required by {name}.")


def check_rows(X, name="Mercer", least_rows=1):
    """X as a dense C-contiguous array or a CSR matrix with sorted columns, of float32 or float64, all finite."""
    if is_sparse(X):
        X = X.tocsr()
        if X.dtype.kind == "c":
            raise ValueError(f"Complex data not supported\n{X}")
        if X.dtype not in _REAL:
            X = X.astype(np.float64)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        _check_finite(X.data, "X")
    else:
        X = _as_real(X)
        if X.ndim != 2:
            raise ValueError(f"Expected 2D array, got {'scalar' if X.ndim == 0 else f'{X.ndim}D'} array instead:\narray={X}.\n"
                             "Reshape your data either using array.reshape(-1, 1) if your data has a single feature or "
                             "array.reshape(1, -1) if it contains a single sample." if X.ndim < 2 else
                             f"Found array with dim {X.ndim}. {name} expected <= 2.")
        _check_finite(X, "X")
    _check_size(X.shape, name, least_rows)
    return X


# ---- y and weights ----

def check_length(n, other, what):
    if len(other) != n:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n}, {len(other)}] ({what})")


def check_target(y, n, outputs=False):
    """Numbers: n, or n x outputs where the machine has several."""
    y = np.asarray(y)
    if y.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{y}")
    y = np.asarray(y, dtype=np.float64)
    if y.ndim == 0 or y.ndim > 2:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    check_length(n, y, "y")
    _check_finite(y, "y")
    return np.ascontiguousarray(y if outputs and y.ndim == 2 else flat(y))


def flat(y):
    """One column as a vector, with scikit-learn's warning."""
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn("A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), "
                      "for example using ravel().", DataConversionWarning, stacklevel=4)
        return y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    return y


def check_classes(y, n):
    """The classes, sorted, and the number of each row's."""
    y = np.asarray(y)
    if y.ndim == 0:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    check_length(n, y, "y")
    y = flat(y)
    if y.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{y}")
    if y.dtype.kind == "f":
        _check_finite(y, "y")
        if (y != y.astype(np.int64)).any():
            raise ValueError("Unknown label type: continuous. Classes are text or whole numbers; a regressor may be what is wanted.")
    if y.dtype.kind == "O" and not all(isinstance(value, str) for value in y):
        y = np.asarray(y.tolist())
        if y.dtype.kind == "f":
            _check_finite(y, "y")
        if y.dtype.kind not in "USbiuf":
            raise ValueError("Unknown label type: unknown. Classes are text or whole numbers.")
    classes, inverse = np.unique(y, return_inverse=True)
    return classes, inverse


def label_text(label):
    """A class as it is written in files: 1.0 is 1."""
    if isinstance(label, (float, np.floating)) and float(label).is_integer():
        return str(int(label))
    return str(label)


def target_of(kind, y, n):
    """y as a machine of that kind wants it: the arguments of data()."""
    if y is None or kind == _header.MERCER_TARGET_NONE:
        return {}
    classes = kind == _header.MERCER_TARGET_CLASS or (kind == _header.MERCER_TARGET_AUTO and np.asarray(y).dtype.kind in "USOb")
    if not classes:
        return {"target": check_target(y, n, outputs=True)}
    labels, inverse = check_classes(y, n)
    return {"labels": ([label_text(label) for label in labels.tolist()], inverse)}


def check_weights(sample_weight, n):
    """n weights; a number stands for all; None stays None."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if weights.shape != (n,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n,)}!")
    _check_finite(weights, "sample_weight")
    return np.ascontiguousarray(weights)


def class_weights(class_weight, classes, inverse):
    """The weight of every class: None, 'balanced', or a dict."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(f"class_weight must be None, 'balanced' or a dict, got {class_weight!r}")
        return len(inverse) / (len(classes) * np.bincount(inverse, minlength=len(classes)).astype(float))
    unknown = set(class_weight) - set(classes.tolist())
    if unknown:
        raise ValueError(f"The classes, {sorted(unknown, key=str)}, are not in class_weight")
    return np.asarray([float(class_weight.get(label, 1.0)) for label in classes.tolist()])


# ---- To C ----

def _texts(strings):
    """An array of char pointers and what they point into."""
    encoded = [string.encode() for string in strings]
    array = (ctypes.c_char_p * len(encoded))(*encoded)
    return array, np.frombuffer(memoryview(array), dtype=np.uintp)


def dense_table(X):
    """The table of a dense C-contiguous array."""
    return _header.mercer_table(n=X.shape[0], d=X.shape[1], values=X.ctypes.data,
                                dtype=_header.MERCER_F64 if X.dtype == np.float64 else _header.MERCER_F32)


def _sparse_table(X, keep):
    row_start, column = X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False)
    keep += [row_start, column]
    return _header.mercer_table(n=X.shape[0], d=X.shape[1], values=X.data.ctypes.data, row_start=row_start.ctypes.data,
                                column=column.ctypes.data,
                                dtype=_header.MERCER_F64 if X.dtype == np.float64 else _header.MERCER_F32)


def data(context, X, target=None, labels=None, weights=None, names=None):
    """A mercer_data of checked arrays. labels: (texts of the classes, class number of each row)."""
    keep = [X, target, weights]
    table = _sparse_table(X, keep) if is_sparse(X) else dense_table(X)
    if target is not None:
        table.target, table.outputs = target.ctypes.data, 1 if target.ndim == 1 else target.shape[1]
    if labels is not None:
        array, pointers = _texts(labels[0])
        rows = pointers[labels[1]]
        keep += [array, rows]
        table.labels = rows.ctypes.data
    if weights is not None:
        table.weights = weights.ctypes.data
    if names is not None:
        array, pointers = _texts(names)
        keep.append(array)
        table.names = pointers.ctypes.data
    return Handle(context.make("mercer_data_make", ctypes.byref(table)), "data")
