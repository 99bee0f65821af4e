"""A depot as its configuration describes it: frozen objects, checked, ready to be built from. Knows no file format."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from alerts.effects import Row
from alerts.policy import Levels, Timing
from alerts.routing import EscalationStep, Recipient
from gateway.commissioning.upkeep import USUAL, Intervals
from gateway.engine.orders import ByDesign
from gateway.engine.plans import Plan
from gateway.engine.supplies import Supply
from gateway.engine.weighing import Scale
from gateway.office.counting import StockSource
from gateway.store.settings import Influx, Keeping
from sensors.drivers.modbus import ModbusHead
from sensors.drivers.mqtt import MqttHead, MqttSettings
from sensors.drivers.settings import BusSettings
from sensors.readings import DetectorId
from sensors.wire.outputs import MqttOutput, OutputPoint


@dataclass(frozen=True, slots=True)
class Area:
    """A storage area. `licensed_kg` is nominal kg of LPG; `use` is resale, own-use or fuel-station.

    Attributes:
        audible_within_s: by when a statute in force here wants the audible alarm (s); None where none asks.
    """

    id: str
    licensed_kg: float
    use: str
    name: str = ""
    audible_within_s: float | None = None


@dataclass(frozen=True, slots=True)
class Bus:
    """One line and the heads that are read over it (none: a line of outputs)."""

    settings: BusSettings
    heads: tuple[ModbusHead, ...]


@dataclass(frozen=True, slots=True)
class Detector:
    """One installed head, whatever its wire. `line` is its depot.toml line, for messages.

    Attributes:
        source: the bus id, or ``mqtt``.
        blind_after_s: longest age of its last good reading before it counts as not watching.
        refresh_s: how often the head renews its own value; None where the profile does not know.
        name: as people call it; its id where nobody gave it another.
        calibrated_on, tested_on: days of the last calibration and the last function test; None where nobody told.
        intervals: how often it needs both, and a bump test.
    """

    id: DetectorId
    area: str
    source: str
    profile: str
    blind_after_s: float
    refresh_s: float | None
    detects_silence_s: float | None
    line: int
    name: str = ""
    calibrated_on: date | None = None
    tested_on: date | None = None
    intervals: Intervals = USUAL


@dataclass(frozen=True, slots=True)
class OnLine:
    """An output of a Modbus unit. Its point is already turned round where "on" means released."""

    bus: str
    unit: int
    point: OutputPoint


@dataclass(frozen=True, slots=True)
class OnBroker:
    """An output behind the broker; `names` fill in the topics of its point."""

    point: MqttOutput
    names: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Output:
    """A siren, horn, beacon, valve or relay.

    Attributes:
        row: its line of the table of effects.
        energised: when its coil is on: ``alarm``, or ``normal`` for one that is released to alarm.
        at_stop: where it is brought when the watch ends on purpose: ``keep``, ``alarm`` or ``normal``.
        check_s: how often it is read back at rest.
    """

    id: str
    row: Row
    wire: OnLine | OnBroker
    name: str = ""
    energised: str = "alarm"
    at_stop: str = "keep"
    check_s: float = 2.0


@dataclass(frozen=True, slots=True)
class WebhookChannel:
    """An HTTP receiver. `secret` signs the body; None sends it unsigned."""

    id: str
    url: str
    secret: str | None = field(repr=False)
    timeout_s: float = 3.0


@dataclass(frozen=True, slots=True)
class MqttChannel:
    """Alarms out through the depot's broker, under ``vigia/<depot>/``."""

    id: str


@dataclass(frozen=True, slots=True)
class ConsoleChannel:
    """Alarms as lines on standard output. Never counts as an output."""

    id: str


Channel = WebhookChannel | MqttChannel | ConsoleChannel


@dataclass(frozen=True, slots=True)
class Web:
    """Where the page listens, loopback only. Port 0 is any free one."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Depot:
    """The whole configuration. `web` None means no page.

    Attributes:
        tests: when outputs are tested by themselves; None: only when somebody asks.
        checkpoint_copy: where the journal's last checkpoint is copied to; None: nowhere.
        within_s: the house's promise, from its pack: by when the first counting output has taken the alarm (s).
    """

    file: Path
    id: str
    name: str
    address: str
    timezone: str
    language: str
    laws: tuple[str, ...]
    data: Path
    public_url: str | None
    reference_vol_pct: float
    areas: tuple[Area, ...]
    buses: tuple[Bus, ...]
    detectors: tuple[Detector, ...]
    mqtt: MqttSettings | None
    mqtt_heads: tuple[MqttHead, ...]
    levels: Levels
    timing: Timing
    web: Web | None
    outputs: tuple[Output, ...]
    channels: tuple[Channel, ...]
    recipients: tuple[Recipient, ...]
    escalation: tuple[EscalationStep, ...]
    within_s: float
    by_design: tuple[ByDesign, ...] = ()
    keeping: Keeping = field(default_factory=Keeping)
    influx: Influx | None = None
    checkpoint_copy: Path | None = None
    tests: Plan | None = None
    supplies: tuple[Supply, ...] = ()
    access: str = ""
    stock_sources: tuple[StockSource, ...] = ()
    scales: tuple[Scale, ...] = ()

    @property
    def journal(self) -> Path:
        """Where its journal stands."""
        return self.data / "journal.db"

    @property
    def socket(self) -> Path:
        """Where the control socket of its watch stands."""
        return self.data / "control.sock"

    @property
    def office(self) -> Path:
        """Where the socket of its office stands: registers, stock, findings."""
        return self.data / "office.sock"
