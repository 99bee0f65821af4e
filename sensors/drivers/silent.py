"""The units that do not answer any more: when each is probed, and how long the line rests from what that cost.

A line on which nobody answered when last asked is dead, as far as anybody can tell. To ask there costs no live unit
anything, but it is no use to ask oftener than it takes to find each soon; and a gateway that waits for each of them
only answers the later for it.

Units fall mute and come back together, with the cable or the mains: the first that comes back brings the turn of the
others, those next to a living one first.
"""

from collections.abc import Sequence
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

DEAD_S: Final = 1.2
"""A dead line is asked once in this time: a gateway is done with one mute unit by then, and nothing queues up there."""

LOOK_WITHIN_S: Final = 7.5
"""Where nothing queues up a dead line is asked oftener, so that each of its units is asked within this time."""

RETURN_S: Final = 7.5
"""Who comes back within this time of another came back with it: whoever else is silent is asked at once, but once."""

PROBE_OVERDUE_S: Final = 2.0
"""A line without an idle gap probes all the same when a probe is so late."""


class Silent:
    """The silent polls of one line, one probe among them at a time.

    Attributes:
        probed: the one that is probed now, if any.
        dead: nobody of the line has answered when last asked.
    """

    __slots__ = (
        "_all",
        "_counters",
        "_delayed_since",
        "_gateway",
        "_left",
        "_next_probe",
        "_queues",
        "_return_began",
        "_timeout_s",
        "dead",
        "polls",
        "probed",
    )

    def __init__(self, timeout_s: float, counters: Counters, everybody: Sequence[Poll], *, gateway: bool) -> None:
        """`everybody`: all polls of the line, which may grow. `gateway`: one may stand before it, and be stuck."""
        self.polls: list[Poll] = []
        self.dead = False
        self._all = everybody
        self._gateway = self._queues = gateway
        self._left = 0.0
        self._timeout_s = timeout_s
        self._counters = counters
        self.probed: Poll | None = None
        self._delayed_since = NEVER
        self._next_probe = NEVER
        self._return_began = NEVER

    def count_failure(self, poll: Poll, status: Status, reason: str, now: float) -> None:
        """A turn without an answer: silent after two of them, then probed after 1, 2, 4, 5, 5 ... seconds."""
        poll.status, poll.reason = status, reason
        self._queues = self._gateway and status is Status.NO_CONTACT  # else it said in time that nobody answers
        poll.failures += 1
        if poll.silent:
            poll.backoff = min(poll.backoff * 2, BACKOFF_LAST_S)
        elif poll.failures >= FAILURES_TO_SILENCE or poll.heard == NEVER:
            poll.silent = True
            poll.backoff = BACKOFF_FIRST_S
            self.polls.append(poll)
        poll.probe_at = now + poll.backoff
        if not self.dead and all(each.failures for each in self._all):
            self.dead, self._left = True, 1.0

    def spoke(self, poll: Poll, now: float) -> None:
        """It spoke, whatever it said. Where it was silent the others may be back too."""
        self.dead = False
        if poll.silent:
            poll.silent = False
            self.polls.remove(poll)
            if self.polls:
                self._others_may_be_back(now)

    def _others_may_be_back(self, now: float) -> None:
        """The rest from what a probe costs holds for these too; who was asked in vain meanwhile waits as ever."""
        if now - self._return_began > RETURN_S:
            self._return_began = now
        for other in self.polls:
            if other.sent < self._return_began and other.broke < BREAKS_TO_WAIT:
                other.probe_at = min(other.probe_at, now)
        living = [place for place, each in enumerate(self._all) if not each.silent]
        far = {
            each: min((abs(place - one) for one in living), default=0)
            for place, each in enumerate(self._all)
            if each.silent
        }
        self.polls.sort(key=lambda other: far[other])

    # --- a dead line

    def new_slot(self, period_s: float) -> None:
        """So much time has passed: a dead line may be asked so much more."""
        often = 1 / DEAD_S if self._queues else max(1 / DEAD_S, len(self._all) / LOOK_WITHIN_S)
        self._left = min(self._left, 1.0) + often * period_s

    def asked(self) -> None:
        """Somebody of a dead line is asked now."""
        self._left -= 1.0

    @property
    def rests(self) -> bool:
        """Whether nobody of the line is to be asked now."""
        return self.dead and self._left < 1.0

    def way_was_gone(self) -> None:
        """The line itself was out of reach: what was found out about its units may be so no more."""
        self.dead = False

    # --- probes

    def may_speak(self, now: float) -> None:
        """On a new connection all may be well again: if all were silent they get a turn at once, a few are probed soon.

        Those of a dead line are asked in turn as ever: its connection is opened anew again and again.
        """
        if self.dead:
            return
        all_of_them = len(self.polls) == len(self._all)
        for poll in self.polls:
            if poll.broke < BREAKS_TO_WAIT:
                poll.backoff, poll.probe_at = BACKOFF_FIRST_S, now
            if all_of_them:
                poll.silent, poll.failures = False, 1
        if all_of_them:
            self.polls.clear()

    def due(self, now: float, slot_end: float, held: Held | None) -> Poll | None:
        """Begin the probe whose time has come, if the gap before the next slot is long enough for its silence.

        On a dead line there is nobody whom it could hold up.
        """
        if self.dead:
            return None if self.rests else self.probe(held)
        if not self.polls or now < self._next_probe:
            return None
        due = min(poll.probe_at for poll in self.polls)
        fits = now + self._timeout_s <= slot_end or now - due > PROBE_OVERDUE_S
        return self.probe(held) if now >= due and fits else None

    def probe(self, held: Held | None) -> Poll | None:
        """Begin the probe that is due first, of those that wait for one and are not held."""
        free = (poll for poll in self.polls if poll.idle and not (held and held(poll)))
        probe = min(free, key=lambda each: (each.probe_at, each.sent >= self._return_began), default=None)
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
