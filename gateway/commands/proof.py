"""``vigia proof``: the journal as a file that proves itself, for an inspector to take along."""

import contextlib
import sys
from pathlib import Path
from typing import BinaryIO

import click

from gateway.commands.reasons import why
from gateway.commands.talk import EXIT_FAILED, Talk, file_argument, load_or_exit
from gateway.machine.wholefile import whole


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def proof(file: Path, start: str | None, end: str | None, output: Path | None) -> None:
        depot = load_or_exit(talk, file, secrets=False).depot
        from gateway.commands.moments import moment
        from gateway.journal import JournalReader, StoreError
        from gateway.journal.proof import write

        try:
            with contextlib.ExitStack() as stack:
                reader = stack.enter_context(JournalReader(depot.journal))
                first = 0 if start is None else reader.first_at(moment(talk, start, depot.timezone) * 1000)
                beyond = None if end is None else reader.first_at(moment(talk, end, depot.timezone, beyond=True) * 1000)
                out: BinaryIO = sys.stdout.buffer if output is None else stack.enter_context(whole(output))
                claim = write(reader, out, first, beyond)
        except (StoreError, OSError) as error:
            talk.say("proof.none", reason=why(talk, error))
            click.get_current_context().exit(EXIT_FAILED)
        talk.say("proof.done", first=claim.first, last=claim.first + claim.count - 1, size=claim.size, vkey=claim.vkey)

    params: list[click.Parameter] = [
        file_argument(),
        click.Option(["--from", "start"], help=talk.text("proof.from")),
        click.Option(["--to", "end"], help=talk.text("proof.to")),
        click.Option(["-o", "--output"], type=click.Path(path_type=Path), help=talk.text("proof.output")),
    ]
    return click.Command("proof", callback=proof, help=talk.text("command.proof"), params=params)
