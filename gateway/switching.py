"""Builds the outputs that a depot's configuration names, on their lines and behind their broker. Runs none of them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import assert_never

from alerts.channels.output import LocalOutput
from gateway.depot import Depot, OnBroker, OnLine, Output
from gateway.runtime import Part
from sensors.drivers.modbus import ModbusBus
from sensors.drivers.outputs import BrokerOutputs, LineOutput, TopicOutput
from sensors.stamps import Clock

Report = Callable[[str, bool | None, str], None]


def switched(
    depot: Depot, buses: Mapping[str, ModbusBus], clock: Clock, report: Report
) -> tuple[dict[str, LocalOutput], list[tuple[str, Part]]]:
    """Return every output by its id, and the parts that must run for them."""
    outputs: dict[str, LocalOutput] = {}
    behind: list[TopicOutput] = []
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
        parts.append(("mqtt-outputs", BrokerOutputs(settings, behind, clock).run))
    parts.extend((f"output:{name}", local.run) for name, local in outputs.items())
    return outputs, parts


def _wire(output: Output, buses: Mapping[str, ModbusBus]) -> LineOutput | TopicOutput:
    match output.wire:
        case OnLine(bus, unit, point):
            return LineOutput(buses[bus], unit, point)
        case OnBroker(point, names):
            return TopicOutput(point, names)
        case _:
            assert_never(output.wire)
