"""A depot.toml as bytes: encodings, line ends, sizes and depths that are taken or refused."""

import json
from datetime import date
from pathlib import Path

import pytest
from depot_text import BASE, ENGLISH, loaded, problems, replaced
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gateway.configuration.loading import load
from gateway.configuration.problems import ConfigError

# --- text that is hardly TOML --------------------------------------------------------------------


def test_b59_a_byte_order_mark_is_ignored_with_a_warning(tmp_path: Path) -> None:
    (warning,) = loaded(tmp_path, "\ufeff" + BASE).warnings

    assert "byte order mark" in warning.wrong


def test_b59_tabs_and_windows_line_ends_mean_nothing(tmp_path: Path) -> None:
    plain = loaded(tmp_path, BASE).depot

    assert loaded(tmp_path, BASE.replace("\n", "\n\t")).depot == plain
    assert loaded(tmp_path, BASE.replace("\n", "\r\n")).depot == plain


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1"])
def test_another_encoding_is_refused_with_advice(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "depot.toml"
    text = replaced('id = "deposito-centro"', 'id = "deposito-centro"\nname = "Depósito"')
    file.write_bytes(text.encode(encoding))
    with pytest.raises(ConfigError) as refused:
        load(file, ENGLISH)

    assert "UTF-8" in refused.value.problems[0].right
    assert refused.value.problems[0].line == (3 if encoding == "latin-1" else 1)


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, "#" * (5 << 20))

    assert "larger" in found.wrong


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, "x = " + "[" * 5000)

    assert "nested" in found.wrong


TOML_ALPHABET = st.sampled_from([*"[]{}=\"'.,#\n \t\\-+:_0123456789", "depot", "id", "bus", "A1", '"""', "'''", "é"])


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text() | st.lists(TOML_ALPHABET, max_size=60).map("".join))
@example("x = 1" + "0" * 5000)
@example("a = 1979-13-45")
@example('[[depot]]\n[depot.""]\n"" = {}')
@example('depot = "x"\nbus = 3\ndetector = [1, [2]]\nlevels = []')
@example("na\x1b[2Jme = 1")
@example('[depot]\nid = "a\\nb"\n[[bus]]\nid = "\\u202e"\nbaud = "\\u0000"')
def test_no_text_whatever_crashes_the_loader(tmp_path: Path, text: str) -> None:
    file = tmp_path / "depot.toml"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(ConfigError) as refused:
        load(file, ENGLISH)
    for problem in refused.value.problems:
        assert problem.wrong and problem.right
        assert f"{problem.where}{problem.wrong}{problem.right}".isprintable(), "what a terminal obeys is spelt out"


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.dates()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3), max_leaves=4)
NAMES = """
id name area bus unit mqtt profile register value kind url coil host port channels alarms role recipients after_s listen
A1 A2 A3 dead_band licensed_kg laws timezone max_age_ms lel_vol_pct secret_env period_ms in_flight use transport
"""
KEYS = st.sampled_from(NAMES.split())


def as_toml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value).replace("\\ud", "\\u0")  # lone surrogates cannot be written in TOML
        case float() | int():
            return repr(value)
        case date():
            return value.isoformat()
        case list():
            return "[" + ", ".join(as_toml(item) for item in value) + "]"
        case _:
            return "{ x = 1 }"


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(BASE.splitlines()), KEYS, VALUES)
def test_no_value_whatever_crashes_the_loader(tmp_path: Path, after: str, key: str, value: object) -> None:
    text = BASE.replace(f"{after}\n", f"{after}\n{key} = {as_toml(value)}\n", 1)
    file = tmp_path / "depot.toml"
    file.write_bytes(text.encode("utf-8", "replace"))
    try:
        load(file, ENGLISH)
    except ConfigError as error:
        assert all(problem.line > 0 for problem in error.problems)  # noqa: PT017 - either way is right, a crash is not


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(range(len(BASE.splitlines()))), VALUES)
def test_no_replaced_value_crashes_the_loader(tmp_path: Path, index: int, value: object) -> None:
    lines = BASE.splitlines()
    if "=" in lines[index]:
        lines[index] = f"{lines[index].split('=')[0]}= {as_toml(value)}"
    else:
        lines[index] = ""
    file = tmp_path / "depot.toml"
    file.write_bytes("\n".join(lines).encode("utf-8", "replace"))
    try:
        load(file, ENGLISH)
    except ConfigError as error:
        assert error.problems  # noqa: PT017 - either way is right, a crash is not


@pytest.mark.parametrize(
    "text",
    [
        "a." * 3000 + "a = 1",
        "a." * 400_000 + "a = 1",
        "[" + "a." * 3000 + "a]",
        "x = " + "{a = " * 3000,
        "x = " + "[" * 3000,
    ],
    ids=["dotted key", "a file of one dotted key", "header", "braces", "brackets"],
)
def test_nesting_of_any_kind_and_depth_is_refused_at_its_line(tmp_path: Path, text: str) -> None:
    (found,) = problems(tmp_path, "# first\n" + text)

    assert (found.line, "nested" in found.wrong) == (2, True)


def test_a_recursion_too_deep_in_any_step_of_loading_is_a_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(*_: object) -> object:
        return endless()

    monkeypatch.setattr("gateway.configuration.loading.heads_of", endless)
    (found,) = problems(tmp_path, BASE)

    assert "nested" in found.wrong
    assert found.line > 0
