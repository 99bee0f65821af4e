"""What the journal and the profiles say in their own English reaches a person in their language."""

import ast
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from alerts.messages.catalogue import Catalogue
from gateway.commands.profile import command
from gateway.commands.talk import Talk
from gateway.journal.audit import judge
from gateway.journal.errors import StoreError
from gateway.words.sentences import spoken
from sensors.profiles import ProfileError, load
from sensors.sentences import Sentence

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
)
ERRORS = {"StoreError", "AbsentError", "NotOursError", "DamagedError", "ShorterError", "NoteError", "ValueError"}
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
            case ast.Call(func=ast.Name(id="Sentence"), args=[ast.Constant(value=str(text))]):
                yield text
            case ast.Call(func=ast.Name(id=name), args=args) if name in ERRORS:
                yield from (arg.value for arg in args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))
            case ast.Call(func=ast.Name(id="KeyFault"), args=[_, *args]):
                yield from (text for arg in args for text in _texts(arg))
            case ast.Call(func=ast.Name(id="ProfileError"), keywords=words):
                yield from (text for one in words if one.arg in ("expected", "got") for text in _texts(one.value))
            case ast.Call(func=ast.Name(id="Whole"), args=[_, _, what]):
                yield from _texts(what)
            case ast.Call(func=ast.Name(id="Text"), keywords=words):
                yield from (text for one in words if one.arg == "what" for text in _texts(one.value))
            case ast.Yield(value=ast.Constant(value=str(text))):
                yield text
            case _:
                pass


def _texts(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)) if text not in ("1", "TOML"):
            yield text
        case ast.JoinedStr():
            yield ast.unparse(node)
        case _:
            pass
