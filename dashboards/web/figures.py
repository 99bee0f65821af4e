"""The figures of ``/metrics`` in the Prometheus text format. Pure."""

import re
from collections.abc import Iterator, Mapping

from dashboards.ports import Snapshot

_QUALITY = {"bad": 0, "uncertain": 1, "good": 2}
_NOT_A_NAME = re.compile(r"[^a-zA-Z0-9_]")
_Labels = Mapping[str, str]


def exposition(snapshot: Snapshot | None, counters: Mapping[str, float], own: Mapping[str, float]) -> str:
    """Render one scrape.

    Args:
        snapshot: the present picture; None when the gateway is not heard: then no value of it is shown.
        counters: the gateway's own figures by name.
        own: the web child's figures by name.
    """
    lines: list[str] = []
    lines += _family("gateway_up", "1 while the gateway is heard and its alarm loop lives", [({}, _up(snapshot))])
    if snapshot is not None:
        lines += _of_snapshot(snapshot)
    for name, value in sorted({**counters, **own}.items()):
        lines += _family(_NOT_A_NAME.sub("_", name), "", [({}, value)])
    return "\n".join(lines) + "\n"


def _up(snapshot: Snapshot | None) -> float:
    return float(snapshot is not None and snapshot.alive)


def _of_snapshot(snapshot: Snapshot) -> Iterator[str]:
    heads = [({"detector": view.id, "area": view.area}, view) for view in snapshot.detectors]
    yield from _family(
        "detector_lel_pct",
        "percent of the lower explosive limit; absent without a number",
        [(labels, view.lel_pct) for labels, view in heads if view.lel_pct is not None],
    )
    yield from _family(
        "detector_at_least_lel_pct",
        "lower bound where the head gives no number, or is over range",
        [(labels, view.at_least) for labels, view in heads if view.at_least is not None],
    )
    yield from _family(
        "detector_quality",
        "0 bad, 1 uncertain, 2 good",
        [(labels, float(_QUALITY.get(view.quality, 0))) for labels, view in heads],
    )
    yield from _family(
        "detector_age_seconds",
        "since the value was taken; absent when it never was",
        [(labels, view.age_s) for labels, view in heads if view.age_s is not None],
    )
    yield from _family(
        "detector_watching", "1 while the head watches", [(labels, float(view.watching)) for labels, view in heads]
    )
    yield from _family(
        "detector_worst_case_seconds", "computed budget", [(labels, view.worst_case_s) for labels, view in heads]
    )
    yield from _family(
        "alarm_active",
        "standing alarms",
        [
            ({"subject": a.subject, "kind": a.kind, "level": a.level or "", "state": a.state}, 1.0)
            for a in snapshot.alarms
        ],
    )
    kinds = ("GAS", "BLIND", "SYSTEM", "COMPLIANCE")
    yield from _family(
        "alarms",
        "count of standing alarms",
        [({"kind": kind}, float(sum(a.kind == kind for a in snapshot.alarms))) for kind in kinds],
    )
    yield from _family(
        "output_wanted",
        "1 when the output is told to be on",
        [({"output": o.id}, float(o.wanted)) for o in snapshot.outputs],
    )
    yield from _family(
        "output_confirmed",
        "what was read back from the output; absent when unknown",
        [({"output": o.id}, float(o.confirmed)) for o in snapshot.outputs if o.confirmed is not None],
    )
    yield from _family("link_up", "buses, brokers, channels", [({"link": k.id}, float(k.up)) for k in snapshot.links])
    yield from _family("worst_case_seconds", "slowest computed budget", [({}, snapshot.worst_case_s)])
    if snapshot.worst_ms is not None:
        yield from _family("first_output_worst_milliseconds", "slowest measured", [({}, snapshot.worst_ms)])


def _family(name: str, about: str, samples: list[tuple[_Labels, float]]) -> Iterator[str]:
    if not samples:
        return
    full = f"vigia_{name}"
    if about:
        yield f"# HELP {full} {about}"
    yield f"# TYPE {full} {'counter' if name.endswith('_total') else 'gauge'}"
    for labels, value in samples:
        inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        yield f"{full}{{{inside}}} {value!r}" if inside else f"{full} {value!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
