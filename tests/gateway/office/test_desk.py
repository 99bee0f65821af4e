"""The desk: all or none, nobody overwrites what they never read, a repeat counts once. Covers B64 (the last item)."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from compliance.registers.entries import Act, Entry, EntryId, Millis, Scalar
from compliance.registers.forms import Field, FieldType, Form
from gateway.office import entries as kept
from gateway.office.desk import Admitted, Desk, Told, Turned
from gateway.office.forms import forms

NOW = Millis(1_800_000_000_000)
STATES = {"full": {"pt-BR": "cheio"}, "empty": {"pt-BR": "vazio"}}
FORMS = {
    "stock": Form(
        "stock",
        (
            Field("size_kg", FieldType.SIZE),
            Field("state", FieldType.CHOICE, choices=STATES),
            Field("to_state", FieldType.CHOICE, choices=STATES),
            Field("to_area", FieldType.TEXT),
            Field("units", FieldType.INTEGER, least=Decimal(0)),
        ),
        key="area",
    ),
    "extinguisher": Form(
        "extinguisher",
        (
            Field("kg", FieldType.NUMBER, needed=True),
            Field("charge_until", FieldType.DATE),
            Field("area", FieldType.TEXT),
        ),
    ),
}


def desk() -> Desk:
    return Desk(FORMS, ["patio", "fundos"])


def move(number: int, act: Act, units: int, at: int = NOW, **more: Scalar) -> Told:
    values: dict[str, Scalar] = {"size_kg": Decimal(13), "state": "full", "units": units, **more}
    return Told(Entry(EntryId(f"e{number}"), "stock", "patio", act, values, Millis(at), Millis(0), "Ana Souza"))


def extinguisher(number: int, *, expect: str | None = None, **values: Scalar) -> Told:
    entry = Entry(
        EntryId(f"x{number}"), "extinguisher", "EXT-1", Act.RECORD, values, Millis(NOW - 1), Millis(0), "Ana Souza"
    )
    return Told(entry, None if expect is None else EntryId(expect))


def take(at: Desk, *told: Told) -> Admitted | Turned:
    answer = at.admit(told, NOW)
    if isinstance(answer, Admitted):
        at.keep(answer.entries)
    return answer


def problems(answer: Admitted | Turned) -> list[tuple[str, str]]:
    assert isinstance(answer, Turned), answer
    return [(problem.field, problem.problem) for problem in answer.problems]


def test_b64_the_last_cylinder_is_sold_once() -> None:
    here = desk()
    take(here, move(1, Act.ENTER, 1))
    assert isinstance(take(here, move(2, Act.LEAVE, 1)), Admitted)
    assert problems(take(here, move(3, Act.LEAVE, 1))) == [("units", "not-that-many")]
    assert here.stock().count("patio") == 0


def test_b64_a_repeat_of_the_same_call_counts_once() -> None:
    here = desk()
    take(here, move(1, Act.ENTER, 5))
    again = take(here, move(1, Act.ENTER, 5))
    assert isinstance(again, Admitted)
    assert (again.entries, again.again) == ((), (EntryId("e1"),))
    assert here.stock().count("patio") == 5
    assert problems(take(here, move(1, Act.ENTER, 6))) == [("id", "id-used")]


def test_a_batch_is_entered_whole_or_not_at_all() -> None:
    here = desk()
    assert problems(take(here, move(1, Act.ENTER, 5), move(2, Act.LEAVE, 6))) == [("units", "not-that-many")]
    assert here.entries == []


def test_nobody_overwrites_what_they_never_read() -> None:
    here = desk()
    take(here, extinguisher(1, kg=Decimal(8)))
    take(here, extinguisher(2, kg=Decimal(6), expect="x1"))
    assert problems(take(here, extinguisher(3, kg=Decimal(4), expect="x1"))) == [("expect", "changed")]
    assert here.holdings("extinguisher")["EXT-1"].values["kg"] == 6


def test_nothing_stands_in_an_area_that_the_depot_does_not_have() -> None:
    here = desk()
    assert problems(take(here, extinguisher(1, kg=Decimal(8), area="pateo"))) == [("area", "unknown-area")]
    assert isinstance(take(here, extinguisher(1, kg=Decimal(8), area="patio")), Admitted)
    gone = Desk(FORMS, ["fundos"])
    gone.keep([extinguisher(1, kg=Decimal(8), area="patio").entry])
    removed = replace(extinguisher(2).entry, act=Act.REMOVE)
    assert isinstance(take(gone, Told(removed)), Admitted), "what stood in a former area can be removed"


def test_a_distance_is_between_two_areas_that_the_depot_has() -> None:
    here = Desk(forms(), ["patio", "fundos"])

    def between(one: str, other: str) -> Told:
        values: dict[str, Scalar] = {"one": one, "other": other, "distance_m": Decimal(6)}
        return Told(Entry(EntryId(one + other), "between", "b1", Act.RECORD, values, NOW, Millis(0), "Ana Souza"))

    assert problems(take(here, between("pateo", "fundos"))) == [("one", "unknown-area")]
    assert problems(take(here, between("patio", "frente"))) == [("other", "unknown-area")]
    assert problems(take(here, between("patio", "patio"))) == [("other", "unknown-area")]
    assert isinstance(take(here, between("patio", "fundos")), Admitted)


def test_what_is_wrong_is_named_by_field_and_all_of_it_at_once() -> None:
    here = desk()
    wrong = Told(replace(extinguisher(1, colour="red", charge_until=Decimal(1)).entry, by=" ", subject=""))
    assert problems(take(here, wrong)) == [
        ("by", "needs-name"),
        ("id", "empty"),
        ("colour", "unknown-field"),
        ("charge_until", "wrong-type"),
        ("kg", "missing"),
    ]
    for name in ("E\x1b[31m1", "E\u202e1", "E" * 501):
        told = Told(replace(extinguisher(1, kg=Decimal(8)).entry, subject=name))
        assert problems(take(here, told)) in ([("id", "unprintable")], [("id", "too-large")]), name
    elsewhere = Told(replace(move(1, Act.ENTER, 1).entry, subject="telhado", effective=Millis(NOW + 10**7)))
    assert problems(take(here, elsewhere)) == [("effective", "in-the-future"), ("area", "unknown-area")]
    assert problems(take(here, Told(replace(move(2, Act.ENTER, 1).entry, register="gatos")))) == [
        ("register", "unknown-register")
    ]
    assert problems(take(here, Told(replace(move(3, Act.RECORD, 1).entry)))) == [("act", "wrong-act")]


def test_a_correction_needs_its_reason_and_its_entry() -> None:
    here = desk()
    take(here, move(1, Act.ENTER, 400))
    void = replace(move(2, Act.VOID, 0).entry, values={}, corrects=EntryId("e1"), reason="")
    assert problems(take(here, Told(void))) == [("reason", "needs-reason")]
    assert isinstance(take(here, Told(replace(void, reason="digitado errado"))), Admitted)
    assert here.stock().count("patio") == 0


def test_a_correction_that_would_leave_less_than_nothing_is_refused() -> None:
    here = desk()
    take(here, move(1, Act.ENTER, 4, at=NOW - 100))
    take(here, move(2, Act.LEAVE, 4, at=NOW - 50))
    void = replace(move(3, Act.VOID, 0).entry, values={}, corrects=EntryId("e1"), reason="engano")
    assert problems(take(here, Told(void))) == [("units", "not-that-many")]


def test_a_batch_survives_the_journal() -> None:
    told = extinguisher(1, kg=Decimal("8.5"), charge_until=None).entry
    back = kept.entries(kept.body([kept.line(told)], NOW), FORMS, told.by)
    assert back == (replace(told, recorded=NOW),)


class TwoClerks(RuleBasedStateMachine):
    """Whatever comes in, late or in order: never below nothing, and the running book is what a fresh fold gives."""

    def __init__(self) -> None:
        super().__init__()
        self.desk = desk()
        self.number = 0

    @rule(
        act=st.sampled_from([Act.ENTER, Act.LEAVE, Act.COUNT, Act.CHANGE, Act.TRANSFER]),
        units=st.integers(0, 6),
        late=st.integers(0, 40),
    )
    def move(self, act: Act, units: int, late: int) -> None:
        more = {Act.CHANGE: {"to_state": "empty"}, Act.TRANSFER: {"to_area": "fundos"}}.get(act, {})
        self.number += 1
        take(self.desk, move(self.number, act, units, at=NOW - 1000 + self.number - late, **more))

    @rule(back=st.integers(1, 5))
    def void(self, back: int) -> None:
        self.number += 1
        entry = replace(move(self.number, Act.VOID, 0).entry, values={}, reason="engano")
        take(self.desk, Told(replace(entry, corrects=EntryId(f"e{self.number - back}"))))

    @invariant()
    def never_below_nothing_and_the_same_as_folded_anew(self) -> None:
        running = self.desk.stock()
        assert all(count > 0 for count in running.units.values())
        fresh = desk()
        fresh.keep(self.desk.entries)
        assert fresh.stock().units == running.units == self.desk.stock(at=Millis(2**62)).units


TestTwoClerks = TwoClerks.TestCase
TestTwoClerks.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


def test_an_entry_that_the_journal_came_to_hold_twice_counts_once() -> None:
    at = desk()
    once = move(1, Act.ENTER, 40).entry
    at.keep([once])
    at.keep([once])
    assert at.stock().count("patio") == 40
    assert at.stock(Millis(NOW + 1)).count("patio") == 40
    assert len(at.entries) == 1


def test_the_stock_of_an_area_that_left_the_configuration_can_go_and_nothing_comes() -> None:
    here = desk()
    take(here, move(1, Act.ENTER, 5))
    later = Desk(FORMS, ["fundos"])
    later.keep(here.entries)
    assert problems(take(later, move(2, Act.ENTER, 1))) == [("area", "unknown-area")]
    assert isinstance(take(later, move(3, Act.TRANSFER, 3, to_area="fundos")), Admitted)
    assert problems(take(later, move(4, Act.TRANSFER, 1, to_area="patio"))) == [("to_area", "unknown-area")]
    assert isinstance(take(later, move(5, Act.LEAVE, 2)), Admitted)
    assert (later.stock().count("patio"), later.stock().count("fundos")) == (0, 3)
    assert problems(take(later, move(6, Act.LEAVE, 1))) == [("area", "unknown-area")]


def test_what_a_correction_would_leave_is_told_without_what_it_corrects() -> None:
    here = desk()
    take(here, move(1, Act.ENTER, 60))
    six = replace(move(2, Act.ENTER, 6).entry, corrects=EntryId("e1"), reason="dígito a mais")
    assert here.after([six]).count("patio") == 6
    void = replace(move(3, Act.VOID, 0).entry, values={}, corrects=EntryId("e1"), reason="outro depósito")
    assert here.after([void]).count("patio") == 0


def test_what_is_no_movement_is_set_aside_whatever_came_with_it() -> None:
    here = desk()
    void = replace(move(4, Act.VOID, 0).entry, values={})
    early = move(3, Act.RECORD, 1, at=NOW - 9).entry
    here.keep([void, move(1, Act.ENTER, 5).entry, move(2, Act.RECORD, 1).entry, early])
    assert (here.stock().count("patio"), here.set_aside) == (5, 3)


def test_a_history_as_known_then_leaves_out_what_was_told_or_true_later() -> None:
    here = desk()
    take(here, move(1, Act.ENTER, 5, at=NOW - 10))
    answer = here.admit([move(2, Act.ENTER, 1, at=NOW - 5)], Millis(NOW + 50))
    assert isinstance(answer, Admitted)
    here.keep(answer.entries)
    told = [
        (at, known, len(here.history("stock", "patio", at, known))) for at in (None, NOW - 8) for known in (None, NOW)
    ]
    assert told == [(None, None, 2), (None, NOW, 1), (NOW - 8, None, 1), (NOW - 8, NOW, 1)]


def branded() -> Desk:
    here = Desk(forms(), ["patio", "fundos"])
    take(here, move(1, Act.ENTER, 9, brand="Azul"))
    return here


def test_a_movement_without_a_brand_means_the_only_pile_that_is_alike() -> None:
    here = branded()
    assert isinstance(take(here, move(2, Act.LEAVE, 2)), Admitted)
    assert isinstance(take(here, move(3, Act.COUNT, 6)), Admitted)
    again = take(here, move(2, Act.LEAVE, 2))
    assert isinstance(again, Admitted) and again.again == (EntryId("e2"),)
    assert {(pile.brand, units) for pile, units in here.stock().units.items()} == {("Azul", 6)}


def test_of_several_piles_alike_nobody_guesses_which_one_is_meant() -> None:
    here = branded()
    take(here, move(2, Act.ENTER, 5, brand="Verde"))
    for act in (Act.LEAVE, Act.COUNT):
        answer = take(here, move(3, act, 1))
        assert isinstance(answer, Turned)
        assert answer.problems[0].problem == "which-pile"
        assert answer.problems[0].right == "9 P-13 full Azul · 5 P-13 full Verde"
    assert isinstance(take(here, move(4, Act.LEAVE, 1, brand="Verde")), Admitted)


def mend(number: int, corrects: str, act: Act = Act.VOID, units: int = 0) -> Told:
    moved = move(number, act, units).entry
    values = {} if act is Act.VOID else moved.values
    return Told(replace(moved, values=values, corrects=EntryId(corrects), reason="engano"))


def test_an_entry_is_mended_once_so_that_two_corrections_never_add_up() -> None:
    here = desk()
    take(here, move(1, Act.ENTER, 60))
    take(here, mend(2, "e1", Act.ENTER, 6))
    for second in (mend(3, "e1", Act.ENTER, 6), mend(4, "e1")):
        assert problems(take(here, second)) == [("corrects", "mended-already")]
    assert problems(take(here, mend(5, "e2"), mend(6, "e2"))) == [("corrects", "mended-already")]
    assert here.stock().count("patio") == 6
    assert isinstance(take(here, mend(7, "e2")), Admitted), "the correction itself can be void"
    assert isinstance(take(here, mend(8, "e1", Act.ENTER, 16)), Admitted), "and what it had corrected be mended again"
    assert here.stock().count("patio") == 16


def test_a_brand_and_a_lot_are_written_as_the_book_has_them() -> None:
    here = branded()
    take(here, move(2, Act.ENTER, 5, brand="AZÚL", lot="norte"))
    take(here, move(3, Act.ENTER, 5, brand="azul", lot="Norte"))
    assert isinstance(take(here, move(3, Act.ENTER, 5, brand="azul", lot="Norte")), Admitted), "a repeat is one"
    assert {(pile.brand, pile.lot): units for pile, units in here.stock().units.items()} == {
        ("Azul", ""): 9,
        ("Azul", "norte"): 10,
    }
    again = replace(move(4, Act.ENTER, 8, brand="AZUL").entry, corrects=EntryId("e1"), reason="uma a menos")
    assert isinstance(take(here, Told(again)), Admitted)
    assert {pile.brand for pile in here.stock().units} == {"Azul"}, "a correction makes no second brand either"


def test_the_spelling_of_a_brand_that_one_entry_alone_has_can_be_mended() -> None:
    here = branded()
    mended = replace(move(2, Act.ENTER, 9, brand="AZUL").entry, corrects=EntryId("e1"), reason="a grafia da nota")
    assert isinstance(take(here, Told(mended)), Admitted)
    assert {pile.brand for pile in here.stock().units} == {"AZUL"}


def test_a_thing_is_not_made_anew_by_writing_it_otherwise() -> None:
    here = desk()
    take(here, extinguisher(1, kg=Decimal(8)))
    other = Told(replace(extinguisher(2, kg=Decimal(4)).entry, subject="ext-1"))
    answer = take(here, other)
    assert problems(answer) == [("id", "written-otherwise")]
    assert isinstance(answer, Turned) and answer.problems[0].right == "EXT-1"


def test_what_is_not_there_cannot_be_removed() -> None:
    here = desk()
    gone = Told(replace(extinguisher(2).entry, act=Act.REMOVE))
    assert problems(take(here, gone)) == [("id", "not-there")]
    take(here, extinguisher(1, kg=Decimal(8)))
    assert isinstance(take(here, gone), Admitted)
    assert problems(take(here, Told(replace(gone.entry, id=EntryId("x3"))))) == [("id", "not-there")]


def test_what_the_configuration_names_is_not_registered_under_another_name() -> None:
    here = Desk(forms(), ["patio"], {"detector": ["GD-1"], "depot": ["depot"]})
    for register, subject in (("detector", "GD-9"), ("depot", "outro")):
        told = Told(replace(extinguisher(1).entry, register=register, subject=subject, values={}))
        assert problems(take(here, told)) == [("id", "unknown-thing")]
    assert isinstance(take(here, Told(replace(extinguisher(1).entry, register="detector", subject="GD-1"))), Admitted)


def test_a_movement_that_would_change_nothing_is_refused() -> None:
    here = branded()
    assert problems(take(here, move(2, Act.TRANSFER, 1))) == [("to_area", "goes-nowhere")]
    assert problems(take(here, move(2, Act.TRANSFER, 1, to_area="patio", to_place="area"))) == [
        ("to_area", "goes-nowhere")
    ]
    assert problems(take(here, move(3, Act.CHANGE, 1, to_state="full"))) == [("to_state", "goes-nowhere")]


def test_what_is_set_apart_keeps_its_lot_and_comes_back_to_its_pile() -> None:
    here = Desk(forms(), ["patio"])
    take(here, move(1, Act.ENTER, 9, lot="L1"))
    take(here, move(2, Act.TRANSFER, 2, to_place="set-apart"))
    assert {(pile.lot, pile.place): units for pile, units in here.stock().units.items()} == {
        ("L1", ""): 7,
        ("L1", "set-apart"): 2,
    }
    take(here, move(3, Act.TRANSFER, 2, place="set-apart", to_place="area"))
    take(here, move(4, Act.ENTER, 1, lot="L1", place="area"))
    assert {(pile.lot, pile.place): units for pile, units in here.stock().units.items()} == {("L1", ""): 10}


def test_nothing_was_done_on_a_day_that_is_still_to_come() -> None:
    here = Desk(forms(), ["patio"])
    values: dict[str, Scalar] = {"area": "patio", "agent": "water", "charge_kg": Decimal(8), "present": True}
    for day, right in ((date(2027, 1, 17), False), (date(2027, 1, 15), True)):
        told = extinguisher(1, **values, inspected_on=day, charge_until=date(2030, 1, 1))
        answer = take(here, told)
        assert isinstance(answer, Admitted) is right, answer
    assert problems(take(here, extinguisher(2, inspected_on=date(2028, 1, 1)))) == [("inspected_on", "in-the-future")]


def test_a_slip_in_the_year_of_a_validity_does_not_make_it_good_for_decades() -> None:
    here = Desk(forms(), ["patio"])
    values: dict[str, Scalar] = {"area": "patio", "agent": "powder-bc", "charge_kg": Decimal(8), "present": True}
    for day, right in ((date(2033, 1, 15), True), (date(2033, 1, 16), False), (date(2062, 12, 31), False)):
        answer = take(here, extinguisher(1, **values, charge_until=day))
        assert isinstance(answer, Admitted) is right, day
    assert problems(take(here, extinguisher(2, hydrostatic_until=date(2099, 6, 30)))) == [
        ("hydrostatic_until", "too-far-ahead")
    ]


def test_the_history_of_an_areas_stock_has_what_another_area_handed_over() -> None:
    here = branded()
    take(here, move(2, Act.TRANSFER, 4, to_area="fundos"))
    take(here, mend(3, "e2"))
    assert [entry.id for entry in here.history("stock", "fundos")] == ["e2", "e3"]
    assert [entry.id for entry in here.history("stock", "patio")] == ["e1", "e2", "e3"]
