"""The machine's two clocks, read together, and whether the civil one is kept right."""

import ctypes
import time
from collections.abc import Callable
from typing import Any, cast

from sensors.stamps import Instant, Stamp, UtcNanos

_MONO: Callable[[], Instant] = cast("Any", time.monotonic_ns)
_UTC: Callable[[], UtcNanos] = cast("Any", time.time_ns)
"""As they are: an `Instant(...)` around them is a call of its own, and would be made for each answer of a line."""


class SystemClock:
    """Monotonic and civil time of this machine."""

    def now(self) -> Stamp:
        """Return the present moment on both clocks."""
        return Stamp(_MONO(), _UTC())


def is_set() -> bool:
    """Ask the kernel whether something disciplines its civil clock (adjtimex(2): 5 is TIME_ERROR)."""
    adjtimex = getattr(ctypes.CDLL(None), "adjtimex", None)
    return adjtimex is not None and 0 <= adjtimex(ctypes.create_string_buffer(512)) < 5
