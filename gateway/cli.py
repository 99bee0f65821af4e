"""The ``vigia`` command: finds commands, loads only the one that is asked for, and puts usage errors in words.

Commands of other packages arrive through the entry-point group ``vigia.commands``; listing them imports none.
"""

import errno
import io
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points, version
from typing import Any, NoReturn

import click

from gateway.commands import mistakes
from gateway.commands.reasons import why
from gateway.commands.talk import EXIT_FAILED, Talk

GROUP = "vigia.commands"
EXIT_USAGE = 2
STAND_IN = re.compile(r"YYYY-MM|[A-Z]{2,}(?: RANGE)?")
"""What a help page writes in place of what a person types: `FILE`, `INTEGER RANGE`."""
NOTE = re.compile(r"required|default: ")
BOUNDS = re.compile(r"(?:(?P<low>[\d.]+)(?P<over><=?))?x(?:<=?(?P<high>[\d.]+|None)|(?P<least>>=?)(?P<above>[\d.]+))?")
"""How click notes the bounds of a number: `0<x<=30.0`, `x>=1`, `x<=None` where there are none."""
OWN = (
    "init",
    "check",
    "scan",
    "discover",
    "probe",
    "profile",
    "doctor",
    "run",
    "status",
    "bump",
    "drill",
    "export",
    "backfill",
    "register",
    "stock",
    "report",
    "law",
    "ledger",
    "proof",
    "verify",
    "backup",
    "restore",
    "service",
)
"""Our own commands, in the order a newcomer meets them: each a module of `gateway.commands` with ``command(talk)``."""


def main() -> NoReturn:
    """Run the command line of this process."""
    _open_streams()
    sys.exit(Vigia(Talk.of(os.environ)).main(sys.argv[1:], prog_name="vigia"))


def _open_streams() -> None:
    """Have all three standard streams open, and what a terminal cannot show spelt out."""
    for closed in range(3):  # or the next file that is opened would be taken for standard output
        with suppress(OSError):
            os.fstat(closed)
            continue
        os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class Vigia(click.Group):
    """The group of all commands, loaded when asked for."""

    def __init__(self, talk: Talk) -> None:
        super().__init__(name="vigia", help=talk.text("vigia.help"), params=[_version_option(talk)])
        self.context_class = _context_class(talk)
        self._talk = talk
        self._foreign: Mapping[str, EntryPoint] = {entry.name: entry for entry in entry_points(group=GROUP)}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Names only: nothing is imported."""
        return [*OWN, *sorted(name for name in self._foreign if name not in OWN)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import and return one command."""
        if cmd_name in OWN:
            command: click.Command = import_module(f"gateway.commands.{cmd_name}").command(self._talk)
        elif cmd_name in self._foreign:
            command = self._foreign[cmd_name].load()
        else:
            return None
        _speak(command, self.context_class)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by what our words say of them, without importing any."""
        rows = [(name, self._short_help(name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def main(  # type: ignore[override]  # click's overloads say Never for one case of `standalone_mode`
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        **extra: Any,  # noqa: ANN401 - handed through to click
    ) -> NoReturn:
        """As click's, with errors in the person's language. Exit codes: 0, 1 failed, 2 usage, 78 configuration."""
        for number, given in enumerate(sys.argv[1:] if args is None else args, start=1):
            if not _is_text(given):
                self._talk.say("cli.error", text=self._talk.text("cli.no_text", number=number, got=ascii(given)))
                sys.exit(EXIT_USAGE)
        try:
            code: object = super().main(args, prog_name, **{**extra, "standalone_mode": False})
        except click.ClickException as error:
            self._explain(error)
            sys.exit(error.exit_code)
        except click.Abort:
            self._talk.say("cli.aborted")
            sys.exit(EXIT_FAILED)
        except OSError as error:
            if error.errno != errno.EPIPE:
                reason = ": ".join(
                    str(part) for part in (error.filename, why(self._talk, error.strerror or error)) if part
                )
                self._talk.say("cli.error", text=self._talk.text("cli.not_allowed", why=reason))
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains at its end
            sys.exit(EXIT_FAILED)
        sys.exit(code if isinstance(code, int) else 0)

    def _short_help(self, name: str) -> str:
        key = f"command.{name}"
        if key in self._talk.words:
            return self._talk.text(key)
        distribution = self._foreign[name].dist
        return self._talk.text("cli.foreign", package=distribution.name if distribution else "?")

    def _explain(self, error: click.ClickException) -> None:
        if isinstance(error, click.UsageError) and error.ctx is not None:
            click.echo(error.ctx.get_usage(), err=True)
            self._talk.say("cli.try_help", command=error.ctx.command_path)
        self._talk.say("cli.error", text=self._message(error))

    def _message(self, error: click.ClickException) -> str:
        """The error in words of ours where its kind is known; else as the command that raised it said it."""
        match error:
            case click.NoSuchOption(option_name=option, possibilities=near):
                key, values = "no_such_option", {"option": option}
            case click.exceptions.NoSuchCommand(command_name=name):
                near = get_close_matches(name, [*OWN, *self._foreign], n=1)
                key, values = "no_such_command", {"command": name}
            case click.MissingParameter(param=click.Parameter() as param):
                hint = param.get_error_hint(error.ctx or click.Context(self))
                ours = self._talk.words.texts
                what = STAND_IN.sub(lambda found: ours.get(f"metavar.{found[0].replace(' ', '_')}", found[0]), hint)
                return self._talk.text("cli.missing", what=what)
            case click.UsageError():
                return mistakes.usage(self._talk, error)
            case _:
                return error.format_message()
        text = self._talk.text(f"cli.{key}", **values)
        return text if not near else f"{text} {self._talk.text('cli.perhaps', near=', '.join(sorted(near)))}"


def _is_text(given: str) -> bool:
    """Whether an argument came as UTF-8: other bytes are no name, reason or file name that anybody could show."""
    try:
        given.encode()
    except UnicodeEncodeError:
        return False
    return True


def _speak(command: click.Command, context: type[click.Context]) -> None:
    """Give a command, and every one below it, our help pages."""
    command.context_class = context
    if isinstance(command, click.Group):
        for below in command.commands.values():
            below.short_help = below.help or ""  # click cuts what it makes of the help by itself
            _speak(below, context)


def _version_option(talk: Talk) -> click.Option:
    def show(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001 - click's signature
        if value and not ctx.resilient_parsing:
            click.echo(f"vigia {version('vigia-glp')}")
            ctx.exit()

    text = talk.text("option.version")
    return click.Option(["--version"], is_flag=True, expose_value=False, is_eager=True, callback=show, help=text)


def _context_class(talk: Talk) -> type[click.Context]:
    """A context whose help pages carry our headings instead of click's English ones."""
    said = {name: talk.text(f"heading.{name}") for name in ("Options", "Commands", "Arguments")}
    usage, show_help = talk.text("heading.usage"), talk.text("option.help")
    stand_ins = {
        key[8:].replace("_", " "): word for key, word in talk.words.texts.items() if key.startswith("metavar.")
    }
    notes = {"required": talk.text("heading.required"), "default: ": f"{talk.text('heading.default')}: "}

    def stand_in(text: str) -> str:
        return STAND_IN.sub(lambda found: stand_ins.get(found[0], found[0]), text)

    def noted(text: str) -> str:
        """Put what click itself notes at the end of an option, `[default: 20; x>=1]`, into our words."""
        head, bracket, note = text.rpartition("  [")
        if not bracket or not note.endswith("]"):
            return text
        parts = [BOUNDS.fullmatch(part) or part for part in note[:-1].split("; ")]
        told = [part if isinstance(part, str) else mistakes.bounds(talk, part) for part in parts]
        said = "; ".join(NOTE.sub(lambda found: notes[found[0]], part) for part in told if part)
        return f"{head}{bracket}{said}]" if said else head

    class Formatter(click.HelpFormatter):
        def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
            super().write_usage(prog, stand_in(args), prefix or f"{usage} ")

        def write_heading(self, heading: str) -> None:
            super().write_heading(said.get(heading, heading))

        def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
            translated = [(stand_in(left), show_help if left == "--help" else noted(right)) for left, right in rows]
            super().write_dl(translated, col_max, col_spacing)

    class Context(click.Context):
        formatter_class = Formatter

    return Context


if __name__ == "__main__":
    main()
