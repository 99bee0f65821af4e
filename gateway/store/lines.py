"""Readings and figures as line-protocol text: tags escaped once, numbers only, times in milliseconds. Knows no wire.

The text is what InfluxDB 1, 2 and 3 and VictoriaMetrics all read alike. They do not agree on a backslash inside a tag,
and none can carry a control character, so each of those becomes `REPLACED`; nothing else of a name changes.
"""

import re
from collections.abc import Mapping
from math import isfinite

from gateway.store.samples import QUALITY_NUMBER, STATUS_NUMBER, Sample, is_plain
from sensors.readings import DetectorId, Quality, Reading, Status
from sensors.stamps import MILLISECOND

REPLACED = "_"
"""Stands for each backslash and control character of a name."""

LONGEST_TAG = 200
"""Characters of a tag's value; the rest is cut."""

_FOREIGN = re.compile(r"[\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_ESCAPED = str.maketrans({",": r"\,", "=": r"\=", " ": r"\ "})

_TAG = r"(?:[^\\,= \x00-\x1f]|\\[,= ])+"
_NUMBER = r"-?[0-9]+(?:i|\.[0-9]+)"
_LINE = rf"[a-z_]+(?:,[a-z_]+={_TAG})* [a-z_0-9]+={_NUMBER}(?:,[a-z_0-9]+={_NUMBER})* -?[0-9]+"
LINE = re.compile(_LINE)
"""Everything we ever send. Beginnings are held against it when they are made; what follows them is numbers only."""

_FIELD = re.compile(r"[a-z_0-9]+")
_PREFIX = re.compile(rf"[a-z_]+(?:,[a-z_]+={_TAG})*")
_STATUS_TEXT = {status: f"i,status={number}i " for status, number in STATUS_NUMBER.items()}
_PLAIN = f"{QUALITY_NUMBER[Quality.GOOD]}{_STATUS_TEXT[Status.MEASURING]}"


def tag(text: str) -> str:
    """A name as a tag's value, escaped; empty where the name is, and then the tag must be left out."""
    return _FOREIGN.sub(REPLACED, text[:LONGEST_TAG]).translate(_ESCAPED)


def prefix(measurement: str, tags: Mapping[str, str]) -> str:
    """Measurement and tags in the order that databases like best; empty tags are left out.

    Raises:
        ValueError: the measurement or a tag's key is none of ours.
    """
    text = ",".join([measurement, *(f"{key}={tag(value)}" for key, value in sorted(tags.items()) if value)])
    if not _PREFIX.fullmatch(text):
        raise ValueError(f"{text!r} is no beginning of a line")
    return text


class GasLines:
    """Readings of a depot as lines of the measurement ``gas``.

    Args:
        depot: its id.
        areas: area of each detector.
    """

    def __init__(self, depot: str, areas: Mapping[DetectorId, str]) -> None:
        self._begins = {
            detector: prefix("gas", {"depot": depot, "area": area, "detector": detector}) + " "
            for detector, area in areas.items()
        }

    def of(self, reading: Reading) -> str:
        """One reading as a line, without its end; empty for a detector that is not of this depot."""
        begin = self._begins.get(reading.detector)
        if begin is None:
            return ""
        number, least = reading.lel_pct, reading.at_least
        state = _PLAIN if is_plain(reading) else f"{QUALITY_NUMBER[reading.quality]}{_STATUS_TEXT[reading.status]}"
        text = f"{state}{reading.taken.utc // MILLISECOND}"
        measured = number is not None and isfinite(number)
        text = f"lel_pct={number:.3f},quality={text}" if measured else f"quality={text}"
        if least is not None and isfinite(least):
            return f"{begin}at_least={least:.3f},{text}"
        return begin + text

    def sample(self, detector: DetectorId, sample: Sample, ms: int) -> str:
        """A second read back from the store as a line; empty for a detector that is not of this depot."""
        begin = self._begins.get(detector)
        if begin is None:
            return ""
        name = "at_least" if sample.bound else "lel_pct"
        number = "" if sample.lel_pct is None else f"{name}={sample.lel_pct:.3f},"
        return f"{begin}{number}quality={sample.quality}i,status={sample.status}i {ms}"


def figures(begin: str, values: Mapping[str, float], ms: int) -> str:
    """Named numbers as one line behind a `prefix`; empty if nothing is left.

    What is not finite is left out, and so is a name that is more than letters, digits and underscores.
    """
    fields = ",".join(
        f"{name}={value:.3f}" for name, value in values.items() if isfinite(value) and _FIELD.fullmatch(name)
    )
    return f"{begin} {fields} {ms}" if fields else ""


def series_of(line: str) -> str:
    """The measurement and tags of one of our lines."""
    found = _PREFIX.match(line)
    return line if found is None else found.group()
