"""Days and months as the registers count them: a date that does not exist becomes the month's last day.

29 February plus a year is 28 February, 31 January plus a month is 28 or 29 February.
"""

from calendar import monthrange
from datetime import date


def add_months(day: date, months: int) -> date:
    """Return the same day so many months later (or earlier), or that month's last day."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def month_end(year: int, month: int) -> date:
    """Return the last day of a month.

    Raises:
        ValueError: no such month.
    """
    if not 1 <= month <= 12:
        raise ValueError(f"no month {month}")
    return date(year, month, monthrange(year, month)[1])
