"""What the office files: kept whole or refused whole, before the engine hears of it; never left waiting for ever."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from dashboards.office import File, paper
from dashboards.ports import Answer, ToGateway
from gateway.engine.events import Effect, Event, Filed, Record
from gateway.filing import MOST_WAITING, Filing
from gateway.journal import canonical
from gateway.journal.batches import prepare
from sensors.stamps import SECOND, Instant, Stamp, UtcNanos


@dataclass
class Watch:
    """An engine that only counts, and a clock that stands where it was put."""

    heard: list[Event] = field(default_factory=list)
    at_s: int = 0

    def now(self) -> Stamp:
        return Stamp(Instant(self.at_s * SECOND), UtcNanos(self.at_s * SECOND))

    turns: deque[Callable[[], None]] = field(default_factory=deque)

    def filing(self) -> Filing:
        return Filing(self, self.hear, self.turns.append)

    def turn(self) -> None:
        self.turns.popleft()()

    def hear(self, event: Event) -> list[Effect]:
        self.heard.append(event)
        assert isinstance(event, Filed)
        return [Record(len(self.heard), event.entries, (), ())]


LINE = {"id": "e1", "register": "document", "subject": "alvara", "act": "record", "values": {}, "effective_ms": 1}
SOUND: dict[str, Any] = {"at_ms": 1, "entries": [{**LINE, "source": "person"}]}


def file(body: dict[str, Any], *, ref: int = 1, by: str = "Ana Souza") -> File:
    return File(ref, by, (paper("register", body),))


@pytest.mark.parametrize(
    "body",
    [
        {"at_ms": 1, "entries": [{**SOUND["entries"][0], "id": f"e{number}" * 100} for number in range(900)]},
        {**SOUND, "at_ms": 2**70},
        {**SOUND, "at_ms": 1.5},
        {**SOUND, "by": "somebody else"},
        {"at_ms": 1, "entries": [[[[[[[[[[[[[[[[[["end"]]]]]]]]]]]]]]]]]]},
    ],
    ids=["too-long", "too-large", "a-fraction", "a-person-of-its-own", "too-deep"],
)
def test_what_the_journal_cannot_hold_is_refused_before_the_engine_hears_of_it(body: dict[str, Any]) -> None:
    watch, answers = Watch(), list[Answer]()
    watch.filing().take(file(body, ref=7), answers.append)
    assert [(answer.ref, answer.ok, answer.error) for answer in answers] == [(7, False, "bad-request")]
    assert not watch.heard


def test_a_filing_is_answered_once_the_journal_holds_it() -> None:
    watch, answers = Watch(), list[Answer]()
    filing = watch.filing()
    filing.take(file(SOUND), answers.append)
    assert not answers
    filing.committed(1)
    filing.committed(1)
    assert [answer.ok for answer in answers] == [True]


def test_a_filing_of_nothing_is_answered_once_all_before_it_is_settled() -> None:
    watch, answers = Watch(), list[Answer]()
    filing = watch.filing()
    filing.take(File(1, "", ()), answers.append)
    assert [answer.ref for answer in answers] == [1], "nothing is before it"
    filing.take(file(SOUND, ref=2), answers.append)
    filing.take(file(SOUND, ref=3), lambda _: None)  # by an office that has ended since
    filing.take(File(4, "", ()), answers.append)
    filing.take(file(SOUND, ref=5), answers.append)
    filing.committed(1)
    assert [answer.ref for answer in answers] == [1, 2]
    filing.committed(2)
    assert [(answer.ref, answer.ok) for answer in answers] == [(1, True), (2, True), (4, True)]


def test_filings_that_the_journal_dropped_do_not_keep_the_office_out_for_ever() -> None:
    watch, answers = Watch(), list[Answer]()
    filing = watch.filing()
    for ref in range(MOST_WAITING + 1):
        filing.take(file(SOUND, ref=ref), answers.append)
    assert [(answer.ref, answer.error) for answer in answers] == [(MOST_WAITING, "busy")]
    filing.committed(len(watch.heard) + 1)
    assert answers[1:] == [Answer(ref, ok=False, error="not-recorded") for ref in range(MOST_WAITING)]
    filing.take(file(SOUND, ref=99), answers.append)
    filing.committed(len(watch.heard))
    assert answers[-1] == Answer(99, ok=True)


def test_a_filing_is_not_given_up_while_the_journal_hangs() -> None:
    watch, answers = Watch(), list[Answer]()
    filing = watch.filing()
    filing.take(file(SOUND, ref=1), answers.append)
    watch.at_s += 3600
    filing.take(file(SOUND, ref=2), answers.append)
    assert not answers
    filing.committed(1)
    assert answers == [Answer(1, ok=True)]


def test_a_filing_of_many_papers_is_looked_through_one_in_each_turn_and_heard_whole() -> None:
    watch, answers = Watch(), list[Answer]()
    filing = watch.filing()
    filing.take(File(1, "Ana", (paper("register", SOUND),) * 4), answers.append)
    filing.take(file(SOUND, ref=2), answers.append)
    for _ in range(3):
        assert not watch.heard
        watch.turn()
    assert [len(event.entries) for event in watch.heard if isinstance(event, Filed)] == [4]
    watch.turn()
    assert len(watch.heard) == 2 and not watch.turns
    filing.committed(1)
    filing.committed(2)
    assert [answer.ref for answer in answers] == [1, 2]


def test_one_bad_paper_refuses_the_whole_filing_and_not_the_next() -> None:
    watch, answers = Watch(), list[Answer]()
    filing = watch.filing()
    filing.take(File(1, "Ana", (paper("register", SOUND), paper("register", {"at_ms": 1.5}))), answers.append)
    filing.take(file(SOUND, ref=2), answers.append)
    while watch.turns:
        watch.turn()
    assert [(answer.ref, answer.error) for answer in answers] == [(1, "bad-request")]
    assert len(watch.heard) == 1


def test_what_is_filed_goes_to_the_journal_as_the_bytes_it_was_looked_through_by() -> None:
    watch = Watch()
    watch.filing().take(file(SOUND), lambda _: None)
    (event,) = watch.heard
    assert isinstance(event, Filed)
    (leaf,) = prepare(Record(1, event.entries)).leaves
    assert leaf.body is event.entries[0].encoded and leaf.body == canonical.encode(SOUND)


def test_a_long_filing_is_decoded_one_paper_at_a_time() -> None:
    bad = b'{"type": "file", "ref": 3, "by": "Ana", "papers": [{"kind": "register", "body": {"at_ms": [%s]}}]}'
    ask = msgspec.json.decode(bad % (b"[" * 500 + b"]" * 500), type=ToGateway)
    assert isinstance(ask, File) and len(ask.papers[0].body) > 1000, "its body is left as it came"
    watch, answers = Watch(), list[Answer]()
    watch.filing().take(ask, answers.append)
    assert [(answer.ref, answer.error) for answer in answers] == [(3, "bad-request")]
