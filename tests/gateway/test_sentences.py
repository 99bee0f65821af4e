"""What the journal, profiles, laws and scenarios say in their own English reaches a person in their language."""

import ast
import tomllib
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import apsw
import pytest

from alerts.messages.catalogue import Catalogue
from compliance import catalogue as known_facts
from compliance import factfile
from compliance.entries import StatuteError
from gateway.commands.profile import command
from gateway.commands.talk import Talk
from gateway.journal.audit import judge
from gateway.journal.errors import StoreError
from gateway.words.sentences import law_mistake, spoken
from sensors.profiles import ProfileError, load
from sensors.sentences import Sentence
from simulator.depot_file import ForeignDepotError, read_ports
from simulator.scenario import ScenarioError, parse
from simulator.scenario import load as load_scenario

HERE = Path(__file__).parents[2] / "gateway"
SPEAKING = (
    *(HERE / "journal").glob("*.py"),
    HERE / "backup.py",
    HERE / "commands" / "profile.py",
    HERE / "ledger" / "watchbook.py",
    HERE / "commissioning" / "told.py",
    HERE / "store" / "layout.py",
    HERE / "store" / "spool.py",
    HERE / "store" / "embedded.py",
    *(file for file in (HERE.parent / "sensors" / "profiles").glob("*.py") if file.stem != "page"),
    HERE.parent / "sensors" / "wire" / "topics.py",
    HERE.parent / "sensors" / "wire" / "payload_points.py",
    HERE / "words" / "sentences.py",
    *(file for file in (HERE.parent / "compliance").glob("*.py") if file.stem != "situation"),
    *(
        HERE.parent / "simulator" / f"{stem}.py"
        for stem in ("tables", "scenario", "yard_file", "depot_file", "summary", "commands")
    ),
)
ERRORS = {"StoreError", "AbsentError", "NotOursError", "DamagedError", "ShorterError", "NoteError", "ValueError"}
SAID_BY = {
    "Sentence": slice(1),
    "KeyFault": slice(1, None),
    "Whole": slice(2, 3),
    "StatuteError": slice(2, None),
    "wrong": slice(-2, None),
    "sequence": slice(2, 3),
    "pair": slice(2, 3),
    "fail": slice(1, 2),
    "_refused": slice(1, None),
}
"""Who is given sentences, and as which of the arguments."""
NOT_SAID = {
    "is damaged: an alarm in it cannot be read back",
    "is damaged: it is empty, but its log is not",
    "set aside, and a new one begun",
    "an entry needs a kind",
    'the body brings its own "by"; the person goes beside it',
}
"""Only the service's log says these, while it sets a file aside; the last two say that a caller of ours is wrong."""


@pytest.fixture
def words() -> Catalogue:
    return Catalogue.load("gateway.words", "pt-BR")


def test_a_broken_proof_is_told_in_portuguese(tmp_path: Path, words: Catalogue) -> None:
    file = tmp_path / "report.json"
    file.write_text('{"a": 1\n')
    (problem,) = judge(file).problems
    assert spoken(words, problem) == "a primeira linha: não é JSON a partir do caractere 7"


def test_a_report_is_told_to_be_no_proof(tmp_path: Path, words: Catalogue) -> None:
    file = tmp_path / "report.json"
    file.write_text('{\n  "depot": "d"\n}\n')
    with pytest.raises(StoreError) as refused:
        judge(file)
    told = "não é um livro de ocorrências nem uma prova de um; dê um journal.db ou o que `vigia proof` escreveu"
    assert spoken(words, refused.value) == f"{file}: {told}"


def test_a_damaged_journal_is_told_in_portuguese(tmp_path: Path, words: Catalogue) -> None:
    file = tmp_path / "journal.db"
    file.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    said = [spoken(words, problem) for problem in judge(file).problems]
    assert len(said) == 1
    assert said[0].startswith(f"{file}: não pode ser lido: ")
    assert said[0].endswith("; dê um livro de ocorrências do Vigia, ou uma cópia sã dele")


def test_an_error_within_a_sentence_is_told_too(words: Catalogue) -> None:
    inner = apsw.CorruptError("database disk image is malformed")
    error = StoreError(Path("j.db"), Sentence("is damaged: {reason}", reason=inner), "check the disk")
    assert spoken(words, error) == "j.db: está danificado: arquivo danificado; confira o disco"


def test_a_sentence_agrees_with_its_count(words: Catalogue) -> None:
    sentence = Sentence("{label} speaks of {size} entries", label="X", size=1)
    assert (str(sentence), spoken(words, sentence)) == ("X speaks of 1 entries", "X fala de 1 registro")


def test_a_profile_is_refused_in_portuguese(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "site.toml"
    file.write_text('name = "x"\n')
    with pytest.raises(SystemExit) as ended:
        command(Talk.of({"VIGIA_LANG": "pt-BR"})).main(["check", str(file)])
    assert ended.value.code == 78
    assert capsys.readouterr().err == f"{file}:1: format: esperado 1, veio nada\n"


def test_a_list_of_what_would_be_right_is_told_in_portuguese(words: Catalogue) -> None:
    with pytest.raises(ProfileError) as refused:
        load("xyz", None)
    assert spoken(words, refused.value.expected).startswith("um destes: ")
    assert spoken(words, refused.value.expected).endswith(", ou o caminho de um perfil seu")


def test_a_sentence_that_nobody_translated_is_told_as_it_stands(words: Catalogue) -> None:
    assert spoken(words, Sentence("{who} is new", who="x")) == "x is new"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[depot", "falta fechar os colchetes da tabela (fim do arquivo)"),
        ("a = 1\nb", "falta = depois do nome da chave (fim do arquivo)"),
        ("a = 1\nb = ?\n", "o valor não se entende (linha 2, coluna 5)"),
        ('a = "x\n', "o caractere '\\n' não é permitido ali (linha 1, coluna 7)"),
        ("a = [1\nb = 2", "falta ] no fim da lista (linha 2, coluna 1)"),
        ("a = {b = 1", "falta fechar a chave { da tabela (fim do arquivo)"),
        ("[a.b]\n[a.b]\n", "a tabela a.b aparece duas vezes (linha 2, coluna 5)"),
        ("a = 1\na = 2\n", "esse nome já tem um valor (linha 2, coluna 6)"),
        ("a = 1 2\n", "há algo a mais depois do valor, na mesma linha (linha 1, coluna 7)"),
        ("a = 2026-02-30\n", "data ou hora que não existe (linha 1,"),
    ],
)
def test_the_toml_parser_speaks_portuguese(text: str, said: str, words: Catalogue) -> None:
    with pytest.raises(tomllib.TOMLDecodeError) as refused:
        tomllib.loads(text)
    assert spoken(words, refused.value).startswith(said)


def test_what_a_fact_must_be_has_its_portuguese(words: Catalogue) -> None:
    facts = [fact for kind in known_facts.load().kinds.values() for fact in kind.values()]
    assert {fact.asked_for()[0] for fact in facts if f"sentence.{fact.asked_for()[0]}" not in words} == set()


def test_a_wrong_file_of_facts_is_told_in_portuguese(tmp_path: Path, words: Catalogue) -> None:
    (tmp_path / "fatos.toml").write_text('[[area]]\nid = "patio"\nlicensed_kg = "muito"\n')
    with pytest.raises(StatuteError) as refused:
        factfile.load(tmp_path, "fatos.toml", known_facts.load(), date(2026, 11, 30))
    right = "um número a partir de 0"
    assert law_mistake(words, refused.value) == f"fatos.toml: area patio.licensed_kg: esperado {right}, veio 'muito'"


def test_a_folder_of_another_depot_is_told_in_portuguese(words: Catalogue) -> None:
    with pytest.raises(ForeignDepotError) as refused:
        read_ports('[depot]\nid = "x"\n', load_scenario("calm").yard)
    assert spoken(words, refused.value) == "falta a porta de uma linha, do MQTT ou da página"


def test_a_wrong_scenario_is_told_in_portuguese(words: Catalogue) -> None:
    with pytest.raises(ScenarioError) as refused:
        parse("x", "x.toml", 'yard = "patio"\nsead = 1\n[title]\nen = "x"\n')
    assert spoken(words, refused.value) == "x.toml: [title].pt-BR: falta"


@pytest.mark.parametrize("file", SPEAKING, ids=lambda file: file.stem)
def test_every_sentence_has_its_portuguese(file: Path, words: Catalogue) -> None:
    lacking = {text for text in _sentences(ast.parse(file.read_text())) if f"sentence.{text}" not in words}
    assert lacking <= NOT_SAID


def test_no_portuguese_is_kept_for_a_sentence_that_is_gone(words: Catalogue) -> None:
    source = "".join(file.read_text() for file in SPEAKING)
    kept = [key.removeprefix("sentence.") for key in words.texts if key.startswith("sentence.")]
    ours = kept[: kept.index("database disk image is malformed")]
    assert [text for text in ours if f'"{text}"' not in source and f"'{text}'" not in source] == []


def _sentences(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args) if name in SAID_BY:
                yield from (text for arg in args[SAID_BY[name]] for text in _texts(arg))
            case ast.Call(func=ast.Name(id=name), args=args) if name in ERRORS:
                yield from (arg.value for arg in args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))
            case ast.Call(func=ast.Name(id="ProfileError" | "Text"), keywords=words):
                yield from (
                    text for one in words if one.arg in ("expected", "got", "what") for text in _texts(one.value)
                )
            case ast.Yield(value=ast.Constant(value=str(text))):
                yield text
            case _:
                pass


def _texts(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)) if text not in ("1", "TOML", "class", ""):
            yield text
        case ast.JoinedStr():
            yield ast.unparse(node)
        case _:
            pass
