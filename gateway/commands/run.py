"""``vigia run``: the watch itself, until it is told to stop."""

from pathlib import Path

import click

from gateway.commands.talk import Talk, file_argument, load_or_exit
from gateway.words.system import said


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def run(file: Path) -> None:
        from gateway.configuration.apart import FileReading
        from gateway.machine import limits, logs

        logs.install()
        limits.raise_descriptors()
        reading = FileReading(file, talk.environ)
        from gateway import app  # while the file is read
        from gateway.budget import budgets
        from gateway.commands.figures import watched

        loaded = load_or_exit(talk, file, reading=reading)
        click.echo(watched(talk, loaded.depot), err=True)
        short = [budget.detector for budget in budgets(loaded.depot) if not budget.certified]
        if short:
            talk.say("run.not_certified", detectors=", ".join(short), limit=f"{loaded.depot.within_s:g}", file=file)
        if loaded.depot.web is not None:
            _say_page(talk, loaded.depot.web.host, loaded.depot.web.port)
        click.get_current_context().exit(app.run(loaded, dict(talk.environ)))

    return click.Command("run", callback=run, help=talk.text("command.run"), params=[file_argument()])


def _say_page(talk: Talk, host: str, port: int) -> None:
    """Say where the page is, or why it is not there: it is tried again and again, and the watch goes on without it."""
    from gateway.checkup import address_trouble

    if trouble := address_trouble(host, port):
        talk.say("run.no_page", host=host, port=port, reason=said(talk.words, trouble))
    else:
        talk.say("run.page", host=host, port=port)
