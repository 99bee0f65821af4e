"""Against the real InfluxDB 1.6.7 and VictoriaMetrics 1.79.5 of Debian's packages."""

import asyncio
from dataclasses import replace

import pytest
from databases import Influx1, Victoria
from patience import until
from recorded import BEGIN_S, HURRIED, HandClock, reading, sending

from gateway.store.base import Base, Verdict
from gateway.store.lines import REPLACED, GasLines
from gateway.store.settings import Target
from gateway.store.spool import Spool
from sensors.readings import DetectorId

pytestmark = pytest.mark.servers

HEADS = [f"GD-{number:02}" for number in range(20)]
LINES = GasLines("centro", {DetectorId(head): "patio" for head in HEADS})


def put(spool: Spool, seconds: range, begin: int = BEGIN_S) -> None:
    for second in seconds:
        batch = [LINES.of(reading(head, second % 50 / 10, begin + second + 0.125)) for head in HEADS]
        spool.put(batch, (begin + second) * 1000, (begin + second) * 1000)


async def test_influxdb_1_gets_every_point_with_its_own_time(influx1: Influx1, spool: Spool, clock: HandClock):
    put(spool, range(100))
    async with sending(spool, influx1.url, clock) as (sender, troubles):
        await until(lambda: sender.figures.sent == 2000)
    (series,) = influx1.ask("SELECT lel_pct, quality, status, area FROM gas WHERE detector = 'GD-07'")
    assert series["values"] == [
        [(BEGIN_S + second) * 1000 + 125, second % 50 / 10, 2, 0, "patio"] for second in range(100)
    ]
    assert influx1.count() == 2000
    assert troubles.told == []


async def test_victoriametrics_gets_every_point_with_its_own_time(victoria: Victoria, spool: Spool, clock: HandClock):
    put(spool, range(100))
    async with sending(spool, victoria.url, clock, compress=True) as (sender, _):
        await until(lambda: sender.figures.sent == 2000)
    (series,) = victoria.export('gas_lel_pct{detector="GD-07"}')
    assert series["timestamps"] == [(BEGIN_S + second) * 1000 + 125 for second in range(100)]
    assert series["values"] == [second % 50 / 10 for second in range(100)]
    assert len(victoria.export("gas_quality")) == 20


@pytest.mark.parametrize("server", ["influx1", "victoria"])
async def test_health_is_proved_by_writing_and_reading_back(server: str, request: pytest.FixtureRequest, spool: Spool):
    from gateway.machine.clock import SystemClock

    pace = replace(HURRIED, prove=0.2, prove_within=15.0)
    async with sending(spool, request.getfixturevalue(server).url, SystemClock(), pace) as (sender, troubles):
        await until(lambda: sender.figures.proofs >= 2, 40.0)
        assert troubles.told == []


async def test_victoriametrics_query_is_never_believed(victoria: Victoria):
    """Its /query says 200 to everything: a number it never got must not count as read back."""
    assert "results" in victoria.get("/query", db="vigia", q="SELECT last(probe) FROM health")
    async with Base(Target(victoria.url, "vigia")) as base:
        assert await base.reads_back("health", "probe", "centro", 424242) is False


@pytest.mark.trial("B37")
async def test_b37_odd_names_come_back_from_the_real_databases(influx1: Influx1, victoria: Victoria):
    names = [
        "Cozinha, bloco A=1",
        "São João do Açúcar",
        "C:\\",
        "a\\,b",
        "linha1\ngas value=99",
        "  bordas  ",
        "chama 🔥",
    ]
    wanted = {"".join(REPLACED if c in "\\\n" else c for c in name) for name in names}
    lines = GasLines("centro", {DetectorId(name): "patio" for name in names})
    text = "\n".join(lines.of(reading(name, 1.5, BEGIN_S)) for name in names).encode()
    for server in (influx1, victoria):
        async with Base(Target(server.url, "vigia")) as base:
            assert (await base.write(text)).verdict is Verdict.ACCEPTED
    series = influx1.ask("SHOW TAG VALUES FROM gas WITH KEY = detector")
    assert {value for _, value in series[0]["values"]} == wanted
    assert {each["metric"]["detector"] for each in victoria.export("gas_lel_pct")} == wanted
    assert {row[0] for row in influx1.ask("SHOW MEASUREMENTS")[0]["values"]} == {"gas"}


@pytest.mark.trial("B36")
async def test_b36_a_database_that_was_dropped_gets_everything_when_it_is_back(
    influx1: Influx1, spool: Spool, clock: HandClock
):
    async with sending(spool, influx1.url, clock) as (sender, troubles):
        put(spool, range(10))
        sender.wake()
        await until(lambda: sender.figures.sent == 200)
        influx1.ask("DROP DATABASE vigia", db="")
        put(spool, range(10, 30))
        sender.wake()
        await until(lambda: "no-database" in troubles.reasons)
        influx1.create()
        await until(lambda: sender.figures.sent == 600)
        await until(lambda: troubles.told[-1][0] is False)
    assert influx1.count() == 400


async def test_a_type_conflict_costs_only_its_own_lines(influx1: Influx1, spool: Spool, clock: HandClock):
    influx1.post("/write", b'gas,area=patio,depot=centro,detector=GD-05 status="text" 1796040000000000000', db="vigia")
    put(spool, range(50))
    async with sending(spool, influx1.url, clock) as (sender, troubles):
        await until(lambda: sender.figures.sent + spool.health(0).refused == 1000)
        await until(lambda: "lines" in troubles.reasons)
    # the conflict is the field's, in that shard, whatever the series: InfluxDB says so line by line
    refused = {line.partition(" ")[0] for line, _ in spool.refusals()}
    assert refused
    assert all("conflict" in reason for _, reason in spool.refusals())
    assert spool.health(0).points == 0


async def test_points_older_than_the_base_keeps_are_counted_and_stop_nothing(influx1: Influx1, spool: Spool):
    from gateway.machine.clock import SystemClock

    now = SystemClock().now().utc // 1_000_000_000
    influx1.ask("ALTER RETENTION POLICY autogen ON vigia DURATION 2h SHARD DURATION 1h", db="")
    put(spool, range(10), begin=now - 10 * 86_400)
    put(spool, range(10), begin=now - 60)
    async with sending(spool, influx1.url, SystemClock()) as (sender, troubles):
        await until(lambda: sender.figures.sent == 200)
        await until(lambda: spool.health(0).refused == 200)
        assert sender.figures.requests <= 4
        await until(lambda: "lines" in troubles.reasons)
    assert influx1.count() == 200


async def test_a_frozen_base_is_waited_for_no_longer_than_allowed_and_loses_nothing(
    influx1: Influx1, spool: Spool, clock: HandClock
):
    async with sending(spool, influx1.url, clock, timeout_s=0.5) as (sender, troubles):
        put(spool, range(10))
        sender.wake()
        await until(lambda: sender.figures.sent == 200)
        influx1.freeze()
        put(spool, range(10, 20))
        sender.wake()
        await until(lambda: "no-answer" in troubles.reasons)
        influx1.thaw()
        await until(lambda: sender.figures.sent == 400)
    assert influx1.count() == 400


async def test_a_base_that_restarts_gets_what_came_meanwhile_in_order(influx1: Influx1, spool: Spool, clock: HandClock):
    async with sending(spool, influx1.url, clock) as (sender, _):
        put(spool, range(10))
        sender.wake()
        await until(lambda: sender.figures.sent == 200)
        await asyncio.to_thread(influx1.stop)
        put(spool, range(10, 500))
        sender.wake()
        await until(lambda: sender.figures.failures > 2)
        await asyncio.to_thread(influx1.start)
        await until(lambda: sender.figures.sent == 10_000)
    assert influx1.count() == 10_000


async def test_wrong_password_is_told_as_credentials(tmp_path, spool: Spool, clock: HandClock):
    server = Influx1(tmp_path / "guarded")
    server.auth = "true"
    server.start()
    try:
        server.ask("CREATE USER vigia WITH PASSWORD 'certa' WITH ALL PRIVILEGES", db="")
        server.post("/query", b"", q="CREATE DATABASE vigia", u="vigia", p="certa")
        put(spool, range(10))
        async with sending(spool, server.url, clock, username="vigia", password="errada") as (sender, troubles):  # noqa: S106 - a test's own
            await until(lambda: "credentials" in troubles.reasons)
            assert sender.figures.sent == 0
        async with sending(spool, server.url, clock, username="vigia", password="certa") as (sender, troubles):  # noqa: S106 - a test's own
            await until(lambda: sender.figures.sent == 200)
            assert troubles.told == []
    finally:
        server.stop()
