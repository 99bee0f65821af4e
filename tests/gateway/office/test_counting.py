"""Counters at the gate: what passes counts once, whatever wraps, restarts, repeats or makes no sense."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.registers.counters import Counter, Mark, Step
from compliance.registers.entries import Act, Millis
from gateway.office.counting import StockSource, heard, mark_of, marked, movement, tags
from sensors.profiles.parts import tag_points

GATE = StockSource(
    "portao", "counter", "portao/saida", "patio", Decimal(13), "out", "/n", "/seq", counter=Counter(65536)
)
NOW = Millis(1_796_040_000_000)


def message(value: object, number: object = 1) -> bytes:
    return json.dumps({"n": value, "seq": number}).encode()


def test_the_first_reading_is_only_a_mark() -> None:
    passed = heard(GATE, message(120), None)
    assert passed is not None
    assert (passed.step, passed.units, passed.mark) == (Step.FIRST, 0, Mark(120, 1))


@pytest.mark.parametrize(
    ("last", "value", "number", "step", "units"),
    [
        (Mark(120, 1), 123, 2, Step.COUNTED, 3),
        (Mark(65530, 1), 4, 2, Step.WRAPPED, 10),
        (Mark(4000, 1), 2, 2, Step.RESTARTED, 2),
        (Mark(120, 7), 123, 7, Step.REPEATED, 0),
        (Mark(120, 1), 9000, 2, Step.DOUBTFUL, 0),
    ],
)
def test_what_a_counter_does_is_known(last: Mark, value: int, number: int, step: Step, units: int) -> None:
    passed = heard(GATE, message(value, number), last)
    assert passed is not None and (passed.step, passed.units) == (step, units)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"{",
        b"null",
        b'{"n": true, "seq": 1}',
        b'{"n": -1, "seq": 1}',
        b'{"n": 1.5, "seq": 1}',
        b'{"n": 5}',
        b"[" * 3000,
    ],
)
def test_what_says_no_count_is_none(payload: bytes) -> None:
    assert heard(GATE, payload, Mark(1)) is None


@given(st.binary(max_size=200))
def test_no_message_breaks_the_reading(payload: bytes) -> None:
    found = heard(GATE, payload, Mark(1))
    assert found is None or 0 <= found.units <= GATE.counter.most
    assert "" not in tags(GATE, payload)


@given(st.lists(st.integers(0, 400), min_size=1, max_size=30), st.data())
def test_everything_that_passes_counts_once_however_often_messages_come_twice(
    steps: list[int], data: st.DataObject
) -> None:
    total = shown = data.draw(st.integers(0, 65535))
    last: Mark | None = heard(GATE, message(shown, 1), None).mark  # type: ignore[union-attr]
    counted = 0
    for number, passed_by in enumerate(steps, start=2):
        total += passed_by
        shown = total % 65536
        for _ in range(data.draw(st.integers(1, 3))):
            passed = heard(GATE, message(shown, number), last)
            assert passed is not None
            counted += passed.units
            last = passed.mark
    assert counted == sum(steps)


def test_the_mark_comes_back_from_its_entry_and_a_movement_is_what_passed() -> None:
    entry = marked(GATE, Mark(123, 7), NOW, lambda: "id")
    assert mark_of(entry.values) == Mark(123, 7)
    moved = movement(GATE, 3, NOW, lambda: "id")
    assert (moved.register, moved.subject, moved.act, moved.by, moved.source) == (
        "stock",
        "patio",
        Act.LEAVE,
        "portao",
        "mqtt",
    )
    assert moved.values == {"size_kg": Decimal(13), "units": 3, "state": "full"}


def test_a_tag_is_text_or_a_number_and_nothing_else() -> None:
    assert tags(GATE, b'{"n": "E200 3412"}') == ("E200 3412",)
    assert tags(GATE, b'{"n": 77}') == ("77",)
    assert tags(GATE, b'{"n": ["x"]}') == ()
    plain = StockSource("leitor", "tags", "t", "patio", Decimal(13), "in")
    assert tags(plain, b"ABC\n") == ("ABC",)


def test_a_readers_profile_finds_every_tag_of_a_message_once() -> None:
    points = tag_points({"payload": "list", "id": "/epc", "when": [{"pointer": "/type", "equals": "read"}]})
    reader = StockSource("leitor", "tags", "t", "patio", Decimal(13), "in", tags=points)
    reads = [{"type": "read", "epc": "3074ab"}, {"type": "hello"}, {"type": "read", "epc": "3074AB"}]
    assert tags(reader, json.dumps([*reads, {"type": "read", "epc": "3074ac"}]).encode()) == ("3074AB", "3074AC")
    assert tags(reader, b"{") == tags(reader, b"{}") == ()
