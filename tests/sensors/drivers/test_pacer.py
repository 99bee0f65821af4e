"""One timer for all: in order, on ticks, and deaf to nobody because another failed."""

import asyncio
import math

import pytest

from sensors.drivers.pacer import AT_ONCE, FINE_GRID_S, GRID_S, LINES_ON_GRID, Pacer

pytestmark = pytest.mark.measured

TICK_S = 0.01


async def test_nobody_is_woken_early_or_more_than_a_tick_late():
    loop, pacer = asyncio.get_running_loop(), Pacer(TICK_S)
    woken: dict[float, float] = {}
    last = asyncio.Event()
    began = loop.time()
    wanted = [began + delay for delay in (0.05, 0.013, 0.0, 0.031, 0.0309, -1.0)]

    def note(when: float, now: float) -> None:
        woken[when] = now
        if len(woken) == len(wanted):
            last.set()

    for when in wanted:
        pacer.at(when, lambda now, when=when: note(when, now))
    await asyncio.wait_for(last.wait(), 2)
    for when, now in woken.items():
        assert now >= when
        if when > wanted[5]:
            assert math.ceil(when / TICK_S) * TICK_S <= now + 1e-9
        assert now - max(when, began) < 2 * TICK_S, "its tick, and what the loop takes to turn"


async def test_a_wake_that_raises_does_not_cost_the_others_theirs():
    loop, pacer = asyncio.get_running_loop(), Pacer(TICK_S)
    failures: list[object] = []
    loop.set_exception_handler(lambda _, context: failures.append(context["exception"]))
    woken = asyncio.Event()
    when = loop.time() + 0.02

    def fail(_: float) -> None:
        raise AssertionError("a bug")

    pacer.at(when, lambda _: woken.set())
    pacer.at(when, fail)
    pacer.at(when, fail)
    await asyncio.wait_for(woken.wait(), 2)
    assert len(failures) == 2


async def test_a_wake_that_asks_for_now_is_woken_in_the_next_tick_and_does_not_hold_the_loop():
    loop, pacer = asyncio.get_running_loop(), Pacer(TICK_S)
    times: list[float] = []
    enough = asyncio.Event()

    def again(now: float) -> None:
        times.append(now)
        if len(times) == 5:
            enough.set()
        else:
            pacer.at(now - 1, again)

    pacer.at(loop.time(), again)
    await asyncio.wait_for(enough.wait(), 2)
    assert times == sorted(set(times))


async def test_a_watch_that_is_let_go_is_not_called_and_others_are():
    loop, pacer = asyncio.get_running_loop(), Pacer(TICK_S)
    called: list[str] = []
    woken = asyncio.Event()

    def let_go(_: float) -> None:
        called.append("let go")

    pacer.watch(loop.time() + 0.01, let_go)
    pacer.watch(loop.time() + 0.04, lambda _: woken.set())
    pacer.let_go(let_go)
    pacer.let_go(let_go)
    await asyncio.wait_for(woken.wait(), 2)
    assert called == []


async def test_a_watch_is_called_once_and_at_its_last_moment_only():
    loop, pacer = asyncio.get_running_loop(), Pacer(TICK_S)
    called: list[float] = []
    pacer.watch(loop.time() + 0.01, called.append)
    pacer.watch(later := loop.time() + 0.04, called.append)
    woken = asyncio.Event()
    pacer.at(loop.time() + 0.08, lambda _: woken.set())
    await asyncio.wait_for(woken.wait(), 2)
    (once,) = called
    assert once >= later


async def test_what_came_meanwhile_is_read_before_all_of_a_crowded_tick_are_woken():
    loop, pacer = asyncio.get_running_loop(), Pacer(TICK_S)
    order: list[str] = []
    done = asyncio.Event()

    def wake(_: float) -> None:
        if not order:
            loop.call_soon(order.append, "read")
        order.append("asked")
        if order.count("asked") == 3 * AT_ONCE:
            done.set()

    for _ in range(3 * AT_ONCE):
        pacer.at(loop.time() + 0.01, wake)
    await asyncio.wait_for(done.wait(), 2)
    assert order.index("read") <= AT_ONCE
    assert order.count("asked") == 3 * AT_ONCE


async def test_slots_asked_for_in_one_wake_cost_no_wake_up_in_between():
    loop, pacer = asyncio.get_running_loop(), Pacer(TICK_S)
    fired: list[float] = []
    done = asyncio.Event()
    fire = pacer._fire

    def counted() -> None:
        fired.append(loop.time())
        fire()

    pacer._fire = counted  # type: ignore[method-assign]
    pacer.at(loop.time() + 0.02, lambda now: pacer.at(now + 0.05, lambda _: done.set()))
    await asyncio.wait_for(done.wait(), 2)
    assert len(fired) == 2


@pytest.mark.parametrize(("period_s", "grid_s"), [(1.0, GRID_S), (0.5, GRID_S / 2)])
@pytest.mark.parametrize("lines", [1, 8, LINES_ON_GRID])
async def test_first_slots_are_spread_over_the_period_and_on_the_grid(lines, period_s, grid_s):
    loop, pacer = asyncio.get_running_loop(), Pacer()
    now = loop.time()
    slots = [pacer.first_slot(period_s) for _ in range(lines)]
    assert all(now <= slot <= now + period_s + 2 * grid_s for slot in slots)
    assert all(math.isclose(slot / grid_s, round(slot / grid_s), abs_tol=1e-6) for slot in slots)
    places = round(period_s / grid_s)
    buckets = [sum(round(slot / grid_s) % places == tick for slot in slots) for tick in range(places)]
    assert max(buckets) <= math.ceil(lines / places) + 3


async def test_a_thousand_lines_never_all_begin_together():
    pacer = Pacer(TICK_S)
    slots = [round(pacer.first_slot(1.0) / TICK_S) for _ in range(1000)]
    together = 1000 * FINE_GRID_S + LINES_ON_GRID * GRID_S
    assert max(slots.count(slot) for slot in set(slots)) <= together * 1.2


async def test_a_beat_comes_with_slots_and_never_later_than_its_period():
    loop, pacer = asyncio.get_running_loop(), Pacer(TICK_S)
    fired, slots = [loop.time()], loop.create_future()

    def beat(now: float) -> None:
        fired.append(now)
        if len(fired) == 2:
            pacer.at(math.floor(now / GRID_S + 0.5) * GRID_S + 2 * GRID_S, slots.set_result)
            pacer.beat(2 * GRID_S, beat)

    pacer.beat(GRID_S, beat)
    async with asyncio.timeout(2):
        slot = await slots
    assert slot == fired[2]
    assert fired[1] - fired[0] <= GRID_S + TICK_S
    assert fired[2] - fired[1] <= 2 * GRID_S + TICK_S


async def test_moments_that_differ_by_rounding_only_share_a_wake_up():
    loop, pacer = asyncio.get_running_loop(), Pacer(TICK_S)
    place = math.ceil(loop.time() / TICK_S) + 3
    fired = [loop.create_future() for _ in range(3)]
    for number, future in enumerate(fired):
        pacer.at(place * TICK_S * (1 + (number - 1) * 2**-50), future.set_result)
    async with asyncio.timeout(2):
        assert len({await future for future in fired}) == 1
