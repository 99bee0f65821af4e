"""The shape of depot.toml: its tables and keys, their types and bounds. Knows no file and no cross-reference.

Each field's example is what a message shows to someone who got it wrong.
"""

from datetime import date
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from compliance.registers.cells import FIRST_YEAR, LAST_YEAR
from gateway.engine.weighing import CHECK_S, READINGS, WITHIN_KG
from sensors.gases import PROPANE_LEL_VOL_PCT

Id: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
"""Goes into topics, addresses and delivery numbers, hence letters, digits, dot, dash and underscore only."""

Text: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Phone: TypeAlias = Annotated[str, StringConstraints(pattern=r"^\+?[0-9(][0-9 ()-]{1,22}[0-9]$")]
Port: TypeAlias = Annotated[int, Field(ge=1, le=65535)]
Unit: TypeAlias = Annotated[int, Field(ge=0, le=255)]
Address: TypeAlias = Annotated[int, Field(ge=0, le=65535)]
Percent: TypeAlias = Annotated[float, Field(gt=0, le=100)]
Day: TypeAlias = Annotated[date, Field(ge=date(FIRST_YEAR, 1, 1), le=date(LAST_YEAR, 12, 31))]
"""One that people can mean, and days can be added to."""


class Table(BaseModel):
    """Strict: no key goes unread, no type is guessed."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class DepotTable(Table):
    """``[depot]``. `data` is a folder, relative to the file."""

    id: Id = Field(examples=['"deposito-centro"'])
    name: Text | None = Field(default=None, examples=['"Depósito Centro"'])
    address: str = Field(default="", max_length=300, examples=['"Rua das Acácias 120, portão 2"'])
    access: str = Field(default="", max_length=300, examples=['"Portão 2; hidrante na esquina; chave na portaria"'])
    timezone: Text = Field(default="America/Sao_Paulo", examples=['"America/Sao_Paulo"'])
    language: Literal["pt-BR", "en"] = Field(default="pt-BR", examples=['"pt-BR"'])
    laws: list[Text] = Field(default=[], examples=['["ferraz-de-vasconcelos-3190-2013"]'])
    data: Text = Field(default="var", examples=['"var"'])
    public_url: Text | None = Field(default=None, examples=['"https://vigia.example.org"'])
    # Propane has the highest LEL of what LPG is made of: a reference above it would sound later than any LPG allows.
    lel_reference_vol_pct: float = Field(default=1.4, ge=0.5, le=PROPANE_LEL_VOL_PCT, examples=["1.4"])


class AreaTable(Table):
    """``[[area]]``."""

    id: Id = Field(examples=['"patio"'])
    name: Text | None = Field(default=None, examples=['"Pátio"'])
    licensed_kg: float = Field(gt=0, le=1e9, examples=["6240"])
    use: Literal["resale", "own-use", "fuel-station"] = Field(default="resale", examples=['"resale"'])


class BusTable(Table):
    """``[[bus]]``. Which keys belong to which transport, `gateway.configuration.lines` knows."""

    id: Id = Field(examples=['"detectores"'])
    transport: Literal["tcp", "rtu", "rtu-over-tcp"] = Field(default="tcp", examples=['"tcp"'])
    host: Text | None = Field(default=None, examples=['"192.168.0.20"'])
    port: Port = Field(default=502, examples=["502"])
    line_baud: int | None = Field(default=None, ge=300, le=1_000_000, examples=["9600"])
    period_ms: int = Field(default=500, ge=20, le=60_000, examples=["500"])
    timeout_ms: int = Field(default=200, ge=10, le=30_000, examples=["200"])
    transaction_id: Literal["strict", "ignore"] = Field(default="strict", examples=['"strict"'])
    in_flight: int = Field(default=1, ge=1, le=16, examples=["1"])
    device: Text | None = Field(default=None, examples=['"/dev/serial/by-id/usb-FTDI_USB-RS485-if00-port0"'])
    baud: int | None = Field(default=None, ge=300, le=1_000_000, examples=["9600"])
    parity: Literal["none", "even", "odd"] | None = Field(default=None, examples=['"none"'])
    stop_bits: Literal[1, 2] | None = Field(default=None, examples=["1"])
    gap_ms: float | None = Field(default=None, ge=0, le=1000, examples=["4"])
    turnaround_ms: float = Field(default=0.0, ge=0, le=5000, examples=["10"])
    late_ms: int | None = Field(default=None, ge=50, le=10_000, examples=["1000"])
    echo: bool | None = Field(default=None, examples=["true"])


class DetectorTable(Table):
    """The keys every ``[[detector]]`` may have; what else stands there belongs to its profile."""

    id: Id = Field(examples=['"GD-101"'])
    name: Text | None = Field(default=None, examples=['"Portão"'])
    area: Text = Field(examples=['"patio"'])
    profile: Text = Field(examples=['"generic-modbus"'])
    bus: Text | None = Field(default=None, examples=['"detectores"'])
    unit: Unit | None = Field(default=None, examples=["1"])
    turnaround_ms: float | None = Field(default=None, ge=0, le=5000, examples=["10"])
    mqtt: Text | None = Field(default=None, examples=['"depot/GD-201"'])
    lel_vol_pct: float | None = Field(default=None, ge=0.5, le=5, examples=["1.4"])
    factor: float = Field(default=1.0, ge=0.1, le=10, examples=["1.0"])
    calibrated_on: Day | None = Field(default=None, examples=["2026-08-01"])
    tested_on: Day | None = Field(default=None, examples=["2026-03-15"])
    max_age_ms: int | None = Field(default=None, ge=100, le=3_600_000, examples=["2500"])


class MqttTable(Table):
    """``[mqtt]``: the depot's broker."""

    host: Text = Field(examples=['"127.0.0.1"'])
    port: Port = Field(default=1883, examples=["1883"])
    username: Text | None = Field(default=None, examples=['"vigia"'])
    password_env: Text | None = Field(default=None, examples=['"VIGIA_MQTT_PASSWORD"'])
    password_file: Text | None = Field(default=None, examples=['"mqtt.password"'])


class LevelsTable(Table):
    """``[levels]``, %LEL of the reference. None has a default: no alarm limit is taken in silence."""

    a1: Percent = Field(alias="A1", examples=["10"])
    a2: Percent = Field(alias="A2", examples=["20"])
    a3: Percent = Field(alias="A3", examples=["40"])
    dead_band: float = Field(default=2.0, gt=0, le=50, examples=["2"])


class TimingTable(Table):
    """``[timing]``, seconds."""

    repeat_s: float = Field(default=120, ge=10, le=3600, examples=["120"])
    silence_s: float = Field(default=120, ge=5, le=120, examples=["120"])


class WebTable(Table):
    """``[web]``."""

    listen: Text = Field(examples=['"127.0.0.1:8080"'])


class StoreTable(Table):
    """``[store]``: how long the depot's own readings stay."""

    keep_ticks_min: int = Field(default=15, ge=5, le=1440, examples=["15"])
    keep_seconds_days: int = Field(default=35, ge=1, le=3660, examples=["35"])
    keep_minutes_days: int = Field(default=1830, ge=30, le=36_600, examples=["1830"])


class JournalTable(Table):
    """``[journal]``."""

    checkpoint_copy: Text = Field(examples=['"/media/pen/checkpoint"'])


class InfluxTable(Table):
    """``[influx]``: InfluxDB 1.6 to 3, or VictoriaMetrics."""

    url: Text = Field(examples=['"http://127.0.0.1:8086"'])
    database: Text = Field(examples=['"vigia"'])
    username: Text | None = Field(default=None, examples=['"vigia"'])
    token_env: Text | None = Field(default=None, examples=['"VIGIA_INFLUX_TOKEN"'])
    token_file: Text | None = Field(default=None, examples=['"influx.token"'])
    password_env: Text | None = Field(default=None, examples=['"VIGIA_INFLUX_PASSWORD"'])
    password_file: Text | None = Field(default=None, examples=['"influx.password"'])
    ca: Text | None = Field(default=None, examples=['"ca.pem"'])
    org: Text | None = Field(default=None, examples=['"deposito"'])
    compress: bool = Field(default=False, examples=["true"])
    report: Literal["all", "changes"] = Field(default="all", examples=['"changes"'])
    change_lel_pct: float = Field(default=0.5, ge=0, le=10, examples=["0.5"])
    quiet_s: float = Field(default=60, ge=1, le=3600, examples=["60"])
    batch_points: int = Field(default=5000, ge=1, le=100_000, examples=["5000"])
    timeout_s: float = Field(default=10, ge=0.5, le=60, examples=["10"])
    catch_up_points_s: int = Field(default=50_000, ge=100, le=1_000_000, examples=["50000"])
    spool_mb: int = Field(default=256, ge=1, le=100_000, examples=["256"])
    spool_days: float = Field(default=30, ge=0.1, le=366, examples=["30"])


class VotesTable(Table):
    """``votes``: what a costly output wants before it is begun."""

    heads: int = Field(default=2, ge=1, le=100, examples=["2"])
    samples: int = Field(default=2, ge=1, le=100, examples=["2"])


class OutputTable(Table):
    """``[[channel]]`` that is switched. One of `coil`, `modbus`, `mqtt` and `profile` says how, see `outputs`."""

    id: Id = Field(examples=['"sirene"'])
    kind: Literal["siren", "horn", "beacon", "valve", "heartbeat", "relay"] = Field(examples=['"siren"'])
    name: Text | None = Field(default=None, examples=['"Sirene do portão"'])
    bus: Text | None = Field(default=None, examples=['"saidas"'])
    unit: Unit | None = Field(default=None, examples=["1"])
    coil: Address | None = Field(default=None, examples=["0"])
    modbus: dict[str, object] | None = Field(
        default=None,
        examples=['{ function = "coil", register = 0, read_back = { function = "discrete", register = 8 } }'],
    )
    mqtt: dict[str, object] | None = Field(
        default=None,
        examples=['{ command = { topic = "sirene/set", on = "1", off = "0" }, confirm = { topic = "sirene" } }'],
    )
    profile: Text | None = Field(default=None, examples=['"waveshare-relay"'])
    output: Text | None = Field(default=None, examples=['"relay"'])
    channel: int | None = Field(default=None, ge=0, le=1000, examples=["3"])
    names: dict[str, str] | None = Field(default=None, examples=['{ device = "sirene-patio" }'])
    energised: Literal["alarm", "normal"] = Field(default="alarm", examples=['"normal"'])
    at_stop: Literal["keep", "alarm", "normal"] | None = Field(default=None, examples=['"keep"'])
    level: Literal["A1", "A2", "A3"] | None = Field(default=None, examples=['"A2"'])
    areas: list[Text] = Field(default=[], examples=['["patio"]'])
    effects: dict[
        Literal["raised", "risen", "acknowledged", "silenced", "cleared", "reset", "blind"],
        Literal["on", "off", "keep"],
    ] = Field(default={}, examples=['{ blind = "on" }'])
    votes: VotesTable | None = Field(default=None, examples=["{ heads = 2, samples = 2 }"])
    check_s: float | None = Field(default=None, ge=0.5, le=3600, examples=["2"])


class GaugeTable(Table):
    """``mains`` or ``battery`` of a supply: one place, and what of it is the trouble."""

    measure: Text | None = Field(default=None, examples=['"input_voltage"'])
    channel: int | None = Field(default=None, ge=0, le=1000, examples=["1"])
    coil: Address | None = Field(default=None, examples=["3"])
    discrete: Address | None = Field(default=None, examples=["3"])
    holding: Address | None = Field(default=None, examples=["3"])
    input: Address | None = Field(default=None, examples=["3"])
    value: str | None = Field(default=None, max_length=300, examples=['"/power"'])
    payload: Literal["json", "text"] = Field(default="json", examples=['"text"'])
    scale: float = Field(default=1.0, ge=-1e6, le=1e6, examples=["0.1"])
    below: float | None = Field(default=None, ge=-1e9, le=1e9, examples=["160"])
    above: float | None = Field(default=None, ge=-1e9, le=1e9, examples=["250"])
    when: list[int | float | bool | str] = Field(default=[], max_length=20, examples=["[0]"])


class SupplyTable(Table):
    """``[[supply]]``: what feeds the depot."""

    id: Id = Field(examples=['"nobreak"'])
    name: Text | None = Field(default=None, examples=['"Nobreak do escritório"'])
    bus: Text | None = Field(default=None, examples=['"saidas"'])
    unit: Unit | None = Field(default=None, examples=["5"])
    mqtt: Text | None = Field(default=None, examples=['"nobreak/estado"'])
    profile: Text | None = Field(default=None, examples=['"wirenboard-ups-v3"'])
    mains: GaugeTable | None = Field(default=None, examples=['{ measure = "input_voltage", below = 160 }'])
    battery: GaugeTable | None = Field(default=None, examples=['{ measure = "charge", below = 30 }'])
    check_s: float = Field(default=5.0, ge=1, le=600, examples=["5"])
    after_s: float = Field(default=5.0, ge=0, le=600, examples=["5"])
    max_age_s: float | None = Field(default=None, ge=5, le=86_400, examples=["30"])


class StockSourceTable(Table):
    """``[[stock_source]]``: a counter, a tag reader or a scale that tells of containers."""

    id: Id = Field(examples=['"portao-saida"'])
    kind: Literal["counter", "tags", "scale"] = Field(default="counter", examples=['"counter"'])
    mqtt: Text | None = Field(default=None, examples=['"portao/saida"'])
    value: str = Field(default="", max_length=300, examples=['"/count"'])
    number: str = Field(default="", max_length=300, examples=['"/seq"'])
    area: Text = Field(examples=['"patio"'])
    size: Annotated[str, StringConstraints(pattern=r"^P-[0-9]{1,3}$")] = Field(examples=['"P-13"'])
    act: Literal["in", "out", "exchange", "empties-in", "empties-out"] | None = Field(default=None, examples=['"out"'])
    brand: str = Field(default="", max_length=60, examples=['"Azul"'])
    wraps_at: int | None = Field(default=None, ge=2, le=2**32, examples=["65536"])
    most: int = Field(default=500, ge=1, le=100_000, examples=["500"])
    again_s: float | None = Field(default=None, ge=0, le=86_400, examples=["10"])
    profile: Text | None = Field(default=None, examples=['"tuna-id551pn"'])
    name: Text | None = Field(default=None, examples=['"Balança do balcão"'])
    bus: Text | None = Field(default=None, examples=['"balcao"'])
    unit: Unit | None = Field(default=None, examples=["9"])
    measure: Text = Field(default="weight", examples=['"gross"'])
    channel: int | None = Field(default=None, ge=0, le=1000, examples=["1"])
    weighs: Literal["full", "empty"] = Field(default="full", examples=['"empty"'])
    tags: Text | None = Field(default=None, examples=['"leitor-balcao"'])
    kg_per_unit: float | None = Field(default=None, gt=0, le=1e6, examples=["0.01"])
    check_s: float = Field(default=CHECK_S, ge=0.2, le=10, examples=["0.5"])
    readings: int = Field(default=READINGS, ge=2, le=20, examples=["3"])
    within_kg: float = Field(default=WITHIN_KG, ge=0, le=5, examples=["0.05"])
    least_kg: float | None = Field(default=None, gt=0, le=1e6, examples=["6.5"])
    most_kg: float | None = Field(default=None, gt=0, le=1e6, examples=["39"])


class OutputTestTable(Table):
    """``[output_test]``: outputs tested by themselves."""

    day: Literal["every", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] = Field(
        default="monday", examples=['"monday"']
    )
    at: Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")] = Field(examples=['"09:30"'])
    pulse_s: float = Field(default=1.0, ge=0.2, le=10, examples=["1"])
    outputs: list[Text] = Field(default=[], examples=['["sirene"]'])


class WebhookTable(Table):
    """``[[channel]]`` of kind webhook."""

    id: Id = Field(examples=['"hook"'])
    kind: Literal["webhook"] = Field(examples=['"webhook"'])
    url: Text = Field(examples=['"https://example.org/vigia"'])
    secret_env: Text | None = Field(default=None, examples=['"VIGIA_HOOK_SECRET"'])
    secret_file: Text | None = Field(default=None, examples=['"hook.secret"'])
    timeout_s: float = Field(default=3.0, ge=0.2, le=30, examples=["3"])


class PlainChannelTable(Table):
    """``[[channel]]`` of kind mqtt or console: nothing to set."""

    id: Id = Field(examples=['"painel"'])
    kind: Literal["mqtt", "console"] = Field(examples=['"console"'])


class RecipientTable(Table):
    """``[[recipient]]``."""

    id: Id = Field(examples=['"dona"'])
    name: Text | None = Field(default=None, examples=['"Dona do depósito"'])
    phone: Phone | None = Field(default=None, examples=['"(11) 98888-7777"'])
    role: Literal["owner", "operator", "brigade", "centre", "neighbour"] = Field(examples=['"owner"'])
    channels: list[Text] = Field(min_length=1, examples=['["hook"]'])
    alarms: list[Literal["A1", "A2", "A3", "BLIND", "SYSTEM", "COMPLIANCE"]] | None = Field(
        default=None, examples=['["A1", "A2", "A3", "BLIND", "SYSTEM"]']
    )


class EscalationTable(Table):
    """``[[escalation]]``."""

    after_s: float = Field(gt=0, le=86_400, examples=["60"])
    recipients: list[Text] = Field(min_length=1, examples=['["central"]'])


class SuppressionTable(Table):
    """``[[suppression]]``: alarms that tell nobody anything while a condition holds."""

    alarms: list[Text] = Field(min_length=1, examples=['["BLIND GD-104"]'])
    during: Text | None = Field(default=None, examples=['"BLIND bomba"'])
    by: Text = Field(examples=['"Eng. Rui Prado"'])
    reason: Text = Field(examples=['"linha desligada junto com a bomba"'])
    until: Day = Field(examples=["2027-03-31"])


SINGLE: dict[str, type[Table]] = {
    "depot": DepotTable,
    "mqtt": MqttTable,
    "levels": LevelsTable,
    "timing": TimingTable,
    "web": WebTable,
    "store": StoreTable,
    "journal": JournalTable,
    "influx": InfluxTable,
    "output_test": OutputTestTable,
}
"""Tables that stand once: ``[name]``."""

LISTED: dict[str, type[Table]] = {
    "area": AreaTable,
    "bus": BusTable,
    "detector": DetectorTable,
    "channel": Table,
    "recipient": RecipientTable,
    "escalation": EscalationTable,
    "supply": SupplyTable,
    "stock_source": StockSourceTable,
    "suppression": SuppressionTable,
}
"""Tables that stand once for each thing: ``[[name]]``. What a channel holds depends on its kind."""

ChannelTable = OutputTable | WebhookTable | PlainChannelTable
"""What stands in a ``[[channel]]``, of whatever kind."""

CHANNELS: dict[str, type[ChannelTable]] = {
    "siren": OutputTable,
    "horn": OutputTable,
    "beacon": OutputTable,
    "valve": OutputTable,
    "heartbeat": OutputTable,
    "relay": OutputTable,
    "mqtt": PlainChannelTable,
    "webhook": WebhookTable,
    "console": PlainChannelTable,
}

LATER_CHANNELS = frozenset({"email", "telegram", "sia-dc09", "cap", "webpush", "whatsapp", "sms", "apprise"})
"""Kinds of the contract that this release does not have yet."""
