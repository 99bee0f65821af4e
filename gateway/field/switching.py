"""Builds the outputs that a depot's configuration names, on their lines and behind their broker. Runs none of them."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from alerts.channels.output import LocalOutput
from gateway.depot import Depot, OnBroker, OnLine, Output
from gateway.runtime import Part
from sensors.drivers.broker import Connect
from sensors.drivers.modbus import ModbusBus
from sensors.drivers.outputs import LineOutput, OnTopic, TopicOutput, Topics
from sensors.stamps import Clock

REST_S = 0.8
"""How long outputs may take to be read back where they are to stand when the watch ends."""

Report = Callable[[str, bool | None, str], None]


def switched(
    depot: Depot,
    buses: Mapping[str, ModbusBus],
    clock: Clock,
    report: Report,
    gauges: Sequence[OnTopic] = (),
    connect: Connect | None = None,
) -> tuple[dict[str, LocalOutput], list[tuple[str, Part]]]:
    """Return every output by its id, and the parts that must run for them; `gauges` share their broker.

    `connect` holds a connection to it, where that is not to be the network's.
    """
    outputs: dict[str, LocalOutput] = {}
    behind: list[OnTopic] = [*gauges]
    for output in depot.outputs:
        wire = _wire(output, buses)
        local = outputs[output.id] = LocalOutput(output.id, wire, report, clock, output.check_s)
        if isinstance(wire, TopicOutput):
            wire.listener = local
            behind.append(wire)
    parts: list[tuple[str, Part]] = []
    if depot.mqtt is not None and behind:
        # a broker throws off the first of two clients with one id, so the outputs have their own
        settings = replace(depot.mqtt, client_id=f"{depot.mqtt.client_id}-outputs")
        parts.append(("mqtt-outputs", Topics(settings, behind, clock, connect).run))
    parts.extend((f"output:{name}", local.run) for name, local in outputs.items())
    return outputs, parts


def heartbeats(depot: Depot, outputs: Mapping[str, LocalOutput]) -> tuple[LocalOutput, ...]:
    """Return the relays that the alarm loop holds, to be told again with each of its beats."""
    return tuple(outputs[output.id] for output in depot.outputs if output.row.held)


async def bring_to_rest(depot: Depot, outputs: Mapping[str, LocalOutput]) -> None:
    """The watch ends on purpose: bring outputs to where they are to stand without it, as far as they obey in time."""
    told = [output for output in depot.outputs if output.at_stop != "keep"]
    for output in told:
        outputs[output.id].set(output.at_stop == "alarm")
    deadline = asyncio.get_running_loop().time() + REST_S
    while any(outputs[output.id].on is not outputs[output.id].wanted for output in told):
        if asyncio.get_running_loop().time() > deadline:
            return
        await asyncio.sleep(0.02)


def _wire(output: Output, buses: Mapping[str, ModbusBus]) -> LineOutput | TopicOutput:
    match output.wire:
        case OnLine(bus, unit, point):
            return LineOutput(buses[bus], unit, point)
        case OnBroker(point, names):
            return TopicOutput(point, names)
        case _:
            assert_never(output.wire)
