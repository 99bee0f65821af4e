"""Every refused input: its line, its place by name, and its cure. One row is one mistake that somebody makes."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from alerts.messages.catalogue import Catalogue
from gateway.configuration.loading import load
from gateway.configuration.problems import ConfigError

BASE = (Path(__file__).parents[1] / "contract.toml").read_text("utf-8")
ENVIRON = {"VIGIA_LANG": "en", "VIGIA_HOOK_SECRET": "hush"}


@dataclass(frozen=True)
class Mistake:
    """One edit of a right file; mistakes.toml says what each field is."""

    name: str
    new: str
    where: str
    says: tuple[str, ...]
    old: str = ""
    at: str = ""
    trial: str = ""
    first: str = ""


SECOND_HEAD = 'unit = 7\nprofile = "generic-modbus"\nregister = 2\n'

MISTAKES = tuple(
    Mistake(**row) for row in tomllib.loads(Path(__file__).with_name("mistakes.toml").read_text("utf-8"))["mistake"]
)


def edited(mistake: Mistake) -> str:
    if not mistake.old:
        return f"{BASE}\n{mistake.new}"
    assert BASE.count(mistake.old) == 1, f"{mistake.old!r} stands {BASE.count(mistake.old)} times"
    return BASE.replace(mistake.old, mistake.new)


def line_of(text: str, part: str, *, last: bool = True) -> int:
    at = text.rindex(part) if last else text.index(part)
    return text.count("\n", 0, at) + 1


def marks(mistake: Mistake) -> list[pytest.MarkDecorator]:
    return [pytest.mark.trial(mistake.trial)] if mistake.trial else []


def refused_cases() -> list[object]:
    return [pytest.param(one, id=f"{one.trial.lower()} {one.name}".strip(), marks=marks(one)) for one in MISTAKES]


@pytest.mark.parametrize("mistake", refused_cases())
def test_a_mistake_is_refused_with_its_line_its_place_and_its_cure(tmp_path: Path, mistake: Mistake) -> None:
    text = edited(mistake)
    file = tmp_path / "depot.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as refused:
        load(file, ENVIRON)
    line = line_of(text, mistake.at or mistake.new.strip("\n").rpartition("\n")[2])
    first = line_of(text, mistake.first, last=False) if mistake.first else 0

    found = [problem for problem in refused.value.problems if (problem.line, problem.where) == (line, mistake.where)]
    assert found, f"nothing at line {line}, {mistake.where!r}, but:\n{refused.value}"
    message = "\n".join(str(problem) for problem in found)
    assert message.startswith(f"{file}:{line}: ")
    for said in mistake.says:
        assert said.replace("{line}", str(line)).replace("{first}", str(first)) in message
    assert found[0].right


def test_a_key_of_the_wrong_type_hides_no_mistake_of_meaning_beside_it(tmp_path: Path) -> None:
    text = BASE.replace(SECOND_HEAD, SECOND_HEAD.replace("7", '"sete"').replace("generic-modbus", "generic-modbuss"))
    assert text != BASE
    text = text.replace("America/Sao_Paulo", "America/Sao_Paolo").replace('"Depósito Centro"', "7")
    file = tmp_path / "depot.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as refused:
        load(file, ENVIRON)
    places = [problem.where for problem in refused.value.problems]
    assert {"depot / timezone", "depot / name", "detector GD-102 / unit", "detector GD-102 / profile"} <= set(places)
    assert len(places) == len(set(places)), "of a key that could not be read, more was said than that"


def test_two_heads_that_read_the_same_register_are_refused_with_both_lines(tmp_path: Path) -> None:
    text = BASE.replace('id = "GD-102"', 'id = "GD-102"', 1).replace(SECOND_HEAD, SECOND_HEAD.replace("7", "1"))
    text = text.replace('"honeywell-sensepoint-xcd"', '"generic-modbus"\nregister = 2')
    file = tmp_path / "depot.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as refused:
        load(file, ENVIRON)
    first, second = (line_of(text, f'[[detector]]\nid = "{name}"') for name in ("GD-101", "GD-102"))

    (problem,) = refused.value.problems
    assert problem.line == second
    assert f"depot.toml:{first} and " in problem.wrong
    assert f"depot.toml:{second}" in problem.wrong
    assert "GD-101" in problem.wrong


def test_a_profile_with_a_mistake_is_named_with_its_own_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text('format = 1\nid = "x"\nwire = "modbus"\n[points]\nregister = "a"\n', "utf-8")
    file = tmp_path / "depot.toml"
    file.write_text(BASE.replace('"generic-modbus"', '"site.toml"'), "utf-8")
    with pytest.raises(ConfigError, match=r"site\.toml:5"):
        load(file, ENVIRON)


def test_a_missing_file_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="vigia init"):
        load(tmp_path / "depot.toml", ENVIRON)


def test_a_folder_is_no_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path, ENVIRON)


def test_an_empty_secret_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n", "utf-8")
    file = tmp_path / "depot.toml"
    file.write_text(BASE.replace('secret_env = "VIGIA_HOOK_SECRET"', 'secret_file = "empty"'), "utf-8")
    with pytest.raises(ConfigError, match="it is empty"):
        load(file, ENVIRON)


def test_both_languages_say_the_same_things_with_the_same_values() -> None:
    portuguese, english = (Catalogue.load("gateway.words", language) for language in ("pt-BR", "en"))

    assert set(portuguese.texts) == set(english.texts)
    for key in portuguese.texts:
        assert portuguese.placeholders(key) == english.placeholders(key), key
