"""Words in both languages: the same keys, the same placeholders, numbers and ages as people write them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.messages.catalogue import Catalogue
from dashboards.web.page import words
from dashboards.wording import Locale
from sensors.quality import REASONS
from sensors.readings import Quality, Status
from sensors.wire.meanings import SAYINGS

ROOT = Path(__file__).parents[2]
DASHBOARDS = ROOT / "dashboards"
PT = Locale("pt-BR", words("pt-BR"), ZoneInfo("America/Sao_Paulo"))
EN = Locale("en", words("en"), ZoneInfo("America/Sao_Paulo"))


def test_both_languages_have_the_same_texts_with_the_same_placeholders() -> None:
    pt, en = Catalogue.load("dashboards", "pt-BR"), Catalogue.load("dashboards", "en")
    assert set(pt.texts) == set(en.texts)
    assert {key: pt.placeholders(key) for key in pt.texts} == {key: en.placeholders(key) for key in en.texts}


def test_every_quality_and_status_has_a_word() -> None:
    wanted = {f"quality.{quality.value}" for quality in Quality} | {f"status.{status.value}" for status in Status}
    assert wanted <= set(PT.words)


@pytest.mark.parametrize(
    "file",
    [
        "web/static/depot.js",
        "web/static/drawing.js",
        "web/static/wording.js",
        "web/static/acts.js",
        "web/templates/live.html",
        "views.py",
        "wording.py",
        "web/page.py",
    ],
)
def test_every_key_that_the_code_names_in_full_is_in_the_catalogue(file: str) -> None:
    text = (DASHBOARDS / file).read_text(encoding="utf-8")
    sections = {key.partition(".")[0] for key in PT.words}
    named = set(re.findall(r"""["'`]([a-z]+\.[a-z_-]+)["'`]""", text))
    named = {key for key in named if key.partition(".")[0] in sections and not key.endswith((".html", ".css", ".js"))}
    assert named
    counted = {key for key in named if f"{key}_one" in PT.words and f"{key}_many" in PT.words}
    assert named - counted <= set(PT.words)


def test_a_number_has_one_decimal_and_the_languages_mark() -> None:
    assert PT.number(12.34) == "12,3"
    assert EN.number(12.34) == "12.3"
    assert PT.number(12.25) == "12,3"
    assert PT.number(-0.04) == "0,0"
    assert PT.number(-1.55) == "-1,6"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-0.5, "0,0 s"),
        (0.44, "0,4 s"),
        (9.94, "9,9 s"),
        (9.96, "9 s"),
        (119.9, "119 s"),
        (120, "2 min"),
        (7300, "2 h"),
        (200_000, "2 d"),
    ],
)
def test_an_age_is_written_by_its_largest_unit(seconds: float, text: str) -> None:
    assert PT.age(seconds) == text


@given(st.floats(min_value=0, max_value=1e9), st.floats(min_value=0, max_value=1e9))
def test_an_older_age_never_reads_as_a_younger_one(first: float, second: float) -> None:
    units = {"s": 1, "min": 60, "h": 3600, "d": 86_400}

    def read(text: str) -> float:
        number, unit = text.split()
        return float(number.replace(",", ".")) * units[unit]

    young, old = sorted((first, second))
    assert read(PT.age(young)) <= read(PT.age(old)) + 0.9  # 9,9 s is followed by 9 s


def test_a_time_is_the_depots_wall_clock_and_carries_the_date_on_another_day() -> None:
    now = "2026-11-30T13:00:00.000Z"
    assert PT.clock("2026-11-30T11:10:59.123Z", now=now) == "08:10:59"
    assert PT.clock("2026-11-30T11:10:59.123Z", now=now, thousandths=True) == "08:10:59,123"
    assert PT.clock("2026-11-30T02:10:59.123Z", now=now) == "29/11/2026 23:10:59"
    assert EN.clock("2026-11-30T02:10:59.123Z", now=now) == "2026-11-29 23:10:59"


def _spoken(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and re.fullmatch(r"[a-z-]+", inner.value):
            yield inner.value


def reasons_in(source: str) -> set[str]:
    """Every literal that a module gives as a reason: assigned to one, returned as one, or handed over as one."""
    tellers = {"silence", "unusable", "unheard", "failed", "closed", "lost", "_fail", "_failed", "_set_up", "_turn"}
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Assign(targets=[target], value=value) if re.search(
                r"reason|why|trouble|GUARD", ast.unparse(target)
            ):
                found.update(_spoken(value))
            case ast.keyword(arg="reason", value=value):
                found.update(_spoken(value))
            case ast.Call(func=function, args=given) if ast.unparse(function).rpartition(".")[2] in tellers:
                for value in given:
                    found.update(_spoken(value))
            case ast.Call(func=ast.Name(id="Gone"), args=given):
                for value in given:
                    found.update(_spoken(value))
            case ast.FunctionDef(name=name, returns=ast.expr() as returned) if name != "_as_text" and ast.unparse(
                returned
            ) in ("str", "Conversion | str"):
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Return) and inner.value is not None:
                        found.update(_spoken(inner.value))
            case _:
                pass
    return found


def test_every_reason_the_field_can_give_has_words_in_both_languages() -> None:
    files = [*(ROOT / "sensors/drivers").glob("*.py"), ROOT / "sensors/quality.py"]
    wire = (ROOT / "sensors/wire" / name for name in ("registers.py", "reader.py", "payloads.py", "listener.py"))
    files += [*wire, ROOT / "alerts/channels/output.py"]
    found = set().union(*(reasons_in(file.read_text(encoding="utf-8")) for file in files))
    found |= {reason for reason in (*REASONS.values(), *(saying.reason for saying in SAYINGS.values())) if reason}
    found |= reasons_in((ROOT / "sensors/wire/sparkplug.py").read_text(encoding="utf-8"))
    assert found >= {"no-packet-limit", "wrong-state", "queue-full", "flood", "mute", "no-answer", "sentinel"}
    for locale in (PT, EN):
        assert [code for code in sorted(found) if f"why.{code.rstrip('-')}" not in locale.words] == []


@pytest.mark.parametrize(
    ("seconds", "said"), [(120, "2 min"), (60, "1 min"), (90, "90 s"), (5, "5 s"), (7.5, "8 s"), (45.0, "45 s")]
)
def test_a_set_duration_is_written_as_a_person_would_set_it(seconds: float, said: str) -> None:
    assert PT.duration(seconds) == said


def test_a_reason_is_said_in_words_and_an_unknown_code_is_called_one() -> None:
    assert PT.reason("timeout") == "sem comunicação (não responde)"
    assert "exceção Modbus 2" in PT.reason("exception-2")
    assert PT.reason("gremlin") == "código gremlin"
    assert PT.reason("gremlin-7") == "código gremlin-7"
