"""``--from`` and ``--to``: a day or a time of the depot's zone, or one of RFC 3339, as UTC seconds."""

import re
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import click

from compliance.registers.cells import iso, meant_day
from gateway.commands.talk import Talk
from sensors.stamps import SECOND, parse_rfc3339

LOCAL = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?", re.ASCII)
"""A time without its offset: by the clock on the depot's wall."""


def moment(talk: Talk, text: str, timezone: str, *, beyond: bool = False) -> int:
    """Return the moment a text means: of a day its beginning, or with `beyond` that of the next.

    Raises:
        click.UsageError: it means none.
    """
    given, text = text, iso(text)
    try:
        if "T" not in text and " " not in text:
            day = date.fromisoformat(text) + timedelta(days=beyond)
            found = int(datetime.combine(day, time(), ZoneInfo(timezone)).timestamp())
        elif LOCAL.fullmatch(text):
            found = int(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(timezone)).timestamp())
        else:
            found = parse_rfc3339(text) // SECOND
        meant_day(datetime.fromtimestamp(found, UTC).date())
    except (ValueError, OverflowError):
        raise click.UsageError(talk.text("readings.bad_time", got=given)) from None
    return found
