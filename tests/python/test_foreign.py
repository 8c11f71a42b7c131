"""Arrays of other libraries: the protocols, by objects that have nothing else; PyTorch and CuPy where they are installed."""
import ctypes
import importlib.util
import pathlib
import re
import unittest
from unittest import mock

import numpy as np

import mercer
from mercer import _foreign

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MASK = 0x5A << 56  # no address of a process
RNG = np.random.default_rng(20261118)
X, Y = RNG.normal(size=(40, 3)), RNG.normal(size=40)


class OfProcessor:
    """DLPack and nothing else."""

    def __init__(self, array, kind=1):
        self.array, self.kind, self.asked = array, kind, 0

    def __dlpack_device__(self):
        return self.kind, 0

    def __dlpack__(self, stream=None):
        self.asked += 1
        return self.array.__dlpack__()


class OfCard:
    """__cuda_array_interface__ and nothing else, at an address that only the fake card can read."""

    def __init__(self, array, strides=True):
        self.array = array
        self.__cuda_array_interface__ = {"shape": array.shape, "typestr": array.dtype.str, "version": 3,
                                         "data": (array.__array_interface__["data"][0] ^ MASK, False)}
        if strides:
            self.__cuda_array_interface__["strides"] = array.strides


class FakeCard:
    """mc_device_calls in Python: what its addresses stand for, how many transfers there were, which of its calls fails."""

    def __init__(self, fails=""):
        kinds, self.transfers, self.waits, self.closed = dict(_foreign.Calls._fields_), [], 0, 0

        def download(device, to, at, count):
            self.transfers.append(count)
            if fails != "download":
                ctypes.memmove(to, at ^ MASK, count)
            return int(fails == "download")

        def wait(device):
            self.waits += 1
            return int(fails == "wait")

        def close(device):
            self.closed += 1

        self.calls = _foreign.Calls(abi=_foreign.ABI, open=kinds["open"](lambda card, why: 0 if fails == "open" else 1),
                                    close=kinds["close"](close), download=kinds["download"](download), wait=kinds["wait"](wait),
                                    message=kinds["message"](lambda device: b"made to fail"))

    def __enter__(self):
        self.patch = mock.patch.object(_foreign, "card_calls", lambda: self.calls)
        self.patch.start()
        return self

    def __exit__(self, *problem):
        self.patch.stop()


class Processor(unittest.TestCase):
    def test_memory_of_the_processor_is_not_copied(self):
        given = OfProcessor(X)
        self.assertTrue(np.shares_memory(_foreign.on_host(given), X))
        self.assertEqual(given.asked, 1)

    def test_every_argument_takes_them(self):
        labels, weights = (Y > 0).astype(np.int64), np.abs(Y) + 0.1
        want = mercer.KernelRidge().fit(X, Y, sample_weight=weights).predict(X)
        got = mercer.KernelRidge().fit(OfProcessor(X), OfProcessor(Y), sample_weight=OfProcessor(weights)).predict(OfProcessor(X))
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(mercer.SVC().fit(OfProcessor(X), OfProcessor(labels)).predict(OfProcessor(X)),
                                      mercer.SVC().fit(X, labels).predict(X))
        np.testing.assert_array_equal(mercer.gram("rbf", OfProcessor(X)), mercer.gram("rbf", X))

    def test_memory_of_an_unknown_kind_is_refused(self):
        with self.assertRaisesRegex(TypeError, "memory of kind 7"):
            mercer.gram("rbf", OfProcessor(X, kind=7))


class Card(unittest.TestCase):
    def test_one_transfer_brings_an_array_here(self):
        wide = RNG.normal(size=(9, 8))
        for array in (X, X.astype(np.float32), wide[1:7:2, ::3], wide[::-1], wide.T, np.zeros((0, 3)), np.arange(7)):
            with self.subTest(shape=array.shape, strides=array.strides), FakeCard() as card:
                np.testing.assert_array_equal(_foreign.on_host(OfCard(array)), array)
                self.assertEqual(len(card.transfers), int(array.size > 0))
                self.assertEqual(card.closed, card.waits)

    def test_rows_one_after_the_other_need_no_strides(self):
        with FakeCard() as card:
            np.testing.assert_array_equal(_foreign.on_host(OfCard(X, strides=False)), X)
            self.assertEqual(card.transfers, [X.nbytes])

    def test_dlpack_of_a_card(self):
        class Capsule(OfProcessor):
            def __dlpack__(self, stream=None):
                capsule = super().__dlpack__()
                pointer = ctypes.pythonapi.PyCapsule_GetPointer
                pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
                tensor = _foreign._Tensor.from_address(pointer(capsule, b"dltensor"))
                tensor.data ^= MASK
                return capsule

        for array in (X, X[::2, 1:], X.astype(np.float32)):
            with FakeCard() as card:
                np.testing.assert_array_equal(_foreign.on_host(Capsule(array, kind=2)), array)
                self.assertEqual(len(card.transfers), 1)

    def test_fits(self):
        with FakeCard():
            got = mercer.KernelRidge().fit(OfCard(X), OfCard(Y)).predict(OfCard(X))
        np.testing.assert_array_equal(got, mercer.KernelRidge().fit(X, Y).predict(X))

    def test_every_call_may_fail(self):
        for call in ("open", "wait", "download"):
            with self.subTest(call=call), FakeCard(fails=call) as card:
                with self.assertRaisesRegex(RuntimeError, "cannot be copied here"):
                    mercer.gram("rbf", OfCard(X))
                self.assertEqual(card.closed, int(call != "open"))

    def test_without_the_library_the_error_says_what_to_do(self):
        with mock.patch.object(_foreign, "_NAME", "libmercer_nothing.so"), self.assertRaisesRegex(RuntimeError, r"libmercer_nothing.*x\.cpu\(\)"):
            mercer.gram("rbf", OfCard(X))

    def test_the_table_is_that_of_the_library(self):
        text = (ROOT / "src/backend/device.h").read_text()
        self.assertEqual(int(re.search(r"MC_DEVICE_ABI = (\d+)", text).group(1)), _foreign.ABI)
        table = re.search(r"typedef struct mc_device_calls \{(.*?)\n\} mc_device_calls;", text, flags=re.S).group(1)
        names = re.findall(r"\(\*(\w+)\)\(", re.sub(r"/\*.*?\*/", "", table, flags=re.S))
        self.assertEqual(["abi", "name", *names][:len(_foreign.Calls._fields_)], [name for name, _ in _foreign.Calls._fields_])


@unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
class PyTorch(unittest.TestCase):
    def test_tensors(self):
        import torch
        tensor = torch.from_numpy(X)
        np.testing.assert_array_equal(mercer.gram("rbf", tensor), mercer.gram("rbf", X))
        if not torch.cuda.is_available():
            self.skipTest("PyTorch has no card")
        np.testing.assert_array_equal(mercer.gram("rbf", tensor.cuda()), mercer.gram("rbf", X))


@unittest.skipUnless(importlib.util.find_spec("cupy"), "CuPy is not installed")
class CuPy(unittest.TestCase):
    def test_arrays(self):
        import cupy
        np.testing.assert_array_equal(mercer.gram("rbf", cupy.asarray(X)), mercer.gram("rbf", X))


if __name__ == "__main__":
    unittest.main()
