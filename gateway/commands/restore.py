"""``vigia restore``: put a backup in place of the depot's data, unless that would lose events without a word."""

from pathlib import Path

import click

from gateway.commands.reasons import why
from gateway.commands.talk import EXIT_FAILED, Talk, file_argument, load_or_exit


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def restore(folder: Path, file: Path, kept: Path | None, *, yes_shorter: bool) -> None:
        depot = load_or_exit(talk, file, secrets=False).depot
        from gateway.backup import restore as put_back
        from gateway.journal.errors import StoreError

        try:
            manifest, lost = put_back(folder, depot, kept=kept, yes_shorter=yes_shorter)
        except (StoreError, OSError, ValueError) as error:
            talk.say("restore.refused", reason=why(talk, error))
            click.get_current_context().exit(EXIT_FAILED)
        talk.put(talk.text("restore.done", data=depot.data, at=manifest.at, size=manifest.size))
        if lost:
            talk.say("restore.lost", count=lost)

    path = click.Path(path_type=Path)
    params: list[click.Parameter] = [
        click.Argument(["folder"], type=path),
        file_argument(),
        click.Option(["--checkpoint", "kept"], type=path, help=talk.text("restore.checkpoint")),
        click.Option(["--yes-shorter"], is_flag=True, help=talk.text("restore.yes_shorter")),
    ]
    return click.Command("restore", callback=restore, help=talk.text("command.restore"), params=params)
