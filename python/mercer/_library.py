"""The C library: finding it, calling it, and turning what it says into Python.

A call goes  with session(...) as ctx: ctx.call("mercer_fit", ...)  where a context is opened for the call (seed, progress bar, Ctrl-C),
or through thread_context(), one context per thread that stays open, where a call must be quick. ctypes lets other threads run while C
works.

A child of fork is one of several workers as a rule, so it computes with one thread unless options() says otherwise, and so
does the BLAS that NumPy may share with the library; processes that are started afresh (spawn, loky) are not restricted."""
from __future__ import annotations

import ctypes
import mmap
import os
import pathlib
import re
import resource
import threading
import time
import warnings
from contextlib import contextmanager
from typing import Any, Iterator

from . import _header, _progress, _words


# ---- The shared library ----

def _candidates():
    """Where the library may be: named by the user, in this package, in the build folder this package lies in, installed."""
    here = pathlib.Path(__file__).resolve().parent
    if os.environ.get("MERCER_LIBRARY"):
        yield os.environ["MERCER_LIBRARY"]
        return
    for name in ("libmercer.so", "libmercer.so.0", "libmercer.dylib"):
        yield here / name
        yield here.parent.parent / "src" / name
    yield "libmercer.so.0"


def _wishes():
    """What OpenBLAS should read when it is loaded, and reads only then: kernels for this processor, which it may not know."""
    if _is_limited():
        yield "OMP_NUM_THREADS", "1"  # for what OpenBLAS maps; Mercer asks for its threads by number
    try:
        found = re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), flags=re.M)
    except OSError:
        return
    flags = set(found.group(1).split()) if found else set()
    if flags >= {"avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512cd"}:
        yield "OPENBLAS_CORETYPE", "SkylakeX"
    elif flags >= {"avx2", "fma"}:
        yield "OPENBLAS_CORETYPE", "Haswell"


@contextmanager
def _environment():
    """The wishes in the environment for as long as the library is being loaded; what the user has set stays."""
    ours = [(name, value) for name, value in _wishes() if name not in os.environ]
    os.environ.update(ours)
    try:
        yield
    finally:
        for name, _ in ours:
            del os.environ[name]


def _is_limited() -> bool:
    return any(resource.getrlimit(kind)[0] != resource.RLIM_INFINITY for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA))


def _has_room() -> bool:
    """Whether OpenBLAS finds the 128 MiB for each core that it maps as it is loaded: it asks for them again and again where the address
    space is limited (ulimit -v) and there are none."""
    cores = 1 if os.environ.get("OMP_NUM_THREADS") == "1" else os.cpu_count() or 1
    try:
        mmap.mmap(-1, (cores << 27) + (64 << 20), flags=mmap.MAP_PRIVATE).close()
    except OSError:
        return False
    return True


def _load():
    if _is_limited() and not _has_room():
        raise ImportError("mercer: the limit on the address space (ulimit -v or -d) leaves less than the linear algebra library takes as it "
                          "starts, 128 MiB for each core and some more; raise it")
    for candidate in _candidates():
        if isinstance(candidate, str) or candidate.exists():
            try:
                return ctypes.CDLL(str(candidate))
            except OSError as reason:
                raise ImportError(f"mercer: {candidate} cannot be loaded ({reason}); $MERCER_LIBRARY may name another one") from None
    raise ImportError("mercer: there is no libmercer beside the package")


with _environment():
    lib = _load()
for _name, (_result, _arguments) in _header.FUNCTIONS.items():
    _function = getattr(lib, _name)
    _function.restype, _function.argtypes = _result, _arguments


def text(value):
    """Text of the library as str; None stays None."""
    return None if value is None else value.decode("utf-8", "replace")


def defaults(kind, *arguments):
    """A settings struct with its defaults: defaults("read") is a mercer_read."""
    struct = getattr(_header, f"mercer_{kind}")()
    getattr(lib, f"mercer_{kind}_init")(ctypes.byref(struct), ctypes.sizeof(struct), *arguments)
    return struct


# ---- Failures ----

class Error(Exception):
    """What the library refuses or cannot do: one sentence that names the place, the value seen and the cure. offset: the byte of a kernel
    expression (from 0) or the line of a file (from 1) it is about; -1 for none."""

    offset = -1


class InvalidError(Error, ValueError):
    """An argument, an expression or data that cannot be."""


class ParameterError(InvalidError, TypeError):
    """A parameter of an estimator that it cannot be."""


class KernelError(InvalidError):
    """The expression is not proved to be a kernel."""


class FileError(Error, OSError):
    """A file that cannot be read or written, or is damaged."""


class OutOfMemoryError(Error, MemoryError):
    """Out of memory, or over the limit that was set."""


class NumericError(Error, ArithmeticError):
    """A numerical method broke down."""


class TimeLimitError(Error, TimeoutError):
    """The time limit was reached before there was an answer."""


_ERRORS: dict[str, Any] = {"INVALID": InvalidError, "SYNTAX": InvalidError, "DATA": InvalidError, "IO": FileError, "FORMAT": FileError,
           "MEMORY": OutOfMemoryError, "NUMERIC": NumericError, "NOT_A_KERNEL": KernelError, "CANCELLED": KeyboardInterrupt,
           "TIME": TimeLimitError, "INTERNAL": RuntimeError}


# ---- Settings of every call ----

class _Config(threading.local):
    """Per thread; options() changes it for a block."""
    threads: int | None = None
    memory = 0
    time_limit = 0.0
    device: bytes | None = None
    device_memory = 0
    comm: Any = None


_config = _Config()
_forked = False


@contextmanager
def options(threads: int | None = None, memory: int | None = None, time_limit: float | None = None, device: str | None = None,
            device_memory: int | None = None, comm: Any = None) -> Iterator[None]:
    """Limits for the calls of a block: threads, bytes of memory, seconds for one call; device "cpu", "cuda", "cuda:1" or "auto",
    and bytes of its memory. comm: a communicator of mpi4py, whose processes share the work: each makes the same calls with the same
    rows and gets the same bits.

    >>> import mercer
    >>> with mercer.options(threads=1, time_limit=60):
    ...     model = mercer.KernelRidge(kernel="rbf").fit([[0.0], [1.0]], [0.0, 1.0])
    """
    before = dict(_config.__dict__)
    _config.threads = _config.threads if threads is None else int(threads)
    _config.memory = _config.memory if memory is None else int(memory)
    _config.time_limit = _config.time_limit if time_limit is None else float(time_limit)
    _config.device = _config.device if device is None else str(device).encode()
    _config.device_memory = _config.device_memory if device_memory is None else int(device_memory)
    _config.comm = _config.comm if comm is None else comm
    _local.__dict__.clear()
    try:
        yield
    finally:
        _config.__dict__.clear()
        _config.__dict__.update(before)
        _local.__dict__.clear()


def _threads():
    """0 (all cores) unless something says otherwise: options(), a fork, the environment (which joblib sets for its workers)."""
    if _config.threads is not None:
        return _config.threads
    if _forked:
        return 1
    for name in ("MERCER_THREADS", "OMP_NUM_THREADS"):
        value = os.environ.get(name, "")
        if value.isdigit():
            return int(value)
    return 0


def _communicator(comm):
    """Where the MPI_Comm of mpi4py's object lies."""
    from mpi4py import MPI
    if not isinstance(comm, MPI.Comm):
        raise InvalidError(f"comm must be a communicator of mpi4py, got {type(comm).__name__}")
    return MPI._addressof(comm)


# ---- Contexts ----

_DEFAULT_OPTIONS = defaults("options")


class Context:
    """A mercer_ctx. It belongs to one thread at a time."""

    def __init__(self, seed=0, watch=None, owner=None):
        self.owner = owner  # the estimator whose parameters messages speak of
        options = _header.mercer_options.from_buffer_copy(_DEFAULT_OPTIONS)
        options.threads, options.memory_limit, options.time_limit = _threads(), _config.memory, _config.time_limit
        options.seed, options.device, options.device_memory_limit = seed, _config.device, _config.device_memory
        if _config.comm is not None:
            options.ranks, options.communicator = b"mpi", _communicator(_config.comm)
        if watch is not None:
            options.progress, options.log = watch.progress_at, watch.log_at
        self.watch = watch  # its callbacks must live as long as the context
        self._wish = options.seed, options.threads
        handle = ctypes.c_void_p()
        status = lib.mercer_open(ctypes.byref(options), ctypes.byref(handle))
        self.handle = handle.value
        if status:
            self.check(status)

    def suits(self, seed):
        """Whether one that is opened now would be the same; options() closes all that there are."""
        return self._wish == (seed, _threads())

    def check(self, status):
        if status:
            message = text(lib.mercer_message(self.handle)) or text(lib.mercer_status_text(status))
            error = _ERRORS[_header.STATUS[status]](_words.in_python(message, self.owner))
            error.offset = lib.mercer_message_offset(self.handle)
            raise error

    def call(self, name, *arguments):
        """A function that takes the context first and returns a status."""
        status = getattr(lib, name)(self.handle, *arguments)
        if status:
            self.check(status)

    def make(self, name, *arguments):
        """The same for a function whose last argument is the object it makes; the address of that."""
        out = ctypes.c_void_p()
        status = getattr(lib, name)(self.handle, *arguments, ctypes.byref(out))
        if status:
            self.check(status)
        return out.value

    def limit_rest(self, seconds):
        """Where there is a time limit: what is left of it after so many seconds, for the next call."""
        if _config.time_limit > 0:
            self.call("mercer_set_time_limit", max(1e-3, _config.time_limit - seconds))

    def close(self, _close=lib.mercer_close):
        handle, self.handle = self.handle, None
        if handle:
            note = text(lib.mercer_device_note(handle))
            _close(handle)
            if note:
                warnings.warn(note, RuntimeWarning, stacklevel=2)

    __del__ = close


class _Local(threading.local):
    context: Context | None = None
    rooms: dict[tuple[Any, ...], Any] | None = None
    kept: tuple[Context, float] | None = None  # the last session's, and when it was opened


_local = _Local()


def thread_context():
    """The context of this thread, for calls that are short."""
    if _local.context is None:
        _local.context = Context()
    return _local.context


def thread_rooms():
    """A dict that lives as long as the context of this thread."""
    rooms = _local.rooms
    if rooms is None:
        rooms = _local.rooms = {}
    return rooms


_FRESH = 1.0  # seconds: as long as the library itself remembers how much memory is left


class session:
    """A context for one long call: Ctrl-C stops it, and with verbose it shows how far it is. owner: see _words.in_python.

    Its callbacks, and memory that is touched for the first time, take as long as a small fit: the context of a call that went well serves the
    next one of the thread, if that comes soon and asks for the same. It is out of sight while it is in use."""
    __slots__ = ("_context", "_opened")

    def __init__(self, seed=0, verbose=False, owner=None):
        kept, now = None, time.monotonic()
        if not verbose:
            kept, _local.kept = _local.kept, None
        if kept is not None and now - kept[1] < _FRESH and kept[0].suits(seed):
            self._context, self._opened = kept
            self._context.owner = owner
        else:
            self._context, self._opened = Context(seed, _progress.Watch(verbose), owner), now

    def __enter__(self):
        self._context.watch.__enter__()
        return self._context

    def __exit__(self, kind, *reason):
        context = self._context
        try:
            context.watch.__exit__(kind, *reason)
        except BaseException:
            context.close()
            raise
        if kind is None and context.watch.log is None and not _config.memory and _config.comm is None:
            # a limit of memory is for one call, not for the models of several; ranks must open and close together
            _local.kept = (context, self._opened)
        else:
            context.close()


def _after_fork():
    global _forked
    _forked = True
    _local.__dict__.clear()
    for name in ("omp_set_num_threads", "openblas_set_num_threads"):
        if hasattr(lib, name):
            getattr(lib, name)(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


# ---- Objects of the library ----

class Handle:
    """Something the library made; freed with the last reference to it. Pass it to the library as it is: so it lives until the call is over,
    which of an address taken from it nobody can say. keep: what it looks at and does not own."""
    __slots__ = ("address", "_free", "keep", "__weakref__")

    def __init__(self, address, kind, keep=None):
        self.address, self.keep = address, keep
        self._free = getattr(lib, f"mercer_{kind}_free")

    @property
    def _as_parameter_(self):
        return self.address

    def __del__(self):
        self._free(self.address)


def parse(context, expression):
    """A kernel from its expression."""
    return Handle(context.make("mercer_kernel_parse", expression.encode()), "kernel")


# ---- Structs as Python ----

def record(struct):
    """A struct of the library as a dict: numbers, text, nested structs."""
    out = {}
    for name, kind in struct._fields_:
        if name in ("size", "reserved"):
            continue
        value = getattr(struct, name)
        if isinstance(value, bytes):
            value = text(value)
        elif isinstance(value, ctypes.Structure):
            value = record(value)
        out[name] = value
    return out


def _cards(handle):
    """Names of the cards that options(device="cuda") may compute on."""
    names, card = [], _header.mercer_card()
    while not lib.mercer_card_at(handle, len(names), ctypes.byref(card)):
        names.append(text(card.name))
    return names


def info() -> dict[str, Any]:
    """What this library is: version, instruction set, linear algebra library, threads, bytes of memory a call may use, cards.

    >>> import mercer
    >>> sorted(mercer.info())
    ['blas', 'cards', 'isa', 'memory_limit', 'threads', 'threads_decided', 'version']
    """
    handle = thread_context().handle
    return {"version": text(lib.mercer_version()), "isa": text(lib.mercer_isa(handle)), "blas": text(lib.mercer_blas()),
            "threads": lib.mercer_threads(handle), "threads_decided": text(lib.mercer_threads_decided(handle)),
            "memory_limit": lib.mercer_memory_limit(handle), "cards": _cards(handle)}
