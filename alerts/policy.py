"""When a reading is gas, how bad, and when it is over: levels, dead-band and the times of annunciation."""

from dataclasses import dataclass

from alerts.alarms import AlarmState, Level
from sensors.readings import Quality, Reading, Status
from sensors.stamps import SECOND


@dataclass(frozen=True, slots=True)
class Levels:
    """Set-points in %LEL of the depot's reference basis, rising, and the dead-band below A1 (%LEL)."""

    a1: float
    a2: float
    a3: float
    dead_band: float = 2.0

    def of(self, gas: float) -> Level | None:
        """Return the level that `gas` (%LEL) is at or past; None below A1."""
        if gas < self.a1:
            return None
        if gas >= self.a3:
            return Level.A3
        return Level.A2 if gas >= self.a2 else Level.A1

    def clears(self, gas: float) -> bool:
        """Tell whether `gas` (%LEL) is far enough below A1 to end an alarm."""
        return gas < self.a1 - self.dead_band


@dataclass(frozen=True, slots=True)
class Timing:
    """How long things may last, in nanoseconds of the monotonic clock.

    Attributes:
        silence: how long a silenced horn stays mute.
        repeat: how often an unacknowledged gas alarm is told again.
        repeat_other: the same for the other kinds: a phone that rings all night gets switched off.
        unrecorded: how long a message waits for the journal before it leaves marked as not recorded.
        output_confirm: how long an output may take to be read back as set before that is an alarm itself.
        longest_test, longest_inhibit: the longest a window over one head may be asked for.
        longest_shelf, longest_out_of_service: the longest an alarm may be shelved, and a head be out of service.
        back_after: how long a blind head must watch without a gap before it counts as watching again: a head that
            flickers is one notice, not one a second.
        start_grace: how long a head may take to be heard for the first time after a start.
    """

    silence: int = 120 * SECOND
    repeat: int = 120 * SECOND
    repeat_other: int = 1800 * SECOND
    unrecorded: int = SECOND // 5
    output_confirm: int = 2 * SECOND
    longest_test: int = 30 * 60 * SECOND
    longest_inhibit: int = 8 * 3600 * SECOND
    longest_shelf: int = 8 * 3600 * SECOND
    longest_out_of_service: int = 30 * 86_400 * SECOND
    back_after: int = 3 * SECOND
    start_grace: int = 3 * SECOND


BLIND_STATUSES = frozenset(
    {Status.WARM_UP, Status.INHIBITED, Status.CALIBRATING, Status.FAULT, Status.STALE, Status.FROZEN, Status.OVER_RANGE}
)
"""What a head says of itself that means "not watching" at once. NO_CONTACT is not here: one lost poll is no silence.

OVER_RANGE stands here because over-range is gas of the highest level *and* a fault of the head.
"""


WIRE_REASONS = ("exception-", "garbled", "timeout", "late")
"""Reasons that speak of one bad answer, not of the head: they wait for the age limit as a lost poll does."""


def level_of(reading: Reading, levels: Levels) -> Level | None:
    """Return the gas level a reading shows, whatever its quality says beside it.

    Over-range is A3 even without a number. A BAD reading without a documented bound shows no gas: it is a fault.
    """
    if reading.status is Status.OVER_RANGE:
        return Level.A3
    if reading.quality is Quality.BAD:
        return None if reading.at_least is None else levels.of(reading.at_least)
    gas = reading.gas()
    return None if gas is None else levels.of(gas)


def shows_clear_air(reading: Reading, levels: Levels) -> bool:
    """Tell whether a reading proves that gas is gone. Only a GOOD value from a measuring head can.

    A head that only says yes or no shows clear air by a bound of 0: "no gas" is all it will ever say.
    """
    gas = reading.gas()
    return (
        reading.quality is Quality.GOOD
        and reading.status is Status.MEASURING
        and gas is not None
        and levels.clears(gas)
    )


def passes_range(alarm: AlarmState, reading: Reading) -> bool:
    """Tell whether a reading takes a gas alarm past its head's range for the first time, outside a drill."""
    return reading.status is Status.OVER_RANGE and not alarm.over_range and not alarm.drill


def watches(reading: Reading) -> bool:
    """Tell whether the head was watching when this reading was taken."""
    return reading.quality is not Quality.BAD and reading.status not in BLIND_STATUSES


def blind_at_once(reading: Reading) -> bool:
    """Tell whether the head itself says that it is not watching, so that nobody waits for its value to grow old."""
    if reading.status is Status.NO_CONTACT or reading.reason.startswith(WIRE_REASONS):
        return False
    return not watches(reading)
