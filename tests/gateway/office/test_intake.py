"""What sources tell and nobody asked for: once each, and what cannot be booked stands as a doubt."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from zoneinfo import ZoneInfo

import pytest
from journal_lives import DEADLINE_S

from compliance.registers.entries import Millis
from gateway.depot import Depot
from gateway.engine.events import Entry, Record
from gateway.engine.weighing import WEIGHED as KIND
from gateway.engine.weighing import Scale, Weighed, Weighing, body_of, weighed_in
from gateway.journal import Journal
from gateway.office import entries as kept
from gateway.office.books import Books
from gateway.office.counting import MARKS, StockSource
from gateway.office.desk import Desk
from gateway.office.forms import forms
from gateway.office.intake import Intake
from sensors.profiles.parts import tag_points
from sensors.wire.places import Function
from sensors.wire.points import ModbusPoints
from simulator.room import stamp

NOW = Millis(1_796_040_000_000)
SCALE = Scale("balanca", "linha", 9, ModbusPoints(Function.HOLDING, 0), 1.0, "patio", Decimal(13), 6.5, 39.0)
WEIGHED = Weighed("balanca", "28.35", NOW - 2_000)
FORMS = forms()


class Office:
    """A desk whose journal keeps at once what is written."""

    def __init__(self, scale: Scale = SCALE, journal: Path = Path("none")) -> None:
        self.desk = Desk(FORMS, ["patio"])
        self.zone = ZoneInfo("America/Sao_Paulo")
        self.writes = 0
        self.depot = depot = SimpleNamespace(scales=(scale,), journal=journal)
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
    (held,) = office.desk.holdings("weighing").values()
    assert held.values["full_weighed_kg"] == Decimal("28.35") and held.values["nominal_kg"] == Decimal(13)
    entry = held.told["full_weighed_kg"]
    assert (entry.by, entry.source, entry.effective, entry.recorded) == ("balanca", "scale", NOW - 2_000, NOW)


async def test_a_ticket_stands_although_the_book_has_no_container_to_go_and_a_person_must_count() -> None:
    office = Office(replace(SCALE, act="out"))
    assert await office.intake.weighed(WEIGHED, NOW) == ()
    assert len(office.desk.holdings("weighing")) == 1
    assert office.doubts() == ["not-that-many"]


async def test_a_returned_container_has_its_own_weight_and_no_nominal_one() -> None:
    office = Office(replace(SCALE, full=False, act="empties-in"))
    assert await office.intake.weighed(replace_kg("15.1"), NOW) == ()
    (held,) = office.desk.holdings("weighing").values()
    assert set(held.values) == {"weighed_on", "empty_weighed_kg", "empty_weighed", "exchange"}
    assert office.desk.stock().count("patio") == 1


def replace_kg(kg: str) -> Weighed:
    return Weighed("balanca", kg, WEIGHED.at_ms)


async def test_a_weighing_of_a_scale_that_left_the_configuration_is_refused() -> None:
    (problem,) = await Office().intake.weighed(Weighed("outra", "28", NOW), NOW)
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
    (held,) = office.desk.holdings("weighing").values()
    assert held.values.get("full_container") == named


def written(path: Path, *weighed: Weighed) -> None:
    journal = Journal.open(path, depot="d")
    journal.start(committed=lambda _: None, trouble=lambda *_: None)
    for number, one in enumerate(weighed, start=1):
        assert journal.submit(Record(number, (Entry(KIND, asdict(one)),)))
    assert journal.close(DEADLINE_S)


async def told(office: Office) -> int:
    """Take what the journal holds as the clerk does; return how many weighings that were."""
    waiting = office.intake.unweighed()
    for idx, weighed in waiting:
        await office.intake.take_weighed(idx, weighed, NOW)
    return len(waiting)


async def test_what_was_weighed_while_nobody_was_in_the_office_becomes_a_ticket_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    written(path, WEIGHED, Weighed("balanca", "27.9", NOW - 1_000))
    office = Office(journal=path)
    assert [await told(office), await told(office)] == [2, 0]
    assert len(office.desk.holdings("weighing")) == 2
    written(path, Weighed("balanca", "28.1", NOW))
    office.intake = Intake(cast("Depot", office.depot), cast("Books", office), office.write)  # its next life
    assert [await told(office), await told(office)] == [1, 0]
    assert len(office.desk.holdings("weighing")) == 3


async def test_a_weighing_that_is_refused_keeps_no_other_out_and_is_tried_by_the_next_life(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    written(path, Weighed("outra", "28", NOW - 2_000), WEIGHED)
    office = Office(journal=path)
    assert [await told(office), await told(office)] == [2, 0]
    assert len(office.desk.holdings("weighing")) == 1
    office.intake = Intake(cast("Depot", office.depot), cast("Books", office), office.write)
    assert await told(office) == 1


def test_a_weighing_comes_back_from_its_body_as_it_was_shown() -> None:
    weighing = Weighing(Decimal("28.350"), stamp(5.0))
    assert weighed_in(json.loads(json.dumps(body_of(SCALE, weighing)))) == Weighed(
        "balanca", "28.350", stamp(5.0).utc // 1_000_000
    )


async def test_a_container_whose_tag_was_read_long_after_the_weighing_is_not_the_one_that_was_weighed() -> None:
    office = Office(replace(SCALE, tags="leitor"))
    reader = StockSource("leitor", "tags", "t", "patio", Decimal(13), "in")
    await office.intake.heard(reader, b"tag-9", NOW)
    assert await office.intake.weighed(Weighed("balanca", "28", NOW - 60_000), NOW) == ()
    (held,) = office.desk.holdings("weighing").values()
    assert "full_container" not in held.values


@pytest.mark.parametrize("back_ms", [0, 3_600_000, 3 * 86_400_000])
async def test_a_counter_counts_once_whatever_the_clock_is_set_back(back_ms: int) -> None:
    office = Office()
    counter = StockSource("portao", "counter", "t", "patio", Decimal(13), "in", value="/n")
    for step, count in enumerate((100, 106, 113, 113)):
        at = Millis(NOW + step * 1_000 - (back_ms if step else 0))
        await office.intake.heard(counter, json.dumps({"n": count}).encode(), office.desk.told_at(at))
    assert office.desk.stock().count("patio") == 13
