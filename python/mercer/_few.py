"""A few dense rows, predicted with as little between the caller and C as there can be.

Finding the address of an array costs more than predicting a row. So each thread keeps, for every shape it meets, a room: an array for the
rows, one for the answer, and all that ctypes needs to be told about them; rows are copied in and the answer is copied out. A room is out of
sight while it is in use: a signal handler that predicts gets another."""
import ctypes

import numpy as np

from . import _header
from ._library import lib, thread_context, thread_rooms

ROWS = 64        # up to here, and without looking out for Ctrl-C
_NUMBERS = 4096  # in all of them, so that the rooms stay small
_ROOMS = 16      # kept by one thread
_F64, _F32 = np.dtype(np.float64), np.dtype(np.float32)
_functions = {name: getattr(lib, name) for name in ("mercer_predict", "mercer_decide", "mercer_predict_proba", "mercer_prediction_bound")}
_make, _free = lib.mercer_data_make, lib.mercer_data_free


class _Room:
    __slots__ = ("context", "handle", "function", "rows", "table", "data", "data_out", "out", "out_at", "keep")

    def __init__(self, context, function, shape, dtype, width):
        self.context, self.handle, self.function = context, context.handle, _functions[function]
        self.rows, self.out = np.empty(shape, dtype), np.empty((shape[0], width))
        self.keep = _header.mercer_table(n=shape[0], d=shape[1], values=self.rows.ctypes.data,
                                         dtype=_header.MERCER_F64 if dtype is _F64 else _header.MERCER_F32)
        self.table, self.out_at = ctypes.byref(self.keep), self.out.ctypes.data
        self.data = ctypes.c_void_p()
        self.data_out = ctypes.byref(self.data)


def are_plain(X):
    """Whether these are rows as C takes them."""
    return type(X) is np.ndarray and X.ndim == 2 and 0 < X.size and (X.dtype is _F64 or X.dtype is _F32) and X.flags.c_contiguous


def suits(X):
    """Whether X may go this way."""
    return X.shape[0] <= ROWS and are_plain(X) and X.size <= _NUMBERS


def evaluate(model, function, X, width):
    """mercer_predict, mercer_decide, mercer_predict_proba or mercer_prediction_bound of the model at this address: n x width."""
    rooms = thread_rooms()
    key = (function, X.shape, X.itemsize, width)
    room = rooms.pop(key, None) or _Room(thread_context(), function, X.shape, X.dtype, width)
    room.rows[...] = X
    status = _make(room.handle, room.table, room.data_out)
    if status:
        room.context.check(status)
    status = room.function(room.handle, model, room.data, room.out_at)
    _free(room.data)
    if status:
        room.context.check(status)
    if len(rooms) >= _ROOMS:
        rooms.clear()
    rooms[key] = room
    return room.out.copy()
