"""The machine's two clocks, read together."""

import time

from sensors.stamps import Instant, Stamp, UtcNanos


class SystemClock:
    """Monotonic and civil time of this machine."""

    def now(self) -> Stamp:
        """Return the present moment on both clocks."""
        return Stamp(Instant(time.monotonic_ns()), UtcNanos(time.time_ns()))
