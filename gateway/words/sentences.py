"""Says in the person's language what those who read files say in their own English. Knows no command."""

from typing import TYPE_CHECKING

from alerts.messages.catalogue import Catalogue
from gateway.words.syntax import told
from gateway.words.system import said
from sensors.sentences import Sentence

if TYPE_CHECKING:
    from compliance.entries import StatuteError


def spoken(words: Catalogue, what: object) -> str:
    """Return the sentence, or the error with one in it, in these words; what the system said as far as they have it."""
    match what:
        case BaseException(args=(str() as text, *_)):
            return spoken(words, text)
        case Sentence(template=template, values=values) if values:
            inner = {name: _value(words, value) for name, value in values.items()}
            key = f"sentence.{template}"
            return words.text(key, **inner) if key in words else template.format_map(inner)
        case _:
            text = str(what)
            return words.text(f"sentence.{text}") if f"sentence.{text}" in words else said(words, told(words, text))


def law_mistake(words: Catalogue, error: "StatuteError") -> str:
    """Return what is wrong with a file of the law or of facts; compliance knows no `Sentence`, only its two halves."""
    right = Sentence(error.template, **error.values)
    whole = "{place}: expected {expected}, got {got}"
    return spoken(words, Sentence(whole, place=error.place, expected=right, got=error.got))


def _value(words: Catalogue, value: object) -> object:
    """A number stays one, for the words that agree with it."""
    return value if isinstance(value, int) else spoken(words, value)
