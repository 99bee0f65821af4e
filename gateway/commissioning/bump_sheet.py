"""The record of one bump test: what the journal says, the verdict and the next dates, signed, in ``data/bumps``."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from gateway.commissioning.bump_history import BumpEntry
from gateway.commissioning.bump_verdict import limits_of, objections
from gateway.commissioning.upkeep import Due, dues
from gateway.depot import Depot, Detector
from gateway.sealing.keys import SigningKey, put

FORMAT = 1
FOLDER = "bumps"


@dataclass(frozen=True, slots=True)
class Seal:
    """Where in the journal the test stands, and the journal's state when the record was made."""

    idx: int
    leaf: str
    size: int
    root: str


def sheet(
    depot: Depot, detector: Detector, entry: BumpEntry, seal: Seal, by: str, last_passed: date | None
) -> dict[str, Any]:
    """Return the record. `last_passed` is the day of the last passed test before this one.

    Times after the gas are milliseconds from the sample that first showed it; null: it never came.
    """
    body = entry.body
    failed = objections(body, limits_of(depot, detector))
    closed = datetime.fromtimestamp(body["closed_ms"] / 1000, UTC)
    passed_on = closed.astimezone(ZoneInfo(depot.timezone)).date() if not failed else last_passed
    due = dues(
        detector.intervals,
        calibrated_on=detector.calibrated_on,
        bumped_on=passed_on,
        tested_on=detector.tested_on,
    )
    return {
        "format": FORMAT,
        "kind": "bump",
        "depot": {"id": depot.id, "name": depot.name, "address": depot.address},
        "detector": str(detector.id),
        "area": detector.area,
        "profile": detector.profile,
        "by": by,
        "note": body["note"],
        "opened": _time(body["opened_ms"]),
        "closed": _time(body["closed_ms"]),
        "gas_at": None if body["sampled_ms"] is None else _time(body["sampled_ms"]),
        "a1_lel_pct": depot.levels.a1,
        "peak_lel_pct": None if body["peak_milli"] is None else body["peak_milli"] / 1000,
        "until_a1_ms": body["until_a1_ms"],
        "until_decided_ms": body["until_decided_ms"],
        "until_first_output_ms": body["until_first_output_ms"],
        "until_siren_ms": body["until_siren_ms"],
        "until_told_ms": body["until_told_ms"],
        "passed": not failed,
        "objections": list(failed),
        "next_due": {one.care.value: _day(one) for one in due},
        "journal": {"entry": seal.idx, "leaf": seal.leaf, "size": seal.size, "root": seal.root},
        "made_by": f"vigia {version('vigia-glp')}",
    }


def keep(folder: Path, record: Mapping[str, Any], key: SigningKey) -> tuple[Path, Path]:
    """Write the record and its signature; return both files.

    The signature is over the bytes of the file, and is written first: a record is never there without it.

    Raises:
        OSError: they cannot be written, or a record of that second stands already.
    """
    content = json.dumps({**record, "key": key.fingerprint}, ensure_ascii=False, indent=2).encode() + b"\n"
    moment = datetime.fromisoformat(str(record["closed"]))
    file = folder / f"{moment:%Y%m%dT%H%M%SZ}-{record['detector']}.json"
    signature = file.with_name(f"{file.name}.sig")
    put(signature, key.sign(content), mode=0o600, anew=True)
    put(file, content, mode=0o600, anew=True)
    return file, signature


def _time(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _day(due: Due) -> str | None:
    return None if due.next is None else due.next.isoformat()
