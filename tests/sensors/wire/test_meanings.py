"""What a device's words stand for, where a profile's own test does not say it plainly."""

from sensors.wire.meanings import SAYINGS, Meaning, both, precedence, told


def test_a_doubtful_code_lets_the_number_raise_gas_and_end_none():
    order = precedence()
    now = told(("doubtful",), order)
    assert (now.status.value, now.reason, now.doubtful) == ("measuring", "unknown-state", True)


def test_a_doubtful_code_hides_neither_an_alarm_nor_a_fault():
    order = precedence()
    doubtful, alarm, fault = (told((word,), order) for word in ("doubtful", "alarm2", "fault"))
    assert both(doubtful, alarm).alarms == alarm.alarms
    assert both(doubtful, alarm).doubtful
    assert both(doubtful, fault).status is SAYINGS["fault"].status


def test_codes_that_are_not_listed_say_what_otherwise_says():
    meaning = Meaning(codes=((0, 0, "measuring"),), otherwise="doubtful")
    assert [meaning.of(raw) for raw in (0, 1, 0xFFFF)] == [("measuring",), ("doubtful",), ("doubtful",)]
