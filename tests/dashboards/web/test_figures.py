"""The Prometheus text: every scraper can read it, every name stands once, and a lost watch leaves no value behind."""

from typing import Any

import pytest
from prometheus_text import parsed

from dashboards.ports import AlarmView, DepotView, DetectorView, Figure, LinkView, OutputView, Snapshot
from dashboards.web.figures import exposition

NOW = "2026-11-30T11:10:59.123Z"
NASTY = 'linha "1"\\{x=1}, b\nfim'


def head(head_id: str, lel: float | None, **different: Any) -> DetectorView:
    values: dict[str, Any] = {
        "id": head_id, "area": "patio", "source": "bus", "lel_pct": lel, "at_least": None, "quality": "good",
        "status": "measuring", "reason": "", "taken": NOW, "age_s": 0.3, "a1": 10.0, "a2": 20.0, "a3": 40.0,
        "watching": True, "worst_case_s": 1.0, "certified": True,
    }  # fmt: skip
    return DetectorView(**(values | different))


def picture() -> Snapshot:
    alarms = tuple(
        AlarmView(
            f"d-1-{subject}", subject, kind, level, "unacknowledged", True, False, 12.0, 12.0, "good", NOW, NOW, NOW,
            None, None, False, "", "", "patio", "",
        )
        for subject, kind, level in (("GD-101", "GAS", "A1"), (NASTY, "SYSTEM", None))
    )  # fmt: skip
    return Snapshot(
        seq=1, at=NOW, depot=DepotView("d", "D", "", "UTC", "pt-BR", "0", NOW),
        detectors=(head("GD-101", 12.5), head("GD-102", None, at_least=40.0, quality="bad", age_s=None)),
        alarms=alarms, outputs=(OutputView("sirene", True, None, "", None), OutputView("relé", True, True, "", 1.0)),
        links=(LinkView(NASTY, up=False, reason="refused", age_s=1.0),), worst_ms=211.4, worst_case_s=1.0, alive=True,
        silence_s=120.0,
    )  # fmt: skip


WATCH = (
    Figure("bus_polls_total", "requests sent", 7.0, {"bus": "linha-1"}),
    Figure("loop_lag_seconds", "back\\slash\nand line", float("nan")),
    Figure("bus_polls_total", "requests sent", 1e16, {"bus": NASTY}),
    Figure("journal_queued", "waiting", float("inf")),
)


def test_every_figure_can_be_read_back_with_its_labels_as_they_were() -> None:
    series = parsed(exposition(picture(), WATCH, [Figure("web_browsers", "open", 2.0)]))
    assert series["vigia_gateway_up", ()] == 1.0
    assert series["vigia_bus_polls_total", (("bus", "linha-1"),)] == 7.0
    assert series["vigia_bus_polls_total", (("bus", NASTY),)] == 1e16
    assert series["vigia_detector_lel_pct", (("detector", "GD-101"), ("area", "patio"))] == 12.5
    assert series["vigia_detector_at_least_lel_pct", (("detector", "GD-102"), ("area", "patio"))] == 40.0
    assert series["vigia_link_up", (("link", NASTY),)] == 0.0
    assert series["vigia_output_confirmed", (("output", "relé"),)] == 1.0
    assert ("vigia_output_confirmed", (("output", "sirene"),)) not in series
    assert series["vigia_alarms", (("kind", "BLIND"),)] == 0.0
    assert series["vigia_alarms", (("kind", "SYSTEM"),)] == 1.0
    assert series["vigia_first_output_worst_seconds", ()] == 0.2114
    assert series["vigia_journal_queued", ()] == float("inf")


def test_without_the_watch_there_is_no_value_of_it() -> None:
    series = parsed(exposition(None, (), [Figure("web_browsers", "open", 2.0)]))
    assert series == {("vigia_gateway_up", ()): 0.0, ("vigia_web_browsers", ()): 2.0}


@pytest.mark.parametrize(
    "text",
    [
        "vigia_a 1.0\n",
        "# TYPE vigia_a gauge\n# HELP vigia_a x\nvigia_a 1.0\n",
        "# HELP vigia_a x\n# TYPE vigia_a counter\nvigia_a 1.0\n",
        "# HELP a_total x\n# TYPE a_total gauge\na_total 1.0\n",
        "# HELP a x\n# TYPE a gauge\na 1.0\na 2.0\n",
        '# HELP a x\n# TYPE a gauge\na{b="1",b="2"} 1.0\n',
        '# HELP a x\n# TYPE a gauge\na{b="1"c="2"} 1.0\n',
        '# HELP a x\n# TYPE a gauge\na{b="\\x"} 1.0\n',
        "# HELP a x\n# TYPE a gauge\na{} 1.0\n",
        "# HELP a x\n# TYPE a gauge\na inf\n",
        "# HELP a x\n# TYPE a gauge\na 1.0",
        "# HELP a x\n# TYPE a gauge\n",
        '# HELP a x\n# TYPE a gauge\n# HELP b x\n# TYPE b gauge\na{n="1"} 1\nb 1\na{n="2"} 1\n',
    ],
)
def test_the_reader_takes_nothing_amiss_in_silence(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parsed(text)
