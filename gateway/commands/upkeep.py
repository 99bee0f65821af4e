"""What every head is due for, as lines for a person and as JSON. Knows no command."""

from collections.abc import Iterator
from datetime import date

from gateway.commands.talk import Talk
from gateway.commissioning.bump_history import dues_of, today
from gateway.commissioning.upkeep import Due
from gateway.depot import Depot


def due_lines(talk: Talk, depot: Depot) -> Iterator[str]:
    """One line for each detector: what is due by when, and what is overdue or was never noted."""
    found, trouble = dues_of(depot)
    now = today(depot)
    width = max((len(name) for name in found), default=0)
    for name, dues in found.items():
        said = []
        for due in dues:
            how, day = _standing(due, now)
            care = talk.text(f"due.{due.care.value}")
            said.append(talk.text(f"due.{how}", care=care, day="" if day is None else talk.day(day)))
        yield talk.text("due.line", detector=f"{name:<{width}}", dues=", ".join(said))
    if trouble:
        yield talk.text("due.unread", reason=trouble)


def _standing(due: Due, today: date) -> tuple[str, date | None]:
    """How it is said, and with which day."""
    if due.ahead(today):
        return "ahead", due.last
    return ("never" if due.next is None else "overdue" if due.overdue(today) else "until"), due.next


def due_rows(depot: Depot) -> list[dict[str, object]]:
    """The same as JSON: days as year-month-day, null where nobody told."""
    found, _ = dues_of(depot)
    now = today(depot)
    return [
        {
            "detector": name,
            "due": {due.care.value: {"last": due.last, "next": due.next, "overdue": due.overdue(now)} for due in dues},
        }
        for name, dues in found.items()
    ]
