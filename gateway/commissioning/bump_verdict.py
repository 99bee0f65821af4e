"""Whether a bump test was passed, and what was wrong where it was not. Knows no journal and no clock."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.depot import Depot, Detector


@dataclass(frozen=True, slots=True)
class Limits:
    """What a bump test of one head has to show.

    Attributes:
        within_s: by when the first counting output has taken the alarm, after the sample that first showed gas (s).
        siren: whether the depot has one, which must then be proven to sound.
        audible_within_s: by when a statute in force wants it to sound (s); None where none asks.
    """

    within_s: float
    siren: bool
    audible_within_s: float | None


def limits_of(depot: Depot, detector: Detector) -> Limits:
    """Return the limits of one head."""
    audible = next((area.audible_within_s for area in depot.areas if area.id == detector.area), None)
    return Limits(depot.within_s, any(output.row.audible for output in depot.outputs), audible)


def objections(body: Mapping[str, Any], limits: Limits) -> tuple[str, ...]:
    """Return why the test with this journal body was not passed; nothing if it was.

    ``no-gas`` (and then nothing else), ``no-output``, ``late-output``, ``no-siren``, ``late-siren``.
    """
    if body["sampled_ms"] is None:
        return ("no-gas",)
    found: list[str] = []
    first, siren = body["until_first_output_ms"], body["until_siren_ms"]
    if first is None:
        found.append("no-output")
    elif first > limits.within_s * 1000:
        found.append("late-output")
    if limits.siren:
        if siren is None:
            found.append("no-siren")
        elif limits.audible_within_s is not None and siren > limits.audible_within_s * 1000:
            found.append("late-siren")
    return tuple(found)
