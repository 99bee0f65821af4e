"""Whose turn it is, in virtual time: hours of a line in a second, against a modelled gateway."""

import heapq
import itertools
import random
import struct
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensors.drivers.doubt import MUTE_S
from sensors.drivers.line import Line
from sensors.drivers.quiet import Quiet
from sensors.drivers.silent import BACKOFF_LAST_S
from sensors.readings import DetectorId, Quality, Reading, Scan, Status
from sensors.stamps import SECOND, Instant, Stamp, UtcNanos
from sensors.wire.gauges import RegisterGauge, Sign
from sensors.wire.modbus import HEAD, Ask, Head
from sensors.wire.outputs import coil
from sensors.wire.places import Function, Place, Type
from sensors.wire.points import ModbusPoints
from sensors.wire.registers import InstalledHead, plan
from sensors.wire.units import Basis

PERIOD_S, TIMEOUT_S, TICK_S = 0.5, 0.2, 0.01
PLACE = RegisterGauge(Place(Function.HOLDING, 0, Type.UINT16), Sign(above=1.0))


@dataclass
class Gateway:
    """What the line talks to. Serial: one request at a time, a mute unit holds the line for `mute_wait_s`."""

    units: set[int]
    mute: set[int] = field(default_factory=set)
    serial: bool = True
    service_s: float = 0.01
    mute_wait_s: float = 1.0
    mute_code: int | None = None
    slow: dict[int, float] = field(default_factory=dict)
    renamed: set[int] = field(default_factory=set)
    garbled: set[int] = field(default_factory=set)
    dead: bool = False
    loses: Callable[[], bool] = lambda: False
    delays: Callable[[], float] = lambda: 0.0


class VirtualClock:
    """The line's clock."""

    def __init__(self, owner: "VirtualLine") -> None:
        self._owner = owner

    def now(self) -> Stamp:
        return Stamp(Instant(int(self._owner.now * SECOND)), UtcNanos(int(self._owner.now * SECOND)))


class VirtualLine:
    """A `Line` and a `Gateway` on one virtual clock."""

    def __init__(
        self, gateway: Gateway, *, window: int = 1, strict_ids: bool = True, quiet: Quiet | None = None
    ) -> None:
        """With `quiet` it is an RTU line, and each answer's register is the number of the request it answers."""
        self.now = 0.0
        self.quiet = quiet
        self.last: dict[int, int] = {}
        self.gateway = gateway
        self.scans: list[tuple[float, Scan]] = []
        self.asked: list[tuple[float, int]] = []
        self.closings: list[tuple[float, str]] = []
        points = ModbusPoints(Function.HOLDING, 0, Type.UINT16, scale=0.1)
        blocks = [
            block
            for unit in sorted(gateway.units | gateway.mute)
            for block in plan(unit, [InstalledHead(DetectorId(f"D{unit}"), points, Basis(1.4, 1.4))])
        ]
        self._events: list[tuple[float, int, object]] = []
        self._count = 0
        self._free_at = 0.0
        self._epoch = 0
        self.line = Line(
            "bus",
            blocks,
            timeout_s=TIMEOUT_S,
            period_s=PERIOD_S,
            window=window,
            strict_ids=strict_ids,
            first_id=7,
            clock=VirtualClock(self),
            on_scan=self._scanned,
            quiet=quiet,
            rtu=quiet is not None,
        )
        self.line.opened(self._written, 0.0, anew=True)

    def _written(self, ask: Ask, transaction: int) -> None:
        unit, function = ask.unit, ask.function
        self.asked.append((self.now, unit))
        number = self.last[unit] = len(self.asked) % 900  # of tenths of %LEL, all below over-range
        gateway = self.gateway
        if gateway.dead or gateway.loses():
            return
        mute = unit in gateway.mute
        took = gateway.mute_wait_s if mute else gateway.service_s + gateway.slow.get(unit, 0.0) + gateway.delays()
        begins = max(self.now, self._free_at) if gateway.serial else self.now
        if gateway.serial:
            self._free_at = begins + took
        if not mute:
            self._at(
                begins + took,
                (
                    self._epoch,
                    transaction,
                    77 if unit in gateway.renamed else unit,
                    bytes((function, 4, 0, 0)) + struct.pack(">H", 30)
                    if unit in gateway.garbled
                    else bytes((function, 2)) + struct.pack(">H", number if self.quiet else 30),
                ),
            )
        elif gateway.mute_code is not None:
            self._at(begins + took, (self._epoch, transaction, unit, bytes((function | 0x80, gateway.mute_code))))

    def _scanned(self, scan: Scan) -> None:
        self.scans.append((self.now, scan))
        for reading in scan.readings:
            if self.quiet is not None and reading.quality is Quality.GOOD:
                assert reading.raw == self.last[int(reading.detector[1:])], "the answer to an earlier request was used"

    def _at(self, when: float, event: object) -> None:
        self._count += 1
        heapq.heappush(self._events, (when, self._count, event))

    def run(self, until: float) -> None:
        """Let virtual time pass: slots on their absolute schedule, sweeps on ticks, answers when they come."""
        slot = (self.now // PERIOD_S + 1) * PERIOD_S if self.now else PERIOD_S
        while self.now < until:
            answer = self._events[0][0] if self._events else until
            due = self.line.due()
            sweep = max(-(-due // TICK_S) * TICK_S, self.now + TICK_S) if due < until else until
            self.now = min(slot, answer, sweep, until, max(self.line.resume_at, self.now))
            if self._events and self._events[0][0] <= self.now:
                self._deliver(heapq.heappop(self._events)[2])
            trouble = self.line.sweep(self.now)
            if trouble:
                self._close(trouble)
            if self.now >= slot:
                slot += PERIOD_S
                self.line.slot(self.now)
            self.line.pump(self.now)

    def _deliver(self, event: object) -> None:
        epoch, transaction, unit, pdu = event  # type: ignore[misc]  # pushed by `_written`
        if epoch != self._epoch:
            return
        if self.quiet is not None:
            transaction = 0
            self.line.heard(self.now)
        frame = bytearray(struct.pack(">HHHB", transaction, 0, len(pdu) + 1, unit) + pdu)
        head: Head = HEAD.unpack_from(frame)
        trouble = self.line.answer(head, frame, 0, self.now)
        if trouble:
            self._close(trouble)
        self.line.pump(self.now)

    def _close(self, reason: str) -> None:
        self._epoch += 1
        self.closings.append((self.now, reason))
        self.line.closed(reason, self.now, on_purpose=reason == "late-guard")
        self.line.opened(self._written, self.now, anew=reason != "late-guard")

    def readings(self, since: float = 0.0) -> dict[str, list[tuple[float, Reading]]]:
        """Readings by detector."""
        found: dict[str, list[tuple[float, Reading]]] = defaultdict(list)
        for at, scan in self.scans:
            for reading in scan.readings:
                if at >= since:
                    found[reading.detector].append((at, reading))
        return found

    def good_times(self, unit: int, since: float = 0.0) -> list[float]:
        """When good readings of a unit came."""
        return [at for at, reading in self.readings(since)[f"D{unit}"] if reading.quality is Quality.GOOD]

    def mean_periods(self, since: float, until: float) -> dict[int, float]:
        """Mean period of each live unit."""
        return {unit: (until - since) / max(1, len(self.good_times(unit, since))) for unit in self.gateway.units}

    def longest_gap(self, since: float = 0.0) -> float:
        """Longest time that any live unit went without a good reading."""
        return max(
            later - sooner
            for unit in self.gateway.units
            for sooner, later in itertools.pairwise(self.good_times(unit, since))
        )

    def failed_readings_of_the_living(self) -> int:
        """How often a live unit was called silent."""
        found = self.readings()
        return sum(
            reading.quality is not Quality.GOOD for unit in self.gateway.units for _, reading in found[f"D{unit}"]
        )


LIVE = set(range(1, 33)) - {5, 17, 30}
MUTE = {5, 17, 30}


@pytest.mark.parametrize("mute_wait_s", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("mute_code", [None, 11])
@pytest.mark.parametrize("window", [1, 16])
def test_three_mute_units_of_32_cost_the_living_5_pct_at_most_and_10_on_a_gateway_that_waits_a_second(
    mute_wait_s, mute_code, window
):
    line = VirtualLine(Gateway(LIVE, MUTE, mute_wait_s=mute_wait_s, mute_code=mute_code), window=window)
    line.run(30.0)
    settled = line.now
    line.run(150.0)
    for unit, period in line.mean_periods(settled, line.now).items():
        assert period == pytest.approx(PERIOD_S, rel=0.05 if mute_wait_s <= 0.5 else 0.1), unit
    assert line.longest_gap() < 2.5
    assert line.longest_gap(since=settled) < 1.5
    assert line.failed_readings_of_the_living() == 0
    assert line.closings == []


@pytest.mark.parametrize(("mute", "within_s"), [({17}, 10.0), (MUTE, 25.0)])
@pytest.mark.parametrize("mute_wait_s", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("strict_ids", [True, False])
def test_a_mute_unit_is_looked_for_again_within_10_s_and_each_of_three_within_25(
    mute, within_s, mute_wait_s, strict_ids
):
    units = set(range(1, 33))
    line = VirtualLine(Gateway(units - mute, set(mute), mute_wait_s=mute_wait_s), strict_ids=strict_ids)
    line.run(330.0)
    for unit in mute:
        looks = [at for at, asked in line.asked if asked == unit and at > 30.0]
        assert max(later - sooner for sooner, later in itertools.pairwise(looks)) <= within_s
    line.gateway.units, line.gateway.mute = units, set()
    line.run(330.0 + within_s)
    for unit in mute:
        assert line.good_times(unit, 330.0) != []


def test_ids_ignored_the_living_keep_their_pace_too_and_every_timeout_opens_the_line_anew():
    line = VirtualLine(Gateway(LIVE, MUTE), strict_ids=False)
    line.run(30.0)
    line.run(150.0)
    for unit, period in line.mean_periods(30.0, line.now).items():
        assert period == pytest.approx(PERIOD_S, rel=0.1), unit
    assert line.longest_gap() < 2.5
    assert len(line.closings) == line.line.counters.timeouts
    assert {reason for _, reason in line.closings} == {"late-guard"}


def test_units_that_fall_mute_later_are_told_silent_and_the_others_stay_heard():
    gateway = Gateway(LIVE | MUTE)
    line = VirtualLine(gateway)
    line.run(10.0)
    gateway.units, gateway.mute = LIVE, {17}
    line.run(12.0)
    told = [reading.reason for _, reading in line.readings(10.0)["D17"] if reading.quality is Quality.BAD]
    assert set(told) == {"timeout"}
    assert line.failed_readings_of_the_living() == 0
    assert line.longest_gap() < 2.0


def fallen_mute(mute, since, *, window=1, strict_ids=True):
    gateway = Gateway(set(range(1, 33)))
    line = VirtualLine(gateway, window=window, strict_ids=strict_ids)
    line.run(since)
    gateway.units, gateway.mute = gateway.units - mute, set(mute)
    line.run(since + 20.0)
    return line


NEIGHBOURS = [{1, 2}, {2, 3}, {10, 11}, {17, 18}, {31, 32}]
MOMENTS = [10.0, 10.1, 10.105, 10.2, 10.33]


@pytest.mark.parametrize("mute", NEIGHBOURS)
@pytest.mark.parametrize("since", MOMENTS)
@pytest.mark.parametrize("strict_ids", [True, False])
def test_two_neighbours_that_fall_mute_at_once_end_no_connection_and_hold_nobody_up_for_3_s(mute, since, strict_ids):
    line = fallen_mute(mute, since, strict_ids=strict_ids)
    assert line.longest_gap(since - 1.0) < 2.6
    assert line.failed_readings_of_the_living() == 0
    assert "mute" not in {reason for _, reason in line.closings}


@pytest.mark.parametrize("mute", [{1, 2, 3}, {10, 11, 12}, {30, 31, 32}, MUTE])
@pytest.mark.parametrize("since", MOMENTS)
def test_three_that_fall_mute_in_one_slot_cost_the_others_their_three_waits_and_a_period_and_no_more(mute, since):
    line = fallen_mute(mute, since)
    assert line.longest_gap(since - 1.0) < 3 * line.gateway.mute_wait_s + PERIOD_S + 0.1
    assert line.failed_readings_of_the_living() == 0


@pytest.mark.parametrize("mute", [*NEIGHBOURS, MUTE, {10, 11, 12}, {11, 17, 18}])
@pytest.mark.parametrize("since", MOMENTS)
def test_sixteen_in_flight_on_a_gateway_that_takes_one_blame_not_those_that_waited_behind_the_mute(mute, since):
    line = fallen_mute(mute, since, window=16)
    assert line.failed_readings_of_the_living() <= 1
    assert line.longest_gap(since - 1.0) < 9.0


@pytest.mark.parametrize("fault", ["renamed", "garbled"])
@pytest.mark.parametrize("period_slots", [0.0, 0.2, 0.4])
def test_a_mute_unit_and_one_whose_answers_are_useless_leave_the_third_its_pace(fault: str, period_slots: float):
    line = VirtualLine(Gateway({1, 2, 3}))
    line.run(10.0 + period_slots)
    getattr(line.gateway, fault).add(3)
    line.gateway.mute = {1}
    line.run(40.0)
    assert [at for at, reason in line.closings if reason == "mute"] == [], "an answer that is of no use is one"
    between = [later - sooner for sooner, later in itertools.pairwise(line.good_times(2, 9.0))]
    assert max(between) < 2.6


def test_the_first_units_being_mute_hides_nobody():
    line = VirtualLine(Gateway(set(range(4, 33)), {1, 2, 3}))
    line.run(60.0)
    assert line.closings == []
    assert min(min(line.good_times(unit)) for unit in line.gateway.units) < 4.0
    assert line.longest_gap() < 2.0


def test_a_silent_unit_is_reported_once_in_each_slot():
    line = VirtualLine(Gateway({1}, {2}, serial=False))
    line.run(20.0)
    silent = [at for at, reading in line.readings(10.1)["D2"] if reading.status is Status.NO_CONTACT]
    assert silent == pytest.approx([10.5 + PERIOD_S * slot for slot in range(20)])


def test_a_silent_unit_is_probed_after_1_2_4_and_5_seconds_and_its_answer_ends_the_silence():
    gateway = Gateway({1}, {2}, serial=False)
    line = VirtualLine(gateway)
    line.run(30.0)
    probes = [at for at, unit in line.asked if unit == 2]
    waits = [later - sooner for sooner, later in itertools.pairwise(probes)]
    assert waits[0] == pytest.approx(1.2, abs=0.6)
    assert max(waits) < BACKOFF_LAST_S + TIMEOUT_S + PERIOD_S + 0.1
    assert waits[-1] > BACKOFF_LAST_S
    gateway.mute, gateway.units = set(), {1, 2}
    line.run(36.0)
    assert len(line.good_times(2, 30.0)) > 0
    line.run(46.0)
    assert len(line.good_times(2, 36.0)) == 20


def test_a_line_that_is_too_slow_for_its_period_serves_all_in_turn_and_counts_the_overruns():
    line = VirtualLine(Gateway(set(range(1, 33)), service_s=0.045))
    line.run(60.0)
    periods = line.mean_periods(10.0, line.now)
    assert max(periods.values()) < 32 * 0.045 * 1.1
    assert line.line.counters.overruns > 1000
    assert line.failed_readings_of_the_living() == 0


def test_a_connection_that_falls_dead_is_given_up_as_mute_within_1_4_s():
    gateway = Gateway(set(range(1, 9)), serial=False)
    line = VirtualLine(gateway)
    line.run(10.0)
    gateway.dead = True
    line.run(10.0 + PERIOD_S + MUTE_S + TIMEOUT_S)
    assert [reason for _, reason in line.closings] == ["mute"]


def test_a_unit_always_slower_than_the_timeout_is_silent_and_its_late_values_are_never_used():
    line = VirtualLine(Gateway({1, 2}, serial=False, slow={2: 0.3}))
    line.run(30.0)
    assert line.good_times(2) == []
    assert line.line.counters.late > 0
    assert line.mean_periods(5.0, 30.0)[1] == pytest.approx(PERIOD_S, rel=0.05)


def test_the_schedule_does_not_drift():
    line = VirtualLine(Gateway({1}, serial=False))
    line.run(3600.0)
    times = line.good_times(1)
    assert times[-1] == pytest.approx(3600.0 - PERIOD_S, abs=PERIOD_S)
    assert len(times) == pytest.approx(7200, abs=1)


class Asked:
    """What a caller of a command is told."""

    def __init__(self) -> None:
        self.told: list[tuple[bool | None, str]] = []

    def done(self, state: bool | None, reason: str) -> None:
        self.told.append((state, reason))


def test_a_command_without_a_connection_fails_after_a_second_and_not_before():
    line = VirtualLine(Gateway({1}))
    line.line.closed("refused", 0.0)
    asked = Asked()
    line.line.command(1, coil(0), True, asked.done, 5.0)
    line.line.sweep(5.9)
    assert asked.told == []
    line.line.sweep(6.0)
    assert asked.told == [(None, "refused")]


def test_commands_beyond_the_bound_fail_at_once_and_are_counted():
    line = VirtualLine(Gateway({1}))
    line.line.closed("refused", 0.0)
    asked = Asked()
    for _ in range(70):
        line.line.command(1, coil(0), True, asked.done, 5.0)
    assert asked.told == [(None, "queue-full")] * 6
    assert line.line.counters.commands_failed == 6


def test_whoever_waits_for_a_command_is_told_when_the_line_stops():
    line = VirtualLine(Gateway({1}))
    line.line.closed("refused", 0.0)
    asked = Asked()
    line.line.command(1, coil(0), True, asked.done, 5.0)
    line.line.stopped()
    assert asked.told == [(None, "stopped")]


# --- nobody answers at all

ALL_DEAD = [1, 3, 10, 32]


def dead_line(count: int, *, rtu: bool, mute_wait_s: float = 1.0, window: int = 1) -> VirtualLine:
    """All units have been mute for a minute, after they were heard for a while."""
    gateway = Gateway(set(range(1, count + 1)), mute_wait_s=mute_wait_s)
    line = on_rtu(gateway) if rtu else VirtualLine(gateway, window=window)
    line.run(5.0)
    gateway.units, gateway.mute = set(), gateway.units
    line.run(65.0)
    return line


def asked_each_s(line: VirtualLine, since: float) -> float:
    return len([at for at, _ in line.asked if at > since]) / (line.now - since)


@pytest.mark.parametrize("count", ALL_DEAD)
@pytest.mark.parametrize("rtu", [True, False])
def test_a_line_on_which_nobody_answers_is_asked_every_1_2_s_and_a_cable_so_that_each_is_looked_for_in_8_s(count, rtu):
    line = dead_line(count, rtu=rtu)
    line.run(125.0)
    assert asked_each_s(line, 35.0) <= (max(1 / 1.2, count / 7.5) if rtu else 1 / 1.2) * 1.05
    told = {unit: [at for at, _ in line.readings(65.0)[f"D{unit}"]] for unit in line.gateway.mute}
    assert all(len(times) > 50 for times in told.values()), "each is told silent, slot by slot"


@pytest.mark.parametrize(("mute_wait_s", "within_s"), [(0.1, 8.0), (0.5, 12.5), (1.0, 12.5)])
def test_a_dead_line_whose_gateway_says_so_is_looked_at_in_turn_by_how_long_each_holds_it_up(mute_wait_s, within_s):
    line = VirtualLine(Gateway(set(), set(range(1, 11)), mute_wait_s=mute_wait_s, mute_code=11))
    line.run(90.0)
    for unit in range(1, 11):
        looks = [at for at, asked in line.asked if asked == unit and at > 30.0]
        assert max(later - sooner for sooner, later in itertools.pairwise(looks)) <= within_s
    assert line.line.counters.stalls == 0 or mute_wait_s > TIMEOUT_S


@pytest.mark.parametrize("fault", ["renamed", "garbled"])
def test_a_line_of_useless_answers_is_asked_no_oftener_either(fault):
    line = VirtualLine(Gateway({1, 2, 3}))
    line.run(5.0)
    setattr(line.gateway, fault, {1, 2, 3})
    line.run(125.0)
    assert asked_each_s(line, 35.0) <= 1.05 / 1.2
    setattr(line.gateway, fault, set())
    line.run(133.0)
    assert all(line.good_times(unit, 125.0) for unit in line.gateway.units)


@pytest.mark.parametrize("count", ALL_DEAD)
@pytest.mark.parametrize("phase_s", [0.0, 0.3, 1.1])
def test_on_a_dead_line_each_unit_of_a_cable_is_looked_for_every_8_s_and_found_alive_within_them(count, phase_s):
    line = dead_line(count, rtu=True)
    line.run(125.0 + phase_s)
    for unit in range(1, count + 1):
        looks = [at for at, asked in line.asked if asked == unit and at > 30.0]
        assert max(later - sooner for sooner, later in itertools.pairwise(looks)) <= 8.0, unit
    line.gateway.units, line.gateway.mute = {count}, line.gateway.mute - {count}
    line.run(line.now + 8.0)
    assert line.good_times(count, 125.0), "the only one that came back"


@pytest.mark.parametrize("window", [1, 16])
@pytest.mark.parametrize(("count", "stays"), [(2, 1), (2, 2), (3, 1), (3, 2), (10, 1), (10, 7), (32, 2), (32, 18)])
def test_a_witness_that_stays_dead_keeps_nobody_unheard_who_is_back(window, count, stays):
    line = dead_line(count, rtu=False, mute_wait_s=0.2, window=window)
    line.gateway.units, line.gateway.mute = line.gateway.mute - {stays}, {stays}
    back = line.now
    line.run(back + 8.0)
    assert all(line.good_times(unit, back) for unit in line.gateway.units)


@pytest.mark.parametrize("count", ALL_DEAD)
@pytest.mark.parametrize("rtu", [True, False])
def test_all_units_of_a_line_that_comes_back_as_a_whole_are_read_within_8_s(count, rtu):
    line = dead_line(count, rtu=rtu)
    line.gateway.units, line.gateway.mute = line.gateway.mute, set()
    back = line.now
    line.run(back + 8.0)
    assert all(line.good_times(unit, back) for unit in line.gateway.units)
    line.run(back + 18.0)
    assert all(len(line.good_times(unit, back + 8.0)) >= 15 for unit in line.gateway.units), "at its pace again"


@pytest.mark.parametrize("window", [1, 16])
@pytest.mark.parametrize("phase_s", [0.0, 1.9, 4.3, 6.6])
def test_units_that_fell_mute_together_and_come_back_together_are_read_within_5_s_beside_living_ones(window, phase_s):
    gateway = Gateway(set(range(1, 33)), mute_wait_s=0.2)
    line = VirtualLine(gateway, window=window)
    line.run(5.0)
    fallen = set(range(10, 18))
    gateway.units, gateway.mute = gateway.units - fallen, fallen
    line.run(65.0 + phase_s)
    back, since = fallen - {10}, line.now
    gateway.units, gateway.mute = gateway.units | back, {10}
    line.run(since + 5.0)
    assert all(line.good_times(unit, since) for unit in back), "though one stays mute"


@pytest.mark.parametrize("window", [1, 16])
def test_half_a_dead_line_that_comes_back_waits_for_no_look_at_each_of_the_other_half(window):
    line = dead_line(32, rtu=False, window=window)
    line.gateway.units, line.gateway.mute = set(range(1, 17)), set(range(17, 33))
    since = line.now
    line.run(since + 24.0)
    assert all(line.good_times(unit, since) for unit in line.gateway.units)


def test_whoever_comes_back_after_its_gateway_was_out_of_reach_is_read_at_once():
    line = dead_line(10, rtu=False)
    line.line.closed("unreachable", line.now)
    line.gateway.units, line.gateway.mute, line._free_at = line.gateway.mute, set(), line.now
    line.line.opened(line._written, line.now, anew=True)
    back = line.now
    line.run(back + PERIOD_S)
    assert all(line.good_times(unit, back) for unit in line.gateway.units)


def test_a_command_waits_for_no_rest_of_a_dead_line():
    line = dead_line(3, rtu=True)
    for _ in range(40):
        asked, before = Asked(), len(line.asked)
        line.run(line.now + 0.37)
        line.gateway.units = {99}
        line.line.command(99, PLACE, None, asked.done, line.now)
        began = line.now
        while not asked.told:
            line.run(line.now + 0.01)
        assert asked.told == [(True, "")] and line.now - began <= TIMEOUT_S + 0.1, line.asked[before:]


# --- RTU: no ids, one serial line


def on_rtu(gateway: Gateway, *, late_s: float = 1.0, rests: dict[int, float] | None = None) -> VirtualLine:
    """A line of 9600 bit/s."""
    gateway.serial = False  # nothing queues for a mute unit there: it just says nothing
    return VirtualLine(gateway, strict_ids=False, quiet=Quiet(0.004, rests or {}, 0.0, late_s))


def test_rtu_three_mute_units_of_ten_cost_the_living_nothing_but_the_time_of_their_probes():
    line = on_rtu(Gateway(set(range(1, 8)), {8, 9, 10}, service_s=0.04))
    line.run(30.0)
    line.run(150.0)
    for unit, period in line.mean_periods(30.0, line.now).items():
        assert period == pytest.approx(PERIOD_S, rel=0.05), unit
    assert line.longest_gap() < 1.2
    assert line.failed_readings_of_the_living() == 0
    assert line.closings == []


def test_rtu_a_silent_line_is_opened_anew_and_read_again():
    gateway = Gateway({1, 2, 3}, service_s=0.04)
    line = on_rtu(gateway)
    line.run(10.0)
    gateway.dead = True
    line.run(20.0)
    assert {reason for _, reason in line.closings} == {"mute"}
    assert line.closings[0][0] < 12.5
    gateway.dead = False
    line.run(26.0)
    assert all(len(line.good_times(unit, 24.0)) >= 3 for unit in (1, 2, 3))


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.sampled_from([0.02, 0.1, 0.3]))
def test_rtu_lost_and_late_answers_are_never_taken_for_another_and_all_are_read_again_after_them(chosen, loss):
    chance = random.Random(chosen)
    gateway = Gateway({1, 2, 3, 4}, service_s=0.04)
    gateway.loses = lambda: chance.random() < loss / 2
    # Later than its time is out, but before the unit is asked again.
    gateway.delays = lambda: chance.uniform(0.1, 0.9) if chance.random() < loss / 2 else 0.0
    line = on_rtu(gateway)
    line.run(30.0)
    assert line.line.counters.late > 0 or loss == 0.02
    gateway.loses, gateway.delays = (lambda: False), (lambda: 0.0)
    line.run(40.0)
    assert all(len(line.good_times(unit, 37.0)) >= 5 for unit in gateway.units)


def test_rtu_one_lost_answer_is_made_good_within_the_promise():
    gateway = Gateway({1, 2, 3}, service_s=0.04)
    line = on_rtu(gateway)
    line.run(10.0)
    lost = iter([True])
    gateway.loses = lambda: next(lost, False)
    line.run(20.0)
    assert line.line.counters.timeouts == 1
    assert line.failed_readings_of_the_living() == 0
    assert line.longest_gap() < PERIOD_S + 1.0 + 0.2


def test_rtu_the_gap_and_a_units_rest_are_kept():
    line = on_rtu(Gateway({1, 2, 3}, service_s=0.04), rests={2: 0.05})
    line.run(10.0)
    for (before, first), (after, second) in itertools.pairwise(line.asked):
        rest = 0.05 if 2 in (first, second) else 0.004
        assert after - before >= 0.04 + rest - 1e-9


@pytest.mark.parametrize("window", [1, 4])
@pytest.mark.parametrize("length_s", [0.5, 1.5, 1.9])
def test_a_loop_that_stands_still_again_and_again_takes_no_unit_for_silent_and_no_line_for_dead(window, length_s):
    line = VirtualLine(Gateway({1, 2, 3, 4}, serial=False), window=window)
    while line.now < 60.0:
        line.run(line.now + 0.053)
        line.now += length_s  # and the timers come before the sockets
        if trouble := line.line.sweep(line.now):
            line._close(trouble)
        line.line.slot(line.now)
        line.line.pump(line.now)
        while line._events and line._events[0][0] <= line.now:
            line._deliver(heapq.heappop(line._events)[2])
    assert line.closings == []
    assert line.line.counters.timeouts == 0


def test_a_dead_line_is_given_up_though_the_loop_stands_still_too():
    line = VirtualLine(Gateway({1, 2, 3, 4}, dead=True))
    while line.now < 20.0:
        line.run(line.now + 0.053)
        line.now += 0.5
    assert line.closings


class Glancer:
    """Looks at one place each second that it was answered, later and later while it is not, as a scale is looked at."""

    def __init__(self, line: VirtualLine, unit: int) -> None:
        self.line, self.unit = line, unit
        self.told: list[tuple[float, bool | None, str]] = []

    def done(self, state: bool | None, reason: str) -> None:
        self.told.append((self.line.now, state, reason))

    def run(self, until: float, every: float) -> None:
        asked = len(self.told)
        while self.line.now < until:
            if asked == len(self.told):
                asked += 1
                self.line.line.glance(self.unit, PLACE, self.done, self.line.now)
            self.line.run(min(until, self.line.now + every))


def test_a_place_that_is_glanced_at_answers_in_the_gaps_and_no_head_waits_for_it():
    plain, glanced = (VirtualLine(Gateway(set(range(1, 25)) | {99}, service_s=0.01)) for _ in range(2))
    plain.run(60.0)
    glancer = Glancer(glanced, 99)
    glancer.run(60.0, 0.5)
    assert len(glancer.told) > 50 and {(state, reason) for _, state, reason in glancer.told} == {(True, "")}
    assert glanced.longest_gap(5.0) == pytest.approx(plain.longest_gap(5.0), abs=0.03)
    assert glanced.failed_readings_of_the_living() == 0


@pytest.mark.parametrize("mute_wait_s", [0.2, 1.0])
def test_a_mute_place_that_is_glanced_at_holds_nobody_up_for_longer_than_a_probe(mute_wait_s):
    gateway = Gateway(set(range(1, 25)), mute_wait_s=mute_wait_s)
    line = VirtualLine(gateway)
    gateway.mute = {99}
    glancer = Glancer(line, 99)
    glancer.run(120.0, 10.0)
    assert {reason for _, _, reason in glancer.told} == {"timeout"}
    assert line.failed_readings_of_the_living() == 0
    assert line.longest_gap(5.0) < mute_wait_s + PERIOD_S + 0.1
    assert line.closings == []


def test_a_line_without_a_gap_says_so_to_whoever_glances_and_polls_on():
    line = VirtualLine(Gateway(set(range(1, 33)), service_s=0.02))
    glancer = Glancer(line, 1)
    glancer.run(40.0, 1.0)
    assert glancer.told and {reason for _, _, reason in glancer.told} == {"no-gap"}
    assert line.failed_readings_of_the_living() == 0


def test_a_glance_without_a_connection_is_refused_at_once_and_one_that_waits_with_the_connection():
    line = VirtualLine(Gateway({1}))
    asked = Asked()
    line.run(0.45)
    line.line.glance(1, PLACE, asked.done, line.now)
    assert asked.told == [], "it waits for a gap: this slot has none left"
    line.line.closed("refused", line.now)
    line.line.sweep(line.now)
    line.line.glance(1, PLACE, asked.done, line.now)
    assert asked.told == [(None, "refused")] * 2


def test_a_scale_alone_on_its_line_is_read_again_once_it_speaks_again():
    gateway = Gateway(set(), mute=set())
    line = VirtualLine(gateway)
    gateway.mute = {99}
    glancer = Glancer(line, 99)
    glancer.run(20.0, 1.0)
    assert glancer.told and {reason for _, _, reason in glancer.told} <= {"timeout", "mute"}
    gateway.mute, gateway.units = set(), {99}
    glancer.run(30.0, 1.0)
    assert [state for at, state, _ in glancer.told if at > 25.0] and all(
        state for at, state, _ in glancer.told if at > 25.0
    )


def test_an_output_beside_a_mute_scale_waits_for_it_no_longer_than_one_timeout():
    gateway = Gateway(set(), mute_wait_s=0.2)
    line = VirtualLine(gateway)
    gateway.mute, gateway.units = {99}, {1}
    glancer, asked = Glancer(line, 99), Asked()
    waited = []
    for second in range(1, 40):
        glancer.run(float(second), 0.5)
        line.line.glance(99, PLACE, lambda *_: None, line.now)
        began, before = line.now, len(asked.told)
        line.line.command(1, PLACE, None, asked.done, line.now)
        while len(asked.told) == before:
            line.run(line.now + 0.01)
        waited.append(line.now - began)
    assert set(asked.told) == {(True, "")}
    assert max(waited) <= TIMEOUT_S + 0.1


def test_a_glance_that_is_to_go_first_waits_while_the_line_is_in_doubt_for_another():
    gateway = Gateway({1, 2, 3})
    line = VirtualLine(gateway, strict_ids=False)
    line.run(10.0)
    gateway.garbled, gateway.mute = {3}, {99}
    asked = Asked()
    while line.asked[-1][1] != 3:
        line.run(line.now + 0.005)
    line.run(line.now + 0.05)
    line.line.glance(99, PLACE, asked.done, line.now, first=True)
    line.run(20.0)
    assert {reason for _, reason in asked.told} == {"timeout"}
    assert "mute" not in {reason for _, reason in line.closings}, "the line is judged by its heads"
