"""The units that do not answer any more: when each is probed, and how long the line rests from what that cost."""

from typing import Final

from sensors.drivers.exchanges import BREAKS_TO_WAIT, NEVER, Counters, Poll
from sensors.drivers.turns import Held
from sensors.readings import Status

FAILURES_TO_SILENCE: Final = 2
"""Turns in a row without an answer after which a unit is only probed. A unit never heard gets one."""

BACKOFF_FIRST_S: Final = 1.0
BACKOFF_LAST_S: Final = 5.0
PROBE_REST: Final = 7.0
"""Delay caused to live units by a probe x this = rest for the line. Of the time in between they lose at most an eighth,
and less the slot that is made up for after each stall. docs/decisions/0005 has the figures."""

PROBE_OVERDUE_S: Final = 2.0
"""A line without an idle gap probes all the same when a probe is so late."""


class Silent:
    """The silent polls of one line, one probe among them at a time.

    Attributes:
        probed: the one that is probed now, if any.
    """

    __slots__ = (
        "_counters",
        "_delayed_since",
        "_next_probe",
        "_timeout_s",
        "polls",
        "probed",
    )

    def __init__(self, timeout_s: float, counters: Counters) -> None:
        self.polls: list[Poll] = []
        self._timeout_s = timeout_s
        self._counters = counters
        self.probed: Poll | None = None
        self._delayed_since = NEVER
        self._next_probe = NEVER

    def count_failure(self, poll: Poll, status: Status, reason: str, now: float) -> None:
        """A turn without an answer: silent after two of them, then probed after 1, 2, 4, 5, 5 ... seconds."""
        poll.status, poll.reason = status, reason
        poll.failures += 1
        if poll.silent:
            poll.backoff = min(poll.backoff * 2, BACKOFF_LAST_S)
        elif poll.failures >= FAILURES_TO_SILENCE or poll.heard == NEVER:
            poll.silent = True
            poll.backoff = BACKOFF_FIRST_S
            self.polls.append(poll)
        poll.probe_at = now + poll.backoff

    def remove(self, poll: Poll) -> None:
        """It spoke, or is no more."""
        poll.silent = False
        self.polls.remove(poll)

    def may_speak(self, now: float, *, all_of_them: bool) -> None:
        """On a new connection all may be well again: `all_of_them` get a turn at once, a few are probed soon."""
        for poll in self.polls:
            if poll.broke < BREAKS_TO_WAIT:
                poll.backoff, poll.probe_at = BACKOFF_FIRST_S, now
            if all_of_them:
                poll.silent, poll.failures = False, 1
        if all_of_them:
            self.polls.clear()

    def due(self, now: float, slot_end: float, held: Held | None) -> Poll | None:
        """Begin the probe whose time has come, if the gap before the next slot is long enough for its silence."""
        if not self.polls or now < self._next_probe:
            return None
        due = min(poll.probe_at for poll in self.polls)
        fits = now + self._timeout_s <= slot_end or now - due > PROBE_OVERDUE_S
        return self.probe(held) if now >= due and fits else None

    def probe(self, held: Held | None) -> Poll | None:
        """Begin the probe that is due first, of those that wait for one and are not held."""
        free = (poll for poll in self.polls if poll.idle and not (held and held(poll)))
        probe = min(free, key=lambda each: each.probe_at, default=None)
        if probe is not None:
            self._counters.probes += 1
            self.probed = probe
            probe.begin()
        return probe

    def delays(self, since: float) -> None:
        """Others wait since then; if there is a probe, for its sake."""
        if self.probed is not None and self._delayed_since == NEVER:
            self._delayed_since = since

    def line_goes_on(self, now: float) -> None:
        """Somebody answered, so the probe is over: rest in proportion to what it delayed."""
        if self.probed is None:
            return
        if self._delayed_since != NEVER:
            self._next_probe = now + (now - self._delayed_since) * PROBE_REST
        self.forget_probe()

    def line_is_back(self, now: float) -> None:
        """The first answer on a connection: whatever was mute was the line, so no probe has cost it anything.

        Whoever is silent may have been so with the line only, and is asked as soon as there is a gap.
        """
        self._next_probe = NEVER
        self.forget_probe()
        for poll in self.polls:
            if poll.broke < BREAKS_TO_WAIT:
                poll.backoff, poll.probe_at = BACKOFF_FIRST_S, now

    def forget_probe(self) -> None:
        """The connection is gone, and the probe with it."""
        self.probed, self._delayed_since = None, NEVER
