"""``vigia run``: the watch itself, until it is told to stop."""

import sys
from pathlib import Path

import click

from gateway.commands.talk import Talk, file_argument, load_or_exit


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def run(file: Path) -> None:
        loaded = load_or_exit(talk, file)
        from gateway import app
        from gateway.budget import budgets
        from gateway.commands.figures import watched

        click.echo(watched(talk, loaded.depot), err=True)
        short = [budget.detector for budget in budgets(loaded.depot) if not budget.certified]
        if short:
            talk.say("run.not_certified", detectors=", ".join(short), limit=f"{loaded.depot.within_s:g}", file=file)
        if loaded.depot.web is not None:
            talk.say("run.page", host=loaded.depot.web.host, port=loaded.depot.web.port)
        _log_to_stderr()
        click.get_current_context().exit(app.run(loaded, dict(talk.environ)))

    return click.Command("run", callback=run, help=talk.text("command.run"), params=[file_argument()])


def _log_to_stderr() -> None:
    """Pretty for a person at a terminal, JSON lines for everything else."""
    import structlog

    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *(
                [structlog.dev.ConsoleRenderer()]
                if sys.stderr.isatty()
                else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)]
            ),
        ],
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
    )
