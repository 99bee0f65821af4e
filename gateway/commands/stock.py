"""``vigia stock``: containers in, out, changed, moved and counted, and what stands in each area."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gateway.commands.officetalk import ask_or_exit, by_option, effective_option, on_options, tell_breaks, tell_counts
from gateway.commands.talk import EXIT_FAILED, Talk, file_argument, json_option

if TYPE_CHECKING:
    from dashboards.conformity.phrases import Phrases

COLUMNS = ("size_kg", "state", "brand", "opening", "in", "out", "changed", "counted", "closing")
"""Of the month's map (MCMM)."""

MOVES = ("in", "out", "state", "transfer", "count")


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""
    group = click.Group("stock", help=talk.text("command.stock"))
    group.add_command(_show(talk))
    group.add_command(_movements(talk))
    for move in MOVES:
        group.add_command(_move(talk, move))
    return group


def _movements(talk: Talk) -> click.Command:
    def movements(file: Path, month: str, *, as_json: bool) -> None:
        from dashboards.office import Look

        depot, rows = ask_or_exit(talk, file, Look(1, "movements", name=month), as_json=as_json)
        if as_json:
            talk.put_json(rows)
            return
        from gateway.commands.locale import phrases_of

        phrases = phrases_of(talk.words.language, depot)
        rows = [row | {"state": phrases.state(row["state"])} for row in rows]
        talk.put(month_sheet([talk.text(f"movements.{name}") for name in COLUMNS], rows))

    params = [file_argument(), click.Argument(["month"], metavar="YYYY-MM"), json_option(talk)]
    return click.Command("movements", callback=movements, help=talk.text("stock.movements"), params=params)


def month_sheet(heading: Iterable[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Return a month's map as a spreadsheet takes it: a brand is what somebody typed, and becomes no formula."""
    from dashboards.sheet import quoted

    lines = (["" if row[name] is None else str(row[name]) for name in COLUMNS] for row in rows)
    return "\n".join(";".join(quoted(line)) for line in (heading, *lines))


def _show(talk: Talk) -> click.Command:
    def show(file: Path, *, on: str, known: str, as_json: bool) -> None:
        from dashboards.office import Look

        depot, stock = ask_or_exit(talk, file, Look(1, "stock", on=on, known=known), as_json=as_json)
        if as_json:
            talk.put_json(stock)
            return
        from dashboards.conformity.stock import said_count
        from gateway.commands.locale import phrases_of

        phrases = phrases_of(talk.words.language, depot)
        for area in stock["areas"]:
            kg = phrases.number(area["kg"])
            talk.put(talk.text("stock.area", area=_called(area["area"], phrases), kg=kg, units=area["units"]))
            for pile in area["piles"]:
                told = (phrases.state(pile["state"]), pile["brand"], pile["lot"], phrases.place(pile["place"]))
                marks = " ".join(part for part in told if part)
                talk.put(f"  {pile['units']:>6} x P-{phrases.number(pile['size_kg'])} {marks}")
        for found in stock["discrepancies"]:
            talk.put(phrases.locale.text("stock.found", **said_count(found, phrases)))

    return click.Command(
        "show",
        callback=show,
        help=talk.text("stock.show"),
        params=[file_argument(), *on_options(talk), json_option(talk)],
    )


def _called(area: str, phrases: "Phrases") -> str:
    """An area's id, as options take it, and its name where it has another."""
    name = phrases.areas.get(area, area)
    return area if name == area else phrases.locale.text("format.named", id=area, name=name)


def _move(talk: Talk, move: str) -> click.Command:
    def book(
        file: Path,
        *,
        area: str,
        by: str,
        effective: str,
        request: str,
        corrects: str,
        reason: str,
        anyway: bool,
        dry_run: bool,
        as_json: bool,
        **fields: Any,  # noqa: ANN401 - each option of the move
    ) -> None:
        from dashboards.office import Enter, LineAsk

        values = {name: value for name, value in fields.items() if value is not None}
        line = LineAsk("stock", area, move, values, effective, id=request, corrects=corrects, reason=reason)
        depot, data = ask_or_exit(talk, file, Enter(1, by, (line,), dry=dry_run, anyway=anyway), as_json=as_json)
        refused = bool(data["breaks"]) and dry_run and not anyway
        if as_json:
            talk.put_json({"ok": not refused, **data})
            click.get_current_context().exit(EXIT_FAILED if refused else 0)
        tell_breaks(talk, data["breaks"], depot)
        for gone in data["left_areas"]:
            talk.say("stock.left_area", area=gone)
        for entry in () if data["dry"] else data["entered"]:
            talk.put(entry)
        tell_counts(talk, data["discrepancies"], depot)
        if refused:
            talk.say("stock.would_break")
            click.get_current_context().exit(EXIT_FAILED)
        for entry in data["again"]:
            talk.say("stock.again", entry=entry)
        fresh = len(data["entered"]) - len(data["again"])
        talk.say("register.would_enter" if data["dry"] else "register.entered", count=fresh)

    return click.Command(move, callback=book, help=talk.text(f"stock.{move}"), params=_params_of_move(talk, move))


def _params_of_move(talk: Talk, move: str) -> list[click.Parameter]:
    return [
        file_argument(),
        click.Option(["--area"], required=True, help=talk.text("stock.area_option")),
        click.Option(["--size", "size_kg"], required=True, metavar="P-13", help=talk.text("stock.size")),
        click.Option(["--state"], required=True, help=talk.text("stock.state_option")),
        click.Option(["--units"], required=True, type=int, help=talk.text("stock.units")),
        click.Option(["--brand"], help=talk.text("stock.brand")),
        click.Option(["--lot"], help=talk.text("stock.lot")),
        *_goals(talk, move),
        by_option(talk),
        effective_option(talk),
        click.Option(["--request"], default="", metavar="ID", help=talk.text("stock.request")),
        click.Option(["--corrects"], default="", metavar="ID", help=talk.text("register.corrects")),
        click.Option(["--reason"], default="", help=talk.text("register.reason")),
        click.Option(["--dry-run"], is_flag=True, help=talk.text("register.dry")),
        click.Option(["--anyway"], is_flag=True, help=talk.text("stock.anyway")),
        json_option(talk),
    ]


def _goals(talk: Talk, move: str) -> list[click.Parameter]:
    if move == "state":
        return [click.Option(["--to-state"], required=True, help=talk.text("stock.to_state"))]
    if move == "transfer":
        return [
            click.Option(["--to-area"], help=talk.text("stock.to_area")),
            click.Option(["--to-lot"], help=talk.text("stock.to_lot")),
        ]
    return []
