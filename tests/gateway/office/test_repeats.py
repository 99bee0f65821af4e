"""The same sheet brought twice changes nothing and says so; a count is never entered again over what was sold since."""

from dataclasses import replace
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from compliance.registers.entries import Act, Entry, EntryId, Millis
from dashboards.office import Import
from gateway.office.asked import from_sheet
from gateway.office.desk import Admitted, Desk, Told
from gateway.office.forms import forms
from gateway.office.repeats import Sifted, sift

ZONE = ZoneInfo("America/Sao_Paulo")
NOON = Millis(1_796_040_000_000)
HOUR = 3_600_000
DAY = 24 * HOUR
FORMS = forms()
PAPERS = "id;Documento;Validade;Sem prazo de validade;Cassado ou suspenso\nalvara;alvará de uso;07/2027;não;não\n"
CHECKED = "id;Área;Agente;Carga (kg);No lugar;Lacre, selo e pressão em ordem\nEXT-1;patio;pó BC;12;sim;sim\n"
COUNTED = "area;size_kg;state;units\npatio;P-13;cheio;40\npatio;P-13;vazio;12\n"


class Office:
    """A desk whose journal keeps at once what is let in."""

    def __init__(self) -> None:
        self.desk = Desk(FORMS, ["patio"])
        self.told = 0

    def new_id(self) -> str:
        self.told += 1
        return f"e{self.told}"

    def bring(
        self, register: str, sheet: str, now: int, effective: str = "", doubted: frozenset[str] = frozenset()
    ) -> Sifted:
        ask = Import(1, "Ana", register, sheet.encode(), effective=effective)
        rows, problems = from_sheet(ask, FORMS[register], ZONE, Millis(now), self.new_id)
        assert problems == []
        sifted = sift(rows, self.desk, ZONE, dated=bool(effective), doubted=doubted)
        if not sifted.problems:
            answer = self.desk.admit(sifted.fresh, Millis(now))
            assert isinstance(answer, Admitted), answer
            self.desk.keep(answer.entries)
        return sifted

    def sell(self, units: int, at: int) -> None:
        values = {"size_kg": Decimal(13), "state": "full", "units": units}
        entry = Entry(EntryId(self.new_id()), "stock", "patio", Act.LEAVE, values, Millis(at), Millis(at), "Rui")
        answer = self.desk.admit([Told(entry)], Millis(at))
        assert isinstance(answer, Admitted), answer
        self.desk.keep(answer.entries)


@pytest.mark.parametrize(("register", "sheet"), [("document", PAPERS), ("extinguisher", CHECKED), ("stock", COUNTED)])
@pytest.mark.parametrize("effective", ["", "2026-11-20"])
def test_the_same_sheet_again_changes_nothing_and_names_its_lines(register: str, sheet: str, effective: str) -> None:
    office = Office()
    lines = len(sheet.splitlines()) - 1
    assert len(office.bring(register, sheet, NOON, effective).fresh) == lines
    kept = list(office.desk.entries)
    again = office.bring(register, sheet, NOON + HOUR, effective)
    assert [one.line for one in again.known] == list(range(2, lines + 2))
    assert (again.fresh, list(office.desk.entries)) == ((), kept)


def test_a_row_that_says_one_thing_anew_is_entered_and_the_others_are_named() -> None:
    office = Office()
    other = "licenca;licença de funcionamento;;sim;não\n"
    office.bring("document", PAPERS + other, NOON)
    sifted = office.bring("document", PAPERS.replace("07/2027", "08/2027") + other, NOON + HOUR)
    assert ([one.line for one in sifted.fresh], [one.line for one in sifted.known]) == ([2], [3])


def test_what_was_changed_or_removed_meanwhile_is_entered_again() -> None:
    office = Office()
    office.bring("document", PAPERS, NOON)
    office.bring("document", PAPERS.replace("07/2027", "08/2027"), NOON + 1)
    assert len(office.bring("document", PAPERS, NOON + 2).fresh) == 1
    gone = replace(office.desk.entries[-1], id=EntryId("x"), act=Act.REMOVE, values={}, effective=Millis(NOON + 3))
    office.desk.keep([gone])
    assert len(office.bring("document", PAPERS, NOON + 4).fresh) == 1


def test_a_routine_is_answered_anew_only_by_a_sheet_that_says_when() -> None:
    office = Office()
    office.bring("extinguisher", CHECKED, NOON)
    assert office.bring("extinguisher", CHECKED, NOON + 30 * DAY).fresh == ()
    assert len(office.bring("extinguisher", CHECKED, NOON + 30 * DAY, "2026-12-20").fresh) == 1
    assert office.bring("extinguisher", CHECKED, NOON + 30 * DAY + 1, "2026-12-20").fresh == ()


def test_an_old_count_is_not_entered_over_what_was_sold_since() -> None:
    office = Office()
    office.bring("stock", COUNTED, NOON)
    office.sell(5, NOON + HOUR)
    sifted = office.bring("stock", COUNTED, NOON + 2 * HOUR)
    assert [(one.line, one.problem) for one in sifted.problems] == [(2, "counted-before")]
    assert office.desk.stock().count("patio") == 47
    assert len(office.bring("stock", COUNTED, NOON + 3 * HOUR, "2026-11-30T11:30").fresh) == 2


def test_an_area_that_somebody_must_count_is_not_counted_by_an_old_sheet() -> None:
    office = Office()
    office.bring("stock", COUNTED, NOON)
    assert len(office.bring("stock", COUNTED, NOON + HOUR, doubted=frozenset({"patio"})).problems) == 2


def test_a_pile_that_stands_twice_in_a_sheet_is_refused_by_both_lines() -> None:
    ask = Import(1, "Ana", "stock", (COUNTED + "patio;P-13;cheio;3\n").encode())
    _, problems = from_sheet(ask, FORMS["stock"], ZONE, NOON, lambda: "x")
    assert [(one.line, one.problem, one.right) for one in problems] == [(4, "pile-twice", "2")]
