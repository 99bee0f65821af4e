"""What sources tell and nobody asked for: once each, and what cannot be booked stands as a doubt."""

import json
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace
from typing import cast
from zoneinfo import ZoneInfo

import pytest

from compliance.registers.entries import Millis
from dashboards.office import Weighed
from gateway.depot import Depot
from gateway.office import entries as kept
from gateway.office.books import Books
from gateway.office.counting import MARKS, StockSource
from gateway.office.desk import Desk
from gateway.office.forms import forms
from gateway.office.intake import Intake
from gateway.weighing import Scale
from sensors.profiles.parts import tag_points
from sensors.wire.points import Function, ModbusPoints

NOW = Millis(1_796_040_000_000)
SCALE = Scale("balanca", "linha", 9, ModbusPoints(Function.HOLDING, 0), 1.0, "patio", Decimal(13))
WEIGHED = Weighed(1, "balanca", "28.35", NOW - 2_000)
FORMS = forms()


class Office:
    """A desk whose journal keeps at once what is written."""

    def __init__(self, scale: Scale = SCALE) -> None:
        self.desk = Desk(FORMS, ["patio"])
        self.zone = ZoneInfo("America/Sao_Paulo")
        self.writes = 0
        depot = SimpleNamespace(scales=(scale,))
        self.intake = Intake(cast("Depot", depot), cast("Books", self), self.write)

    async def write(self, by: str, lines: Sequence[kept.Line], now: Millis) -> None:
        self.writes += 1
        body = json.loads(json.dumps(kept.body(lines, now)))
        self.desk.keep(kept.entries(body, FORMS, by))

    def doubts(self) -> list[object]:
        return [entry.values["doubt"] for entry in self.desk.entries if entry.register == MARKS]


async def test_a_weighing_told_twice_is_one_ticket_with_its_own_time() -> None:
    office = Office()
    assert await office.intake.weighed(WEIGHED, NOW) == ()
    assert await office.intake.weighed(WEIGHED, Millis(NOW + 60_000)) == ()
    assert office.writes == 1
    (held,) = office.desk.standing("weighing").values()
    assert held.values["full_weighed_kg"] == Decimal("28.35") and held.values["nominal_kg"] == Decimal(13)
    entry = held.told["full_weighed_kg"]
    assert (entry.by, entry.source, entry.effective, entry.recorded) == ("balanca", "scale", NOW - 2_000, NOW)


async def test_a_ticket_stands_although_the_book_has_no_container_to_go_and_a_person_must_count() -> None:
    office = Office(replace(SCALE, act="out"))
    assert await office.intake.weighed(WEIGHED, NOW) == ()
    assert len(office.desk.standing("weighing")) == 1
    assert office.doubts() == ["not-that-many"]


async def test_a_returned_container_has_its_own_weight_and_no_nominal_one() -> None:
    office = Office(replace(SCALE, full=False, act="empties-in"))
    assert await office.intake.weighed(replace_kg("15.1"), NOW) == ()
    (held,) = office.desk.standing("weighing").values()
    assert set(held.values) == {"weighed_on", "empty_weighed_kg", "empty_weighed", "exchange"}
    assert office.desk.stock().count("patio") == 1


def replace_kg(kg: str) -> Weighed:
    return Weighed(1, "balanca", kg, WEIGHED.at_ms)


async def test_a_weighing_of_a_scale_that_left_the_configuration_is_refused() -> None:
    (problem,) = await Office().intake.weighed(Weighed(1, "outra", "28", NOW), NOW)
    assert (problem.problem, problem.got) == ("unknown-source", "outra")


@pytest.mark.parametrize(("again_s", "units"), [(60.0, 2), (0.5, 4)])
async def test_a_reader_that_tells_of_two_tags_moves_two_and_a_repeat_only_after_its_time(
    again_s: float, units: int
) -> None:
    office = Office()
    points = tag_points({"payload": "list", "id": "/epc"})
    reader = StockSource("leitor", "tags", "t", "patio", Decimal(13), "in", again_s=again_s, tags=points)
    reads = json.dumps([{"epc": "3074ab"}, {"epc": "3074ac"}]).encode()
    assert await office.intake.heard(reader, reads, NOW)
    await office.intake.heard(reader, reads, Millis(NOW + 1_000))
    assert office.desk.stock().count("patio") == units


@pytest.mark.parametrize(("read", "named"), [(["3074ab"], "3074ab"), (["3074ab", "3074ac"], None), ([], None)])
async def test_a_ticket_names_the_only_container_whose_tag_the_reader_beside_the_scale_has_read(
    read: list[str], named: str | None
) -> None:
    office = Office(replace(SCALE, tags="leitor"))
    reader = StockSource("leitor", "tags", "t", "patio", Decimal(13), "in")
    await office.intake.heard(reader, b"3074ff", Millis(NOW - 60_000))
    for tag in read:
        await office.intake.heard(reader, tag.encode(), Millis(NOW - 3_000))
    assert await office.intake.weighed(WEIGHED, NOW) == ()
    assert await office.intake.weighed(WEIGHED, Millis(NOW + 60_000)) == (), "told again, when no tag is near any more"
    (held,) = office.desk.standing("weighing").values()
    assert held.values.get("full_container") == named
