"""How far a long call is, and how it is stopped.

The library asks about ten times a second whether to go on. While a call of the main thread runs, Ctrl-C sets a flag that the answer
reads: raising from inside the callback would be lost, since C lies between it and the caller. The caller's own handler runs after the
call has returned."""
import _signal
import ctypes
import sys
import threading
from typing import Any

from . import _header

_SIGINT = int(_signal.SIGINT)
_PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_header.mercer_progress))
_LOG = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)
_WIDTH = 30


def _in_notebook():
    if "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


class _Quiet:
    def show(self, phase, share, seconds): ...
    def line(self, words): ...
    def end(self): ...


class _Lines(_Quiet):
    """Neither a terminal nor a notebook: facts, no bar."""

    def line(self, words):
        print(words, file=sys.stderr, flush=True)


class _Terminal(_Lines):
    drawn = False

    def show(self, phase, share, seconds):
        full = int(_WIDTH * min(max(share, 0), 1))
        percent = f"{100 * share:3.0f}%" if share >= 0 else "    "
        sys.stderr.write(f"\r{phase:<10} [{'#' * full:<{_WIDTH}}] {percent}  {seconds:.0f} s\033[K")
        sys.stderr.flush()
        self.drawn = True

    def line(self, words):
        self.end()
        super().line(words)

    def end(self):
        if self.drawn:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
        self.drawn = False


class _Notebook(_Quiet):
    """One cell output that is drawn again and again."""

    def __init__(self):
        from IPython.display import HTML, display
        self._html, self._display, self._shown = HTML, display, None

    def show(self, phase, share, seconds):
        bar = f"<progress max=1 {f'value={share:.3f}' if share >= 0 else ''}></progress> {phase}, {seconds:.0f} s"
        if self._shown is None:
            self._shown = self._display(self._html(bar), display_id=True)
        else:
            self._shown.update(self._html(bar))

    def line(self, words):
        print(words)


def _screen(verbose):
    if not verbose:
        return _Quiet()
    if _in_notebook():
        return _Notebook()
    return _Terminal() if sys.stderr.isatty() else _Lines()


class Watch:
    """The callbacks of a context, and the block around a call in which Ctrl-C is noted instead of raised."""

    def __init__(self, verbose=False):
        self._screen = _screen(verbose)
        self._noted = False
        self._before: Any = None
        self.progress = _PROGRESS(self._ask)
        self.log = _LOG(self._say) if verbose else None
        self.progress_at = ctypes.cast(self.progress, ctypes.c_void_p).value
        self.log_at = ctypes.cast(self.log, ctypes.c_void_p).value if self.log is not None else None

    def _ask(self, user, progress):
        seen = progress.contents
        self._screen.show((seen.phase or b"").decode(), seen.done, seen.seconds)
        return int(self._noted)

    def _say(self, user, line):
        self._screen.line(line.decode("utf-8", "replace"))

    def _note(self, number, frame):
        self._noted = True

    def __enter__(self):
        self._noted, self._before = False, None
        if threading.current_thread() is threading.main_thread():
            before = _signal.getsignal(_SIGINT)
            if callable(before):
                self._before = before
                _signal.signal(_SIGINT, self._note)
        return self

    def __exit__(self, kind, value, trace):
        if self._before is not None:
            _signal.signal(_SIGINT, self._before)
        self._screen.end()
        if self._noted:
            self._before(_SIGINT, None)
            if kind is None:
                raise KeyboardInterrupt
        return False
