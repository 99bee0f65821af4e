"""When screens hear of alarms: one soon, a burst now and then, and not again what the heartbeat has shown."""

import asyncio
from itertools import pairwise

from gateway.showing import SHOW_AFTER_S, SHOW_EVERY_S, Showing
from simulator.virtual import VirtualLoop


def times(*moves, heartbeats=()):
    """When the pictures go out, in seconds, of what moves then."""
    loop = VirtualLoop(0.0)
    shown = []

    async def live():
        showing = Showing(lambda: shown.append(loop.time()))
        for at in moves:
            loop.call_at(at, showing.soon)
        for at in heartbeats:
            loop.call_at(at, showing.shown)
        await asyncio.sleep(10)

    loop.run_until_complete(live())
    loop.close()
    return shown


def test_one_alarm_is_shown_soon_with_what_follows_at_once():
    assert times(1.0, 1.01) == [1.0 + SHOW_AFTER_S]


def test_alarms_that_keep_moving_are_shown_at_their_pace_and_the_last_move_is_not_forgotten():
    shown = times(*(1 + number / 100 for number in range(100)))
    assert shown[0] == 1.0 + SHOW_AFTER_S
    assert all(after - before >= SHOW_EVERY_S - 1e-9 for before, after in pairwise(shown))
    assert 1.99 < shown[-1] <= 1.99 + SHOW_EVERY_S
    assert SHOW_EVERY_S <= 0.5, "a page that lags more is not live"


def test_what_the_heartbeat_has_shown_is_not_shown_again_and_delays_nothing():
    assert times(1.0, heartbeats=[1.02]) == []
    assert times(1.0, 1.03, heartbeats=[1.02]) == [1.03 + SHOW_AFTER_S]
