"""Lets outputs go that a new configuration no longer names, while the old one still watches and its lines are open."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, assert_never

from alerts.channels.output import LocalOutput
from alerts.effects import stays_when_left
from gateway.depot import Depot, OnBroker, OnLine, Output
from gateway.engine.events import Left

LEAVE_S: Final = 1.0
"""How long outputs may take to be read back at rest. Meanwhile the old configuration watches, but for these outputs."""

LOOK_S: Final = 0.02


def leaving(old: Depot, new: Depot) -> tuple[tuple[Output, str], ...]:
    """Return the outputs whose switch no output of the new configuration has, and where it is.

    Under another id, on a line of another name, or the other way round it is the same switch: whoever has it now brings
    it to what is wanted.
    """
    held = {_switch(output, new) for output in new.outputs}
    switches = [(output, _switch(output, old)) for output in old.outputs]
    return tuple((output, ", ".join(switch)) for output, switch in switches if switch not in held)


async def let_go(
    old: Depot, new: Depot, outputs: Mapping[str, LocalOutput], asked: Callable[[str], bool]
) -> tuple[Left, ...]:
    """Bring to rest what leaves and may be brought there; return how each was left.

    `asked` tells whether a standing alarm wants an output on.
    """
    gone = leaving(old, new)
    wanted = {output.id: asked(output.id) for output, _ in gone}
    stay = {output.id: stays_when_left(output.row, asked=wanted[output.id]) for output, _ in gone}
    told = [outputs[output.id] for output, _ in gone if not stay[output.id]]
    for output in told:
        output.leave()
    deadline = asyncio.get_running_loop().time() + LEAVE_S
    while any(output.on is not False for output in told):
        if asyncio.get_running_loop().time() > deadline:
            break
        await asyncio.sleep(LOOK_S)
    return tuple(
        Left(output.id, output.row.kind.value, place, wanted[output.id], stay[output.id], outputs[output.id].on)
        for output, place in gone
    )


def _switch(output: Output, depot: Depot) -> tuple[str, ...]:
    """Return what tells this switch from every other, whatever the configuration calls it."""
    match output.wire:
        case OnLine(bus, unit, point):
            line = next(each.settings.place for each in depot.buses if each.settings.id == bus)
            return line, f"unit {unit}", f"{point.place.function.name.lower()} {point.place.register}"
        case OnBroker(point, names):
            assert depot.mqtt is not None
            return f"{depot.mqtt.host}:{depot.mqtt.port}", point.commanded_on(names)
        case _:
            assert_never(output.wire)
