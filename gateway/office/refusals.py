"""What is wrong with an entry, in people's words: headings for fields, words for choices and states. Pure."""

from collections.abc import Collection, Mapping
from functools import cache
from itertools import chain

from alerts.messages.catalogue import LANGUAGES, Catalogue
from compliance.registers.entries import Act
from compliance.registers.forms import Field, Form, Problem
from compliance.registers.sheets import plain

FIGURES = frozenset({"below-tare", "too-small", "too-large"})
"""Problems whose figures the office writes."""


def said(problem: Problem, forms: Mapping[str, Form]) -> dict[str, str]:
    """Say one problem in every language; `forms` are all registers', for the words of their fields."""
    field = _field(problem, forms.values())
    return {language: _said(problem, field, forms, language) for language in LANGUAGES}


def _field(problem: Problem, forms: Collection[Form]) -> Field | None:
    """Return the field that was meant, by its name or, as a person types it, by its heading in any language."""
    headed = (form.column(plain(problem.field)) for form in forms)
    names = ((form, problem.field) for form in forms), zip(forms, headed, strict=True)
    found = [field for form, name in chain(*names) if name and (field := form.field(name))]
    chosen = (field for field in found if field.choices and ", ".join(field.choices) == problem.right)
    return next(chosen, found[0] if found else None)


def _said(problem: Problem, field: Field | None, forms: Mapping[str, Form], language: str) -> str:
    words = _words(language)
    heading = field.heading(language) if field is not None else problem.field or "sheet"
    values = {
        "field": words.texts.get(f"field.{heading}", heading),
        "got": _got(problem, language) or "-",
        "right": _right(problem, field, forms, language),
    }
    return words.text(f"entry.{problem.problem}", **values)


def _right(problem: Problem, field: Field | None, forms: Mapping[str, Form], language: str) -> str:
    """What would be right, in words: choices by their words, columns by their headings, the rest by the catalogue."""
    right, words = problem.right, _words(language)
    parts: list[str] = []
    match problem.problem:
        case "no-such-choice" | "wrong-type" if field is not None and field.choices:
            parts = [found.get(language) or choice for choice, found in field.choices.items()]
        case "no-such-choice" if problem.field == "act":
            parts = [words.text(f"act.{act.value}") for act in Act]
        case "wrong-act":
            parts = [words.text(f"act.{act}") for act in right.split(", ")]
        case "unknown-register":
            parts = [f"{name} ({words.texts.get(f'thing.{name}', name)})" for name in right.split(", ")]
        case "unknown-field" | "unknown-column":
            parts = [_column(name, forms, language) for name in right.split(", ")]
        case "not-that-many" | "which-pile":
            parts = [" ".join(_state(part, forms, language) for part in right.split(" "))]
        case _:
            said = words.texts.get(f"right.{right}") or words.texts.get(f"holds.{right}")
            parts = [said or _figure(problem, right, language)]
    return ", ".join(parts)


def _got(problem: Problem, language: str) -> str:
    words = _words(language)
    if problem.problem == "wrong-act":
        return words.texts.get(f"act.{problem.got}", problem.got)
    return words.texts.get(f"got.{problem.got}", _figure(problem, problem.got, language))


def _figure(problem: Problem, text: str, language: str) -> str:
    """A figure of ours with the language's decimal mark; what somebody typed stays as they typed it."""
    return text.replace(".", ",") if problem.problem in FIGURES and language == LANGUAGES[0] else text


def _column(name: str, forms: Mapping[str, Form], language: str) -> str:
    field = next((found for form in forms.values() if (found := form.field(name))), None)
    heading = None if field is None else field.label.get(language)
    return f"{name} ({heading})" if heading else name


def _state(part: str, forms: Mapping[str, Form], language: str) -> str:
    """A word of a pile's name: its state and place have words, anything else stays as it is."""
    for name in ("state", "place"):
        field = forms["stock"].field(name) if "stock" in forms else None
        if field is not None and part in field.choices:
            return field.choices[part].get(language) or part
    return part


@cache
def _words(language: str) -> Catalogue:
    return Catalogue.load("gateway.words", language)
