"""What is wrong with an entry is said in one language at a time: no codes and no English inside Portuguese."""

import ast
from pathlib import Path

import pytest

from alerts.messages.catalogue import Catalogue
from compliance.registers.forms import Problem
from gateway.office.forms import forms
from gateway.office.refusals import said

ROOT = Path(__file__).parents[3]
FORMS = forms()
FOLDERS = ("compliance/registers", "gateway/office")
REFUSING = {"Problem": 4, "CellError": 2, "SheetError": 3, "AttachmentError": 2}
"""Who says what would be right, and in which place."""


def phrases() -> set[str]:
    """Every phrase of several words that the code gives as right."""
    found = set()
    for folder in FOLDERS:
        for file in (ROOT / folder).glob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in REFUSING:
                    right = node.args[REFUSING[node.func.id]] if len(node.args) > REFUSING[node.func.id] else None
                    if isinstance(right, ast.Constant) and len(str(right.value).split()) > 2:
                        found.add(str(right.value))
    return found


@pytest.mark.parametrize("phrase", sorted(phrases()))
def test_every_phrase_of_what_would_be_right_has_words_in_both_languages(phrase: str) -> None:
    for language in ("pt-BR", "en"):
        words = Catalogue.load("gateway.words", language)
        assert f"right.{phrase}" in words or phrase.startswith(("sim", "PDF")), phrase


@pytest.mark.parametrize(
    ("problem", "portuguese"),
    [
        (Problem(0, "units", "not-that-many", "60", "12 P-13 full Azul set-apart"), "12 P-13 cheio Azul separado"),
        (Problem(1, "state", "no-such-choice", "fechado", "full, empty"), "novo, cheio, parcialmente utilizado, vazio"),
        (
            Problem(0, "agente", "no-such-choice", "pó", "powder-bc, powder-abc, co2, water, foam, other"),
            "Agente: pó não existe; use um destes: pó BC, pó ABC, CO2, água, espuma, outro",
        ),
        (Problem(0, "brand", "which-pile", "", "9 P-13 full Azul · 5 P-13 full"), "9 P-13 cheio Azul · 5 P-13 cheio"),
        (
            Problem(0, "act", "wrong-act", "record", "void, in, out, state, transfer, count"),
            "ação: registro não cabe neste registro; use sem efeito, entrada, saída, mudança de estado, transferência",
        ),
        (Problem(1, "act", "no-such-choice", "sair", "record, in"), "entrada, saída, mudança de estado, transferência"),
        (Problem(0, "by", "needs-name", "", "the name of the person who says so"), "informe quem está lançando"),
        (
            Problem(0, "effective", "in-the-future", "1", "a time that has been"),
            "desde quando: a data ou hora ainda não",
        ),
        (Problem(0, "register", "unknown-register", "gas", "document, stock"), "document (documento), stock (estoque)"),
        (Problem(3, "kg", "unknown-field", "kg", "size_kg, units"), "size_kg (Tamanho (kg)), units (Unidades)"),
        (
            Problem(2, "charge_until", "too-far-ahead", "2062-12-31", "6"),
            "Validade da carga: 2062-12-31 está a mais de 6 anos; confira o ano",
        ),
        (
            Problem(0, "", "empty", "no heading", "a first line with the names of the columns"),
            "planilha: está em branco",
        ),
    ],
)
def test_a_refusal_is_said_in_words(problem: Problem, portuguese: str) -> None:
    assert portuguese in said(problem, FORMS)["pt-BR"]


def test_every_field_of_every_register_has_a_heading_in_both_languages() -> None:
    bare = [(form.register, field.name) for form in FORMS.values() for field in form.fields if len(field.label) < 2]
    assert bare == []
