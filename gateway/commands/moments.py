"""``--from`` and ``--to``: a day of the depot's time zone or an RFC 3339 time, as UTC seconds."""

from datetime import date, datetime, time
from zoneinfo import ZoneInfo

import click

from gateway.commands.talk import Talk
from sensors.stamps import SECOND, parse_rfc3339


def moment(talk: Talk, text: str, timezone: str) -> int:
    """Return the moment a text means.

    Raises:
        click.UsageError: it means none.
    """
    try:
        if "T" not in text and " " not in text:
            day = date.fromisoformat(text)
            return int(datetime.combine(day, time(), ZoneInfo(timezone)).timestamp())
        return parse_rfc3339(text) // SECOND
    except ValueError:
        raise click.UsageError(talk.text("readings.bad_time", got=text)) from None
