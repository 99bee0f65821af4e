"""``--from`` and ``--to``: a day of the depot's time zone or an RFC 3339 time, as UTC seconds."""

from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

import click

from compliance.registers.cells import meant_day
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
            found = int(datetime.combine(day, time(), ZoneInfo(timezone)).timestamp())
        else:
            found = parse_rfc3339(text) // SECOND
        meant_day(datetime.fromtimestamp(found, UTC).date())
    except (ValueError, OverflowError):
        raise click.UsageError(talk.text("readings.bad_time", got=text)) from None
    return found
