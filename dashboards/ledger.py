"""The ledger of watched time as tables for a spreadsheet: local times, the zone in every row, the depot's language."""

from collections.abc import Iterable, Sequence

from dashboards.past import LedgerView, MonthView
from dashboards.sheet import MARK, local, quoted
from dashboards.wording import Locale

STATES = ("watched", "blind", "inhibited", "in-test", "out-of-service", "off")


def stretches_csv(view: LedgerView, locale: Locale) -> str:
    """One row for each stretch: detector, state, from, to, seconds, cause, person, time zone."""
    names = ("detector", "state", "start", "end", "seconds", "cause", "by", "timezone")
    rows = (
        (
            one.detector,
            locale.text(f"ledger.{one.state}"),
            local(one.start, locale),
            local(one.end, locale),
            locale.number(one.seconds, 3),
            one.cause,
            one.by or "",
            view.timezone,
        )
        for one in view.stretches
    )
    return _table(locale, names, rows)


def months_csv(view: LedgerView, locale: Locale) -> str:
    """One row for each detector and month: seconds known, then the percent of each state, and the time zone."""
    names = ("detector", "month", "seconds", *STATES, "timezone")
    rows = (
        (
            one.detector,
            one.month,
            locale.number(one.seconds, 3),
            *(locale.number(share, 3) for share in _shares(one)),
            view.timezone,
        )
        for one in view.months
    )
    return _table(locale, names, rows)


def _shares(month: MonthView) -> tuple[float, ...]:
    return (
        month.watched_pct,
        month.blind_pct,
        month.inhibited_pct,
        month.in_test_pct,
        month.out_of_service_pct,
        month.off_pct,
    )


def _table(locale: Locale, names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [";".join(locale.text(f"ledger.{name}") for name in names)]
    lines += [";".join(quoted(row)) for row in rows]
    return MARK + "".join(f"{line}\r\n" for line in lines)
