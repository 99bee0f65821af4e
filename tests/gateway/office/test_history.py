"""What a report tells of a time: each breach from first day to last, each alarm with who took it and how soon."""

from datetime import UTC
from typing import Any

from compliance.registers.entries import Millis
from gateway.ledger.ledger import Line
from gateway.office.history import alarms, breaches

NOON = 1_795_186_800_000  # 2026-11-20 15:00 UTC
DAY_MS = 24 * 3600 * 1000


def change(at: int, verdict: str, rule: str = "r", because: str = "") -> dict[str, Any]:
    done = [{"register": "extinguisher", "subject": because}] if because else []
    return {"rule": rule, "subject": "area:patio", "verdict": verdict, "at_ms": at, "because": done}


def told(found: list[dict[str, Any]]) -> list[tuple[str, str | None, int]]:
    return [(one["begun"][11:19], one["ended"] and one["ended"][11:19], one["duration_s"]) for one in found]


def test_a_breach_has_a_start_an_end_and_what_ended_it() -> None:
    steps = [change(1000, "COMPLIANT"), change(5000, "VIOLATED"), change(65_000, "COMPLIANT", because="EXT-7")]
    (found,) = breaches(steps, Millis(0), Millis(100_000), UTC)
    assert told([found]) == [("00:00:05", "00:01:05", 60)]
    assert found["done"][0]["subject"] == "EXT-7"


def test_a_breach_that_stands_has_no_end_and_one_that_changed_evidence_is_one() -> None:
    steps = [change(5000, "VIOLATED"), change(9000, "VIOLATED"), change(9500, "UNDETERMINED", rule="other")]
    assert told(breaches(steps, Millis(0), Millis(15_000), UTC)) == [("00:00:05", None, 10)]


def test_only_breaches_that_touch_the_time_are_told() -> None:
    steps = [
        change(1000, "VIOLATED"),
        change(2000, "COMPLIANT"),
        change(8000, "VIOLATED", rule="late"),
        change(30_000, "VIOLATED", rule="after"),
    ]
    assert [one["rule"] for one in breaches(steps, Millis(5000), Millis(20_000), UTC)] == ["late"]


def test_a_breach_that_was_over_when_it_became_known_is_told_of_its_own_days() -> None:
    days = {"effective": "2026-11-05", "until": "2026-11-08"}
    steps = [
        change(NOON, "VIOLATED") | days | {"past": "known-later"},
        change(NOON + 1, "VIOLATED", rule="typo") | days | {"past": "never-was"},
        change(NOON + 2, "COMPLIANT"),
    ]
    in_november = breaches(steps, Millis(NOON - 20 * DAY_MS), Millis(NOON + 5), UTC)
    assert [(one["rule"], one["effective"], one["until"], one["past"]) for one in in_november] == [
        ("r", "2026-11-05", "2026-11-08", "known-later"),
        ("typo", "2026-11-05", "2026-11-08", "never-was"),
    ]
    fifth_to_ninth = breaches(steps, Millis(NOON - 15 * DAY_MS), Millis(NOON - 11 * DAY_MS), UTC)
    assert len(fifth_to_ninth) == 2, "a report of the days themselves tells it too, though it became known later"
    assert breaches(steps, Millis(NOON - 10 * DAY_MS), Millis(NOON - DAY_MS), UTC) == []


def test_a_breach_ends_on_the_day_that_a_late_entry_says() -> None:
    steps = [
        change(NOON, "VIOLATED") | {"on": "2026-11-20", "effective": "2026-11-05"},
        change(NOON + 9, "COMPLIANT") | {"on": "2026-11-20", "effective": "2026-11-08"},
    ]
    (found,) = breaches(steps, Millis(0), Millis(NOON + 20), UTC)
    assert (found["effective"], found["until"], found["past"]) == ("2026-11-05", "2026-11-08", None)


def alarm(event: str, at: int, after: str = "unacknowledged", **more: Any) -> Line:
    body = {
        "id": f"d-{at}",
        "subject": "GD-1",
        "kind": "GAS",
        "event": event,
        "level": "A1",
        "at_ms": at,
        "sampled_ms": at - 5,
        "peak_milli": 12_000,
        "after": after,
        **more,
    }
    return Line("alarm", body, "Ana Souza" if event in ("acknowledged", "reset") else None)


def test_an_alarm_is_told_with_its_reaction_times_and_who_took_it() -> None:
    lines = [
        alarm("raised", 1000),
        Line("output", {"on": True, "at_ms": 1100}),
        Line("delivery", {"event": "d-1000", "outcome": "accepted", "at_ms": 1050}),
        alarm("risen", 3000, level="A2", peak_milli=25_000),
        alarm("acknowledged", 61_000, "acknowledged"),
        alarm("cleared", 90_000, "latched-acknowledged"),
        alarm("reset", 95_000, "normal"),
        alarm("raised", 200_000),
    ]
    first, second = alarms(lines, Millis(0), Millis(300_000))
    assert (first["level"], first["peak_lel_pct"]) == ("A2", "25")
    assert (first["first_output_ms"], first["sounded_ms"]) == (55, 105)
    assert (first["acknowledged_by"], first["acknowledged_after_s"], first["reset_by"]) == (
        "Ana Souza",
        60,
        "Ana Souza",
    )
    assert (second["first_output_ms"], second["acknowledged"]) == (None, None)
    assert alarms(lines, Millis(0), Millis(1000)) == []


def test_a_breach_tells_when_it_became_known_and_since_when_it_was_so() -> None:
    steps = [
        change(5000, "VIOLATED") | {"on": "2026-11-10", "effective": "2026-11-10"},
        change(9000, "VIOLATED") | {"on": "2026-11-10", "effective": "2026-11-05"},
        change(12_000, "VIOLATED", rule="old") | {"on": "2026-11-12"},
    ]
    found = breaches(steps, Millis(0), Millis(20_000), UTC)
    assert [(one["begun"][11:19], one["effective"]) for one in found] == [
        ("00:00:05", "2026-11-05"),
        ("00:00:12", "2026-11-12"),
    ]
    assert breaches(steps, Millis(0), Millis(8000), UTC)[0]["effective"] == "2026-11-10", "as it was known by then"
