"""Nobody at the control socket holds the watch up with judgements: they are bounded in size and heard one at a time."""

from dashboards.office import MOST_BREACHES, Breach, Judged
from dashboards.ports import Answer
from gateway.engine import events
from gateway.engine.events import Event
from gateway.filing import JUDGED_EVERY_S, Filing
from sensors.stamps import SECOND, Instant, Stamp, UtcNanos


class Hands:
    def __init__(self) -> None:
        self.mono = 10 * SECOND
        self.heard: list[Event] = []
        self.answers: list[Answer] = []

    def now(self) -> Stamp:
        return Stamp(Instant(self.mono), UtcNanos(self.mono))

    def hear(self, event: Event) -> list[events.Effect]:
        self.heard.append(event)
        return []


def judged(count: int) -> Judged:
    return Judged(1, tuple(Breach(f"r{number}/depot:depot", "violated", "", "danger") for number in range(count)))


def test_a_judgement_is_heard_and_the_next_one_only_some_seconds_later() -> None:
    hands = Hands()
    filing = Filing(hands, hands.hear, lambda turn: turn())
    for wait_s in (0, JUDGED_EVERY_S / 2, JUDGED_EVERY_S):
        hands.mono += round(wait_s * SECOND)
        filing.take(judged(3), hands.answers.append)
    assert [answer.error for answer in hands.answers] == ["", "busy", ""]
    assert len(hands.heard) == 2


def test_a_judgement_beyond_its_bound_is_refused_whole() -> None:
    hands = Hands()
    filing = Filing(hands, hands.hear, lambda turn: turn())
    filing.take(judged(MOST_BREACHES + 1), hands.answers.append)
    filing.take(judged(MOST_BREACHES), hands.answers.append)
    assert [answer.ok for answer in hands.answers] == [False, True]
    assert len(hands.heard) == 1
