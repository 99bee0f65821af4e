"""``vigia doctor``: is this machine, and everything the depot needs, in order? Every red line names its cure."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gateway.commands.reasons import place_of, why
from gateway.commands.talk import EXIT_FAILED, Talk, file_argument, json_option, load_or_exit

if TYPE_CHECKING:  # it brings the journal and the broker's client, which other commands do not need
    from gateway.checkup import Observation

MARKS = {"good": ("ok", "green"), "advice": (" !", "yellow"), "bad": (" X", "red")}


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def doctor(file: Path, *, as_json: bool) -> None:
        loaded = load_or_exit(talk, file, as_json=as_json)
        from gateway.checkup import Health, examine

        observations = []
        for seen in examine(loaded.depot):
            observations.append(seen)
            if not as_json:
                mark, colour = MARKS[seen.health.value]
                click.secho(f"{mark}  {_sentence(talk, seen)}", fg=colour)
        bad, advice = (sum(seen.health is health for seen in observations) for health in (Health.BAD, Health.ADVICE))
        if as_json:
            rows = [
                {"check": one.check, "health": one.health.value, "text": _sentence(talk, one)} for one in observations
            ]
            talk.put_json({"ok": not bad, "findings": rows})
        else:
            talk.say("doctor.sick" if bad else "doctor.better" if advice else "doctor.well", count=bad or advice)
        if bad:
            click.get_current_context().exit(EXIT_FAILED)

    params: list[click.Parameter] = [file_argument(), json_option(talk)]
    return click.Command("doctor", callback=doctor, help=talk.text("command.doctor"), params=params)


def _sentence(talk: Talk, seen: "Observation") -> str:
    """What was found, and for what is not well, its cure."""
    values = {**seen.values}
    if "reason" in values:
        values["reason"] = why(talk, values["reason"])
    if "what" in values:
        values["what"] = place_of(talk, str(values["what"]))
    found = talk.text(f"doctor.{seen.check}.found", **values)
    if seen.health.value == "good":
        return found
    return f"{found}; {talk.text(f'doctor.{seen.check}.cure', **values)}"
