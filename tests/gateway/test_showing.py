"""When screens hear of alarms: one soon, a burst now and then, and not again what the heartbeat has shown."""

import asyncio
from itertools import pairwise

from gateway.showing import AT_ONCE, SHOW_AFTER_S, SHOW_EVERY_S, Showing
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


def test_a_gas_that_comes_and_goes_in_a_moment_is_seen_to_come_and_to_go():
    assert len(times(1.0, 1.1, 1.2, 1.3)) == AT_ONCE


def test_alarms_that_keep_moving_are_shown_at_their_pace_and_the_last_move_is_not_forgotten():
    shown = times(*(1 + number / 100 for number in range(300)))
    assert shown[0] == 1.0 + SHOW_AFTER_S
    spans = [after - before for before, after in pairwise(shown)]
    assert len(shown) <= 3.0 / SHOW_EVERY_S + AT_ONCE
    assert max(spans) <= SHOW_EVERY_S + 0.02 and SHOW_EVERY_S <= 0.5, "a page that lags more is not live"
    assert 3.99 < shown[-1] <= 3.99 + SHOW_EVERY_S + 0.02


def test_what_the_heartbeat_has_shown_is_not_shown_again_and_delays_nothing():
    assert times(1.0, heartbeats=[1.02]) == []
    assert times(1.0, 1.03, heartbeats=[1.02]) == [1.03 + SHOW_AFTER_S]
