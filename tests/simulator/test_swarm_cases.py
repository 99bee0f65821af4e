"""Cases that people would try on a depot, each played by the swarm's field and held against all its promises."""

from dataclasses import replace

import pytest

from simulator import swarm
from simulator.draws import DrawnBus, DrawnDepot, DrawnHead, DrawnSiren
from simulator.swarm import Verdict
from simulator.timelines import Happening

HOURS = 0.12
LINE = DrawnBus("linha-1", 21_001, 1000)
OUT = DrawnBus("saidas", 20_999, 1000)
HEADS = (DrawnHead("GD-101", "bits", "linha-1", 1, 10), DrawnHead("GD-102", "float", "linha-1", 2, 20))
SIREN = DrawnSiren("sirene", "siren", "saidas", 99, 0)
RELAY = DrawnSiren("portaria", "siren", topic="portaria")
DEPOT = DrawnDepot("deposito-1", (LINE, OUT), HEADS, (SIREN,), ("telefone",))


def leak(at: float, lasts: float = 250.0, head: str = "GD-101") -> Happening:
    return Happening(at, "leak", head, lasts, 60.0)


def played(*happenings: Happening, depot: DrawnDepot = DEPOT) -> Verdict:
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
