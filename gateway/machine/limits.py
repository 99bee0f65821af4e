"""What the operating system lets a process have: raised as far as it may be, given back as soon as it can. No more."""

import contextlib
import ctypes
import resource
import sys
from collections.abc import Iterator


def raise_descriptors() -> None:
    """Raise the number of files this process and its children may have open to the hard limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):  # a kernel that takes no such number: what there is has to do
        return


@contextlib.contextmanager
def without(library: str) -> Iterator[None]:
    """Let what is imported within do without a library that it loads only where it is installed."""
    if library in sys.modules:
        yield
        return
    sys.modules[library] = None  # type: ignore[assignment]  # to Python: there is none
    try:
        yield
    finally:
        del sys.modules[library]


def give_memory_back() -> None:
    """Have the C library give back what reading a configuration took and nobody holds any more, where it can."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc
    if trim is not None:
        trim(0)
