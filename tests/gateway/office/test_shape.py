"""Papers of the right shape, however senseless, keep nobody from judging; those of the office are of that shape."""

from datetime import date
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from compliance import catalogue, statutes
from compliance.evaluate import evaluate
from compliance.registers import facts as told
from compliance.registers.entries import Act, Entry, EntryId, Millis, fold
from compliance.situation import Situation
from compliance.vocabulary import DEPOT, Fact, Subject
from dashboards.office import Paper, paper
from gateway.office import entries as kept
from gateway.office import findings
from gateway.office.desk import Desk
from gateway.office.forms import forms
from gateway.office.shape import read
from sensors.stamps import parse_rfc3339

FACTS = catalogue.load()
LAWS = [statutes.load(name, catalogue=FACTS) for name in ("house", "ferraz-de-vasconcelos-3190-2013")]
FORMS = forms()
ZONE = ZoneInfo("America/Sao_Paulo")
ON = date(2026, 11, 30)
NOW = Millis(parse_rfc3339("2026-11-30T12:00:00.000Z") // 1_000_000)
FIELDS = sorted({field.name for form in FORMS.values() for field in form.fields})
CHOICES = sorted({choice for form in FORMS.values() for field in form.fields for choice in field.choices})

values = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.sampled_from([*CHOICES, "2026-07-31", "13"])
)
line = st.fixed_dictionaries(
    {
        "id": st.sampled_from([f"e{number}" for number in range(9)]),
        "register": st.sampled_from(sorted(FORMS)) | st.text(min_size=1, max_size=5),
        "subject": st.sampled_from(["patio", "EXT-1", "\x00"]),
        "act": st.sampled_from([act.value for act in Act]),
        "values": st.dictionaries(st.sampled_from(FIELDS) | st.text(min_size=1, max_size=4), values, max_size=6),
        "effective_ms": st.sampled_from([-2_208_988_800_000, 0, int(NOW), 7_258_118_399_999]),
        "source": st.just("person"),
    },
    optional={"corrects": st.sampled_from(["e0", "e1", "none"]), "reason": st.text(max_size=4)},
)
bodies = st.fixed_dictionaries(
    {"at_ms": st.sampled_from([0, int(NOW)]), "entries": st.lists(line, min_size=1, max_size=6)}
)


def is_sound(one: Paper) -> bool:
    return not isinstance(read(0, one), str)


@given(st.lists(bodies, min_size=1, max_size=4))
@settings(max_examples=40)
def test_senseless_entries_of_the_right_shape_poison_neither_desk_nor_judge(papers: list[dict[str, Any]]) -> None:
    desk = Desk(FORMS, ["patio"])
    for body in papers:
        assert is_sound(paper("register", body))
        desk.keep(kept.entries(body, FORMS, "Ana"))
    stock = desk.stock(NOW, None)
    situation = Situation.of(
        [
            Fact(Subject("area", "patio"), "licensed_kg", 6240.0, date(2020, 1, 1)),
            Fact(DEPOT, "outputs_listed", True, date(2020, 1, 1)),
            *told.of_registers(fold(desk.entries, NOW).values(), FACTS, ZONE),
            *told.of_stock(stock, {}, ON),
        ],
        FACTS,
        ON,
    )
    found = [finding for law in LAWS for finding in evaluate(law, situation, ON)]
    changes = findings.changes({}, found, ON, [])
    assert changes and is_sound(paper("finding", {"at_ms": int(NOW), "changes": changes}))


def test_what_the_desk_writes_has_the_shape_it_must_have() -> None:
    entry = Entry(
        EntryId("e1"),
        "stock",
        "patio",
        Act.ENTER,
        {"size_kg": Decimal(13), "units": 4, "state": "full"},
        NOW,
        NOW,
        "Ana",
    )
    assert is_sound(paper("register", kept.body([kept.line(entry)], NOW)))


def test_a_movement_that_cannot_have_been_is_set_aside_and_the_next_ones_count() -> None:
    def move(number: int, act: Act, units: int) -> Entry:
        held = {"size_kg": Decimal(13), "units": units, "state": "full"}
        return Entry(EntryId(f"e{number}"), "stock", "patio", act, held, Millis(NOW + number), NOW, "Ana")

    desk = Desk(FORMS, ["patio"])
    desk.keep([move(1, Act.ENTER, 3)])
    desk.keep([move(2, Act.LEAVE, 5)])
    desk.keep([move(3, Act.ENTER, 1), move(4, Act.LEAVE, 9), move(5, Act.LEAVE, 2)])
    assert desk.set_aside == 2
    assert desk.stock(Millis(NOW + 9), None).count("patio") == 2
