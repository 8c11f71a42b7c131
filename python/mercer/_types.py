"""Names for annotations."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Union

from numpy.typing import ArrayLike, NDArray

Rows = Any  # an array of numbers, n x d, a SciPy sparse matrix, a data frame, or a list of texts or objects
Kernel = Union[str, Callable[..., Any]]
Path = Union[str, "os.PathLike[str]"]

if TYPE_CHECKING:
    from typing_extensions import Self
else:
    Self = Any

__all__ = ["Any", "ArrayLike", "Callable", "Kernel", "NDArray", "Path", "Rows", "Self", "TYPE_CHECKING"]
