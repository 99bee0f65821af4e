"""``vigia law``: what a person and a program get to know of the laws and of a depot."""

import json
import re
import time
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from field_command import vigia_here

from alerts.messages.catalogue import Catalogue as Words
from compliance import catalogue
from compliance.vocabulary import Verdict
from gateway.commands.talk import Talk
from gateway.configuration.loading import load
from gateway.engine.events import Entry, Record
from gateway.journal import Journal
from gateway.office.lawfacts import configured

ENGLISH = {"VIGIA_LANG": "en"}
BASE = (Path(__file__).parents[1] / "base.toml").read_text("utf-8")
LOCATORS = Path(__file__).parents[2] / "law" / "locators"
FERRAZ = "ferraz-de-vasconcelos-3190-2013"


def law(*args: str | Path, environ: dict[str, str] | None = None) -> Result:
    return vigia_here("law", *args, environ=environ)


def rows(*args: str | Path) -> Any:
    ran = law(*args, "--json")
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout)


def depot(folder: Path, old: str = "", new: str = "") -> Path:
    assert old in BASE
    file = folder / "depot.toml"
    file.write_text(BASE.replace(old, new) if old else BASE, "utf-8")
    return file


def verdict(answer: Any, rule: str, subject: str = "area:patio") -> str:
    (found,) = [each for each in answer["findings"] if (each["rule"], each["subject"]) == (rule, subject)]
    return str(found["verdict"])


# --- the laws -------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", sorted(LOCATORS.glob("*.txt")), ids=lambda file: str(file.stem))
def test_coverage_has_a_row_for_every_clause_that_a_person_listed_by_hand(file: Path) -> None:
    listed = [line.strip() for line in file.read_text("utf-8").splitlines() if line.strip() and line[0] != "#"]
    covered = rows("coverage", "--law", file.stem)

    assert sorted(
        f"{row['clause']} (até {row['until']})" if row["until"] else row["clause"] for row in covered
    ) == sorted(listed)
    assert {row["mode"] for row in covered} <= {"automatic", "survey", "checklist", "reminder", "out-of-scope"}


def test_what_is_out_of_scope_says_why() -> None:
    pages = {(page["clause"], page["until"]): page for page in rows("show", "Art. 9 I", "--law", "ferraz")}

    assert pages["Art. 9 I", None]["mode"] == "out-of-scope"
    assert pages["Art. 9 I", None]["reason"]["pt"]


def test_a_rule_shows_its_reading_its_ambiguity_and_where_each_number_comes_from() -> None:
    (shown,) = rows("show", "ferraz-6-III-assembly")
    numbers = {number["id"]: number for number in shown["numbers"]}

    assert shown["clauses"][0]["summary"]["pt"]
    assert numbers["distance_assembly_m"]["values"]["III"] == 80
    assert "Campina Grande do Sul" in numbers["distance_assembly_m"]["provenance"]["pt"]


@pytest.mark.parametrize(
    ("rule", "number", "value"),
    [
        ("ferraz-15", "payment_working_days", 30),
        ("house-6", "calibration_days", 180),
        ("ferraz-6-II-b-kg", "special_step_kg", 5000),
        ("paraiba-19-requalification", "first_requalification_years", 15),
    ],
)
def test_the_days_and_steps_that_a_rule_counts_are_shown_too(rule: str, number: str, value: float) -> None:
    (shown,) = rows("show", rule)

    assert {each["id"]: each.get("value") for each in shown["numbers"]}[number] == value


def test_a_rule_that_goes_by_class_shows_the_classes() -> None:
    (shown,) = rows("show", "ferraz-5-class")

    assert [each["classes"][1]["up_to_kg"] for each in shown["numbers"]] == [1560]


def test_each_wording_of_an_article_shows_its_own_classes() -> None:
    later, earlier = rows("show", "Art. 8", "--law", "paraiba")

    assert (later["from"], earlier["until"]) == ("2011-12-07", "2011-12-06")
    assert [[each["id"] for each in page["numbers"] if "classes" in each] for page in (later, earlier)] == [
        ["nbr-7"],
        ["dnc-5"],
    ]


def test_numbers_and_margins_are_said_in_the_readers_language(tmp_path: Path) -> None:
    portuguese = {"LANG": "pt_BR.UTF-8"}
    facts = tmp_path / "facts.toml"
    facts.write_text("[depot]\ncontainers_listed = true\nextinguishers_listed = true\n", "utf-8")
    judged = law("evaluate", depot(tmp_path), "--facts", facts, "--on", "2026-03-01", environ=portuguese)

    assert "Margem: -4 extintores" in judged.stdout
    assert "30 dias úteis" in law("show", "ferraz-15", environ=portuguese).stdout
    assert "30 working days" in law("show", "ferraz-15", environ=ENGLISH).stdout


def test_a_clause_is_found_by_its_locator_in_every_law_that_has_it() -> None:
    assert {page["law"] for page in rows("show", "Art.", "5")} >= {FERRAZ, "campina-grande-do-sul-15-2002"}
    assert [page["law"] for page in rows("show", "art. 6 ii c", "--law", "ferraz")] == [FERRAZ]


def test_every_law_and_clause_and_rule_can_be_shown_to_a_person_in_both_languages() -> None:
    for environ in (ENGLISH, {"LANG": "pt_BR.UTF-8"}):
        for name in (row["law"] for row in rows("list")):
            ran = law("show", name, environ=environ)
            assert ran.exit_code == 0, ran.output
        ran = law("coverage", environ=environ)
        assert ran.exit_code == 0, ran.output


def test_an_unknown_name_is_refused_with_a_way_on() -> None:
    ran = law("show", "Art. 999")

    assert ran.exit_code == 1
    assert "vigia law list" in ran.stderr


def test_every_kind_of_thing_and_word_of_a_finding_has_a_name_in_both_languages() -> None:
    for environ in (ENGLISH, {"LANG": "pt_BR.UTF-8"}):
        words = Talk.of(environ).words
        assert not [kind for kind in catalogue.load().kinds if f"thing.{kind}" not in words]


# --- a depot --------------------------------------------------------------------------------------


def test_the_configuration_alone_answers_what_it_can(tmp_path: Path) -> None:
    answer = rows("evaluate", depot(tmp_path), "--on", "2026-03-01")

    assert answer["on"] == "2026-03-01"
    assert {law["law"] for law in answer["laws"]} == {FERRAZ, "house"}
    assert verdict(answer, "ferraz-6-II-c-set-point") == "COMPLIANT"
    assert verdict(answer, "ferraz-6-II-c-watching") == "UNDETERMINED"


def test_a_depot_without_anything_to_hear_breaks_the_law(tmp_path: Path) -> None:
    mute = depot(tmp_path, 'kind = "siren"', 'kind = "relay"')

    assert verdict(rows("evaluate", mute), "ferraz-6-II-c-audible") == "VIOLATED"
    assert law("evaluate", mute, "--strict").exit_code == 1
    assert law("evaluate", mute).exit_code == 0


def test_a_person_reads_the_worst_first_with_what_is_missing_and_what_to_do(tmp_path: Path) -> None:
    ran = law("evaluate", depot(tmp_path, 'kind = "siren"', 'kind = "relay"'), environ={"LANG": "pt_BR.UTF-8"})
    first = next(line for line in ran.stdout.splitlines() if line.startswith("  "))

    assert first.startswith("  INFRAÇÃO  Art. 6 II c")
    assert "O que fazer: " in ran.stdout
    assert "Falta saber: Estoque completo [depot:depot.containers_listed]" in ran.stdout
    assert "CONFORME  Art." not in ran.stdout
    assert "CONFORME  Art." in law("evaluate", tmp_path / "depot.toml", "--all", environ={"LANG": "pt_BR.UTF-8"}).stdout


def test_the_command_and_the_page_call_a_verdict_by_the_same_words(tmp_path: Path) -> None:
    page = Words.load("dashboards.conformity", "pt-BR").texts
    named = depot(tmp_path, 'id = "patio"', 'id = "patio"\nname = "Pátio norte"')
    told = law("evaluate", named, "--all", environ={"LANG": "pt_BR.UTF-8"}).stdout
    assert "Área Pátio norte: " in told and "área patio" not in told
    lines = [line for line in told.splitlines() if re.match(r"  \S", line)]

    assert {line.strip().split("  ")[0] for line in lines} <= {
        page[f"verdict.{each.value}"].upper() for each in Verdict
    }


def test_what_is_said_alike_of_several_heads_is_said_once_with_the_list_of_them(tmp_path: Path) -> None:
    told = law("evaluate", depot(tmp_path), environ={"LANG": "pt_BR.UTF-8"}).stdout.splitlines()
    (place,) = [number for number, line in enumerate(told) if "[house-6]" in line]

    assert "Detector GD-101, GD-201: " in told[place]
    assert told[place + 1].endswith("[detector:*.calibrated_on]")


def test_a_day_that_is_past_says_what_is_still_that_of_today(tmp_path: Path) -> None:
    file, day = depot(tmp_path), date(2026, 1, 31)
    said = f"{day:%d/%m/%Y} já passou"
    portuguese = {"LANG": "pt_BR.UTF-8"}

    assert said in law("evaluate", file, "--on", day.isoformat(), environ=portuguese).stdout
    assert "já passou" not in law("evaluate", file, environ=portuguese).stdout
    assert rows("evaluate", file, "--on", day.isoformat())["configured_on"] > day.isoformat()


def test_facts_from_a_file_are_judged_too(tmp_path: Path) -> None:
    facts = tmp_path / "fatos.toml"
    facts.write_text(
        "[depot]\ncontainers_listed = true\n"
        '[[container]]\nid = "p"\narea = "patio"\nsize_kg = 13\nstate = "empty"\ncount = 481\n',
        "utf-8",
    )
    answer = rows("evaluate", depot(tmp_path), "--facts", facts)

    assert verdict(answer, "ferraz-4-stock") == "VIOLATED"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[depot]\ncolour = 1\n", "fatos.toml: depot.colour: expected a fact of depot"),
        ("[[area]]\nid = 'patio'\nlicensed_kg = -1\n", "fatos.toml: area patio.licensed_kg: expected a number"),
        ("[[shelf]]\n", "fatos.toml: shelf: expected only"),
        ("[depot", "fatos.toml: expected TOML"),
    ],
)
def test_a_wrong_file_of_facts_is_refused_by_name(tmp_path: Path, text: str, said: str) -> None:
    facts = tmp_path / "fatos.toml"
    facts.write_text(text, "utf-8")
    ran = law("evaluate", depot(tmp_path), "--facts", facts)

    assert ran.exit_code == 78
    assert said in ran.stderr


@pytest.mark.parametrize("option", ["--on", "--known"])
def test_a_day_that_is_none_is_a_usage_error(tmp_path: Path, option: str) -> None:
    ran = law("evaluate", depot(tmp_path), option, "32/03/2026")

    assert ran.exit_code == 2
    assert "32/03/2026" in ran.output


def test_a_bad_configuration_ends_with_78(tmp_path: Path) -> None:
    assert law("evaluate", depot(tmp_path, "A1 = 10", "A1 = 12")).exit_code == 78


def test_registers_in_the_journal_count_from_their_day_and_from_when_they_were_told(tmp_path: Path) -> None:
    file = depot(tmp_path)
    now = time.time_ns() // 1_000_000
    day, told_on = date.today() - timedelta(days=40), date.today() - timedelta(days=10)  # noqa: DTZ011 - margins of days

    def entry(number: int, register: str, subject: str, values: dict[str, Any], days: int, told: int) -> Entry:
        line = {
            "id": f"e{number}",
            "register": register,
            "subject": subject,
            "act": "record",
            "values": values,
            "effective_ms": now - days * 86_400_000,
            "source": "person",
            "reason": "",
            "corrects": None,
        }
        return Entry("register", {"at_ms": now - told * 86_400_000, "entries": [line]}, "Ana")

    loaded = load(file, {}).depot
    loaded.data.mkdir()
    journal = Journal.open(loaded.journal, depot=loaded.id)
    done: list[int] = []
    journal.start(committed=done.append, trouble=lambda *_: None)
    journal.submit(
        Record(
            1,
            (
                Entry("boot", {"boot": "b", "at_ms": now - 40 * 86_400_000, "watches": [], "last_alive_ms": None}),
                entry(1, "area", "patio", {"leak_test_material": True}, 40, 10),
            ),
        )
    )
    journal.close(10.0)
    assert done == [1]

    def material(*options: str) -> str:
        return verdict(rows("evaluate", file, *options), "ferraz-6-II-d")

    on = (day + timedelta(days=1)).isoformat()
    assert material("--on", on) == "COMPLIANT"
    assert material("--on", on, "--known", (told_on - timedelta(days=2)).isoformat()) == "UNDETERMINED"
    assert material("--on", (day - timedelta(days=2)).isoformat()) == "UNDETERMINED"
    assert material() == "UNDETERMINED"  # a checklist answer of 40 days ago is too old


def test_the_set_point_is_on_the_reference_basis_and_the_worst_time_is_rounded_up(tmp_path: Path) -> None:
    facts = {(str(fact.subject), fact.name): fact.value for fact in configured(load(depot(tmp_path), {}).depot)}

    assert facts["detector:GD-101", "set_point_lel_pct"] == 10
    assert facts["detector:GD-101", "reference_vol_pct"] == 1.4
    seconds = facts["detector:GD-101", "certified_s"]
    assert isinstance(seconds, float)
    assert re.fullmatch(r"\d+\.\d{1,3}", str(seconds))
    assert facts["output:sirene", "audible"] is True
    assert facts["depot:depot", "detectors_listed"] is True
    assert facts["area:patio", "licensed_kg"] == 6240


def test_the_history_of_a_finding_tells_of_days_gone_by_too(tmp_path: Path) -> None:
    file = depot(tmp_path)
    loaded = load(file, {}).depot
    loaded.data.mkdir()
    at_ms = 1_795_186_800_000  # 2026-11-20 15:00 UTC
    step = {"statute": FERRAZ, "rule": "ferraz-4-stock", "clause": "Art. 4", "subject": "area:patio", "evidence": []}
    step |= {"severity": "danger", "on": "2026-11-20", "because": []}
    changes: list[Any] = [
        step | {"verdict": "VIOLATED", "effective": "2026-11-05", "until": "2026-11-08", "past": "known-later"},
        step | {"verdict": "COMPLIANT", "effective": "2026-11-20"},
    ]
    journal = Journal.open(loaded.journal, depot=loaded.id)
    journal.start(committed=lambda _: None, trouble=lambda *_: None)
    journal.submit(Record(1, (Entry("finding", {"at_ms": at_ms, "changes": changes}),)))
    assert journal.close(10.0)

    ran = law("history", file, "ferraz-4-stock", environ={"VIGIA_LANG": "pt-BR"})
    assert ran.exit_code == 0 and "20/11/2026: conforme" in ran.stdout
    assert "de 05/11/2026 a 07/11/2026, conhecido em 20/11/2026: infração que só se soube depois" in ran.stdout
    assert [one.get("past") for one in rows("history", file, "ferraz-4-stock", "area:patio")] == ["known-later", None]
    assert "no change" in law("history", file, "ferraz-4-stock", "area:x", environ=ENGLISH).stdout
    wrong = law("history", file, "ferraz-4", environ=ENGLISH)
    assert wrong.exit_code == 1 and "ferraz-4" in wrong.stderr and "evaluate --all" in wrong.stderr
