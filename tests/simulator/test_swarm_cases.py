"""Cases that people would try on a depot, each played by the swarm's field and held against all its promises."""

from dataclasses import replace

import pytest

from simulator import swarm
from simulator.draws import (
    LAST_DAY,
    ZONE_OF_LAPSES,
    DrawnBus,
    DrawnDepot,
    DrawnGate,
    DrawnHead,
    DrawnRule,
    DrawnSiren,
    DrawnSupply,
)  # fmt: skip
from simulator.registrars import LEFT_DAYS
from simulator.swarm import Upshot
from simulator.timelines import Happening

HOURS = 0.12
LINE = DrawnBus("linha-1", 21_001, 1000)
OUT = DrawnBus("saidas", 20_999, 1000)
HEADS = (DrawnHead("GD-101", "bits", "linha-1", 1, 10), DrawnHead("GD-102", "float", "linha-1", 2, 20))
SIREN = DrawnSiren("sirene", "siren", "saidas", 99, 0)
RELAY = DrawnSiren("portaria", "siren", topic="portaria")
DEPOT = DrawnDepot("deposito-1", (LINE, OUT), HEADS, (SIREN,), ("telefone",))
UPS = DrawnSupply("nobreak", "saidas", 90)
FED = replace(DEPOT, supplies=(UPS,))
SHOWN = replace(DEPOT, board=True)


def leak(at: float, lasts: float = 250.0, head: str = "GD-101") -> Happening:
    return Happening(at, "leak", head, lasts, 60.0)


def played(*happenings: Happening, depot: DrawnDepot = DEPOT) -> Upshot:
    verdict = swarm.play(1, depot, sorted(happenings, key=lambda each: each.at), HOURS)
    assert not verdict.broken, verdict.broken[0]
    return verdict


@pytest.mark.parametrize("away_s", [5.0, 40.0, 100.0])
def test_a_relay_whose_broker_went_in_the_midst_of_gas_and_came_back_off_sounds_again(away_s: float) -> None:
    verdict = played(
        leak(80.0),
        Happening(95.0, "broker-gone", lasts=away_s),
        Happening(96.0, "switched-off", "portaria", 0.01),
        depot=replace(DEPOT, sirens=(RELAY,)),
    )
    assert verdict.kept["siren-follows"] > 5


@pytest.mark.parametrize(
    "mishap", ["dropping-coil", "crossed-coils", "refused-writes", "refusing-board", "mute-board", "late-board"]
)
def test_a_board_that_lies_in_the_midst_of_gas_is_told_of_and_obeys_once_it_is_well(mishap: str) -> None:
    verdict = played(leak(80.0), Happening(75.0, mishap, "sirene", 90.0))
    assert verdict.kept["siren-follows"] > 5


@pytest.mark.parametrize("change", ["head-renamed:GD-101", "head-gone:GD-101", "as-it-was", "line-renamed:linha-1"])
@pytest.mark.parametrize("after_s", [3.0, 30.0])
def test_new_orders_in_a_test_window_with_gas_hide_none_of_it(change: str, after_s: float) -> None:
    verdict = played(
        Happening(70.0, "test", "GD-101", size=3.0),
        leak(80.0),
        Happening(80.0 + after_s, "reload", change, 60.0),
    )
    assert verdict.kept["alarm-in-time"] >= 3


@pytest.mark.parametrize("siren", [SIREN, RELAY])
@pytest.mark.parametrize("at", [88.0, 95.0])
def test_a_siren_that_leaves_the_file_in_the_midst_of_gas_falls_silent_and_sounds_again_once_it_is_back(
    siren: DrawnSiren, at: float
) -> None:
    verdict = played(
        leak(80.0, 200.0),
        Happening(at, "reload", f"siren-gone:{siren.id}", 60.0),
        depot=replace(DEPOT, sirens=(SIREN, RELAY)),
    )
    assert verdict.kept["siren-let-go"] > 3 and verdict.kept["siren-follows"] > 5


@pytest.mark.parametrize("what", ["kill", "restart", "power-cut"])
def test_a_restart_in_a_test_window_and_its_end_in_the_midst_of_gas_leave_the_true_alarm(what: str) -> None:
    verdict = played(Happening(70.0, "test", "GD-101", size=1.5), leak(80.0), Happening(100.0, what, lasts=5.0))
    assert verdict.kept["alarm-in-time"] >= 3


def test_a_head_that_was_shelved_and_inhibited_while_mute_still_alarms_for_gas_when_it_is_back() -> None:
    verdict = played(
        Happening(70.0, "mute-unit", "GD-101", 60.0),
        Happening(80.0, "shelve", "GD-101", size=8.0),
        Happening(90.0, "inhibit", "GD-101", size=8.0),
        Happening(95.0, "out-of-service", "GD-101", size=8.0),
        leak(100.0),
    )
    assert verdict.kept["alarm-in-time"] >= 3


@pytest.mark.parametrize("at", [79.0, 79.9, 80.5, 83.0, 85.0, 120.0])
def test_a_test_of_the_outputs_about_the_time_of_gas_leaves_the_siren_to_the_gas(at: float) -> None:
    verdict = played(leak(80.0), Happening(at, "drill"), depot=replace(DEPOT, sirens=(SIREN, RELAY)))
    assert verdict.kept["siren-follows"] > 5


@pytest.mark.parametrize("lasts", [100.0, 200.0])
def test_a_cut_line_that_is_named_anew_leaves_nobody_untold(lasts: float) -> None:
    verdict = played(
        Happening(70.0, "mute-line", "linha-1", 250.0), Happening(90.0, "reload", "line-renamed:linha-1", lasts)
    )
    assert verdict.kept["blind-is-told"] > 5


@pytest.mark.parametrize("sirens", [(SIREN,), (RELAY,), (SIREN, RELAY)])
def test_new_orders_twice_in_one_moment_leave_no_ghost_of_an_output(sirens: tuple[DrawnSiren, ...]) -> None:
    again = Happening(100.0, "reload", "as-it-was", 50.0)
    verdict = played(again, again, leak(200.0, 30.0), depot=replace(DEPOT, sirens=sirens))
    assert verdict.kept["siren-follows"] > 5


# --- what feeds the depot ----------------------------------------------------------------------------


@pytest.mark.parametrize("supply", [UPS, DrawnSupply("nobreak", topic="nobreak/estado")])
@pytest.mark.parametrize("what", ["mains-lost", "battery-low"])
def test_a_supply_that_fails_and_is_well_again_is_told_once_each(what: str, supply: DrawnSupply) -> None:
    verdict = played(Happening(80.0, what, "nobreak", 150.0), depot=replace(DEPOT, supplies=(supply,)))
    assert verdict.kept["no-false-loss"] == 1 and verdict.kept["no-false-end"] == 1


def test_mains_that_flicker_for_minutes_are_told_and_not_at_every_flicker() -> None:
    verdict = played(Happening(80.0, "mains-flicker", "nobreak", 250.0), depot=FED)
    assert 1 <= verdict.kept["no-false-loss"] <= 10 and verdict.kept["end-in-time"] > 20


@pytest.mark.parametrize("what", ["kill", "restart", "power-cut", "reload"])
@pytest.mark.parametrize("back_after_s", [5.0, 60.0])
def test_a_loss_of_mains_is_told_once_and_its_end_too_whatever_befalls(what: str, back_after_s: float) -> None:
    verdict = played(
        Happening(80.0, "mains-lost", "nobreak", 40.0 + back_after_s),
        Happening(118.0, what, "as-it-was" if what == "reload" else "", lasts=20.0),
        depot=FED,
    )
    assert verdict.kept["loss-told-once"] == 1 and verdict.kept["no-false-end"] == 1


def test_a_mute_supply_takes_no_head_of_its_line_its_sight() -> None:
    line = DrawnBus("linha-1", 21_001, 1500, serial=True)
    here = replace(DEPOT, buses=(line, OUT), supplies=(DrawnSupply("nobreak", "linha-1", 90),))
    verdict = played(Happening(80.0, "mute-supply", "nobreak", 100.0), leak(120.0, 40.0), depot=here)
    assert verdict.kept["supply-unseen"] > 3 and verdict.kept["alarm-in-time"] >= 3


def test_a_supply_on_a_line_whose_only_head_is_mute_is_still_seen() -> None:
    line = DrawnBus("linha-1", 21_001, 2000, rtu=True)
    here = replace(DEPOT, buses=(line, OUT), heads=HEADS[:1], supplies=(DrawnSupply("nobreak", "linha-1", 90),))
    verdict = played(Happening(80.0, "mute-unit", "GD-101", 80.0), depot=here)
    assert verdict.kept["supply-seen"] > 20


# --- what is kept quiet by design ----------------------------------------------------------------


WHOLE_LINE = ("BLIND linha-1", "BLIND GD-101", "BLIND GD-102")


@pytest.mark.parametrize("alarms", [WHOLE_LINE, WHOLE_LINE[:1]])
def test_a_line_that_a_rule_keeps_quiet_hides_no_head_that_the_rule_does_not(alarms: tuple[str, ...]) -> None:
    quiet = replace(DEPOT, rules=(DrawnRule(alarms),))
    verdict = played(leak(80.0, 60.0), Happening(90.0, "mute-line", "linha-1", 120.0), depot=quiet)
    assert verdict.kept["rule-lapses"] > 5 and verdict.kept["blind-is-told"] > 5


def test_what_a_rule_kept_quiet_is_told_once_its_last_day_is_over() -> None:
    rule = DrawnRule(("BLIND GD-101",), until=LAST_DAY)
    verdict = played(
        Happening(80.0, "mute-unit", "GD-101", 200.0),
        Happening(150.0, "clock-step", size=86_400.0),
        depot=replace(DEPOT, rules=(rule,)),
    )
    assert verdict.kept["rule-lapses"] > 3 and verdict.kept["blind-is-told"] > 3


@pytest.mark.parametrize("what", ["restart", "power-cut"])
def test_what_a_rule_kept_quiet_speaks_after_a_start_without_that_rule(what: str) -> None:
    verdict = played(
        Happening(80.0, "mute-unit", "GD-101", 250.0),
        Happening(110.0, what, lasts=20.0),
        Happening(115.0, "reload", "rules-gone", 300.0),
        depot=replace(DEPOT, rules=(DrawnRule(("BLIND GD-101",)),)),
    )
    assert verdict.kept["rule-lapses"] > 1 and verdict.kept["blind-is-told"] > 3


# --- what passes the gate ------------------------------------------------------------------------


def passage(at: float, units: int) -> Happening:
    return Happening(at, "passage", "portao", size=float(units))


BEFALLS = ("kill", "power-cut", "restart", "broker-gone", "broker-mute", "slower-disk", "reload")


@pytest.mark.parametrize("what", BEFALLS)
def test_every_container_that_comes_is_booked_once_whatever_befalls_the_watch(what: str) -> None:
    verdict = played(
        passage(80.0, 7),
        Happening(99.98, what, "as-it-was" if what == "reload" else "", lasts=40.0),
        passage(100.0, 12),
        passage(101.0, 3),
        passage(150.0, 5),
        depot=replace(DEPOT, gates=(DrawnGate("portao", "portao/contagem", "in"),)),
    )
    assert verdict.kept["count-kept"] >= 2 and verdict.kept["count-once"] > 5


def test_containers_that_go_and_never_came_are_left_to_a_person_to_count() -> None:
    verdict = played(passage(80.0, 7), depot=replace(DEPOT, gates=(DrawnGate("portao", "portao/contagem", "out"),)))
    assert verdict.kept["refusal-kept"] > 3


# --- what the broker shows -----------------------------------------------------------------------


@pytest.mark.parametrize("deed", ["acknowledge", "shelve", "test", "out-of-service"])
def test_the_broker_shows_every_alarm_as_it_stands_through_a_cut_cable(deed: str) -> None:
    verdict = played(
        Happening(80.0, "mute-line", "linha-1", 60.0), Happening(100.0, deed, "GD-101", size=2.0), depot=SHOWN
    )
    assert verdict.kept["board-agrees"] > 20


@pytest.mark.parametrize("what", ["kill", "restart", "power-cut", "reload"])
@pytest.mark.parametrize("away_s", [30.0, 75.0])
def test_the_broker_shows_no_older_state_after_it_was_away_in_the_midst_of_gas(what: str, away_s: float) -> None:
    verdict = played(
        leak(80.0, 50.0),
        Happening(85.0, "broker-gone", lasts=away_s),
        Happening(100.0, "acknowledge", "GD-101"),
        Happening(82.0 + away_s, what, "as-it-was" if what == "reload" else "", lasts=5.0),
        depot=replace(SHOWN, sirens=()),
    )
    assert verdict.kept["board-agrees"] > 20


def test_the_broker_alone_is_an_output_that_counts() -> None:
    verdict = played(leak(100.0), Happening(80.0, "hung-phone", "telefone", 90.0), depot=replace(SHOWN, sirens=()))
    assert verdict.kept["alarm-in-time"] >= 3


@pytest.mark.parametrize("what", ["kill", "broker-gone"])
def test_what_the_broker_kept_of_a_head_from_clear_air_ends_no_alarm(what: str) -> None:
    here = replace(DEPOT, heads=(*HEADS, DrawnHead("GD-901", "json")))
    verdict = played(
        Happening(70.0, "kept-message", "GD-901", 200.0),
        leak(80.0, head="GD-901"),
        Happening(95.0, what, lasts=10.0),
        depot=here,
    )
    assert verdict.kept["alarm-in-time"] >= 3


KEPT = replace(DEPOT, registers=True, zone=ZONE_OF_LAPSES)


def entry(at: float, kind: str, number: int) -> Happening:
    return Happening(at, "entry", kind, size=float(number))


def test_an_extinguisher_that_runs_out_at_midnight_is_a_breach_after_it_and_its_renewal_ends_the_alarm() -> None:
    # its charge: until the next midnight, a quarter of an hour away, and then for 45 days; the same one of four
    ends, renewed = 3, 27
    assert ends % 4 == renewed % 4
    assert [LEFT_DAYS[number % len(LEFT_DAYS)] for number in (ends, renewed)] == [0, 45]
    told = swarm.play(1, KEPT, (entry(100.0, "extinguisher", ends),), 0.45)
    assert not told.broken and told.kept["breach-told"] > 0 and told.kept["entry-kept"] > 0
    mended = swarm.play(1, KEPT, (entry(100.0, "extinguisher", ends), entry(1200.0, "extinguisher", renewed)), 0.5)
    assert not mended.broken, mended.broken[0]


@pytest.mark.parametrize("crash", ["kill", "power-cut", "restart", "slow-disk", "failing-disk"])
def test_a_double_tap_in_the_midst_of_a_crash_is_entered_once_or_not_at_all(crash: str) -> None:
    taps = [entry(100.0 + 0.01 * step, "twice", 7 + 7 * step) for step in range(3)]
    verdict = swarm.play(1, KEPT, sorted((*taps, Happening(100.015, crash, lasts=5.0)), key=lambda each: each.at), 0.2)
    assert not verdict.broken, verdict.broken[0]
    assert verdict.kept["entry-once"] > 0


@pytest.mark.parametrize("by_s", [-86_400.0, 86_400.0])
def test_findings_of_a_clock_that_was_set_are_those_of_a_fresh_judge(by_s: float) -> None:
    verdict = swarm.play(1, KEPT, (leak(80.0), Happening(200.0, "clock-step", size=by_s)), 0.2)
    assert not verdict.broken, verdict.broken[0]
    assert verdict.kept["verdict-fresh"] > 50


@pytest.mark.parametrize("disk", ["failing-disk", "slower-disk"])
def test_an_entry_that_the_journal_took_late_is_judged_though_its_person_was_told_that_it_is_not_known(
    disk: str,
) -> None:
    happenings = (Happening(95.0, disk, lasts=40.0), entry(100.0, "extinguisher", 3))
    verdict = swarm.play(1, KEPT, happenings, 0.2)
    assert not verdict.broken, verdict.broken[0]
