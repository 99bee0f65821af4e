"""The machine's two clocks, read together, and whether the civil one is kept right."""

import ctypes
import time

from sensors.stamps import Instant, Stamp, UtcNanos


class SystemClock:
    """Monotonic and civil time of this machine."""

    def now(self) -> Stamp:
        """Return the present moment on both clocks."""
        return Stamp(Instant(time.monotonic_ns()), UtcNanos(time.time_ns()))


def is_set() -> bool:
    """Ask the kernel whether something disciplines its civil clock (adjtimex(2): 5 is TIME_ERROR)."""
    adjtimex = getattr(ctypes.CDLL(None), "adjtimex", None)
    return adjtimex is not None and 0 <= adjtimex(ctypes.create_string_buffer(512)) < 5
