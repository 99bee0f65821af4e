"""What is owed to whom and when it is tried next. Knows attempts and answers, not channels."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256

from alerts.alarms import AlarmEvent, AlarmKey, Cause, Delivery, Outcome, Verdict
from sensors.stamps import SECOND, Instant

FIRST_RETRY = SECOND // 2
LONGEST_RETRY = 30 * SECOND
ANSWER_WITHIN = 60 * SECOND
"""A channel that gives no answer at all for this long is taken to have failed the attempt."""

EXPIRES_AFTER = 24 * 3600 * SECOND
MOST_OWED = 10_000
"""Bound of the outbox. Beyond it the oldest repeat, then the oldest delivery, is dropped and counted."""


@dataclass(slots=True)
class Owed:
    """One delivery and where it stands. `ticket` is the journal batch it waits for; None once it may leave."""

    delivery: Delivery
    event: AlarmEvent
    ticket: int | None
    recorded: bool
    due: Instant
    born: Instant
    in_flight: bool = False


@dataclass(frozen=True, slots=True)
class Settled:
    """What an answer made of a delivery: its last state, or None when it will be tried again."""

    delivery: Delivery
    event: AlarmEvent
    outcome: Outcome
    final: bool


def backoff(delivery: Delivery) -> int:
    """Nanoseconds to wait after a failed attempt: 0.5 s doubling to 30 s, scaled by 50 to 100 %.

    The share is drawn from the delivery's own id, so that two gateways differ and one run repeats itself.
    """
    full = min(FIRST_RETRY << min(delivery.attempt - 1, 16), LONGEST_RETRY)
    share = int.from_bytes(sha256(f"{delivery.id}#{delivery.attempt}".encode()).digest()[:2], "big") / 65535
    return int(full * (0.5 + share / 2))


class Outbox:
    """Every delivery that no channel has settled yet."""

    def __init__(self) -> None:
        self._owed: dict[str, Owed] = {}
        self._heap: list[tuple[Instant, str]] = []
        self._waiting: dict[int, list[str]] = {}
        self._repeats: dict[tuple[AlarmKey, str, str], str] = {}
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._owed)

    def __iter__(self) -> Iterator[Owed]:
        """Everything owed, oldest first."""
        return iter(self._owed.values())

    def owe(
        self, delivery: Delivery, event: AlarmEvent, now: Instant, *, ticket: int | None, leave: Instant
    ) -> list[Settled]:
        """Take on a delivery. With a ticket it waits for that commit, but no longer than until `leave`.

        Returns:
            What had to be given up for it: an older repeat of the same alarm to the same recipient, or the oldest.
        """
        gone = self._supersede(delivery, event)
        if len(self._owed) >= MOST_OWED:
            gone.append(self._give_up(self._oldest(), "outbox full"))
        self._owed[delivery.id] = Owed(delivery, event, ticket, recorded=ticket is None, due=leave, born=now)
        if event.cause is Cause.STILL:
            self._repeats[event.key, delivery.channel, delivery.recipient] = delivery.id
        if ticket is not None:
            self._waiting.setdefault(ticket, []).append(delivery.id)
        heapq.heappush(self._heap, (leave, delivery.id))
        return gone

    def committed(self, ticket: int, now: Instant) -> None:
        """The journal holds this batch: what waited for it is due now, marked as recorded."""
        for delivery_id in self._waiting.pop(ticket, ()):
            owed = self._owed.get(delivery_id)
            if owed is None:
                continue
            owed.recorded = True
            if owed.ticket is not None and not owed.in_flight and owed.delivery.attempt == 1:
                owed.due = now
                heapq.heappush(self._heap, (now, delivery_id))
            owed.ticket = None

    def take_due(self, now: Instant) -> list[Owed]:
        """Return what is to be tried now, each marked as in flight."""
        due: list[Owed] = []
        while self._heap and self._heap[0][0] <= now:
            when, delivery_id = heapq.heappop(self._heap)
            owed = self._owed.get(delivery_id)
            if owed is None or owed.due != when:
                continue  # an older entry for something settled or put off since
            if owed.in_flight:
                owed.delivery = replace(owed.delivery, attempt=owed.delivery.attempt + 1)
            owed.in_flight = True
            owed.due = Instant(now + ANSWER_WITHIN)
            heapq.heappush(self._heap, (owed.due, delivery_id))
            due.append(owed)
        return due

    def settle(self, delivery: Delivery, outcome: Outcome, now: Instant) -> Settled | None:
        """Book a channel's answer. None for an answer to something no longer owed (a late second answer)."""
        owed = self._owed.get(delivery.id)
        if owed is None or (outcome.verdict is Verdict.RETRY and owed.delivery.attempt != delivery.attempt):
            return None
        if outcome.verdict is not Verdict.RETRY:
            self._forget(owed)
            return Settled(delivery, owed.event, outcome, final=True)
        if now - owed.born > EXPIRES_AFTER:
            return self._give_up(delivery.id, f"expired after {outcome.reason}")
        owed.due = Instant(now + backoff(owed.delivery))
        owed.delivery = replace(owed.delivery, attempt=owed.delivery.attempt + 1)
        owed.in_flight = False
        heapq.heappush(self._heap, (owed.due, delivery.id))
        return Settled(delivery, owed.event, outcome, final=False)

    def recall(self, now: Instant) -> None:
        """The channels were built anew: what they had in hand is due again, as the next attempt with the same id."""
        for owed in self._owed.values():
            if owed.in_flight:
                owed.in_flight = False
                owed.delivery = replace(owed.delivery, attempt=owed.delivery.attempt + 1)
                owed.due = now
                heapq.heappush(self._heap, (now, owed.delivery.id))

    def next_due(self) -> Instant | None:
        """Return when `take_due` next has something; None while nothing is owed."""
        while self._heap:
            due, delivery_id = self._heap[0]
            owed = self._owed.get(delivery_id)
            if owed is not None and owed.due == due:
                return due
            heapq.heappop(self._heap)  # settled or put off since: nobody needs to be woken for it
        return None

    def _supersede(self, delivery: Delivery, event: AlarmEvent) -> list[Settled]:
        if event.cause is not Cause.STILL:
            return []
        older = self._repeats.get((event.key, delivery.channel, delivery.recipient))
        return [] if older is None else [self._give_up(older, "superseded by a newer repeat")]

    def _oldest(self) -> str:
        return next(iter(self._repeats.values()), None) or next(iter(self._owed))

    def _give_up(self, delivery_id: str, reason: str) -> Settled:
        owed = self._owed[delivery_id]
        self._forget(owed)
        self.dropped += 1
        return Settled(owed.delivery, owed.event, Outcome(Verdict.REFUSED, reason), final=True)

    def _forget(self, owed: Owed) -> None:
        del self._owed[owed.delivery.id]
        repeat = (owed.event.key, owed.delivery.channel, owed.delivery.recipient)
        if self._repeats.get(repeat) == owed.delivery.id:
            del self._repeats[repeat]
        if owed.ticket is not None:  # a batch that the journal never took would keep its list for ever
            waiting = [other for other in self._waiting.get(owed.ticket, ()) if other in self._owed]
            if waiting:
                self._waiting[owed.ticket] = waiting
            else:
                self._waiting.pop(owed.ticket, None)
