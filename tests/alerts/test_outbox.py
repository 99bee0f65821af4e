"""The outbox: nothing lost, nothing sent twice without need, everything bounded."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts import outbox as module
from alerts.alarms import AlarmEvent, AlarmKey, Cause, Delivery, EventId, Kind, Level, Outcome, Phase, Verdict
from alerts.outbox import ANSWER_WITHIN, LONGEST_RETRY, Outbox, backoff
from sensors.stamps import SECOND, Instant, Stamp, UtcNanos

NOW = Instant(1000 * SECOND)
STAMP = Stamp(NOW, UtcNanos(0))
RETRY, ACCEPTED, REFUSED = (Outcome(verdict, "x") for verdict in (Verdict.RETRY, Verdict.ACCEPTED, Verdict.REFUSED))


def event(no: int = 1, cause: Cause = Cause.RAISED, subject: str = "GD-1") -> AlarmEvent:
    key = AlarmKey(subject, Kind.GAS)
    phases = (Phase.NORMAL, Phase.UNACKNOWLEDGED)
    return AlarmEvent(no, EventId(f"e{no}"), key, cause, *phases, Level.A1, None, 12.0, 12.0, STAMP, STAMP, STAMP)


def delivery(no: int = 1, channel: str = "hook") -> Delivery:
    return Delivery(f"e{no}:{channel}:dona", EventId(f"e{no}"), "dona", channel)


def later(seconds: float) -> Instant:
    return Instant(NOW + round(seconds * SECOND))


def test_a_delivery_waits_for_its_commit() -> None:
    box = Outbox()
    box.owe(delivery(), event(), NOW, ticket=7, leave=later(0.2))
    assert box.take_due(later(0.1)) == []
    box.committed(7, later(0.1))
    (owed,) = box.take_due(later(0.1))
    assert owed.recorded


def test_a_delivery_leaves_unrecorded_when_the_journal_is_late_and_only_once() -> None:
    box = Outbox()
    box.owe(delivery(), event(), NOW, ticket=7, leave=later(0.2))
    (owed,) = box.take_due(later(0.2))
    assert not owed.recorded
    box.committed(7, later(0.3))
    assert box.take_due(later(0.4)) == []


def test_another_commit_frees_nothing() -> None:
    box = Outbox()
    box.owe(delivery(), event(), NOW, ticket=7, leave=later(0.2))
    box.committed(6, later(0.1))
    assert box.take_due(later(0.1)) == []


@pytest.mark.parametrize("outcome", [ACCEPTED, REFUSED])
def test_a_final_answer_ends_it(outcome: Outcome) -> None:
    box = Outbox()
    box.owe(delivery(), event(), NOW, ticket=None, leave=NOW)
    (owed,) = box.take_due(NOW)
    settled = box.settle(owed.delivery, outcome, later(0.1))
    assert settled is not None and settled.final and len(box) == 0
    assert box.settle(owed.delivery, outcome, later(0.1)) is None
    assert box.take_due(later(100)) == []


def test_a_retry_comes_back_with_the_same_id_and_the_next_number() -> None:
    box = Outbox()
    box.owe(delivery(), event(), NOW, ticket=None, leave=NOW)
    (first,) = box.take_due(NOW)
    box.settle(first.delivery, RETRY, later(0.1))
    assert box.take_due(later(0.3)) == []
    (second,) = box.take_due(later(0.7))
    assert (second.delivery.id, second.delivery.attempt) == (delivery().id, 2)


def test_a_channel_that_never_answers_is_asked_again() -> None:
    box = Outbox()
    box.owe(delivery(), event(), NOW, ticket=None, leave=NOW)
    box.take_due(NOW)
    (again,) = box.take_due(Instant(NOW + ANSWER_WITHIN))
    assert again.delivery.attempt == 2
    assert box.settle(delivery(), RETRY, later(61)) is None  # the first attempt's late answer puts nothing off
    assert box.settle(delivery(), ACCEPTED, later(61)) is not None  # but a late acceptance is an acceptance


@given(st.integers(1, 60))
def test_backoff_doubles_and_is_capped_and_repeats_itself(attempt: int) -> None:
    waits = backoff(replace(delivery(), attempt=attempt))
    full = min(SECOND // 2 * 2 ** (attempt - 1), LONGEST_RETRY)
    assert full / 2 <= waits <= full
    assert waits == backoff(replace(delivery(), attempt=attempt))


def test_a_newer_repeat_takes_the_place_of_an_older_one() -> None:
    box = Outbox()
    box.owe(delivery(1), event(1, Cause.RAISED), NOW, ticket=None, leave=NOW)
    box.owe(delivery(2), event(2, Cause.STILL), NOW, ticket=None, leave=NOW)
    gone = box.owe(delivery(3), event(3, Cause.STILL), NOW, ticket=None, leave=NOW)
    assert [settled.delivery.id for settled in gone] == [delivery(2).id]
    assert [owed.event.seq for owed in box] == [1, 3]
    assert box.dropped == 1


def test_the_outbox_is_bounded_and_gives_up_repeats_first(monkeypatch) -> None:
    monkeypatch.setattr(module, "MOST_OWED", 3)
    box = Outbox()
    box.owe(delivery(1), event(1, Cause.RAISED), NOW, ticket=None, leave=NOW)
    box.owe(delivery(2), event(2, Cause.STILL), NOW, ticket=None, leave=NOW)
    box.owe(delivery(3), event(3, Cause.RAISED, "GD-2"), NOW, ticket=None, leave=NOW)
    (gone,) = box.owe(delivery(4), event(4, Cause.RAISED, "GD-3"), NOW, ticket=None, leave=NOW)
    assert gone.event.seq == 2 and "full" in gone.outcome.reason
    (gone,) = box.owe(delivery(5), event(5, Cause.RAISED, "GD-4"), NOW, ticket=None, leave=NOW)
    assert gone.event.seq == 1 and len(box) == 3


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["owe", "commit", "take", "retry", "accept"]), st.integers(0, 5)), max_size=40)
)
def test_every_delivery_is_either_owed_or_settled_once(steps: list[tuple[str, int]]) -> None:
    box, flying, settled, owed = Outbox(), {}, [], set()
    now = NOW
    for what, no in steps:
        now = Instant(now + SECOND // 4)
        match what:
            case "owe" if no not in owed:
                owed.add(no)
                box.owe(delivery(no), event(no), now, ticket=no, leave=Instant(now + SECOND // 5))
            case "commit":
                box.committed(no, now)
            case "take":
                for item in box.take_due(now):
                    flying[item.event.seq] = item.delivery
            case "retry" if no in flying:
                box.settle(flying.pop(no), RETRY, now)
            case "accept" if no in flying:
                answer = box.settle(flying.pop(no), ACCEPTED, now)
                settled += [] if answer is None else [no]
            case _:
                pass
        assert sorted([item.event.seq for item in box] + settled) == sorted(owed)
    now = Instant(now + 120 * SECOND)
    assert {item.event.seq for item in box.take_due(now)} == owed - set(settled)


def test_what_ended_channels_had_in_hand_is_due_again() -> None:
    box = Outbox()
    box.owe(delivery(), event(), NOW, ticket=None, leave=NOW)
    box.take_due(NOW)
    box.recall(later(1))
    (again,) = box.take_due(later(1))
    assert (again.delivery.id, again.delivery.attempt) == (delivery().id, 2)


def test_nothing_is_kept_of_batches_the_journal_never_took() -> None:
    box = Outbox()
    for no in range(50):
        box.owe(delivery(no), event(no), NOW, ticket=no, leave=NOW)
        (owed,) = box.take_due(NOW)
        box.settle(owed.delivery, ACCEPTED, NOW)
    assert box._waiting == {}


def test_nobody_is_woken_for_what_has_left_or_was_settled() -> None:
    box = Outbox()
    box.owe(delivery(1), event(1), NOW, ticket=7, leave=later(0.2))
    box.committed(7, later(0.01))
    assert len(box.take_due(later(0.01))) == 1
    assert box.next_due() == later(0.01) + ANSWER_WITHIN
    box.settle(delivery(1), ACCEPTED, later(0.02))
    assert box.next_due() is None
