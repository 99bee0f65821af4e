"""The figures of ``/metrics`` in the Prometheus text format, version 0.0.4. Pure."""

from collections.abc import Iterable, Iterator
from itertools import chain
from math import inf, isnan

from dashboards.ports import DetectorView, Figure, Snapshot

PREFIX = "vigia_"
_QUALITY = {"bad": 0, "uncertain": 1, "good": 2}
_KINDS = ("GAS", "BLIND", "SYSTEM", "COMPLIANCE")


def exposition(snapshot: Snapshot | None, watch: Iterable[Figure], own: Iterable[Figure]) -> str:
    """Render one scrape: each name once, with what it tells and its type, then its figures.

    Args:
        snapshot: the present picture; None when the gateway is not heard: then no value of it is shown.
        watch: the watch's own figures.
        own: the web child's.
    """
    up = float(snapshot is not None and snapshot.alive)
    pictured = () if snapshot is None else _of_snapshot(snapshot)
    families: dict[str, list[Figure]] = {}
    for figure in chain(
        [Figure("gateway_up", "1 while the watch is heard and its alarm loop lives", up)], pictured, watch, own
    ):
        families.setdefault(figure.name, []).append(figure)
    return "".join(f"{line}\n" for family in families.values() for line in _family(family))


def _of_snapshot(snapshot: Snapshot) -> Iterator[Figure]:
    for view in snapshot.detectors:
        yield from _of_detector(view)
    for kind in _KINDS:
        standing = sum(alarm.kind == kind for alarm in snapshot.alarms)
        yield Figure("alarms", "how many alarms stand", float(standing), {"kind": kind})
    for alarm in snapshot.alarms:
        labels = {"subject": alarm.subject, "kind": alarm.kind, "level": alarm.level or "", "state": alarm.state}
        yield Figure("alarm_active", "1 for each alarm that stands", 1.0, labels)
    for output in snapshot.outputs:
        labels = {"output": output.id}
        yield Figure("output_wanted", "1 while the output is told to be on", float(output.wanted), labels)
        if output.confirmed is not None:
            about = "1 when the output was read back as on; absent when unknown"
            yield Figure("output_confirmed", about, float(output.confirmed), labels)
    for link in snapshot.links:
        yield Figure("link_up", "1 while the line or broker is up", float(link.up), {"link": link.id})
    if snapshot.worst_ms is not None:
        about = "slowest first output measured since the start; absent before the first alarm"
        yield Figure("first_output_worst_seconds", about, round(snapshot.worst_ms / 1000, 6))


def _of_detector(view: DetectorView) -> Iterator[Figure]:
    labels = {"detector": view.id, "area": view.area}
    if view.lel_pct is not None:
        about = "percent of the lower explosive limit; absent without a number"
        yield Figure("detector_lel_pct", about, view.lel_pct, labels)
    if view.at_least is not None:
        about = "lower bound where the head gives no number, or is over range"
        yield Figure("detector_at_least_lel_pct", about, view.at_least, labels)
    quality = float(_QUALITY.get(view.quality, 0))
    yield Figure("detector_quality", "0 bad, 1 uncertain, 2 good", quality, labels)
    if view.age_s is not None:
        about = "since the value was taken; absent when it never was"
        yield Figure("detector_age_seconds", about, view.age_s, labels)
    yield Figure("detector_watching", "1 while the head watches", float(view.watching), labels)
    about = "computed time from the register to the first output"
    yield Figure("detector_worst_case_seconds", about, view.worst_case_s, labels)


def _family(figures: list[Figure]) -> Iterator[str]:
    name = PREFIX + figures[0].name
    about = figures[0].about.replace("\\", r"\\").replace("\n", r"\n")
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}"
    for figure in figures:
        labels = ",".join(f'{label}="{_escaped(text)}"' for label, text in figure.labels.items())
        yield f"{name}{{{labels}}} {_number(figure.value)}" if labels else f"{name} {_number(figure.value)}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    if isnan(value):
        return "NaN"
    return repr(value) if abs(value) != inf else f"{'-' if value < 0 else '+'}Inf"
