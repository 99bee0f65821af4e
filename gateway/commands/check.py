"""``vigia check``: is this configuration right, and does each detector keep the three seconds?"""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gateway.commands.reasons import place_of, why
from gateway.commands.talk import EXIT_FAILED, Talk, file_argument, json_option, load_or_exit

if TYPE_CHECKING:
    from gateway.field.reach import Reached


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def check(file: Path, *, strict: bool, connect: bool, as_json: bool) -> None:
        loaded = load_or_exit(talk, file, as_json=as_json)
        from gateway.budget import budgets
        from gateway.commands.effects import effect_lines, effect_rows
        from gateway.commands.figures import budget_lines, watched
        from gateway.commands.upkeep import due_lines, due_rows
        from gateway.field.reach import endpoints, reach

        depot, found = loaded.depot, budgets(loaded.depot)
        reached = reach(endpoints(depot)) if connect else ()
        short = [budget for budget in found if not budget.certified]
        if as_json:
            talk.put_json(
                {
                    "ok": True,
                    "detectors": len(depot.detectors),
                    "certified": len(found) - len(short),
                    "budgets": [{**asdict(budget), "parts": dict(budget.parts)} for budget in found],
                    "upkeep": due_rows(depot),
                    "effects": effect_rows(depot.outputs),
                    "warnings": [asdict(warning) for warning in loaded.warnings],
                    "reached": [{**asdict(one.endpoint), "reason": one.reason} for one in reached],
                }
            )
        else:
            talk.put(watched(talk, depot))
            figures = budget_lines(talk, found, depot.within_s)
            for line in (*figures, *effect_lines(talk, depot.outputs), *due_lines(talk, depot)):
                talk.put(line)
            _tell_reached(talk, reached)
        unreached = [one for one in reached if one.reason]
        for one in unreached:
            what, place = place_of(talk, one.endpoint.what), one.endpoint.place
            talk.say("check.unreached", what=what, place=place, reason=why(talk, one.reason))
        if unreached or (strict and short):
            click.get_current_context().exit(EXIT_FAILED)

    return click.Command(
        "check",
        callback=check,
        help=talk.text("command.check"),
        params=[
            file_argument(),
            click.Option(["--strict"], is_flag=True, help=talk.text("check.strict")),
            click.Option(["--connect"], is_flag=True, help=talk.text("check.connect")),
            json_option(talk),
        ],
    )


def _tell_reached(talk: Talk, reached: "Sequence[Reached]") -> None:
    for one in reached:
        if not one.reason:
            talk.put(talk.text("check.reached", what=place_of(talk, one.endpoint.what), place=one.endpoint.place))
