"""The bus on real sockets, against MB-SIM."""

import asyncio
import itertools
import resource

import pytest

from sensors import profiles
from sensors.profiles.parts import output_point
from sensors.readings import Quality, Status
from sensors.wire.outputs import coil
from simulator.scripted import CountFault, IdFault, ScriptedServer, ScriptedUnit

pytestmark = pytest.mark.measured


def unit(value: int = 30, **faults: object) -> ScriptedUnit:
    return ScriptedUnit(holding={0: value}, **faults)


async def test_a_value_is_read_in_every_slot_and_stamped_on_arrival(rig):
    async with ScriptedServer({1: unit(123)}) as server:
        bus = rig.bus(server.port, [rig.head("D1", 1)])
        await rig.scans(20)
        assert rig.of("D1")[0].lel_pct == 12.3
        assert rig.of("D1")[0].raw == 123
        assert rig.period_s("D1") == pytest.approx(0.1, rel=0.05)
        assert bus.up
        assert [(change.up, change.reason) for _, change in rig.links] == [(True, "")]


async def test_near_heads_of_one_unit_share_one_request(rig):
    holding = dict(enumerate(range(10, 30)))
    async with ScriptedServer({1: ScriptedUnit(holding=holding)}) as server:
        rig.bus(server.port, [rig.head("D1", 1, 0), rig.head("D2", 1, 5), rig.head("D3", 1, 13)])
        await rig.scans(9)
        assert {(each.address, each.count) for each in server.log} == {(0, 14)}
        assert [rig.of(name)[0].lel_pct for name in ("D1", "D2", "D3")] == [1.0, 1.5, 2.3]


async def test_value_and_state_in_two_tables_are_joined_from_the_same_turn(rig):
    device = ScriptedUnit(holding={0: 55}, inputs={9: 0b100})
    async with ScriptedServer({1: device}) as server:
        rig.bus(server.port, [rig.head("D1", 1, status_register=9, status_function="input", bits={"inhibited": [2]})])
        await rig.scans(3)
        assert {reading.status for reading in rig.of("D1")} == {Status.INHIBITED}
        device.inputs[9] = 0
        await rig.until(lambda: rig.good("D1"))
        assert rig.of("D1")[-1].lel_pct == 5.5


@pytest.mark.trial("B01")
async def test_b01_a_silently_dead_connection_is_found_and_replaced(rig):
    async with ScriptedServer({1: unit()}) as server:
        bus = rig.bus(server.port, [rig.head("D1", 1)])
        await rig.scans(5)
        server.mute = True
        cut = rig.now()
        await rig.until(lambda: not bus.up)
        assert rig.now() - cut < 1.6
        assert rig.links[-1][1].reason == "mute"
        assert rig.of("D1", cut + 0.3)[-1].status is Status.NO_CONTACT
        server.mute = False
        restored = rig.now()
        await rig.until(lambda: bus.up)
        await rig.until(lambda: rig.good("D1", restored))
        assert rig.now() - restored < 3.5


@pytest.mark.trial("B01")
async def test_b01_b_a_reset_is_mended_at_once(rig):
    async with ScriptedServer({1: unit()}) as server:
        bus = rig.bus(server.port, [rig.head("D1", 1)])
        await rig.scans(5)
        for _ in range(3):
            cut = rig.now()
            server.reset()
            await rig.until(lambda cut=cut: rig.good("D1", cut))
            assert rig.now() - cut < 0.3
        assert bus.counters.reconnects == 3
        assert [change.up for _, change in rig.links] == [True] + [False, True] * 3


@pytest.mark.trial("B01")
async def test_b01_c_a_refused_port_is_told_without_spinning_and_taken_back(rig):
    server = ScriptedServer({1: unit()})
    await server.start()
    bus = rig.bus(server.port, [rig.head("D1", 1)])
    await rig.scans(5)
    await server.stop()
    cut = rig.now()
    spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    await rig.until(lambda: len(rig.of("D1", cut)) >= 25)
    assert {reading.reason for reading in rig.of("D1", cut)[1:]} == {"refused"}
    assert {reading.quality for reading in rig.of("D1", cut)} == {Quality.BAD}
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - spent < 0.5
    assert bus.counters.refusals < 12
    await server.start()
    restored = rig.now()
    await rig.until(lambda: rig.good("D1", restored))
    assert rig.now() - restored < 2.5
    assert [(change.up, change.reason) for _, change in rig.links[1:]] == [(False, "closed"), (True, "")]
    await rig.stop()
    rig.tasks.clear()
    await server.stop()


async def test_a_peer_that_takes_connections_and_says_nothing_is_never_called_up(rig):
    async with ScriptedServer({1: unit()}) as server:
        server.mute = True
        bus = rig.bus(server.port, [rig.head("D1", 1)])
        await rig.until(lambda: server.connections >= 3, 8.0)
        assert not bus.up
        assert {change.up for _, change in rig.links} == {False}


async def test_a_peer_that_stops_reading_is_left(rig):
    async with ScriptedServer({1: unit()}) as server:
        bus = rig.bus(server.port, [rig.head("D1", 1)])
        await rig.scans(3)
        server.frozen = True
        await rig.until(lambda: not bus.up)
        assert rig.of("D1")[-1].quality is Quality.BAD
        server.frozen = False
        back = rig.now()
        await rig.until(lambda: bus.up and rig.good("D1", back))
        assert [change.up for _, change in rig.links] == [True, False, True]


@pytest.mark.trial("B10")
async def test_b10_an_exception_is_a_fault_without_a_number_and_the_neighbours_keep_their_pace(rig):
    device = ScriptedUnit(holding={0: 10, 20: 20, 40: 30, 60: 40})
    heads = [rig.head(f"D{group}", 1, register) for group, register in enumerate((0, 20, 40, 60), start=1)]
    async with ScriptedServer({1: device}) as server:
        rig.bus(server.port, heads)
        await rig.scans(8)
        for code in (2, 4, 6, 11):
            device.bad_registers = {20: code}
            began = rig.now()
            await rig.until(lambda began=began: len(rig.good("D1", began)) >= 8)
            told = rig.of("D2", began + 0.1)
            assert {(reading.quality, reading.status) for reading in told} == {(Quality.BAD, Status.FAULT)}
            assert {(reading.lel_pct, reading.at_least, reading.raw) for reading in told} == {(None, None, None)}
            assert {reading.reason for reading in told} == {f"exception-{code}"}
            for name in ("D1", "D3", "D4"):
                assert max(b - a for a, b in itertools.pairwise(rig.good(name, began))) < 0.15
        device.bad_registers = {}
        healed = rig.now()
        await rig.until(lambda: rig.good("D2", healed), 0.25)


async def test_heads_read_together_are_read_apart_once_the_device_refuses_one_of_them(rig):
    device = ScriptedUnit(holding={0: 10, 3: 20})
    async with ScriptedServer({1: device}) as server:
        bus = rig.bus(server.port, [rig.head("D1", 1, 0), rig.head("D2", 1, 3)])
        await rig.until(lambda: rig.good("D1") and rig.good("D2"))
        assert bus.counters.splits == 1
        assert [(each.address, each.count) for each in server.log][:3] == [(0, 4), (0, 1), (3, 1)]


@pytest.mark.trial("B15")
@pytest.mark.parametrize("fault", list(CountFault))
async def test_b15_a_wrong_byte_count_is_never_a_reading(rig, fault):
    bad = unit(990)
    async with ScriptedServer({1: bad, 2: unit()}) as server:
        bus = rig.bus(server.port, [rig.head("D1", 1), rig.head("D2", 2)])
        bad.count_fault = fault
        await rig.until(lambda: len(rig.of("D1")) >= 3 and len(rig.good("D2")) >= 8)
        assert rig.good("D1") == []
        assert {reading.reason for reading in rig.of("D1")} == {"garbled"}
        assert {reading.lel_pct for reading in rig.of("D1")} == {None}
        assert bus.counters.garbled > 0
        bad.count_fault = None
        await rig.until(lambda: rig.good("D1"))
        assert rig.of("D1")[-1].lel_pct == 99.0


@pytest.mark.trial("B15")
@pytest.mark.parametrize("error", [-4, -2, -1, 1, 2, 300, 60000])
async def test_b15_a_false_mbap_length_is_never_a_reading_and_the_stream_is_found_again(rig, error):
    bad = unit(990, length_error=error)
    async with ScriptedServer({1: bad, 2: unit()}) as server:
        bus = rig.bus(server.port, [rig.head("D1", 1), rig.head("D2", 2)])
        await rig.until(lambda: len(rig.of("D1")) >= 2 and len(rig.good("D2")) >= 5)
        assert rig.good("D1") == []
        assert {reading.lel_pct for reading in rig.of("D2") if reading.quality is Quality.GOOD} == {3.0}
        assert bus.counters.garbled > 0
        bad.length_error = 0
        await rig.until(lambda: rig.good("D1"), 8.0)


@pytest.mark.trial("B15")
async def test_b15_glued_answers_are_both_read(rig):
    async with ScriptedServer({1: unit(10), 2: unit(20)}) as server:
        server.glue = 2
        bus = rig.bus(server.port, [rig.head("D1", 1), rig.head("D2", 2)], in_flight=2, timeout_ms=80)
        await rig.until(lambda: len(rig.good("D1")) >= 4 and len(rig.good("D2")) >= 4)
        assert {reading.lel_pct for reading in rig.of("D1")} == {1.0}
        assert {reading.lel_pct for reading in rig.of("D2")} == {2.0}
        assert bus.counters.garbled == 0


@pytest.mark.trial("B15")
async def test_b15_an_answer_in_single_bytes_100_ms_apart_is_read(rig):
    async with ScriptedServer({1: unit(77, cut_s=0.1)}) as server:
        bus = rig.bus(server.port, [rig.head("D1", 1)], period_ms=500, timeout_ms=200)
        await rig.until(lambda: len(rig.good("D1")) >= 2)
        assert {reading.lel_pct for reading in rig.of("D1")} == {7.7}
        assert bus.counters.timeouts == bus.counters.garbled == 0


@pytest.mark.parametrize("fault", list(IdFault))
async def test_an_answer_with_a_false_id_is_dropped_and_counted(rig, fault):
    bad = unit(990)
    async with ScriptedServer({1: bad, 2: unit()}) as server:
        bus = rig.bus(server.port, [rig.head("D1", 1), rig.head("D2", 2)])
        await rig.until(lambda: rig.good("D1"))
        bad.id_fault = fault
        forged = rig.now() + 0.05
        await rig.until(lambda: len([r for r in rig.of("D1", forged) if r.quality is Quality.BAD]) >= 2)
        assert rig.good("D1", forged) == []
        assert bus.counters.foreign + bus.counters.late > 0
        assert len(rig.good("D2", forged)) >= 2


async def test_an_answer_of_another_unit_is_dropped_and_the_right_one_still_awaited(rig):
    bad = unit(990, wrong_unit=9)
    async with ScriptedServer({1: bad, 2: unit()}) as server:
        bus = rig.bus(server.port, [rig.head("D1", 1), rig.head("D2", 2)])
        await rig.until(lambda: len(rig.of("D1")) >= 2)
        assert rig.good("D1") == []
        assert bus.counters.foreign > 0
        assert rig.good("D2")


@pytest.mark.trial("B19")
async def test_b19_a_false_id_is_named_and_told_by_its_pattern_and_ignoring_ids_reads_it(rig):
    zero = ScriptedServer({1: unit(11, id_fault=IdFault.ZERO)})
    swapped = ScriptedServer({1: unit(22, id_fault=IdFault.SWAPPED)})
    invented = ScriptedServer({1: unit(33, id_fault=IdFault.WRONG)})
    right = ScriptedServer({1: unit(44)})
    async with zero, swapped, invented, right:
        named = {"A": (zero, "id-zero"), "B": (swapped, "id-swapped"), "X": (invented, "id-false")}
        buses = {name: rig.bus(server.port, [rig.head(name, 1)]) for name, (server, _) in named.items()}
        rig.bus(right.port, [rig.head("C", 1)])
        await rig.until(lambda: all(len(rig.of(name)) >= 25 for name in (*named, "C")), 8.0)
        for name, (_, reason) in named.items():
            assert rig.good(name) == []
            assert rig.of(name)[-1].reason == reason
            assert {reading.reason for reading in rig.of(name)} <= {reason, "id-false"}, "a swapped id may be its own"
            assert not buses[name].up
            assert buses[name].counters.false_ids > 0
        assert {change.reason for _, change in rig.links if not change.up} <= {"id-zero", "id-swapped", "id-false"}
        assert {reading.quality for reading in rig.of("C")} == {Quality.GOOD}
        relaxed = rig.now()
        for name, (server, _) in named.items():
            rig.bus(server.port, [rig.head(f"{name}2", 1)], strict_ids=False)
        await rig.until(lambda: all(len(rig.good(f"{name}2", relaxed)) >= 5 for name in named))
        assert [rig.of(f"{name}2")[-1].lel_pct for name in named] == [1.1, 2.2, 3.3]


@pytest.mark.trial("B19")
async def test_b19_a_device_that_is_checked_strictly_is_not_blamed_for_one_stray_frame(rig):
    device = unit(44)
    async with ScriptedServer({1: device}) as server:
        bus = rig.bus(server.port, [rig.head("C", 1)])
        await rig.until(lambda: len(rig.good("C")) >= 3)
        device.id_fault = IdFault.ZERO
        await rig.until(lambda: bus.counters.false_ids >= 1)
        device.id_fault = None
        healed = rig.now()
        await rig.until(lambda: rig.good("C", healed))
        device.silent = True
        await rig.until(lambda: not bus.up)
        assert rig.links[-1][1].reason == "mute"
        assert rig.of("C")[-1].reason in ("timeout", "mute")


async def test_ids_ignored_a_gateway_that_invents_them_is_read(rig):
    async with ScriptedServer({1: unit(40, id_fault=IdFault.WRONG)}) as server:
        rig.bus(server.port, [rig.head("D1", 1)], strict_ids=False)
        await rig.until(lambda: len(rig.good("D1")) >= 5)
        assert {reading.lel_pct for reading in rig.of("D1")} == {4.0}


@pytest.mark.trial("B19")
async def test_b19_ids_ignored_a_late_answer_is_not_taken_for_the_next_one(rig):
    slow = unit(40, id_fault=IdFault.WRONG)
    async with ScriptedServer({1: slow}) as server:
        bus = rig.bus(server.port, [rig.head("D1", 1)], strict_ids=False, period_ms=200, timeout_ms=50)
        await rig.until(lambda: len(rig.good("D1")) >= 3)
        slow.delay_s = 0.19  # arrives just as the next request leaves
        slow.holding[0] = 990
        changed = rig.now() + 0.25
        await rig.until(lambda: len(rig.of("D1", changed)) >= 5)
        assert rig.good("D1", changed) == []
        assert bus.counters.reconnects >= 2


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x00",
        b"\xff" * 7,
        b"\xff" * 5000,
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\x00\x01\x00\x00\x00\x02\x01\x83" * 40,
    ],
)
async def test_garbage_of_one_unit_stops_nothing_and_is_never_a_reading(rig, garbage):
    bad = unit(990, garbage=garbage)
    async with ScriptedServer({1: bad, 2: unit()}) as server:
        rig.bus(server.port, [rig.head("D1", 1), rig.head("D2", 2)])
        await rig.until(lambda: len(rig.of("D1")) >= 2 and len(rig.good("D2")) >= 5)
        assert rig.good("D1") == []
        bad.garbage = None
        await rig.until(lambda: rig.good("D1"), 8.0)


async def test_three_mute_units_of_32_on_a_gateway_that_serves_one_at_a_time_delay_nobody(rig):
    units = {number: unit(number) for number in range(1, 33)}
    mute = (5, 17, 30)
    for number in mute:
        units[number].silent = True
    async with ScriptedServer(units, serial=True, service_s=0.008, mute_wait_s=0.5) as server:
        rig.bus(server.port, [rig.head(f"D{number}", number) for number in units], period_ms=500, timeout_ms=200)
        live = [number for number in units if number not in mute]
        await rig.until(lambda: all(rig.good(f"D{number}") for number in live))
        await rig.until(lambda: len(rig.of("D5")) >= 4)
        settled = rig.now()
        await rig.until(lambda: rig.now() >= settled + 10.0, 12.0)
        for number in live:
            times = rig.good(f"D{number}", settled)
            assert 10.0 / len(times) < 0.5 * 1.06, number  # ten seconds hold 20 slots, of which one may be lost
            assert max(b - a for a, b in itertools.pairwise(times)) < 1.2, number
            assert {reading.quality for reading in rig.of(f"D{number}")} == {Quality.GOOD}


async def test_a_mute_unit_behind_a_pipelined_line_delays_nobody(rig):
    units = {number: unit(number) for number in range(1, 17)}
    units[7].silent = True
    async with ScriptedServer(units) as server:
        rig.bus(server.port, [rig.head(f"D{number}", number) for number in units], in_flight=16)
        await rig.until(lambda: len(rig.good("D1")) >= 15)
        for number in set(units) - {7}:
            assert max(b - a for a, b in itertools.pairwise(rig.good(f"D{number}")[1:])) < 0.16
        assert {reading.status for reading in rig.of("D7")} == {Status.NO_CONTACT}


async def test_a_write_is_sent_before_waiting_polls_and_read_back(rig):
    units = {number: unit(delay_s=0.02) for number in range(1, 9)}
    units[9] = ScriptedUnit(coils={3: False})
    async with ScriptedServer(units) as server:
        bus = rig.bus(server.port, [rig.head(f"D{number}", number) for number in range(1, 9)], period_ms=200)
        await rig.until(lambda: rig.good("D8"))
        told: list[tuple[bool | None, str]] = []
        await rig.until(lambda: server.log[-1].unit == 2)
        bus.write(9, coil(3), True, lambda state, reason: (told.append((state, reason)), rig.told()))
        await rig.until(lambda: told)
        assert told == [(True, "")]
        assert units[9].coils[3]
        order = [each.unit for each in server.log]
        write = order.index(9)
        assert order[write : write + 2] == [9, 9]
        assert order[write - 1] in (2, 3)  # at most the poll that was in flight went before it
        told.clear()
        bus.read(9, coil(3), lambda state, reason: (told.append((state, reason)), rig.told()))
        await rig.until(lambda: told)
        assert told == [(True, "")]


async def test_a_stuck_coil_is_told_as_it_is_and_not_as_it_was_wanted(rig):
    async with ScriptedServer({9: ScriptedUnit(coils={3: False}, stuck_coils={3})}) as server:
        bus = rig.bus(server.port, [])
        await rig.until(lambda: bus.up)
        told: list[tuple[bool | None, str]] = []
        bus.write(9, coil(3), True, lambda state, reason: (told.append((state, reason)), rig.told()))
        await rig.until(lambda: told)
        assert told == [(False, "")]


@pytest.mark.parametrize(("fault", "reason"), [({"silent": True}, "timeout"), ({"exception": 2}, "exception-2")])
async def test_a_coil_that_cannot_be_set_is_told_with_the_reason(rig, fault, reason):
    async with ScriptedServer({9: ScriptedUnit(coils={3: False}, **fault), 1: unit()}) as server:
        bus = rig.bus(server.port, [rig.head("D1", 1)])
        await rig.until(lambda: bus.up)
        told: list[tuple[bool | None, str]] = []
        bus.write(9, coil(3), True, lambda state, why: (told.append((state, why)), rig.told()))
        await rig.until(lambda: told)
        assert told == [(None, reason)]
        tries = len(server.requests(unit=9))
        assert tries == (2 if reason == "timeout" else 1)


async def test_a_register_output_is_written_with_its_own_values_and_read_back_where_the_profile_says(rig):
    relay = profiles.load("rs485-relay-fc06").output("relay", 2)
    device = ScriptedUnit(holding={2: 0})
    async with ScriptedServer({9: device}) as server:
        bus = rig.bus(server.port, [])
        await rig.until(lambda: bus.up)
        assert await rig.told_by(lambda done: bus.write(9, relay, True, done)) == (None, "unknown-state")
        assert device.holding[2] == 0x0100
        device.holding[2] = 1  # what the board makes of it
        assert await rig.told_by(lambda done: bus.read(9, relay, done)) == (True, "")


async def test_a_released_contact_proves_a_relay_that_is_released_to_alarm(rig):
    table = {"function": "coil", "register": 3, "read_back": {"function": "discrete", "register": 8}}
    relay = output_point(table).inverted()
    device = ScriptedUnit(coils={3: True}, contacts={8: 3})
    async with ScriptedServer({9: device}) as server:
        bus = rig.bus(server.port, [])
        await rig.until(lambda: bus.up)
        assert await rig.told_by(lambda done: bus.read(9, relay, done)) == (False, "")
        assert await rig.told_by(lambda done: bus.write(9, relay, True, done)) == (True, "")
        assert not device.coils[3]
        device.contacts = {}
        device.discrete = {8: True}  # the contactor is welded
        assert await rig.told_by(lambda done: bus.write(9, relay, True, done)) == (False, "")


async def test_a_write_waits_out_a_reset(rig):
    device = ScriptedUnit(coils={3: False})
    async with ScriptedServer({9: device}) as server:
        bus = rig.bus(server.port, [])
        await rig.until(lambda: bus.up)
        told: list[tuple[bool | None, str]] = []
        server.reset()
        bus.write(9, coil(3), True, lambda state, why: (told.append((state, why)), rig.told()))
        await rig.until(lambda: told)
        assert told == [(True, "")]


async def test_a_fault_of_ours_ends_the_coroutine_instead_of_going_on_blind(rig):
    async with ScriptedServer({1: unit()}) as server:
        loop = asyncio.get_running_loop()
        logged: list[object] = []
        loop.set_exception_handler(lambda _, context: logged.append(context))
        bus = rig.bus(server.port, [rig.head("D1", 1)])

        def breaks(_: object) -> None:
            raise AssertionError("a bug")

        await rig.scans(1)
        bus._line._outcomes.on_scan = breaks
        with pytest.raises(AssertionError, match="a bug"):
            await asyncio.wait_for(rig.tasks.pop(), 3.0)
        assert logged


async def test_cancelled_it_closes_its_socket(rig):
    async with ScriptedServer({1: unit()}) as server:
        rig.bus(server.port, [rig.head("D1", 1)])
        await rig.scans(2)
        await rig.stop()
        rig.tasks.clear()
        async with asyncio.timeout(2):
            await server.all_closed.wait()
        assert server.connections == 1, "and opens no other"


async def test_buses_of_one_pacer_are_spread_over_the_period(rig):
    async with ScriptedServer({1: unit()}) as server:
        for _ in range(8):
            rig.bus(server.port, [rig.head("D1", 1)], period_ms=400)
        await rig.scans(40)
        last = [each.at % 0.4 for each in list(server.log)[-8:]]
        assert len({round(at, 1) for at in last}) >= 4
