"""What the office files: kept whole or refused whole, before the engine hears of it; never left waiting for ever."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from dashboards.office import File, Paper
from dashboards.ports import Answer
from gateway.events import Effect, Event, Filed, Record
from gateway.filing import FORGOTTEN_S, MOST_WAITING, Filing
from sensors.stamps import SECOND, Instant, Stamp, UtcNanos


@dataclass
class Watch:
    """An engine that only counts, and a clock that stands where it was put."""

    heard: list[Event] = field(default_factory=list)
    at_s: int = 0

    def now(self) -> Stamp:
        return Stamp(Instant(self.at_s * SECOND), UtcNanos(self.at_s * SECOND))

    def hear(self, event: Event) -> list[Effect]:
        self.heard.append(event)
        assert isinstance(event, Filed)
        return [Record(len(self.heard), event.entries, (), ())]


LINE = {"id": "e1", "register": "document", "subject": "alvara", "act": "record", "values": {}, "effective_ms": 1}
SOUND: dict[str, Any] = {"at_ms": 1, "entries": [{**LINE, "source": "person"}]}


def file(body: dict[str, Any], *, ref: int = 1, by: str = "Ana Souza") -> File:
    return File(ref, by, (Paper("register", body),))


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
    Filing(watch, watch.hear).take(file(body, ref=7), answers.append)
    assert [(answer.ref, answer.ok, answer.error) for answer in answers] == [(7, False, "bad-request")]
    assert not watch.heard


def test_a_filing_is_answered_once_the_journal_holds_it() -> None:
    watch, answers = Watch(), list[Answer]()
    filing = Filing(watch, watch.hear)
    filing.take(file(SOUND), answers.append)
    assert not answers
    filing.committed(1)
    filing.committed(1)
    assert [answer.ok for answer in answers] == [True]


def test_filings_that_the_journal_dropped_do_not_keep_the_office_out_for_ever() -> None:
    watch, answers = Watch(), list[Answer]()
    filing = Filing(watch, watch.hear)
    for ref in range(MOST_WAITING + 1):
        filing.take(file(SOUND, ref=ref), answers.append)
    assert [(answer.ref, answer.error) for answer in answers] == [(MOST_WAITING, "busy")]
    watch.at_s += FORGOTTEN_S + 1
    filing.take(file(SOUND, ref=99), answers.append)
    assert len(answers) == 1  # it waits for its commit
    filing.committed(len(watch.heard))
    assert answers[-1] == Answer(99, ok=True)
