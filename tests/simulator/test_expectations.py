"""What a scenario expects, held against what came: in time, late, early or never."""

from simulator.expectations import Expectation, Told, failures

RAISED = Told(12.0, "GD-1", "GAS", "raised", "A1")
RISEN = Told(15.0, "GD-1", "GAS", "risen", "A3")
TOLD = Told(12.1, "GD-1", "GAS", "raised", "A1", "dona")


def fails(expected: Expectation, *told: Told) -> bool:
    return bool(failures([expected], told))


def test_what_comes_in_its_time_is_well():
    assert not fails(Expectation("raised", "GD-1", level="A1", from_s=10, by_s=12), RAISED)


def test_what_comes_late_early_or_never_is_told_with_its_time():
    late = failures([Expectation("raised", "GD-1", by_s=11)], [RAISED])
    early = failures([Expectation("raised", "GD-1", from_s=13, by_s=20)], [RAISED])
    never = failures([Expectation("raised", "GD-2", by_s=20)], [RAISED])
    assert ["came at 12.0 s" in late[0], "already" in early[0], "never came" in never[0]] == [True] * 3


def test_a_level_is_reached_by_a_rise_too_and_by_nothing_below_it():
    assert not fails(Expectation("raised", "GD-1", level="A2", by_s=20), RAISED, RISEN)
    assert fails(Expectation("raised", "GD-1", level="A2", by_s=20), RAISED)


def test_never_means_within_its_time():
    assert fails(Expectation("never", "*"), RAISED)
    assert not fails(Expectation("never", "*", by_s=11), RAISED)
    assert not fails(Expectation("never", "*", kind="BLIND"), RAISED)
    assert not fails(Expectation("never", "*", level="A2"), RAISED)


def test_a_person_is_told_only_by_a_delivery_to_that_person():
    expected = Expectation("told", "GD-1", by_s=20, recipient="dona")
    assert fails(expected, RAISED)
    assert not fails(expected, TOLD)
    assert not fails(Expectation("raised", "GD-1", from_s=12.0, by_s=12.05), RAISED, TOLD)
