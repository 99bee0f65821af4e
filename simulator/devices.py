"""The Modbus lines of a yard as scripted servers whose registers follow what the heads show. Knows no scenario.

Whoever plays a scenario says what a head wants to say; a unit is asked anew at each request, and encodes it only when
something has changed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sensors.wire.image import Image
from sensors.wire.places import Function
from simulator.sayings import Wanted
from simulator.scripted import ScriptedServer, ScriptedUnit
from simulator.speech import Speech, swap_words
from simulator.yard import Line, Siren

COILS: Final = 16
SERVICE_S: Final = 0.02
"""What a gateway needs for one exchange on its serial line."""

Says = Callable[[str], tuple[Wanted, bool]]
"""What the head of this name is to say now, and whether its words are swapped."""


@dataclass(slots=True)
class Device:
    """One unit with its heads. Its registers are those of all of them."""

    number: int
    speeches: Sequence[Speech]
    says: Says
    unit: ScriptedUnit = field(default_factory=ScriptedUnit)
    _said: tuple[tuple[Wanted, bool], ...] = ()

    def __post_init__(self) -> None:
        self.unit.refresh = self.refresh
        self.refresh()

    def refresh(self) -> None:
        """Bring the registers to the present."""
        said = tuple(self.says(speech.head.id) for speech in self.speeches)
        if said == self._said:
            return
        self._said = said
        image = Image()
        for speech, (wanted, swapped) in zip(self.speeches, said, strict=True):
            speech.image(wanted, image)
            if swapped:
                swap_words(image, speech)
        cells = image.cells
        self.unit.holding, self.unit.inputs = cells.get(Function.HOLDING, {}), cells.get(Function.INPUT, {})
        self.unit.discrete = {at: bool(bit) for at, bit in cells.get(Function.DISCRETE, {}).items()}
        self.unit.coils = {at: bool(bit) for at, bit in cells.get(Function.COIL, {}).items()}


def line_server(
    line: Line, devices: Sequence[Device], siren: Siren | None, told: Callable[[bool], None]
) -> ScriptedServer:
    """Return a line with these units, and with the siren if it hangs there; `told` hears what its coil is set to."""
    units = {device.number: device.unit for device in devices}
    if siren is not None:
        coils = dict.fromkeys(range(COILS), False)
        units[siren.unit] = ScriptedUnit(coils=coils, on_write=lambda at, on: told(on) if at == siren.coil else None)
    return ScriptedServer(
        units,
        serial=line.one_at_a_time,
        service_s=SERVICE_S,
        mute_wait_s=line.mute_wait_s,
        rtu=line.transport == "rtu",
    )


async def open_line(server: ScriptedServer, line: Line, wanted: int, links: Path | None) -> int | None:
    """Serve the line: on the wanted port if it is free, else on any; a serial one under its link. Return the port.

    Raises:
        OSError: if neither can be had.
    """
    if server.rtu:
        if links is None:
            raise OSError(f"line {line.id} is serial, and there is no folder for its device")
        server.plug(links / line.id)
        return None
    server.port = wanted
    try:
        return await server.start()
    except OSError:
        server.port = 0
        return await server.start()
