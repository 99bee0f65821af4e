"""The sender against scripted databases: everything arrives once, whatever they answer."""

import asyncio
import time
from dataclasses import replace

import pytest
import structlog
from patience import until
from recorded import BEGIN_S, HURRIED, HandClock, reading, sending

from gateway.store.base import Base, Verdict
from gateway.store.lines import GasLines
from gateway.store.settings import Target
from gateway.store.spool import Spool
from sensors.readings import DetectorId
from simulator.bases import Point, ScriptedBase, parse

HEADS = [f"GD-{number:02}" for number in range(20)]
LINES = GasLines("centro", {DetectorId(head): "patio" for head in HEADS})
SECRET = "segredo-do-banco-123"  # noqa: S105 - a test's own


def put(spool: Spool, seconds: range, heads: int = 20) -> None:
    """A line of each head for each of these seconds."""
    for second in seconds:
        batch = [LINES.of(reading(head, second % 50 / 10, BEGIN_S + second)) for head in HEADS[:heads]]
        spool.put(batch, (BEGIN_S + second) * 1000, (BEGIN_S + second) * 1000)


def seconds_of(base: ScriptedBase, head: str = "GD-00") -> list[int]:
    return [point.ms // 1000 - BEGIN_S for point in base.points if point.tags.get("detector") == head]


async def test_everything_arrives_once_in_order_with_its_own_time(spool: Spool, clock: HandClock):
    put(spool, range(100))
    async with ScriptedBase() as base, sending(spool, base.url, clock) as (sender, _):
        await until(lambda: sender.figures.sent == 2000)
        assert seconds_of(base) == list(range(100))
        assert len(base.points) == 2000


@pytest.mark.parametrize("generation", [1, 2, 3])
async def test_every_generation_is_found_out_and_written_to(spool: Spool, clock: HandClock, generation):
    put(spool, range(3))
    async with (
        ScriptedBase(generation=generation) as base,
        sending(spool, base.url, clock, org="deposito", compress=generation == 3) as (sender, _),
    ):
        await until(lambda: sender.figures.sent == 60)
        assert seconds_of(base) == [0, 1, 2]


@pytest.mark.trial("B36")
async def test_b36_readings_refused_for_the_token_are_kept_and_arrive_when_it_is_back(
    spool: Spool, clock: HandClock, capsys: pytest.CaptureFixture[str]
):
    structlog.configure(logger_factory=structlog.PrintLoggerFactory())
    pace = replace(HURRIED, refused_retry=0.2)
    async with (
        ScriptedBase(token=SECRET) as base,
        sending(spool, base.url, clock, pace, token=SECRET) as (sender, troubles),
    ):
        put(spool, range(10))
        await until(lambda: sender.figures.sent == 200)
        for status, said in ((401, f"token {SECRET} revoked"), (403, "forbidden"), (404, "bucket not found")):
            before = len(base.deliveries)
            base.mood = (status, {"code": "not found", "message": said})
            put(spool, range(10 + status % 10 * 10, 20 + status % 10 * 10))
            sender.wake()
            began = asyncio.get_running_loop().time()
            await until(lambda before=before: len(base.deliveries) >= before + 3)
            assert asyncio.get_running_loop().time() - began > 0.35, "slow retries"
            assert troubles.told[-1][:2] == (True, "no-database" if status == 404 else "credentials")
        base.mood = None
        await until(lambda: sender.figures.sent == 800)
        await until(lambda: troubles.told[-1][0] is False)
    assert sorted(seconds_of(base)) == sorted([*range(10), *range(20, 30), *range(40, 50), *range(50, 60)])
    shown = capsys.readouterr()
    assert SECRET not in shown.out + shown.err
    assert "revoked" in shown.out
    assert SECRET not in repr(troubles.told)
    assert all(request.authorization == f"Token {SECRET}" for request in base.deliveries)


@pytest.mark.trial("B38")
async def test_b38_after_an_outage_live_goes_first_and_the_backlog_follows_oldest_first(spool: Spool, clock: HandClock):
    pace = replace(HURRIED, most_points=5_000, late=5.0)
    put(spool, range(7200))
    clock.forward(7200)
    lags: list[float] = []
    async with ScriptedBase(delay_s=0.3) as base, sending(spool, base.url, clock, pace) as (sender, _):
        live = 7200
        while len([second for second in seconds_of(base) if second < 7200]) < 7200:
            put(spool, range(live, live + 1))
            sender.wake()
            await asyncio.sleep(0.25)  # a second of the depot's time: even slower for the base than in the trial
            clock.forward(1)
            live += 1
            if live > 7210:
                lags.append(live - 1 - max(seconds_of(base)))
            assert live < 7600
        await until(lambda: sender.figures.sent == 20 * live)
    assert max(lags) < 10, "live is never late while the backlog drains"
    old = [second for second in seconds_of(base) if second < 7200]
    assert old == list(range(7200))
    new = [second for second in seconds_of(base) if second >= 7200]
    assert new == sorted(new) and len(new) == live - 7200
    assert len(base.deliveries) < 7200 / 20, "in large pieces"


async def test_the_catch_up_is_not_faster_than_it_may_be(spool: Spool, clock: HandClock):
    put(spool, range(100))
    pace = replace(HURRIED, most_points=200, catch_up=4000.0)
    async with ScriptedBase() as base, sending(spool, base.url, clock, pace) as (sender, _):
        began = asyncio.get_running_loop().time()
        await until(lambda: sender.figures.sent == 2000)
        assert asyncio.get_running_loop().time() - began > 0.4
        assert len(base.deliveries) == 10


@pytest.mark.parametrize("generation", [1, 2])
@pytest.mark.parametrize("keeps_good", [True, False])
async def test_a_refused_line_is_found_and_stops_no_other(spool: Spool, clock: HandClock, generation, keeps_good: bool):
    bad = {(7, "GD-03"), (60, "GD-11")}

    def refuses(point: Point) -> bool:
        return (point.ms // 1000 - BEGIN_S, point.tags["detector"]) in bad

    put(spool, range(100))
    async with (
        ScriptedBase(generation=generation, refuses=refuses, keeps_good=keeps_good) as base,
        sending(spool, base.url, clock) as (sender, troubles),
    ):
        await until(lambda: sender.figures.sent == 1998)
        assert {(p.ms, p.tags["detector"]) for p in base.points} >= {
            ((BEGIN_S + second) * 1000, head) for second in range(100) for head in HEADS if (second, head) not in bad
        }
        await until(lambda: "lines" in troubles.reasons)
        assert len(base.deliveries) < 60
    refused = [parse(line) for line, _ in spool.refusals()]
    assert {(point.ms // 1000 - BEGIN_S, point.tags["detector"]) for point in refused} == bad
    assert all("conflict" in reason for _, reason in spool.refusals())


async def test_series_that_are_always_refused_cost_little_and_come_back_by_themselves(spool: Spool, clock: HandClock):
    async with (
        ScriptedBase(refuses=lambda point: point.tags["detector"] < "GD-05") as base,
        sending(spool, base.url, clock) as (sender, _),
    ):
        put(spool, range(200))
        await until(lambda: sender.figures.sent == 3000)
        first = len(base.deliveries)
        put(spool, range(200, 400))
        sender.wake()
        await until(lambda: sender.figures.sent == 6000)
        assert len(base.deliveries) - first < 100
        base.refuses = lambda _: False
        put(spool, range(400, 420))
        sender.wake()
        await until(lambda: sender.figures.sent == 6400)
    assert spool.health(0).refused == 2000


async def test_too_large_a_request_is_halved_and_the_size_remembered(spool: Spool, clock: HandClock):
    put(spool, range(100))
    async with ScriptedBase(most_bytes=20_000) as base, sending(spool, base.url, clock) as (sender, _):
        await until(lambda: sender.figures.sent == 2000)
        first = len(base.deliveries)
        put(spool, range(100, 200))
        sender.wake()
        await until(lambda: sender.figures.sent == 4000)
        assert len(base.deliveries) - first <= 20
    assert spool.health(0).refused == 0


async def test_a_base_that_is_busy_is_given_the_time_it_asks_for(spool: Spool, clock: HandClock):
    async with (
        ScriptedBase(mood=(503, {"message": "busy"}), retry_after_s=1) as base,
        sending(spool, base.url, clock) as (sender, troubles),
    ):
        put(spool, range(5))
        sender.wake()
        await until(lambda: base.deliveries)
        asked = time.monotonic()
        base.mood = None
        await until(lambda: sender.figures.sent == 100)
        assert time.monotonic() - asked > 0.9  # it was asked a moment before this was seen
        assert len(base.deliveries) == 2
        assert troubles.told == []


async def test_a_connection_that_hangs_is_given_up_in_time(spool: Spool, clock: HandClock):
    put(spool, range(5))
    async with (
        ScriptedBase(delay_s=None) as base,
        sending(spool, base.url, clock, timeout_s=0.2) as (sender, troubles),
    ):
        await until(lambda: len(base.deliveries) >= 3)
        await until(lambda: troubles.reasons == ["no-answer"])
        base.delay_s = 0.0
        await until(lambda: sender.figures.sent == 100)
        await until(lambda: troubles.told[-1][0] is False)
        assert seconds_of(base) == [0, 1, 2, 3, 4]
        assert [present for present, *_ in troubles.told] == [True, False]


async def test_a_base_that_takes_and_forgets_is_found_out(spool: Spool, clock: HandClock):
    pace = replace(HURRIED, prove=0.05, prove_within=0.1)
    async with (
        ScriptedBase(forgets=True) as base,
        sending(spool, base.url, clock, pace, org="x") as (sender, troubles),
    ):
        await until(lambda: "unproved" in troubles.reasons)
        base.forgets = False
        await until(lambda: troubles.told[-1][0] is False)
        assert sender.figures.proofs >= 1
        assert "proof_age_s" in sender.counts()


async def test_a_full_spool_is_told_before_and_after(clock: HandClock, tmp_path):
    from gateway.store.spool import Bounds

    spool = Spool(tmp_path / "small.db", Bounds(200_000, 30 * 86_400_000))
    async with sending(spool, "http://127.0.0.1:9", clock) as (sender, troubles):
        second = 0
        while "losing" not in troubles.reasons:
            put(spool, range(second, second + 10))
            clock.forward(10)
            sender.wake()
            second += 10
            await asyncio.sleep(0.01)
            assert second < 100_000
    reasons = [reason for reason in troubles.reasons if reason in ("filling", "losing")]
    assert reasons == ["filling", "losing"]
    spool.close()


async def test_no_answer_of_the_wrong_kind_is_raised():
    async with Base(Target("http://127.0.0.1:9", "vigia", token=SECRET)) as base:
        answer = await base.write(b"gas quality=1i 1")
    assert answer.verdict is Verdict.NO_ANSWER
    assert SECRET not in repr(Target("http://x", "y", token=SECRET, password=SECRET))
