"""``vigia init``: seven questions, or flags, and a commented depot.toml that passes ``vigia check``."""

import json
import re
import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import click

from gateway.commands.mistakes import expected
from gateway.commands.numbers import Number
from gateway.commands.reasons import why
from gateway.commands.talk import EXIT_FAILED, Talk
from gateway.machine.wholefile import whole

MODBUS_PORT = 502
MOST_ADDRESS_CHARS = 300
MOST_DETECTORS = 247
"""Units one serial line can address."""


@dataclass(frozen=True, slots=True)
class Place:
    """A host and port, as typed: ``192.168.0.20`` or ``192.168.0.20:502``."""

    host: str
    port: int


NOWHERE = Place("", 0)


@dataclass(frozen=True, slots=True)
class Answers:
    """What the seven questions ask. `address` may be empty: nobody is kept from watching gas for want of it."""

    name: str
    address: str
    kg: float
    law: str
    host: Place
    detectors: int
    siren: Place


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def init(file: Path, *, yes: bool, **flags: object) -> None:
        if file.exists():
            talk.say("init.exists", file=file)
            click.get_current_context().exit(EXIT_FAILED)
        answers = _answers(talk, flags, yes=yes)
        text = render(answers, talk.words.language, file, talk)
        try:
            with whole(file) as target:
                target.write(text.encode())
        except OSError as error:
            talk.say("init.not_written", file=file, reason=why(talk, error.strerror))
            click.get_current_context().exit(EXIT_FAILED)
        talk.say("init.written", file=file)
        talk.put(f"vigia check {file}")
        talk.put(f"vigia probe {file}")

    options = [
        click.Option([f"--{question.flag}"], type=question.type, help=talk.text(f"init.ask.{question.flag}"))
        for question in _questions()
    ]
    path = click.Argument(["file"], metavar="depot.toml", type=click.Path(path_type=Path), default="depot.toml")
    agree = click.Option(["--yes", "-y"], is_flag=True, help=talk.text("init.yes"))
    return click.Command("init", callback=init, help=talk.text("command.init"), params=[path, *options, agree])


def render(answers: Answers, language: str, file: Path, talk: Talk) -> str:
    """Return the whole depot.toml."""
    template = resources.files("gateway.words").joinpath(f"depot.{language}.txt").read_text("utf-8")
    law = answers.law
    return template.format(
        file=file,
        id=_quoted(_identifier(answers.name)),
        name=_quoted(answers.name),
        address=_quoted(answers.address) if answers.address else f'"{talk.text("init.address_example")}"',
        address_comment="" if answers.address else "# ",
        laws=_quoted(law) if law else "",
        law_comment="" if law else talk.text("init.law_comment", laws=", ".join(_laws())),
        kg=f"{answers.kg:.10g}",
        host=_quoted(answers.host.host),
        port=answers.host.port,
        detectors="".join(_detector(number, talk) for number in range(1, answers.detectors + 1)),
        siren=_siren(answers.siren, talk),
    )


# --- questions --------------------------------------------------------------------------------------


class _PlaceType(click.ParamType[Place]):
    """``host`` or ``host:port``; a dash stands for none."""

    name = "host[:port]"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Place:
        if isinstance(value, Place):
            return value
        text = str(value).strip()
        if text in ("", "-"):
            return NOWHERE
        found = re.fullmatch(r"([A-Za-z0-9._\-]+|\[[0-9A-Fa-f:]+\])(?::(\d{1,5}))?", text)
        port = int(found[2] or MODBUS_PORT) if found else 0
        if not found or not 1 <= port <= 65535:
            self.fail(f"{text!r}: host[:port]", param, ctx)
        return Place(found[1].strip("[]"), port)


class _AddressType(click.ParamType[str]):
    """A street address on one line; a dash stands for none."""

    name = "text"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = " ".join(str(value).split())
        if len(text) > MOST_ADDRESS_CHARS or not text.isprintable():
            self.fail(f"{text[:40]!r}...: <= {MOST_ADDRESS_CHARS}", param, ctx)
        return "" if text == "-" else text


class _KilogramsType(Number):
    """Kilograms as people write them: ``6240``, ``6.240``, ``6.240 kg``. No licence is for grams: a point or
    comma before three figures parts thousands.
    """

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        plain = re.sub(r"\s*kg$", "", str(value).strip(), flags=re.IGNORECASE)
        if re.fullmatch(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+,\d{1,2}", plain):
            plain = plain.replace(".", "").replace(",", ".")
        elif re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", plain):
            plain = plain.replace(",", "")
        return float(super().convert(plain, param, ctx))


@dataclass(frozen=True, slots=True)
class _Question:
    flag: str
    type: click.ParamType[Any]  # Any: text, a number, a choice or a place
    default: str
    needed: bool = True


def _questions() -> tuple[_Question, ...]:
    return (
        _Question("name", click.STRING, "Depósito"),
        _Question("address", _AddressType(), "-", needed=False),
        _Question("kg", _KilogramsType(min=0, min_open=True, max=1e9), "1560"),
        _Question("law", click.Choice(["-", *_laws()]), "-"),
        _Question("host", _PlaceType(), "192.168.0.20:502"),
        _Question("detectors", click.IntRange(1, MOST_DETECTORS), "4"),
        _Question("siren", _PlaceType(), "192.168.0.21:502"),
    )


def _laws() -> tuple[str, ...]:
    from compliance import statutes

    return tuple(name for name in statutes.names() if name != statutes.HOUSE)


def _answers(talk: Talk, flags: Mapping[str, object], *, yes: bool) -> Answers:
    """Flags first, then the person where one is there to ask, else the defaults if `--yes` allows them."""
    missing = [question for question in _questions() if flags[question.flag] is None]
    asked = sys.stdin.isatty() and not yes
    if not yes and not asked and (needed := [f"--{one.flag}" for one in missing if one.needed]):
        raise click.UsageError(talk.text("init.no_tty", flags=", ".join(needed)))
    given = dict(flags)
    for question in missing:
        if not asked:
            given[question.flag] = question.type.convert(question.default, None, None)
        else:
            given[question.flag] = _ask(talk, question)
    name, host, siren = given["name"], given["host"], given["siren"]
    if not isinstance(host, Place) or not isinstance(siren, Place) or host == NOWHERE:
        raise click.UsageError(talk.text("init.no_host"))
    return Answers(
        name=" ".join(str(name).split()) or "Depósito",
        address=str(given["address"]),
        kg=float(str(given["kg"])),
        law="" if given["law"] == "-" else str(given["law"]),
        host=host,
        detectors=int(str(given["detectors"])),
        siren=siren,
    )


def _ask(talk: Talk, question: _Question) -> object:
    """Ask until the answer fits; click's own repetition would speak English."""
    prompt = talk.text(f"init.ask.{question.flag}")
    if isinstance(question.type, click.Choice):
        prompt = f"{prompt}: {', '.join(question.type.choices)}"
    while True:
        said = click.prompt(prompt, default=question.default, type=str, err=True)
        try:
            return question.type.convert(said, None, None)
        except click.BadParameter as error:
            right = expected(talk, question.type)
            text = talk.text("cli.wrong_value", got=repr(said), right=right) if right else error.message
            talk.say("cli.error", text=text)


# --- pieces -----------------------------------------------------------------------------------------


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _identifier(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:64].strip("-") or "deposito"


def _detector(number: int, talk: Talk) -> str:
    return f"""
[[detector]]
id = "GD-{100 + number}"
area = "patio"
bus = "detectores"
unit = {number}
profile = "generic-modbus"      # {talk.text("init.comment.profile")}
register = 0                    # {talk.text("init.comment.register")}
function = "holding"
type = "uint16"
scale = 1
unit_of_value = "lel_pct"
# lel_vol_pct = 1.4             # {talk.text("init.comment.basis")}
# calibrated_on = 2026-08-01
"""


def _siren(place: Place, talk: Talk) -> str:
    if place == NOWHERE:
        return f"\n# {talk.text('init.comment.no_siren')}\n"
    return f"""
# {talk.text("init.comment.siren")}
[[bus]]
id = "saidas"
transport = "tcp"
host = {_quoted(place.host)}
port = {place.port}

[[channel]]
id = "sirene"
kind = "siren"
bus = "saidas"
unit = 1
coil = 0
"""
