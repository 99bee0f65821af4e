"""A device model as data: where its values sit, what its codes mean, how fast it is.

A profile file has one shape, whether shipped or written on site:

    format = 1
    id = "my-head"
    wire = "modbus"                     # or "mqtt"
    accepts = ["full_scale", ...]       # keys of [points] that an installation may set; refresh_s too
    requires = ["register", ...]        # those it must set
    [timing]                            # refresh_s, detects_silence_s; absent is "nobody knows"
    [provenance]                        # verification: verified | partly | assumed | site; sources, note
    [points]                            # see `sensors.profile_keys`
"""

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from sensors.profile_keys import (
    ABSENT,
    MODBUS_KEYS,
    NOTHING,
    PAYLOAD_KEYS,
    KeyFault,
    modbus_points,
    one_of,
    payload_points,
    shown,
)
from sensors.wire.payloads import PayloadPoints
from sensors.wire.points import ModbusPoints

SHIPPED: Final = Path(__file__).parent / "profiles"
MAX_BYTES: Final = 262_144
"""A larger profile file is refused unread."""

VERIFICATIONS: Final = ("verified", "partly", "assumed", "site")
TOP_KEYS: Final = ("format", "id", "title", "wire", "accepts", "requires", "timing", "provenance", "points")


class ProfileError(Exception):
    """A profile or an installation's settings cannot be used. Says where, what is wrong and what would be right.

    Attributes:
        file: the profile's file or name.
        line: line of the key in that file; None for an installation's settings, which stand elsewhere.
        key: dotted, such as ``sentinels.fault``.
    """

    def __init__(self, *, file: str, line: int | None, key: str, expected: str, got: str) -> None:
        self.file, self.line, self.key, self.expected, self.got = file, line, key, expected, got
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: {key}: expected {expected}, got {got}")


@dataclass(frozen=True, slots=True)
class Provenance:
    """How far the profile is to be believed, and where its numbers come from."""

    verification: str
    sources: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """One device model; after `installed`, one head's.

    Attributes:
        refresh_s: how often the device renews its own value; None where nobody knows.
        detects_silence_s: how long a silence can stay unseen by the device's own signs; None where it has none.
        accepts, requires: keys an installation may and must set.
        table: the keys of [points] as written, under an installation's.
        points: where the value sits; None until every required key is there.
    """

    id: str
    wire: Literal["modbus", "mqtt"]
    refresh_s: float | None
    detects_silence_s: float | None
    provenance: Provenance
    accepts: tuple[str, ...]
    requires: tuple[str, ...]
    table: Mapping[str, object]
    points: ModbusPoints | PayloadPoints | None

    def setting_names(self) -> tuple[str, ...]:
        """Return the keys an installation may give."""
        return (*self.requires, *(name for name in self.accepts if name not in self.requires))

    def installed(self, settings: Mapping[str, object]) -> "Profile":
        """Return this profile with an installation's keys applied.

        Raises:
            ProfileError: for an unknown key (with the nearest right one), a missing one, or a wrong value.
        """
        for name in settings:
            if name not in self.setting_names():
                raise self._refused(name, one_of(self.setting_names(), name), ABSENT)
        table = {**self.table, **settings}
        refresh_s = self.refresh_s
        if "refresh_s" in table:
            given = table.pop("refresh_s")
            if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < math.inf:
                raise self._refused("refresh_s", "seconds, a number above 0", shown(given))
            refresh_s = float(given)
        for name in self.requires:
            if name not in table:
                raise self._refused(name, "a value", NOTHING)
        try:
            points = modbus_points(table) if self.wire == "modbus" else payload_points(table)
        except KeyFault as fault:
            raise self._refused(fault.key, fault.expected, fault.got) from None
        return replace(self, refresh_s=refresh_s, table=table, points=points)

    def _refused(self, key: str, expected: str, got: str) -> ProfileError:
        return ProfileError(file=self.id, line=None, key=key, expected=expected, got=got)


def names() -> tuple[str, ...]:
    """Return the shipped profiles."""
    return tuple(sorted(path.stem for path in SHIPPED.glob("*.toml")))


def load(name_or_path: str, base: Path | None = None) -> Profile:
    """Return a shipped profile by name, or a site profile by path (relative to `base`).

    Raises:
        ProfileError: if there is no such profile, or its file cannot be used.
    """
    if name_or_path in names():
        return _read(SHIPPED / f"{name_or_path}.toml", name_or_path)
    if "/" not in name_or_path and not name_or_path.endswith(".toml"):
        expected = one_of(names(), name_or_path) + ", or the path of a site profile"
        raise ProfileError(file=name_or_path, line=None, key="profile", expected=expected, got=shown(name_or_path))
    path = Path(name_or_path) if base is None else base / name_or_path
    return _read(path, str(path))


def _read(path: Path, name: str) -> Profile:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ProfileError(file=name, line=None, key="file", expected=f"at most {MAX_BYTES} bytes", got="more")
        text = path.read_text(encoding="utf-8")
        document = tomllib.loads(text)
    except OSError as error:
        got = error.strerror or "an error"
        raise ProfileError(file=name, line=None, key="file", expected="a readable profile", got=got) from None
    except UnicodeDecodeError:
        raise ProfileError(file=name, line=None, key="file", expected="UTF-8 text", got="other bytes") from None
    except RecursionError:
        raise ProfileError(file=name, line=None, key="file", expected="TOML", got="too deep a nesting") from None
    except ValueError as error:  # TOMLDecodeError, and what int() and datetime() say of impossible values
        found = re.search(r"line (\d+)", str(error))
        line = int(found.group(1)) if found else None
        raise ProfileError(file=name, line=line, key="file", expected="TOML", got=str(error)) from None
    try:
        return _profile(document)
    except RecursionError:
        raise ProfileError(file=name, line=None, key="file", expected="TOML", got="too deep a nesting") from None
    except KeyFault as fault:
        line = _line_of(text, fault.key)
        raise ProfileError(file=name, line=line, key=fault.key, expected=fault.expected, got=fault.got) from None
    except ProfileError as error:
        place, key = _line_of(text, error.key), f"points.{error.key}"
        raise ProfileError(file=name, line=place, key=key, expected=error.expected, got=error.got) from None


def _profile(document: Mapping[str, object]) -> Profile:
    _known("", document, TOP_KEYS)
    if document.get("format") != 1:
        raise KeyFault("format", "1", document.get("format", NOTHING))
    wire = document.get("wire")
    if wire not in ("modbus", "mqtt"):
        raise KeyFault("wire", "'modbus' or 'mqtt'", document.get("wire", NOTHING))
    identity = document.get("id")
    if not isinstance(identity, str) or not identity:
        raise KeyFault("id", "a name", document.get("id", NOTHING))
    keys = (*(MODBUS_KEYS if wire == "modbus" else PAYLOAD_KEYS), "refresh_s")
    requires, accepts = _names(document, "requires", keys), _names(document, "accepts", keys)
    timing = _section(document, "timing", ("refresh_s", "detects_silence_s"))
    points = _section(document, "points", tuple(name for name in keys if name != "refresh_s"))
    profile = Profile(
        id=identity,
        wire="modbus" if wire == "modbus" else "mqtt",
        refresh_s=_seconds(timing, "refresh_s"),
        detects_silence_s=_seconds(timing, "detects_silence_s"),
        provenance=_provenance(document),
        accepts=accepts,
        requires=requires,
        table=points,
        points=None,
    )
    return profile if requires else profile.installed({})


def _provenance(document: Mapping[str, object]) -> Provenance:
    section = _section(document, "provenance", ("verification", "sources", "note"))
    verification, sources = section.get("verification", "site"), section.get("sources", [])
    if verification not in VERIFICATIONS:
        raise KeyFault("provenance.verification", one_of(VERIFICATIONS, str(verification)), verification)
    if not isinstance(sources, list) or not all(isinstance(source, str) for source in sources):
        raise KeyFault("provenance.sources", "a list of texts", sources)
    return Provenance(str(verification), tuple(sources), str(section.get("note", "")))


def _section(document: Mapping[str, object], name: str, known: tuple[str, ...]) -> dict[str, object]:
    section = document.get(name, {})
    if not isinstance(section, Mapping):
        raise KeyFault(name, "a table", section)
    _known(f"{name}.", section, known)
    return dict(section)


def _known(prefix: str, table: Mapping[str, object], known: tuple[str, ...]) -> None:
    for name in table:
        if name not in known:
            raise KeyFault(prefix + name, one_of(known, name), ABSENT)


def _names(document: Mapping[str, object], key: str, known: tuple[str, ...]) -> tuple[str, ...]:
    value = document.get(key, [])
    if not isinstance(value, list):
        raise KeyFault(key, "a list of keys", value)
    for name in value:
        if not isinstance(name, str) or name not in known:
            raise KeyFault(key, one_of(known, str(name)), name)
    return tuple(value)


def _seconds(section: Mapping[str, object], name: str) -> float | None:
    value = section.get(name)
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or value < 0:
        raise KeyFault(f"timing.{name}", "seconds, a number from 0 up", value)
    return float(value)


def _line_of(text: str, key: str) -> int | None:
    """Find the line of the first key with this last name (list positions left out); None when it is not there."""
    name = [step for step in key.split(".") if not step.isdigit()][-1]
    pattern = re.compile(rf"""(^|[\s{{,\[."'])["']?{re.escape(name)}["']?\s*[\]=.]""")
    for number, line in enumerate(text.splitlines(), start=1):
        if pattern.search(line):
            return number
    return None
