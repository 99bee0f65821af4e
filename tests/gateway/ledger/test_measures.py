"""What the journal proves for the law: who watched, how fast the siren was, which leaks there were."""

from collections.abc import Mapping
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from compliance.vocabulary import Value
from gateway.ledger.ledger import Line
from gateway.ledger.measures import Measures, Moment, until

ZONE = ZoneInfo("America/Sao_Paulo")
T0 = 1_780_000_000_000  # 2026-05-28 17:26 in São Paulo
DAY = date(2026, 5, 28)


def line(entry: str, at: int, /, **body: Any) -> Line:
    return Line(entry, {"at_ms": T0 + at, **body})


def boot(at: int = 0) -> Line:
    return line("boot", at, watches=["GD-1", "GD-2"], last_alive_ms=None)


def gas(at: int, sampled: int, event: str = "raised", subject: str = "GD-1", **more: Any) -> Line:
    return line("alarm", at, kind="GAS", subject=subject, event=event, id="d-b-7", sampled_ms=T0 + sampled, **more)


def siren(at: int, on: bool | None = True, output: str = "sirene") -> Line:
    return line("output", at, output=output, on=on, reason="")


def bump(at: int, until_siren: int | None) -> Line:
    return line("bump", at, detector="GD-1", until_siren_ms=until_siren)


def proven(*lines: Line, at: int = 100_000, alive: bool = True) -> Mapping[tuple[str, str], Value | None]:
    measures = Measures({"GD-1": "patio", "GD-2": "fundos"}, frozenset({"sirene"}))
    for each in lines:
        measures.take(each)
    facts = measures.facts(Moment(T0 + at, DAY, alive), ZONE)
    return {(str(fact.subject), fact.name): fact.value for fact in facts}


def test_an_alarm_measures_the_time_from_its_sample_to_the_siren() -> None:
    found = proven(boot(), gas(10_020, 10_000), siren(11_250))

    assert found["detector:GD-1", "measured_s"] == 1.25
    assert ("detector:GD-2", "measured_s") not in found


def test_the_slowest_alarm_counts_until_a_test_with_gas_proves_it_mended() -> None:
    slow = (gas(10_000, 10_000), siren(14_000), siren(20_000, on=False), gas(30_000, 30_000), siren(31_000))

    assert proven(boot(), *slow)["detector:GD-1", "measured_s"] == 4.0
    assert proven(boot(), *slow, bump(60_000, 1_900))["detector:GD-1", "measured_s"] == 1.9
    assert proven(boot(), *slow, bump(60_000, None))["detector:GD-1", "measured_s"] == 4.0


def test_a_relay_that_nobody_hears_measures_nothing_and_a_drill_is_no_leak() -> None:
    found = proven(boot(), gas(10_000, 10_000, drill=True), siren(11_000, output="rele"))

    assert not [key for key in found if key[1] in ("measured_s", "raised_on")]


def test_a_siren_long_after_the_sample_is_not_that_alarms() -> None:
    assert ("detector:GD-1", "measured_s") not in proven(boot(), gas(10_000, 10_000), siren(75_000))


def test_each_gas_alarm_is_a_leak_to_be_closed() -> None:
    found = proven(boot(), gas(10_000, 10_000))

    assert found["leak:d-b-7", "area"] == "patio"
    assert found["leak:d-b-7", "raised_on"] == DAY


def leaks(*lines: Line) -> dict[str, Value | None]:
    """The area of each leak."""
    measures = Measures({"GD-1": "patio", "GD-3": "patio", "GD-2": "fundos"}, frozenset({"sirene"}))
    for each in (boot(), *lines):
        measures.take(each)
    facts = measures.facts(Moment(T0 + 9_000_000, DAY, alive=True), ZONE)
    return {fact.subject.id: fact.value for fact in facts if fact.subject.kind == "leak" and fact.name == "area"}


def raised(at: int, head: str, number: int) -> Line:
    body = {"kind": "GAS", "subject": head, "event": "raised", "after": "unacknowledged", "sampled_ms": T0 + at}
    return line("alarm", at, id=f"d-b-{number}", **body)


def reset(at: int, head: str) -> Line:
    return line("alarm", at, kind="GAS", subject=head, event="reset", after="normal", id="d-b-99", sampled_ms=T0 + at)


HOUR = 3_600_000


def test_the_alarms_of_one_area_within_an_hour_are_one_leak_and_another_areas_is_its_own() -> None:
    one = (raised(10_000, "GD-1", 1), raised(12_000, "GD-3", 2), raised(13_000, "GD-2", 3))

    assert leaks(*one) == {"d-b-1": "patio", "d-b-3": "fundos"}


def test_what_comes_an_hour_after_the_first_alarm_is_asked_about_anew() -> None:
    first = raised(10_000, "GD-1", 1)

    assert leaks(first, raised(10_000 + HOUR, "GD-3", 2)) == {"d-b-1": "patio"}
    assert leaks(first, raised(10_001 + HOUR, "GD-3", 2)) == {"d-b-1": "patio", "d-b-2": "patio"}


def test_a_leak_after_every_alarm_was_reset_is_a_new_one_however_soon() -> None:
    both = (raised(10_000, "GD-1", 1), raised(12_000, "GD-3", 2))

    assert list(leaks(*both, reset(60_000, "GD-1"), raised(70_000, "GD-1", 4))) == ["d-b-1"]
    again = (reset(60_000, "GD-1"), reset(61_000, "GD-3"), raised(70_000, "GD-1", 4))
    assert list(leaks(*both, *again)) == ["d-b-1", "d-b-4"]


def test_a_head_watches_while_the_ledger_says_so_and_the_watch_lives() -> None:
    blind = line("alarm", 5_000, kind="BLIND", subject="GD-2", event="raised", reason="timeout")

    assert proven(boot(), blind)["detector:GD-1", "watching"] is True
    assert proven(boot(), blind)["detector:GD-2", "watching"] is False
    assert proven(boot(), blind, alive=False)["detector:GD-1", "watching"] is False
    assert proven(boot(), line("stop", 50_000, reason="signal"))["detector:GD-1", "watching"] is False
    assert ("detector:GD-1", "watching") not in proven()


def test_an_output_works_when_it_was_read_back_and_no_trouble_of_it_stands() -> None:
    trouble = line("alarm", 20_000, kind="SYSTEM", subject="output:sirene", event="raised", reason="mute")
    mended = line("alarm", 30_000, kind="SYSTEM", subject="output:sirene", event="cleared", reason="")

    assert proven(boot(), siren(10_000, on=False))["output:sirene", "working"] is True
    assert proven(boot(), siren(10_000, on=None))["output:sirene", "working"] is False
    assert proven(boot(), siren(10_000), trouble)["output:sirene", "working"] is False
    assert proven(boot(), siren(10_000), trouble, mended)["output:sirene", "working"] is True


def test_only_what_was_written_by_then_counts() -> None:
    lines = [boot(), gas(10_000, 10_000), siren(12_000)]

    assert [each.kind for each in until(lines, T0 + 11_000)] == ["boot", "alarm"]
