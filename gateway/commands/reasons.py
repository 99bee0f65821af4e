"""Puts into a person's words why a command failed: what the system says, a journal or a watch that is not there."""

from gateway.commands.talk import Talk
from gateway.words.system import said


def place_of(talk: Talk, what: str) -> str:
    """Say what something is that answers or does not: ``bus detectores`` of the file is a line."""
    kind, _, name = what.partition(" ")
    return talk.text(f"reach.{kind}", name=name)


def why(talk: Talk, reason: object) -> str:
    """Say a reason in the person's language, as far as it has words for it."""
    from gateway.journal.errors import AbsentError, StoreError
    from gateway.machine.sockets import ControlError
    from gateway.words.sentences import spoken

    match reason:
        case AbsentError(where=where):
            return talk.text("system.no_journal", path=where)
        case StoreError():
            return spoken(talk.words, reason)
        case ControlError(__cause__=OSError() as cause):
            return said(talk.words, cause.strerror or str(cause))
        case _:
            return coded(talk, said(talk.words, str(reason)))


def coded(talk: Talk, reason: str) -> str:
    """Say a reason that is a code, ``refused``, by its hint or as deliveries and alarms word it; else as it stands."""
    from alerts.messages.catalogue import Catalogue

    if f"hint.{reason}" in talk.words:
        return talk.text(f"hint.{reason}")
    words = Catalogue.load("alerts.messages", talk.words.language)
    known = (key for key in (f"delivery.{reason}", f"why.{reason}") if key in words)
    return next((words.text(key) for key in known), reason)
