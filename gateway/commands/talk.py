"""How a command speaks: data on stdout, talk on stderr, in the person's language. Knows no command."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from alerts.messages.catalogue import Catalogue
from gateway.words.language import language_of

if TYPE_CHECKING:  # pydantic comes with it, which `--help` does not need
    from gateway.configuration.apart import FileReading
    from gateway.configuration.loaded import Loaded

EXIT_FAILED = 1
EXIT_CONFIG = 78


@dataclass(frozen=True, slots=True)
class Talk:
    """One invocation's voice."""

    environ: Mapping[str, str]
    words: Catalogue

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> "Talk":
        """Speak the language the environment asks for."""
        return cls(environ, Catalogue.load("gateway.words", language_of(environ)))

    def text(self, key: str, **values: object) -> str:
        """Return words without saying them."""
        return self.words.text(key, **values)

    def say(self, key: str, **values: object) -> None:
        """Say something to the person, on stderr."""
        click.echo(self.words.text(key, **values), err=True)

    def number(self, value: float, places: int) -> str:
        """Write a number with fixed decimals and the language's decimal mark."""
        return f"{value:.{places}f}".replace(".", self.words.text("format.decimal"))

    def day(self, day: date) -> str:
        """Write a date."""
        return day.strftime(self.words.text("format.date"))

    def put(self, line: str) -> None:
        """Give out one line of data, on stdout."""
        click.echo(line)

    def put_json(self, value: object) -> None:
        """Give out one JSON document, on stdout."""
        click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def file_argument() -> click.Argument:
    """``depot.toml``, which most commands want."""
    return click.Argument(["file"], metavar="depot.toml", type=click.Path(path_type=Path), default="depot.toml")


def json_option(talk: Talk) -> click.Option:
    """``--json``, which every query has."""
    return click.Option(["--json", "as_json"], is_flag=True, help=talk.text("option.json"))


def load_or_exit(
    talk: Talk, file: Path, *, as_json: bool = False, secrets: bool = True, reading: "FileReading | None" = None
) -> "Loaded":
    """Return the loaded depot, warnings said; a refused one is explained and ends the command with 78.

    `secrets`: whether the command speaks to anybody who wants one. `reading`: where the file is already being read,
    apart from us.
    """
    from gateway.configuration.problems import ConfigError

    try:
        loaded = _loaded(talk, file, secrets=secrets) if reading is None else reading.loaded()
    except ConfigError as error:
        if as_json:
            talk.put_json({"ok": False, "problems": [asdict(problem) for problem in error.problems]})
        for problem in error.problems:
            click.secho(str(problem), err=True, fg="red")
        talk.say("config.refused", count=len(error.problems))
        click.get_current_context().exit(EXIT_CONFIG)
    for warning in loaded.warnings:
        click.secho(talk.text("config.warning", text=str(warning)), err=True, fg="yellow")
    return loaded


def _loaded(talk: Talk, file: Path, *, secrets: bool) -> "Loaded":
    from gateway.configuration.loading import load

    return load(file, talk.environ, secrets=secrets)
