"""Builds the parts that a depot's configuration names: lines, broker, outputs, channels. Runs none of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from alerts.alarms import AlarmEvent, AlarmKey, AlarmState, Delivery, Notice, Outcome
from alerts.channels.mqtt import MqttChannel as MqttOut
from alerts.channels.output import LocalOutput
from alerts.dispatcher import Channel, Dispatcher
from alerts.messages.place import Place
from alerts.messages.words import learn, words
from gateway.budget import budgets
from gateway.depot import Channel as DescribedChannel
from gateway.depot import ConsoleChannel, Depot, MqttChannel, WebhookChannel
from gateway.engine.areas import PREFIX
from gateway.engine.events import Entry, SystemCondition
from gateway.engine.orders import Orders, Watch
from gateway.field.scalewatch import ScaleWatch
from gateway.field.supplywatch import SupplyWatch
from gateway.field.switching import heartbeats, switched
from gateway.runtime import Part
from sensors.drivers.broker import Connect
from sensors.drivers.modbus import ModbusBus
from sensors.drivers.mqtt import MqttSource
from sensors.drivers.pacer import Pacer
from sensors.readings import DetectorId, LinkChange, Scan
from sensors.stamps import SECOND, Clock, Stamp


@dataclass(frozen=True, slots=True)
class Ears:
    """Where the parts put what they hear, and where they ask how an alarm stands and when it got its first output."""

    scan: Callable[[Scan], None]
    link: Callable[[LinkChange], None]
    output: Callable[[str, bool | None, str], None]
    outcome: Callable[[Delivery, Outcome], None]
    alarm: Callable[[AlarmKey], AlarmState | None]
    condition: Callable[[SystemCondition], None]
    keep: Callable[[Entry], None]


@dataclass(slots=True)
class Wiring:
    """The built parts of one configuration."""

    buses: dict[str, ModbusBus]
    source: MqttSource | None
    outputs: dict[str, LocalOutput]
    channels: dict[str, Channel]
    dispatcher: Dispatcher
    mqtt_out: MqttOut | None
    parts: Sequence[tuple[str, Part]] = field(default_factory=tuple)
    heartbeats: tuple[LocalOutput, ...] = ()

    def give_up(self) -> None:
        """Others take its place: nothing of it is heard of any more."""
        for output in self.outputs.values():
            output.give_up()


def channel_of(channel: DescribedChannel, depot: Depot, ears: Ears) -> Channel:
    """Build the channel that the configuration describes, on the network.

    What only some depots have is loaded for them only: an HTTP client takes 11 MiB.
    """
    match channel:
        case WebhookChannel():
            from alerts.channels.webhook import Webhook

            return Webhook(channel.id, channel.url, channel.secret, channel.timeout_s)
        case MqttChannel():
            if depot.mqtt is None:
                raise AssertionError("the configuration let an MQTT channel through without a broker")
            # a broker throws off the first of two clients with one id, so the way out has its own
            settings = replace(depot.mqtt, client_id=f"{depot.mqtt.client_id}-out")
            return MqttOut(channel.id, settings, depot.id, ears.alarm)
        case ConsoleChannel():
            from alerts.channels.console import Console

            return Console(channel.id, language=depot.language, first_output=lambda key: first_output(ears.alarm(key)))
        case _:
            assert_never(channel)


def first_output(alarm: AlarmState | None) -> Stamp | None:
    """Return when an alarm got its first output; None while it has none, or for one that does not stand."""
    return None if alarm is None else alarm.first_output


@dataclass(frozen=True, slots=True)
class Outside:
    """How the parts reach what is outside the house, where that is no plain connection of the loop.

    Attributes:
        connect: to the broker of heads and outputs; None: over the network, each remembering where the broker was.
        channel: builds one way of telling people.
    """

    connect: Connect | None = None
    channel: Callable[[DescribedChannel, Depot, Ears], Channel] = channel_of


THE_NETWORK = Outside()


def build(depot: Depot, clock: Clock, pacer: Pacer, ears: Ears, outside: Outside = THE_NETWORK) -> Wiring:
    """Build every part of a checked configuration."""
    buses = {
        bus.settings.id: ModbusBus(
            bus.settings, bus.heads, clock=clock, pacer=pacer, on_scan=ears.scan, on_link=ears.link
        )
        for bus in depot.buses
    }
    source = None
    if depot.mqtt is not None and depot.mqtt_heads:
        source = MqttSource(
            depot.mqtt,
            depot.mqtt_heads,
            clock=clock,
            on_scan=ears.scan,
            on_link=ears.link,
            connect=outside.connect,
        )
    supplies = [SupplyWatch(supply, buses.get(supply.bus), clock, ears.condition) for supply in depot.supplies]
    gauges = [gauge for supply in supplies for gauge in supply.topics()]
    outputs, switching = switched(depot, buses, clock, ears.output, gauges, outside.connect)
    channels: dict[str, Channel] = {channel.id: outside.channel(channel, depot, ears) for channel in depot.channels}
    dispatcher = Dispatcher(list(channels.values()), compose=_composer(depot), outcome=ears.outcome)
    parts: list[tuple[str, Part]] = [(f"bus:{name}", bus.run) for name, bus in buses.items()]
    if source is not None:
        parts.append(("mqtt", source.run))
    parts.extend(switching)
    parts.extend((f"supply:{one.id}", watch.run) for one, watch in zip(depot.supplies, supplies, strict=True))
    parts.extend(_scales(depot, buses, clock, ears))
    parts.extend(dispatcher.workers())
    mqtt_out = next((channel for channel in channels.values() if isinstance(channel, MqttOut)), None)
    return Wiring(buses, source, outputs, channels, dispatcher, mqtt_out, tuple(parts), heartbeats(depot, outputs))


def _scales(depot: Depot, buses: Mapping[str, ModbusBus], clock: Clock, ears: Ears) -> list[tuple[str, Part]]:
    """The scales; the line of each is always one that is configured."""
    return [
        (f"scale:{scale.id}", ScaleWatch(scale, buses[scale.bus], clock, ears.keep, ears.condition).run)
        for scale in depot.scales
    ]


def orders(depot: Depot, wiring: Wiring) -> Orders:
    """What the engine needs to know of a configuration."""
    return Orders(
        depot=depot.id,
        levels=depot.levels,
        timing=depot.timing,
        watches=tuple(
            Watch(detector.id, detector.area, detector.source, round(detector.blind_after_s * SECOND))
            for detector in depot.detectors
        ),
        outputs={output.id: output.row for output in depot.outputs},
        tests=depot.tests,
        recipients=depot.recipients,
        escalation=depot.escalation,
        counting=frozenset(channel.id for channel in wiring.channels.values() if channel.counts),
        by_design=depot.by_design,
        lasting=frozenset(f"{part}:{each.id}" for each in depot.supplies for part in ("supply", *each.gauges)),
        stateful=frozenset(channel.id for channel in depot.channels if isinstance(channel, MqttChannel)),
    )


def worst_cases(depot: Depot) -> dict[DetectorId, tuple[float, bool]]:
    """Each detector's computed time from register to first output (s), and whether it is certified for the 3 s."""
    return {figure.detector: (figure.total_s, figure.certified) for figure in budgets(depot)}


def places(depot: Depot) -> Callable[[str], Place]:
    """Tell where a subject is: a detector in its area, anything else in the depot as a whole."""
    areas = {area.id: area.name for area in depot.areas}
    whole = Place(depot=depot.name, address=depot.address)
    known = {
        str(head.id): replace(
            whole, area=areas[head.area], detector=head.id, detector_name=head.name if head.name != head.id else ""
        )
        for head in depot.detectors
    }
    known |= {PREFIX + area.id: replace(whole, area=area.name) for area in depot.areas}
    for output in depot.outputs:
        there = ", ".join(areas[area] for area in sorted(output.row.areas))
        named = output.name if output.name != output.id else ""
        at = replace(whole, area=there, detector_name=named)
        known |= {f"{part}:{output.id}": at for part in ("output", "output-test", "left-output")}
    for supply in depot.supplies:
        named = supply.name if supply.name != supply.id else ""
        known |= {f"{part}:{supply.id}": replace(whole, detector_name=named) for part in ("supply", "mains", "battery")}
    for scale in depot.scales:
        named = scale.name if scale.name != scale.id else ""
        known[f"scale:{scale.id}"] = replace(whole, area=areas[scale.area], detector_name=named)
    return lambda subject: known.get(subject, whole)


def _composer(depot: Depot) -> Callable[[AlarmEvent, Delivery, bool], Notice]:
    areas = {str(detector.id): detector.area for detector in depot.detectors}
    areas |= {PREFIX + area.id: area.id for area in depot.areas}
    place_of = places(depot)
    learn()

    def compose(event: AlarmEvent, delivery: Delivery, recorded: bool) -> Notice:
        place = place_of(event.key.subject)
        return Notice(
            delivery=delivery,
            event=event,
            depot=depot.id,
            area=areas.get(event.key.subject, ""),
            recorded=recorded,
            text=words(event, place, depot.language),
            area_name=place.area,
            detector_name=place.detector_name,
        )

    return compose
