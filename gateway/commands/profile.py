"""``vigia profile``: is a profile well formed, and what would it make of these registers or this message?"""

import tomllib
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from gateway.commands.numbers import Number
from gateway.commands.talk import EXIT_CONFIG, EXIT_FAILED, Talk, json_option

if TYPE_CHECKING:
    from sensors.profiles import Profile
    from sensors.readings import Reading
    from sensors.rehearsal import Cell, Given
    from sensors.wire.places import Function


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""
    group = click.Group("profile", help=talk.text("command.profile"))
    group.add_command(_list(talk))
    group.add_command(_check(talk))
    group.add_command(_try(talk))
    return group


def _list(talk: Talk) -> click.Command:
    def names(*, as_json: bool) -> None:
        from sensors.profiles import load, names

        found = [load(name) for name in names()]
        if as_json:
            talk.put_json([_row(profile) for profile in found])
            return
        width = max(len(profile.id) for profile in found)
        for profile in found:
            verified = talk.text(f"profile.verification.{profile.provenance.verification}")
            talk.put(f"{profile.id:<{width}}  {profile.wire:<6}  {profile.title} ({verified})")

    return click.Command("list", callback=names, help=talk.text("profile.list"), params=[json_option(talk)])


def _check(talk: Talk) -> click.Command:
    def check(profile: str, *, as_json: bool) -> None:
        found = _loaded(talk, profile, as_json=as_json)
        assumed = found.assumptions()
        if as_json:
            talk.put_json({"ok": True, **_row(found), "assumed": [asdict(one) for one in assumed]})
            return
        verified = talk.text(f"profile.verification.{found.provenance.verification}")
        talk.put(talk.text("profile.well", id=found.id, title=found.title, verified=verified))
        for name in ("requires", "accepts"):
            keys = found.requires if name == "requires" else found.accepts
            if keys:
                talk.put(talk.text(f"profile.{name}", keys=", ".join(keys)))
        for one in assumed:
            place = ".".join(part for part in (one.point, one.key) if part)
            talk.put(talk.text("profile.assumed", place=place))
        if found.detects_silence_s is None and found.is_detector:
            talk.put(talk.text("profile.silence_unknown"))

    return click.Command(
        "check", callback=check, help=talk.text("profile.check"), params=[_profile_argument(), json_option(talk)]
    )


def _try(talk: Talk) -> click.Command:
    def attempt(  # each option of the command
        profile: str,
        *,
        registers: tuple[str, ...],
        payload: tuple[str, ...],
        topic: str,
        settings: tuple[str, ...],
        unit: int,
        lel_vol_pct: float,
        as_json: bool,
    ) -> None:
        from gateway.words.sentences import spoken
        from sensors.profiles import ProfileError
        from sensors.rehearsal import Message, readings
        from sensors.wire.units import Basis

        general = _loaded(talk, profile, as_json=as_json)
        try:
            installed = general.installed(_settings(settings))
            given = _given(
                talk, general, installed, registers, topic, unit, [Message(text.encode()) for text in payload]
            )
            found = readings(installed, given, Basis(lel_vol_pct, lel_vol_pct))
        except ProfileError as error:
            _refuse(talk, error, as_json=as_json)
        except (ValueError, tomllib.TOMLDecodeError) as error:
            raise click.UsageError(spoken(talk.words, error)) from None
        if as_json:
            talk.put_json([_reading_row(reading) for reading in found])
        else:
            _explain(talk, installed, given)
            _warn(talk, installed, given)
            for reading in found:
                talk.put(_reading_line(talk, reading))
        if not found:
            talk.say("profile.nothing")
            click.get_current_context().exit(EXIT_FAILED)

    return click.Command(
        "try",
        callback=attempt,
        help=talk.text("profile.try"),
        params=_params_of_try(talk),
    )


def _params_of_try(talk: Talk) -> list[click.Parameter]:
    return [
        _profile_argument(),
        click.Option(["--registers"], multiple=True, metavar="0=123,1=4", help=talk.text("profile.registers")),
        click.Option(["--payload"], multiple=True, metavar="TEXT", help=talk.text("profile.payload")),
        click.Option(["--topic"], default="", help=talk.text("profile.topic")),
        click.Option(["--set", "settings"], multiple=True, metavar="KEY=VALUE", help=talk.text("profile.set")),
        click.Option(["--unit"], default=1, type=click.IntRange(0, 255), help=talk.text("profile.unit")),
        click.Option(["--lel-vol-pct"], default=1.4, type=Number(0.5, 5), help=talk.text("profile.lel")),
        json_option(talk),
    ]


def _profile_argument() -> click.Argument:
    return click.Argument(["profile"], metavar="FILE|NAME")


def _loaded(talk: Talk, name: str, *, as_json: bool) -> "Profile":
    from sensors.profiles import ProfileError, load

    try:
        return load(name, Path())
    except ProfileError as error:
        _refuse(talk, error, as_json=as_json)


def _refuse(talk: Talk, error: Any, *, as_json: bool) -> NoReturn:  # noqa: ANN401 - a ProfileError, loaded late
    """Say what is wrong with a profile, and end the command."""
    from gateway.words.sentences import spoken

    if as_json:
        problem = {name: getattr(error, name) for name in ("file", "line", "key", "expected", "got")}
        talk.put_json({"ok": False, "problems": [problem]})
    place = error.file if error.line is None else f"{error.file}:{error.line}"
    expected, got = spoken(talk.words, error.expected), spoken(talk.words, error.got)
    text = talk.text("profile.refused", place=place, word=error.key, expected=expected, got=got)
    click.secho(text, err=True, fg="red")
    click.get_current_context().exit(EXIT_CONFIG)


def _row(profile: "Profile") -> dict[str, object]:
    return {
        "id": profile.id,
        "title": profile.title,
        "kind": profile.kind,
        "wire": profile.wire,
        "verification": profile.provenance.verification,
        "requires": profile.requires,
        "accepts": profile.accepts,
        "refresh_s": profile.refresh_s,
        "detects_silence_s": profile.detects_silence_s,
    }


def _settings(pairs: tuple[str, ...]) -> dict[str, object]:
    """Read ``KEY=VALUE`` as a line of TOML; a value that is none is taken for a text.

    Raises:
        tomllib.TOMLDecodeError: if the key is none.
    """
    found: dict[str, object] = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        try:
            found |= tomllib.loads(f"{key} = {value}")
        except tomllib.TOMLDecodeError:
            found |= tomllib.loads(f"{key} = {value!r}")
    return found


def _given(
    talk: Talk,
    general: "Profile",
    installed: "Profile",
    registers: tuple[str, ...],
    topic: str,
    unit: int,
    messages: list[Any],
) -> "Given":
    from sensors.rehearsal import Given
    from sensors.wire.points import ModbusPoints

    if not isinstance(installed.points, ModbusPoints):
        if not messages:
            raise click.UsageError(talk.text("profile.needs_payload", id=general.id))
        return Given(messages=messages, topic=topic, unit=unit)
    if not registers:
        raise click.UsageError(talk.text("profile.needs_registers", id=general.id))
    used = {place.function for place in installed.points.places()}
    return Given(tables=_tables(registers, used), unit=unit)


def _tables(said: tuple[str, ...], used: "set[Function]") -> "dict[Function, dict[int, Cell]]":
    """Read ``0=123,1=0x4F`` and ``discrete:5=1``; without a table it goes for every table that the profile reads.

    Raises:
        ValueError: for what is none of that.
    """
    from sensors.sentences import Sentence
    from sensors.wire.places import Function

    by_name = {function.name.lower(): function for function in Function}
    tables: dict[Function, dict[int, Cell]] = {}
    for text in said:
        name, _, pairs = text.rpartition(":")
        if name and name not in by_name:
            raise ValueError(Sentence("{name} is no table: one of {known}", name=repr(name), known=", ".join(by_name)))
        cells: dict[int, Cell] = {}
        for pair in pairs.split(","):
            address, sign, value = pair.partition("=")
            if not sign:
                raise ValueError(Sentence("{pair} is no register: write address=value, such as 0=123", pair=repr(pair)))
            cells[int(address.strip(), 0)] = _cell(value.strip())
        for function in [by_name[name]] if name else used:
            plain = {at: cell for at, cell in cells.items() if not function.of_bits or cell in (0, 1)}
            tables.setdefault(function, {}).update(plain)
    return tables


def _cell(text: str) -> "Cell":
    """A number as a register, one with a point as a float32, anything else as a text."""
    for read in (lambda value: int(value, 0), float):
        try:
            number: int | float = read(text)
        except ValueError:
            continue
        return number
    return text.strip("\"'")


def _explain(talk: Talk, installed: "Profile", given: "Given") -> None:
    """Say what stands at each place that the profile reads."""
    from sensors.rehearsal import seen
    from sensors.wire.points import ModbusPoints

    points: ModbusPoints | object = installed.points
    if isinstance(points, ModbusPoints):
        for row in seen(points, given):
            place = f"{row.function.name.lower()} {row.register}"
            means = row.means if row.given else " ".join(filter(None, (row.means, talk.text("profile.not_given"))))
            talk.put(talk.text("profile.place", point=row.point, place=place, raw=row.raw, means=means).rstrip())


def _warn(talk: Talk, installed: "Profile", given: "Given") -> None:
    """Say which registers were given for nothing: most often an address as printed, or one off by one."""
    from sensors.rehearsal import unread
    from sensors.wire.points import ModbusPoints

    points: ModbusPoints | object = installed.points
    if isinstance(points, ModbusPoints) and (useless := unread(points, given)):
        talk.say("profile.unread", addresses=", ".join(map(str, useless)))


def _reading_row(reading: "Reading") -> dict[str, object]:
    return {
        "lel_pct": reading.lel_pct,
        "at_least": reading.at_least,
        "status": reading.status.value,
        "quality": reading.quality.value,
        "reason": reading.reason,
        "raw": reading.raw,
    }


def _reading_line(talk: Talk, reading: "Reading") -> str:
    from gateway.commands.locale import spoken

    locale = spoken(talk.words.language, "UTC")
    value = "—" if reading.lel_pct is None else locale.text("format.lel", value=locale.number(reading.lel_pct, 2))
    least = ""
    if reading.at_least is not None:
        least = talk.text("profile.at_least", value=locale.number(reading.at_least, 2))
    reason = talk.text("profile.reason", reason=locale.reason(reading.reason)) if reading.reason else ""
    return talk.text(
        "profile.reading",
        raw=reading.raw,
        value=value,
        least=least,
        status=locale.text(f"status.{reading.status.value}"),
        quality=locale.text(f"quality.{reading.quality.value}"),
        reason=reason,
    )
