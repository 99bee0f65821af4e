"""``vigia backup``: a consistent copy of the depot's data, while it runs."""

from pathlib import Path

import click

from gateway.commands.reasons import why
from gateway.commands.talk import EXIT_FAILED, Talk, file_argument, load_or_exit


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def backup(file: Path, folder: Path) -> None:
        depot = load_or_exit(talk, file, secrets=False).depot
        from gateway.backup import backup as copy
        from gateway.journal.errors import StoreError

        try:
            manifest = copy(depot, folder)
        except (StoreError, OSError) as error:
            talk.say("backup.failed", reason=why(talk, error))
            click.get_current_context().exit(EXIT_FAILED)
        total = sum(kept.bytes for kept in manifest.files.values())
        talk.put(
            talk.text(
                "backup.done",
                folder=folder,
                files=len(manifest.files),
                mb=talk.number(total / 1e6, 1),
                size=manifest.size,
            )
        )

    params: list[click.Parameter] = [
        file_argument(),
        click.Argument(["folder"], type=click.Path(path_type=Path)),
    ]
    return click.Command("backup", callback=backup, help=talk.text("command.backup"), params=params)
