"""Arrays on their way to C: checked, converted only where they must be, and described by a mercer_table.

A C-contiguous array of float32 or float64 is passed as it is, and so are the values and column numbers of a SciPy CSR matrix."""
import ctypes
import functools
import math
import sys
import warnings

import numpy as np

from . import _foreign, _header, _objects
from ._library import Handle
from ._sklearn import DataConversionWarning

_FEW = 4096
_REAL = (np.dtype(np.float32), np.dtype(np.float64))


def is_sparse(X):
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(X)


def as_sparse(values):
    """A CSR matrix of SciPy."""
    return sys.modules["scipy.sparse"].csr_matrix(values)


def stacked(rows):
    """Rows of a matrix, dense or sparse, as one."""
    return sys.modules["scipy.sparse"].vstack(rows).tocsr() if is_sparse(rows[0]) else np.asarray(rows)


def column_names(X):
    """Names of the columns of a data frame, when all are text; None for anything else."""
    columns = None if isinstance(X, np.ndarray) else getattr(X, "columns", None)
    if columns is None:
        return None
    names = np.asarray(columns, dtype=object)
    text = [isinstance(name, str) for name in names]
    if any(text) and not all(text):
        raise TypeError("Feature names are only supported if all input features have string names, but your input has "
                        f"{sorted({type(name).__name__ for name in names})} as feature name / column name types.")
    return names if len(names) and all(text) else None


# ---- Missing values ----

def _is_missing(value):
    """None, NaN, NaT and pandas.NA, which alone of all values are not equal to themselves."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):  # pandas.NA will not say
        return np.ndim(value) == 0


def refuse_missing(values, what):
    """Values as they were given: among texts NumPy would write a missing one as 'nan', and among objects nothing tells it from a value."""
    array = np.asarray(values)
    if array.dtype.kind in "biuc" or (array.dtype.kind in "USV" and isinstance(values, np.ndarray)):
        return
    if array.dtype.kind in "fmM" and (array == array).all():
        return
    for place, value in enumerate(np.ravel(np.asarray(values, dtype=object))):
        if _is_missing(value):
            raise ValueError(f"Input {what} contains NaN: entry {place} is missing ({value!r}); fill it in or leave the row out.")


def as_numbers(values, what):
    """An array of numbers; ValueError, which names them, for anything else."""
    array = np.asarray(_foreign.on_host(values))
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{array}")
    if array.dtype in _REAL:
        return array
    if array.dtype.kind in "OmM":
        refuse_missing(array, what)
    try:
        return array.astype(np.float64)
    except ValueError as reason:
        raise ValueError(f"{what}: dtype='numeric' is not compatible with arrays of bytes/strings: {reason}"
                         + ("; texts are given as a list of str" if what == "X" else "")) from None
    except TypeError as reason:  # scikit-learn's checks want these words
        raise TypeError(f"{what} must be numbers: argument must be a string or a real number ({reason})") from None


# ---- X ----

def _as_real(X):
    """A C-contiguous array of float32 or float64, the same object where it is one."""
    array = as_numbers(X, "X")
    return np.ascontiguousarray(array) if array.ndim else array


def _check_finite(values, what):
    """A sum that is finite says it of all values and needs no room; one that is not may have overflowed. Of few values that of squares is the
    quicker, of many BLAS would wake threads for it, which then turn and wait for more while the library wants the processors."""
    if math.isfinite(np.vdot(values, values) if values.size <= _FEW else np.add.reduce(values, axis=None)) or np.isfinite(values).all():
        return
    seen = "NaN" if np.isnan(values).any() else f"infinity or a value too large for {values.dtype!r}"
    raise ValueError(f"Input {what} contains {seen}.")


def _check_size(shape, name, least_rows):
    if shape[0] < least_rows:
        raise ValueError(f"Found array with {shape[0]} sample(s) (shape={shape}) while a minimum of {least_rows} is required by {name}.")
    if shape[1] < 1:
        raise ValueError(f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required by {name}.")


def check_rows(X, name="Mercer", least_rows=1, for_function=False):
    """X as a dense C-contiguous array or a CSR matrix with sorted columns, of float32 or float64, all finite; of a list of texts, or
    for_function of other objects, a column of them."""
    if isinstance(X, (list, tuple)) and not X:
        raise ValueError(f"Found array with 0 sample(s) (shape=(0,)) while a minimum of {least_rows} is required by {name}.")
    X = _foreign.on_host(X)
    objects = _objects.as_objects(X, for_function)
    if objects is not None:
        X = objects
    elif is_sparse(X):
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
    y = np.asarray(as_numbers(y, "y"), dtype=np.float64)
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
    y = _foreign.on_host(y)
    refuse_missing(y, "y")
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
        if any(isinstance(value, str) for value in y):
            raise ValueError("Unknown label type: unknown. Classes are text or whole numbers, not both; y has "
                             f"{', '.join(sorted({type(value).__name__ for value in y}))}")
        return check_classes(np.asarray(y.tolist()), n)
    if y.dtype.kind not in "USObiuf":
        raise ValueError(f"Unknown label type: unknown ({y.dtype}). Classes are text or whole numbers.")
    return _whole_classes(y) if y.dtype.kind == "i" else np.unique(y, return_inverse=True)


def _whole_classes(y):
    """np.unique without sorting, where the whole numbers are as close together as numbers of classes are."""
    low = np.minimum.reduce(y)
    if int(np.maximum.reduce(y)) - int(low) > 4 * len(y):
        return np.unique(y, return_inverse=True)
    inverse = np.subtract(y, low, dtype=np.intp)
    seen = np.bincount(inverse)
    present = np.flatnonzero(seen)
    if len(present) < len(seen):
        place = np.cumsum(seen > 0) - 1
        inverse = place[inverse]
    return (present + int(low)).astype(y.dtype, copy=False), inverse


def label_text(label):
    """A class as it is written in files: 1.0 is 1."""
    if isinstance(label, (float, np.floating)) and float(label).is_integer():
        return str(int(label))
    return str(label)


def _is_named(y):
    """Whether y is text or true and false: classes where a machine would take numbers as well."""
    y = np.asarray(y)
    return np.asarray(y.tolist() if y.dtype.kind == "O" else y).dtype.kind in "USOb"


def target_of(kind, y, n):
    """y as a machine of that kind wants it: the arguments of data()."""
    y = _foreign.on_host(y)
    if y is None or kind == _header.MERCER_TARGET_NONE:
        return {}
    classes = kind == _header.MERCER_TARGET_CLASS or (kind == _header.MERCER_TARGET_AUTO and _is_named(y))
    if not classes:
        return {"target": check_target(y, n, outputs=True)}
    labels, inverse = check_classes(y, n)
    return {"labels": ([label_text(label) for label in labels.tolist()], inverse)}


def check_weights(sample_weight, n):
    """n weights; a number stands for all; None stays None."""
    if sample_weight is None:
        return None
    weights = np.asarray(as_numbers(sample_weight, "sample_weight"), dtype=np.float64)
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
    return np.asarray([_one_weight(class_weight, label) for label in _weighted(class_weight, classes.tolist())])


def _weighted(class_weight, labels):
    """The labels; names of a dict that are none beside labels it does not name are a slip of the pen, as scikit-learn has it."""
    bare = [label for label in labels if label not in class_weight]
    if bare and len(labels) - len(bare) != len(class_weight):
        raise ValueError(f"The classes, {bare}, are not in class_weight, which has {sorted(class_weight, key=str)}")
    return labels


def _one_weight(class_weight, label):
    weight = class_weight.get(label, 1.0)
    if isinstance(weight, str) or _is_missing(weight) or not 0 <= weight < np.inf:
        raise ValueError(f"class_weight of class {label!r} must be a number that is finite and not negative, got {weight!r}")
    return float(weight)


def group_texts(groups, n):
    """The group of every row as text that tells them apart."""
    check_length(n, groups, "groups")
    refuse_missing(groups, "groups")
    return [str(group).encode() for group in np.asarray(groups).tolist()]


# ---- To C ----

@functools.lru_cache(maxsize=16)
def _texts(strings):
    """An array of char pointers and what they point into."""
    encoded = [string.encode() for string in strings]
    array = (ctypes.c_char_p * len(encoded))(*encoded)
    return array, np.frombuffer(memoryview(array), dtype=np.uintp)


def address(array):
    """Of the first number. (array.ctypes makes objects for it.)"""
    return array.__array_interface__["data"][0]


def dense_table(X):
    """The table of a dense C-contiguous array."""
    return _header.mercer_table(n=X.shape[0], d=X.shape[1], values=address(X),
                                dtype=_header.MERCER_F64 if X.dtype == np.float64 else _header.MERCER_F32)


def _sparse_table(X, keep):
    row_start, column = X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False)
    keep += [row_start, column]
    return _header.mercer_table(n=X.shape[0], d=X.shape[1], values=address(X.data), row_start=address(row_start), column=address(column),
                                dtype=_header.MERCER_F64 if X.dtype == np.float64 else _header.MERCER_F32)


def data(context, X, target=None, labels=None, weights=None, names=None, borrow=False):
    """A mercer_data of checked arrays. labels: (texts of the classes, class number of each row); borrow: for this call alone, so that
    a dense X need not be copied."""
    keep = [X, target, weights]
    objects = _objects.are_objects(X)
    table = _sparse_table(X, keep) if is_sparse(X) else _objects.text_table(X, keep) if objects else dense_table(X)
    table.borrow = borrow and not objects
    if target is not None:
        table.target, table.outputs = address(target), 1 if target.ndim == 1 else target.shape[1]
    if labels is not None:
        array, pointers = _texts(tuple(labels[0]))
        rows = pointers[labels[1]]
        keep += [array, rows]
        table.labels = address(rows)
    if weights is not None:
        table.weights = address(weights)
    if names is not None:
        array, pointers = _texts(tuple(names))
        keep.append(array)
        table.names = address(pointers)
    return Handle(context.make("mercer_data_make", ctypes.byref(table)), "data", X if borrow else None)
