"""The bus on RTU lines: a real pseudo-terminal, and raw serial servers over TCP, against MB-SIM."""

import asyncio
import fcntl
import itertools
import os
import termios
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sensors.drivers.settings import BusSettings, Transport
from sensors.readings import Quality, Status
from sensors.stamps import MILLISECOND
from sensors.wire.outputs import coil
from simulator.scripted import CountFault, ScriptedServer, ScriptedUnit

pytestmark = pytest.mark.measured


def unit(value: int = 30, **faults: object) -> ScriptedUnit:
    return ScriptedUnit(holding={0: value}, **faults)


class Field:
    """One line of scripted units, on either transport."""

    def __init__(self, rig, server: ScriptedServer, link: Path | None) -> None:
        self.rig, self.server, self.link = rig, server, link

    def bus(self, heads, *, period_ms: int = 100, timeout_ms: int = 50, late_ms: int = 150, **more: object):
        if self.link is not None:
            return self.rig.serial(
                self.link, heads, period_ms=period_ms, timeout_ms=timeout_ms, late_ms=late_ms, **more
            )
        settings = BusSettings(
            "linha",
            "127.0.0.1",
            self.server.port,
            period_ms * MILLISECOND,
            timeout_ms * MILLISECOND,
            transport=Transport.RTU_OVER_TCP,
            line_baud=115200,
            late_ns=late_ms * MILLISECOND,
            **more,
        )
        return self.rig.run(settings, heads)


@asynccontextmanager
async def wired(rig, kind: str, units: dict[int, ScriptedUnit], folder: Path) -> AsyncIterator[Field]:
    server = ScriptedServer(units, rtu=True)
    link = folder / "adapter" if kind == "rtu" else None
    if link is not None:
        server.plug(link)
    async with server:
        yield Field(rig, server, link)


@pytest.fixture(params=["rtu", "rtu-over-tcp"])
def kind(request) -> str:
    return request.param


async def test_values_are_read_in_every_slot_and_coils_switched_and_read_back(rig, kind, tmp_path):
    units = {1: unit(123), 2: ScriptedUnit(inputs={7: 45}), 9: ScriptedUnit(coils={3: False, 4: True})}
    async with wired(rig, kind, units, tmp_path) as field:
        bus = field.bus([rig.head("D1", 1), rig.head("D2", 2, 7, function="input")])
        await rig.scans(20)
        assert [rig.of(name)[-1].lel_pct for name in ("D1", "D2")] == [12.3, 4.5]
        assert rig.period_s("D1") == pytest.approx(0.1, rel=0.1)
        for on in (True, False, True):
            assert await rig.told_by(lambda done, on=on: bus.write(9, coil(3), on, done)) == (on, "")
            assert units[9].coils[3] is on
        assert await rig.told_by(lambda done: bus.read(9, coil(4), done)) == (True, "")
        units[9].stuck_coils = {3}
        assert await rig.told_by(lambda done: bus.write(9, coil(3), False, done)) == (True, "")
        assert bus.up
        assert {reading.quality for _, reading in rig.readings} == {Quality.GOOD}
        counters = bus.counters
        assert counters.noise == counters.garbled == counters.foreign == 0
        assert counters.timeouts == counters.late  # a busy machine may answer late; nothing was lost


async def test_one_request_is_in_flight_and_the_line_is_silent_before_it(rig, kind, tmp_path):
    units = {number: unit(number, delay_s=0.003) for number in range(1, 6)}
    async with wired(rig, kind, units, tmp_path) as field:
        field.bus([rig.head(f"D{number}", number) for number in units], period_ms=200, gap_ns=6 * MILLISECOND)
        await rig.until(lambda: len(rig.good("D5")) >= 5)
        times = [each.at for each in field.server.log][1:]
        assert min(b - a for a, b in itertools.pairwise(times)) >= 0.009 - 0.001


async def test_a_unit_that_needs_rest_gets_it_before_and_after_and_the_others_do_not(rig, kind, tmp_path):
    units = {number: unit(number) for number in (1, 2, 3, 4)}
    slow = rig.head("D2", 2)
    slow = type(slow)(slow.detector, slow.unit, slow.profile, slow.basis, turnaround_ns=30 * MILLISECOND)
    async with wired(rig, kind, units, tmp_path) as field:
        field.bus([rig.head("D1", 1), slow, rig.head("D3", 3), rig.head("D4", 4)], period_ms=200)
        await rig.until(lambda: len(rig.good("D4")) >= 5)
        rests: dict[tuple[int, int], list[float]] = {}
        for before, after in itertools.pairwise(field.server.log):
            rests.setdefault((before.unit, after.unit), []).append(after.at - before.at)
        assert min(rests[1, 2]) >= 0.029 and min(rests[2, 3]) >= 0.029
        assert min(rests[3, 4]) < 0.02


async def test_an_exception_is_a_fault_and_a_refused_command_is_told(rig, kind, tmp_path):
    units = {1: unit(exception=4), 2: unit()}
    async with wired(rig, kind, units, tmp_path) as field:
        bus = field.bus([rig.head("D1", 1), rig.head("D2", 2)])
        await rig.until(lambda: len(rig.of("D1")) >= 3 and len(rig.good("D2")) >= 3)
        assert {(reading.status, reading.reason) for reading in rig.of("D1")} == {(Status.FAULT, "exception-4")}
        assert await rig.told_by(lambda done: bus.write(1, coil(0), True, done)) == (None, "exception-4")


FAULTS = {
    "false check sum": {"crc_error": True},
    "cut": {"length_error": -2},
    "cut in its head": {"length_error": -5},
    "too many registers": {"count_fault": CountFault.MORE},
    "too few registers": {"count_fault": CountFault.FEWER},
    "half a register": {"count_fault": CountFault.ODD},
    "no register": {"count_fault": CountFault.ZERO},
    "another unit": {"wrong_unit": 9},
    "noise instead": {"garbage": bytes(range(1, 60))},
    "start of a long frame instead": {"garbage": b"\x01\x03\xf0"},
    "start of another's long frame instead": {"garbage": b"\x07\x03\xf0"},
    "nothing": {"silent": True},
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_damaged_answer_is_never_a_reading_and_costs_the_neighbour_nothing(rig, kind, tmp_path, fault):
    bad = unit(990)
    async with wired(rig, kind, {1: bad, 2: unit()}, tmp_path) as field:
        bus = field.bus([rig.head("D1", 1), rig.head("D2", 2)])
        await rig.until(lambda: rig.good("D1"))
        for name, value in FAULTS[fault].items():
            setattr(bad, name, value)
        hurt = rig.now() + 0.02
        await rig.until(lambda: len([r for r in rig.of("D1", hurt) if r.quality is Quality.BAD]) >= 2)
        await rig.until(lambda: len(rig.good("D2", hurt)) >= 8)
        assert rig.good("D1", hurt) == []
        assert {reading.lel_pct for reading in rig.of("D1", hurt)} == {None}
        assert {reading.lel_pct for reading in rig.of("D2")} == {3.0}
        # A lost poll or two of the neighbour at most, while the dead one is found out.
        assert max(b - a for a, b in itertools.pairwise(rig.good("D2", hurt))) < 0.35
        for name in FAULTS[fault]:
            setattr(bad, name, getattr(ScriptedUnit(), name))
        healed = rig.now()
        await rig.until(lambda: rig.good("D1", healed), 7.0)
        assert bus.counters.reconnects == 0


@pytest.mark.parametrize(
    "noise", [b"\x00", b"\xff\xff", b"\x07\x03\xf0", b"\x01\x83", b"\x02\x03\x02\x00\x07", bytes(20)]
)
async def test_noise_around_an_answer_costs_nothing(rig, kind, tmp_path, noise):
    noisy = unit(55, noise_before=noise, noise_after=noise)
    async with wired(rig, kind, {1: noisy, 2: unit()}, tmp_path) as field:
        bus = field.bus([rig.head("D1", 1), rig.head("D2", 2)], timeout_ms=150, period_ms=300)
        await rig.until(lambda: len(rig.good("D1")) >= 4 and len(rig.good("D2")) >= 4)
        assert {reading.lel_pct for reading in rig.of("D1")} == {5.5}
        assert {reading.lel_pct for reading in rig.of("D2")} == {3.0}
        assert bus.counters.noise > 0
        assert bus.counters.timeouts == 0


async def test_an_answer_in_single_bytes_is_read(rig, kind, tmp_path):
    async with wired(rig, kind, {1: unit(77, cut_s=0.04)}, tmp_path) as field:
        bus = field.bus([rig.head("D1", 1)], period_ms=500, timeout_ms=100)
        await rig.until(lambda: len(rig.good("D1")) >= 2)
        assert {reading.lel_pct for reading in rig.of("D1")} == {7.7}
        assert bus.counters.timeouts == bus.counters.garbled == bus.counters.noise == 0


async def test_a_late_answer_is_not_taken_for_the_next_one(rig, kind, tmp_path):
    slow = unit(40)
    async with wired(rig, kind, {1: slow, 2: unit()}, tmp_path) as field:
        bus = field.bus([rig.head("D1", 1), rig.head("D2", 2)], late_ms=400, timeout_ms=50)
        await rig.until(lambda: len(rig.good("D1")) >= 3)
        slow.delay_s = 0.19
        slow.holding[0] = 990
        changed = rig.now() + 0.05
        await rig.until(lambda: len([r for r in rig.of("D1", changed) if r.quality is Quality.BAD]) >= 2)
        assert rig.good("D1", changed) == []
        assert bus.counters.late >= 2
        assert max(b - a for a, b in itertools.pairwise(rig.good("D2", changed))) < 0.3


async def test_a_silent_unit_is_not_asked_again_before_its_late_answer_could_no_longer_come(rig, kind, tmp_path):
    quiet = unit()
    async with wired(rig, kind, {1: quiet, 2: unit()}, tmp_path) as field:
        field.bus([rig.head("D1", 1), rig.head("D2", 2)], late_ms=300)
        await rig.until(lambda: rig.good("D1"))
        quiet.silent = True
        await rig.until(lambda: len([r for r in rig.of("D1") if r.quality is Quality.BAD]) >= 3)
        asked = [each.at for each in field.server.requests(unit=1)]
        unanswered = asked[asked.index(next(at for at in asked if at > rig.good("D1")[-1])) :]
        assert min(b - a for a, b in itertools.pairwise(unanswered)) >= 0.3 - 0.01


async def test_a_command_to_a_unit_that_lets_requests_pass_is_tried_again_at_once(rig, kind, tmp_path):
    relay = ScriptedUnit(coils={0: False}, silent=True)
    async with wired(rig, kind, {1: unit(), 9: relay}, tmp_path) as field:
        bus = field.bus([rig.head("D1", 1)], late_ms=5000)
        await rig.until(lambda: rig.good("D1"))
        asked = rig.now()
        assert await rig.told_by(lambda done: bus.write(9, coil(0), True, done)) == (None, "timeout")
        assert rig.now() - asked < 0.5
        assert len(field.server.requests(unit=9)) == 2


async def test_an_adapter_that_echoes_is_told_so_and_read(rig, kind, tmp_path):
    units = {1: unit(123), 9: ScriptedUnit(coils={3: False})}
    async with wired(rig, kind, units, tmp_path) as field:
        field.server.echo = True
        bus = field.bus([rig.head("D1", 1)], echo=True)
        await rig.until(lambda: len(rig.good("D1")) >= 5)
        assert rig.of("D1")[-1].lel_pct == 12.3
        assert await rig.told_by(lambda done: bus.write(9, coil(3), True, done)) == (True, "")
        units[9].silent = True
        assert await rig.told_by(lambda done: bus.write(9, coil(3), False, done)) == (None, "timeout")
        assert bus.counters.noise == bus.counters.garbled == 0


async def test_an_echo_nobody_told_of_never_confirms_a_command(rig, kind, tmp_path):
    units = {1: unit(123), 9: ScriptedUnit(coils={3: False}, silent=True)}
    async with wired(rig, kind, units, tmp_path) as field:
        field.server.echo = True
        bus = field.bus([rig.head("D1", 1)])
        await rig.until(lambda: len(rig.good("D1")) >= 3)
        assert {reading.lel_pct for reading in rig.of("D1")} <= {12.3, None}  # None: a busy machine lost a poll
        state, reason = await rig.told_by(lambda done: bus.write(9, coil(3), True, done))
        assert state is None and reason in ("timeout", "garbled")


async def test_a_line_that_babbles_is_told_of_and_taken_back(rig, kind, tmp_path):
    async with wired(rig, kind, {1: unit()}, tmp_path) as field:
        bus = field.bus([rig.head("D1", 1)], gap_ns=100 * MILLISECOND)
        await rig.until(lambda: rig.good("D1"))
        babbling = True  # without a hole as long as the line must be silent, even on a busy machine

        def babble() -> None:
            for connection in tuple(field.server._open):
                connection.send(b"\x55\xaa\x00")
            if babbling:
                asyncio.get_running_loop().call_later(0.001, babble)

        babble()
        await rig.until(lambda: not bus.up, 20.0)
        # Told with the next slot; the engine hears of the lost line at once.
        await rig.until(lambda: rig.of("D1")[-1].quality is Quality.BAD, 20.0)
        babbling = False
        ended = rig.now()
        await rig.until(lambda: rig.good("D1", ended))


async def test_mixed_faults_never_make_a_false_reading(rig, kind, tmp_path, seed):
    import random

    chance = random.Random(seed)
    units = {number: unit(100 + number) for number in range(1, 7)}
    true = {f"D{number}": (100 + number) / 10 for number in units}
    async with wired(rig, kind, units, tmp_path) as field:
        bus = field.bus([rig.head(f"D{number}", number) for number in units], period_ms=150, timeout_ms=40)
        ends = rig.now() + 6.0
        while rig.now() < ends:
            for each in units.values():
                heal(each)
                each.delay_s = chance.choice([0, 0, 0.01, 0.045, 0.06, 0.1])
                match chance.randrange(8):
                    case 0:
                        each.crc_error = True
                    case 1:
                        each.length_error = chance.randrange(-6, 4)
                    case 2:
                        each.noise_before = chance.randbytes(chance.randrange(1, 9))
                    case 3:
                        each.noise_after = chance.randbytes(chance.randrange(1, 9))
                    case 4:
                        each.silent = True
                    case 5:
                        each.wrong_unit = 9  # a head of the line instead: the one lie that no frame shows
                    case 6:
                        each.repeat = 2
            await rig.scans(12)
        for _, reading in rig.readings:
            if reading.quality is Quality.GOOD:
                assert reading.lel_pct == true[reading.detector], reading
        for each in units.values():
            heal(each)
        healed = rig.now()
        await rig.until(lambda: all(rig.good(name, healed) for name in true), 8.0)
        assert bus.counters.timeouts > 0


def heal(each: ScriptedUnit) -> None:
    well = ScriptedUnit()
    for name in (
        "crc_error",
        "length_error",
        "noise_before",
        "noise_after",
        "silent",
        "wrong_unit",
        "repeat",
        "delay_s",
    ):
        setattr(each, name, getattr(well, name))


# --- the port


@pytest.mark.trial("B05")
@pytest.mark.parametrize("away_s", [2.5, pytest.param(30.0, marks=pytest.mark.soak)])
async def test_b05_an_adapter_pulled_out_and_plugged_in_again_is_read_again_and_nobody_else_feels_it(
    rig, tmp_path, away_s
):
    pulled = ScriptedServer({1: unit(11)}, rtu=True)
    other = ScriptedServer({1: unit(22)}, rtu=True)
    network = ScriptedServer({1: unit(33)})
    link = tmp_path / "usb-RS485"
    first = pulled.plug(link)
    other.plug(tmp_path / "usb-other")
    async with pulled, other, network:
        bus = rig.serial(link, [rig.head("D1", 1)], id="pulled")
        rig.serial(tmp_path / "usb-other", [rig.head("D2", 1)], id="other")
        rig.bus(network.port, [rig.head("D3", 1)])
        await rig.until(lambda: all(len(rig.good(name)) >= 3 for name in ("D1", "D2", "D3")))
        assert first in open_files()
        out = rig.now()
        pulled.unplug()
        await rig.until(lambda: not bus.up)
        assert rig.now() - out < 0.2
        assert not [name for name in open_files() if name.startswith(first)]
        change = next(change for at, change in rig.links if at >= out)
        assert (change.source, change.up, change.reason) == ("pulled", False, "unplugged")
        await rig.until(lambda: rig.now() - out >= away_s, away_s + 2)
        told = rig.of("D1", out + 0.1)
        assert {(r.quality, r.status, r.reason) for r in told} == {(Quality.BAD, Status.NO_CONTACT, "unplugged")}
        assert pulled.plug(link) != first
        back = rig.now()
        await rig.until(lambda: rig.good("D1", back), 10.0)
        assert rig.now() - back < 3.0
        assert bus.up
        for name in ("D2", "D3"):
            times = rig.good(name, out - 0.3)
            assert rig.period_s(name, out - 0.3) == pytest.approx(0.1, rel=0.05)
            assert max(b - a for a, b in itertools.pairwise(times)) < 0.8, "more than a busy machine's hiccup"
        assert {change.source for _, change in rig.links if not change.up} == {"pulled"}


@pytest.mark.trial("B05")
async def test_b05_b_a_name_that_leads_to_another_device_is_followed_though_the_old_one_still_stands(rig, tmp_path):
    old, new = ScriptedServer({1: unit(11)}, rtu=True), ScriptedServer({1: unit(22)}, rtu=True)
    old.plug(tmp_path / "old")
    device = new.plug(tmp_path / "new")
    link = tmp_path / "link"
    link.symlink_to((tmp_path / "old").readlink())
    async with old, new:
        bus = rig.serial(link, [rig.head("D1", 1)])
        await rig.until(lambda: rig.good("D1"))
        link.unlink()
        link.symlink_to(device)
        await rig.until(lambda: rig.of("D1")[-1].lel_pct == 2.2)
        assert bus.counters.reconnects == 1


def open_files() -> list[str]:
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            found.append(str(entry.readlink()))
        except OSError:  # that of this very listing
            continue
    return found


async def test_a_port_is_set_raw_to_its_speed_and_nobody_else_gets_it(rig, tmp_path):
    server = ScriptedServer({1: unit()}, rtu=True)
    link = tmp_path / "adapter"
    device = server.plug(link)
    async with server:
        rig.serial(link, [rig.head("D1", 1)], id="first")
        await rig.until(lambda: rig.good("D1"))
        probe = os.open(device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            input_mode, output, control, local, *speeds, _ = termios.tcgetattr(probe)
            assert (input_mode, output, local) == (0, 0, 0)
            assert speeds == [termios.B115200] * 2
            assert control & termios.CSIZE == termios.CS8
            with pytest.raises(BlockingIOError):
                fcntl.flock(probe, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(probe)
        rig.serial(link, [rig.head("D9", 1)], id="second")
        await rig.until(lambda: [change for _, change in rig.links if change.source == "second"])
        assert rig.links[-1][1].reason == "port-busy"
        await rig.until(lambda: rig.of("D9"))
        assert {reading.reason for reading in rig.of("D9")} == {"port-busy"}


@pytest.mark.parametrize(("name", "reason"), [("nothing", "unplugged"), ("file", "not-serial")])
async def test_a_device_that_is_none_is_told_by_name_without_spinning(rig, tmp_path, name, reason):
    (tmp_path / "file").write_text("")
    bus = rig.serial(tmp_path / name, [rig.head("D1", 1)])
    await rig.until(lambda: len(rig.of("D1")) >= 10)
    assert {reading.reason for reading in rig.of("D1")} == {reason}
    assert bus.counters.connects < 12


async def test_cancelled_it_lets_the_port_go(rig, tmp_path):
    server = ScriptedServer({1: unit()}, rtu=True)
    device = server.plug(tmp_path / "adapter")
    async with server:
        rig.serial(tmp_path / "adapter", [rig.head("D1", 1)])
        await rig.until(lambda: rig.good("D1"))
        await rig.stop()
        rig.tasks.clear()
        assert device not in open_files()
        rig.serial(tmp_path / "adapter", [rig.head("D1", 1)])
        again = rig.now()
        await rig.until(lambda: rig.good("D1", again))
