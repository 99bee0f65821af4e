"""A weigh ticket that names its container has the tare that is stamped on it; nothing that was told is changed."""

from datetime import date
from decimal import Decimal

from compliance.registers.entries import Act, Entry, EntryId, Millis, Scalar
from gateway.office.desk import Admitted, Desk, Told, Turned
from gateway.office.forms import forms

NOW = Millis(1_796_040_000_000)


def entry(number: str, register: str, subject: str, **values: Scalar) -> Told:
    return Told(Entry(EntryId(number), register, subject, Act.RECORD, values, NOW, NOW, "Rui"))


def office() -> Desk:
    desk = Desk(forms(), ["patio"])
    marks: dict[str, Scalar] = {"area": "patio", "count": 1, "size_kg": Decimal(13), "state": "full"}
    take(desk, entry("c1", "container", "B-0001", tare_kg=Decimal("15.1"), tag="E2003412", **marks))
    take(desk, entry("c2", "container", "B-0002", tare_kg=Decimal("14.8"), **marks))
    take(desk, entry("c3", "container", "B-0003", **marks))
    return desk


def take(desk: Desk, told: Told) -> Admitted | Turned:
    answer = desk.admit([told], NOW)
    if isinstance(answer, Admitted):
        desk.keep(answer.entries)
    return answer


def weighed(desk: Desk, number: str = "t1", **values: Scalar) -> dict[str, Scalar]:
    answer = take(desk, entry(number, "weighing", "T-1", weighed_on=date(2026, 11, 30), **values))
    assert isinstance(answer, Admitted), answer
    return dict(desk.holdings("weighing")["T-1"].values)


def test_the_tare_comes_from_the_register_by_number_or_tag_and_the_credit_follows() -> None:
    held = weighed(
        office(),
        full_weighed_kg=Decimal("28.1"), full_container="e2003412",
        empty_weighed_kg=Decimal("15.5"), empty_container="b-0002",
    )  # fmt: skip
    assert (held["full_tare_kg"], held["empty_tare_kg"]) == (Decimal("15.1"), Decimal("14.8"))
    assert held["credited_kg"] == Decimal("0.7")


def test_a_scales_ticket_is_completed_when_somebody_names_its_container() -> None:
    desk = office()
    weighed(desk, full_weighed_kg=Decimal("28.1"))
    assert weighed(desk, "t2", full_container="B-0001")["full_tare_kg"] == Decimal("15.1")
    assert weighed(desk, "t2", full_container="B-0001")["full_tare_kg"] == Decimal("15.1"), "a repeat counts once"


def test_what_was_typed_stands_and_what_nobody_knows_is_not_guessed() -> None:
    typed = weighed(office(), full_weighed_kg=Decimal(28), full_container="B-0001", full_tare_kg=Decimal(15))
    assert typed["full_tare_kg"] == 15
    for number in ("B-0003", "B-0009"):
        assert "full_tare_kg" not in weighed(office(), full_weighed_kg=Decimal(28), full_container=number)
    assert "credited_kg" not in weighed(office(), empty_weighed_kg=Decimal(15))


def test_a_full_container_that_weighs_less_than_its_tare_is_a_slip() -> None:
    desk = office()
    weighed(desk, full_container="B-0001")
    answer = take(desk, entry("t2", "weighing", "T-1", full_weighed_kg=Decimal(12)))
    assert isinstance(answer, Turned)
    assert [(one.field, one.problem, one.got, one.right) for one in answer.problems] == [
        ("full_weighed_kg", "below-tare", "12", "15.1")
    ]
