"""``vigia discover``: heads that announce themselves on the depot's broker, as blocks for its file."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gateway.commands.numbers import Number
from gateway.commands.reasons import why
from gateway.commands.talk import EXIT_CONFIG, EXIT_FAILED, Talk, file_argument, json_option, load_or_exit

if TYPE_CHECKING:  # the broker's client, which `--help` does not need
    from gateway.commissioning.blocks import Table
    from gateway.commissioning.discovering import Discovery
    from gateway.depot import Depot
    from sensors.announcements.found import Announced

USUAL_SECONDS = 10.0
MOST_SECONDS = 600.0


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def discover(file: Path, *, seconds: float, area: str, prefix: str, ask: bool, write: bool, as_json: bool) -> None:
        depot = load_or_exit(talk, file, as_json=as_json).depot
        if depot.mqtt is None:
            raise click.UsageError(talk.text("discover.no_broker", file=file))
        areas = [one.id for one in depot.areas]
        if area and area not in areas:
            raise click.UsageError(talk.text("discover.no_area", area=area, known=", ".join(areas)))
        from gateway.commissioning.blocks import written
        from gateway.commissioning.discovering import discover as listen

        heard = listen(depot.mqtt, seconds, prefix=prefix, ask=ask)
        known = {head.topic for head in depot.mqtt_heads}
        new = [head for head in heard.heads if head.topic not in known]
        tables = list(_tables(talk, new, depot, area or (areas[0] if areas else "patio")))
        if as_json:
            talk.put_json(_json(heard, known, tables))
        else:
            _say(talk, heard, known)
            if tables:
                talk.put(written(tables).strip("\n"))
        if heard.trouble:
            place = f"{depot.mqtt.host}:{depot.mqtt.port}"
            talk.say("discover.trouble", place=place, reason=why(talk, heard.trouble))
            click.get_current_context().exit(EXIT_FAILED)
        talk.say("discover.done", found=len(heard.heads), new=len(tables), seconds=f"{seconds:g}")
        if write and tables:
            _write(talk, file, tables)

    params: list[click.Parameter] = [
        file_argument(),
        click.Option(
            ["--seconds"],
            type=Number(min=0.2, max=MOST_SECONDS),
            default=USUAL_SECONDS,
            help=talk.text("discover.seconds"),
        ),
        click.Option(["--area"], default="", help=talk.text("discover.area")),
        click.Option(["--prefix"], default="homeassistant", help=talk.text("discover.prefix")),
        click.Option(["--ask"], is_flag=True, help=talk.text("discover.ask")),
        click.Option(["--write"], is_flag=True, help=talk.text("discover.write")),
        json_option(talk),
    ]
    return click.Command("discover", callback=discover, help=talk.text("command.discover"), params=params)


def _say(talk: Talk, heard: "Discovery", known: set[str]) -> None:
    for head in heard.heads:
        key = "discover.known" if head.topic in known else "discover.head"
        talk.say(key, name=_shown(head.name), model=_shown(head.model) or "?", topic=_shown(head.topic), by=head.by)
        for note in head.notes:
            talk.say(f"discover.note_{note}")
    if heard.refused:
        talk.say("discover.refused", topics=", ".join(heard.refused))
    if heard.dropped:
        talk.say("discover.dropped", count=heard.dropped)


def _tables(talk: Talk, heads: "list[Announced]", depot: "Depot", area: str) -> "Iterator[Table]":
    """One block for each head that a profile reads; the others are only spoken of."""
    from gateway.commissioning.blocks import Table, free_id

    taken = {str(detector.id) for detector in depot.detectors}
    for head in heads:
        if not head.profile:
            continue
        name = free_id(head.name, taken)
        taken.add(name)
        keys = {"id": name, "area": area, "mqtt": head.topic, "profile": head.profile, **head.keys}
        notes = "; ".join(talk.text(f"discover.note_{note}").strip() for note in head.notes)
        comment = " | ".join(part for part in (f"{head.by}: {head.model or head.name}", notes) if part)
        yield Table("detector", keys, comment)


def _write(talk: Talk, file: Path, tables: "list[Table]") -> None:
    from gateway.commissioning.blocks import ChangedError, append
    from gateway.configuration.problems import ConfigError

    try:
        append(file, tables, talk.environ)
    except ConfigError as error:
        for problem in error.problems:
            click.secho(str(problem), err=True, fg="red")
        talk.say("discover.not_right", file=file, count=len(error.problems))
        click.get_current_context().exit(EXIT_CONFIG)
    except (ChangedError, OSError) as error:
        changed = isinstance(error, ChangedError)
        reason = talk.text("discover.changed") if changed else why(talk, getattr(error, "strerror", error))
        talk.say("discover.not_written", file=file, reason=reason)
        click.get_current_context().exit(EXIT_FAILED)
    talk.say("discover.written", file=file, count=len(tables))


def _json(heard: "Discovery", known: set[str], tables: "list[Table]") -> dict[str, object]:
    return {
        "heads": [
            {
                "by": head.by,
                "name": head.name,
                "model": head.model,
                "topic": head.topic,
                "profile": head.profile or None,
                "keys": dict(head.keys),
                "notes": list(head.notes),
                "known": head.topic in known,
            }
            for head in heard.heads
        ],
        "blocks": [dict(table.keys) for table in tables],
        "messages": heard.messages,
        "dropped": heard.dropped,
        "refused": list(heard.refused),
        "trouble": heard.trouble,
    }


def _shown(text: str) -> str:
    """A name from outside, without what could act on a terminal."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text[:120])
