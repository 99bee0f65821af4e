"""A page that stays open for years: what the child keeps of alarms goes with them."""

import gc
from collections.abc import Iterable

from dashboards.ports import AlarmView, Change, DepotView, PlaceView, Snapshot, Unsaid
from dashboards.speaking import Speaker
from dashboards.web.hub import Hub
from dashboards.web.picture import Picture

NOW = "2026-11-30T11:10:00.000Z"
PLACE = PlaceView("Depósito Centro", "Rua 1", "pátio", "GD-101", "Porta")


def alarm(number: int) -> AlarmView:
    values = {
        "id": f"d-{number}", "subject": f"GD-{number % 40}", "kind": "GAS", "level": "A1", "state": "unacknowledged",
        "present": True, "latched": False, "lel_pct": 12.0, "peak": 12.0, "quality": "good", "since": NOW,
        "sampled": NOW, "decided": NOW, "first_output": None, "acknowledged_by": None, "muted": False, "reason": "",
        "detail": "", "area": "patio", "text": "",
    }  # fmt: skip
    return AlarmView(**values, unsaid=Unsaid(PLACE, number % 300, drill=False, over_range=False))


def tracked() -> int:
    gc.collect()
    return len(gc.get_objects())


async def test_what_is_kept_of_thousands_of_alarms_is_what_stands() -> None:
    about = DepotView("d", "Depósito Centro", "", "America/Sao_Paulo", "pt-BR", "0", NOW)
    speaker = Speaker()
    picture = Picture(speaker.snapshot(Snapshot(0, NOW, about, (), (), (), (), None, 1.0, True, 120.0)), 0.0)
    hub = Hub(picture=lambda: picture.as_at(1.0), age=lambda: 0.1, civil=lambda: 0.0)
    slow, browser = hub.join(), hub.join()
    await browser.next()

    async def show(numbers: Iterable[int]) -> None:
        for number in numbers:
            standing = tuple(alarm(number + later) for later in range(3))
            change = speaker.change(Change(number, NOW, alarms=standing))
            picture.fold(change, float(number))
            hub.changed(change)
            assert await browser.next()

    await show(range(1, 200))
    before = tracked()
    await show(range(200, 2000))
    assert tracked() - before < 100
    assert slow.dropped and not browser.dropped and len(picture.alarms) == 3
