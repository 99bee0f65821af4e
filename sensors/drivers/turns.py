"""Who is next on a line: the polls in the order of their turns. Sends nothing and judges nothing."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from sensors.drivers.exchanges import BREAKS_TO_WAIT, NEVER, Counters, Poll
from sensors.wire.registers import Block

Held: TypeAlias = Callable[[Poll], bool]
"""Whether a poll must not be sent yet."""


class Turns:
    """All polls of a line, and the queue of those that wait for this slot's turn."""

    __slots__ = (
        "_counters",
        "polls",
        "queue",
    )

    def __init__(self, blocks: Sequence[Block], counters: Counters) -> None:
        self.polls = [Poll(block) for block in blocks]
        self.queue: deque[Poll] = deque()
        self._counters = counters

    def new_slot(self) -> None:
        """Everybody's turn: those who answered lately first, the doubtful after them, the silent not at all."""
        doubtful: list[Poll] = []
        queue = self.queue
        for poll in self.polls:
            if poll.idle and not (poll.silent or poll.failures) and poll.heard != NEVER:
                poll.idle = False  # as `begin` does: nearly all of them, and every step costs
                poll.fault = ""
                if poll.part:
                    poll.rewind()
                queue.append(poll)
            elif not poll.idle:
                if not poll.silent:
                    self._counters.overruns += 1
                    poll.owed = True
            elif not poll.silent:
                doubtful.append(poll)
        for poll in doubtful:
            self.begin(poll)

    def begin(self, poll: Poll) -> None:
        """A turn of its own, at the end of the queue."""
        poll.begin()
        self.queue.append(poll)

    def again(self, poll: Poll, *, blamed: bool) -> None:
        """The same turn once more, after the others' first attempts; whoever is not `blamed` only waited in vain."""
        poll.rewind()
        if blamed:
            poll.attempt = 2
        self.queue.append(poll)

    def begin_all(self) -> None:
        """On a new connection: a turn at once for all who are not silent, those who failed or ended the last one last.

        Whose turns end one connection after the other waits for the next slot.
        """
        for poll in sorted(self.polls, key=lambda each: (each.broke, each.failures > 0, each.attempt)):
            if poll.idle and not poll.silent and poll.broke < BREAKS_TO_WAIT:
                self.begin(poll)

    def end_all(self) -> None:
        """The connection is gone: nobody waits any more."""
        for poll in self.queue:
            poll.idle = True
        self.queue.clear()

    def after_stall(self, *, one_at_a_time: bool) -> list[Poll]:
        """The line was stuck: who answered lately goes first, who is to be asked once more last.

        With many in flight the retries are returned instead: nobody knows who held the line, and another stall would
        cost all of them.
        """
        again = [poll for poll in self.queue if poll.attempt == 2]
        waiting = sorted((poll for poll in self.queue if poll.attempt == 1), key=lambda poll: not poll.trusted)
        self.queue = deque([*waiting, *again] if one_at_a_time else waiting)
        return [] if one_at_a_time else again

    def take(self, held: Held | None) -> Poll | None:
        """Take the next that is not held."""
        if held is None:
            return self.queue.popleft() if self.queue else None
        poll = next((each for each in self.queue if not held(each)), None)
        if poll is not None:
            self.queue.remove(poll)
        return poll

    def witness(self, held: Held | None, since: float, *, alone: bool) -> Poll | None:
        """Take one who answered lately, waiting or not: of them all the one in the middle, by when they did.

        So it is far from whoever is mute in the order of turns, which is that of the cable: units fall mute in
        neighbourhoods. Whoever was asked in vain already in this doubt (`since`) comes after those who were not: it may
        be the one that stays dead when all others are back. Without any such, the next of the queue is taken; `alone`
        says that nothing is in flight.
        """
        waiting = (poll for poll in self.queue if poll.trusted)
        known = [poll for poll in (*waiting, *self.idle_witnesses()) if not (held and held(poll))]
        if not known:
            return self.take(held) if alone and self.queue else None
        fresh = sorted((poll for poll in known if poll.sent < since), key=lambda each: each.heard)
        witness = fresh[len(fresh) // 2] if fresh else min(known, key=lambda each: each.sent)
        if witness.idle:
            if not alone or not self.queue:
                return None
            witness.begin()
        else:
            self.queue.remove(witness)
        return witness

    def idle_witnesses(self) -> Iterator[Poll]:
        """Those who answered lately and do not wait now; the next slot brings them by itself."""
        return (poll for poll in self.polls if poll.idle and poll.trusted)

    def replace(self, poll: Poll, blocks: Sequence[Block]) -> None:
        """In place of one poll put one for each of these blocks, each with a turn at once."""
        fresh = [Poll(block) for block in blocks]
        place = self.polls.index(poll)
        self.polls[place : place + 1] = fresh
        for each in fresh:
            each.heard, each.failures = poll.heard, poll.failures
            self.begin(each)
