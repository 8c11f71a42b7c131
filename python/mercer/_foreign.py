"""Arrays of other libraries, by the protocols that they share: DLPack where the memory is that of the processor, which is looked at and not
copied; __cuda_array_interface__ or DLPack where it is a card's, from which one transfer brings it here."""
import ctypes
import math
import pathlib

import numpy as np

from ._library import lib

ABI = 4  # MC_DEVICE_ABI
_CPU, _CUDA, _PINNED, _MANAGED = 1, 2, 3, 13  # kinds of memory, as DLPack numbers them
_HERE = (_CPU, _PINNED, _MANAGED)
_CODES = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}
_NAME = "libmercer_cuda.so"


# ---- The library of the card ----

class Calls(ctypes.Structure):
    """mc_device_calls of src/backend/device.h, as far as it is called here."""
    _fields_ = [("abi", ctypes.c_int), ("name", ctypes.c_char_p), ("count", ctypes.c_void_p), ("describe", ctypes.c_void_p),
                ("open", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)),
                ("close", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
                ("allocate", ctypes.c_void_p), ("release", ctypes.c_void_p), ("upload", ctypes.c_void_p),
                ("download", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t)),
                ("build", ctypes.c_void_p), ("launch", ctypes.c_void_p), ("multiply", ctypes.c_void_p), ("can_multiply", ctypes.c_void_p),
                ("has_matrix_units", ctypes.c_void_p), ("wait", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)),
                ("message", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p))]


def card_calls():
    """The calls of the library beside that of Mercer; OSError where it does not load."""
    library = ctypes.CDLL(str(pathlib.Path(lib._name).resolve().parent / _NAME))
    library.mercer_device_calls.restype = ctypes.POINTER(Calls)
    calls = library.mercer_device_calls().contents
    if calls.abi != ABI:
        raise OSError(f"{_NAME} belongs to another version of Mercer")
    return calls


def _refuse(reason):
    raise RuntimeError(f"an array on a card cannot be copied here: {reason}; give a copy of it in the memory of the processor (x.cpu() of PyTorch, "
                       "x.get() of CuPy)")


def _download(card, address, count):
    """So many bytes from a card, when all that was asked of it is done."""
    out = np.empty(count, dtype=np.uint8)
    try:
        calls = card_calls()
    except OSError as reason:
        _refuse(reason)
    why = ctypes.create_string_buffer(256)
    device = calls.open(card, why)
    if not device:
        _refuse(why.value.decode())
    try:
        if calls.wait(device) or count and calls.download(device, out.ctypes.data, address, count):
            _refuse(calls.message(device).decode())
    finally:
        calls.close(device)
    return out


def _from_card(card, address, shape, dtype, strides):
    """An array of what lies there; strides in bytes. All from its first byte to its last comes in one transfer."""
    if not all(shape):
        return np.empty(shape, dtype=dtype)
    if strides is None:
        strides = tuple(dtype.itemsize * math.prod(shape[axis + 1:]) for axis in range(len(shape)))
    ends = [(size - 1) * step for size, step in zip(shape, strides)]
    low, high = sum(min(end, 0) for end in ends), sum(max(end, 0) for end in ends) + dtype.itemsize
    return np.ndarray(shape, dtype, _download(card, address + low, high - low), -low, strides)


# ---- The protocols ----

def _card_of(value):
    """The number of the card, for those that say it."""
    device = getattr(value, "__dlpack_device__", None)
    return int(device()[1]) if device else 0


def _from_interface(value, interface):
    dtype, (address, _) = np.dtype(interface["typestr"]), interface["data"]
    if interface.get("mask") is not None:
        _refuse("some of its values are masked")
    return _from_card(_card_of(value), address or 0, tuple(interface["shape"]), dtype, interface.get("strides"))


class _Tensor(ctypes.Structure):
    """DLTensor."""
    _fields_ = [("data", ctypes.c_uint64), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


def _from_capsule(capsule):
    """What a DLPack capsule of a card's memory holds; the capsule, which nobody takes, frees it when it goes."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _Tensor.from_address(pointer(capsule, b"dltensor"))
    if tensor.code not in _CODES or tensor.lanes != 1:
        _refuse("its numbers are of a kind that NumPy has not")
    dtype, shape = np.dtype(f"{_CODES[tensor.code]}{tensor.bits // 8}"), tuple(tensor.shape[:tensor.ndim])
    strides = tuple(step * dtype.itemsize for step in tensor.strides[:tensor.ndim]) if tensor.strides else None
    return _from_card(tensor.device_id, tensor.data + tensor.byte_offset, shape, dtype, strides)


def on_host(value):
    """An array of another library as one of NumPy; anything else as it is."""
    if isinstance(value, (np.ndarray, list, tuple, str, float, int)) or value is None:
        return value
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        return _from_interface(value, interface)
    if hasattr(value, "__array__") or not hasattr(value, "__dlpack__"):
        return value
    kind = value.__dlpack_device__()[0]
    if kind == _CUDA:
        return _from_capsule(value.__dlpack__())
    if kind not in _HERE:
        raise TypeError(f"an array in memory of kind {kind} (as DLPack numbers them) cannot be read here; give a copy of it in the memory of "
                        "the processor")
    return np.from_dlpack(value)
