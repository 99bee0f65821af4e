"""Budgets and counts as lines for a person. Knows no command."""

from collections.abc import Iterable, Iterator, Sequence

from dashboards.past import MonthView
from dashboards.wording import Locale
from gateway.budget import Budget
from gateway.commands.talk import Talk
from gateway.depot import Depot


def watched(talk: Talk, depot: Depot) -> str:
    """How many detectors are watched, over what: the figure to hold against the yard."""
    modbus = sum(len(bus.heads) for bus in depot.buses)
    lines = sum(1 for bus in depot.buses if bus.heads)
    values = {"count": len(depot.detectors), "modbus": modbus, "lines": lines, "mqtt": len(depot.mqtt_heads)}
    return talk.text("figures.watched", **values)


def budget_lines(talk: Talk, budgets: Sequence[Budget], within_s: float) -> Iterator[str]:
    """One line for each detector: its worst case, the verdict, the parts, and the slow one by name."""
    width = max((len(budget.detector) for budget in budgets), default=0)
    for budget in budgets:
        parts = " + ".join(f"{_part(talk, name)} {talk.number(seconds, 2)}" for name, seconds in budget.parts)
        yield talk.text(
            "figures.budget",
            detector=f"{budget.detector:<{width}}",
            total=talk.number(budget.total_s, 2),
            verdict=_verdict(talk, budget, within_s),
            parts=parts,
            slowest=_part(talk, budget.slowest),
            refresh=_refresh(talk, budget.refresh_s),
        )


def _refresh(talk: Talk, refresh_s: float | None) -> str:
    """How often the head renews its value: what the computed time waits for besides."""
    if refresh_s is None:
        return talk.text("figures.refresh_unknown")
    every = f"{refresh_s:g}".replace(".", talk.text("format.decimal"))
    return talk.text("figures.refresh", seconds=every)


def _verdict(talk: Talk, budget: Budget, within_s: float) -> str:
    if budget.certified:
        return talk.text("figures.certified", limit=f"{within_s:g}")
    return talk.text("figures.not_certified", reasons=", ".join(_objections(talk, budget.objections)))


def _objections(talk: Talk, objections: Iterable[str]) -> Iterator[str]:
    return (talk.text(f"objection.{objection}") for objection in objections)


def _part(talk: Talk, name: str) -> str:
    return talk.text(f"part.{name}")


def month_lines(talk: Talk, months: Sequence[MonthView], locale: Locale) -> Iterator[str]:
    """One line for each detector and month: how much of how much known time it was watched, and what the rest was."""
    width = max((len(month.detector) for month in months), default=0)
    for month in months:
        rest = {"blind": month.blind_pct, "inhibited": month.inhibited_pct, "in_test": month.in_test_pct}
        rest |= {"out_of_service": month.out_of_service_pct, "off": month.off_pct}
        told = ", ".join(
            f"{talk.text(f'ledger.{state}')} {locale.number(share, 3)} %" for state, share in rest.items() if share > 0
        )
        yield talk.text(
            "ledger.month",
            month=month.month,
            detector=f"{month.detector:<{width}}",
            watched=locale.number(month.watched_pct, 3),
            known=locale.age(month.seconds),
            rest=f" ({told})" if told else "",
        )
