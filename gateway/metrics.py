"""The watch's own figures for ``/metrics``: what each is called, what it tells, where it is read. It counts nothing.

What a screen shows (values, alarms, outputs, links, the slowest first output) is not repeated here: the web child draws
those figures from the picture.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict

from dashboards.ports import Figure
from gateway.engine.engine import Engine
from gateway.field.wiring import Wiring
from gateway.journal import JournalHealth
from gateway.recording import Recording
from sensors.stamps import SECOND

BUS = {
    "polls": ("bus_polls_total", "requests sent"),
    "answers": ("bus_answers_total", "answers taken"),
    "timeouts": ("bus_timeouts_total", "requests nobody answered in time"),
    "retries": ("bus_retries_total", "requests sent again within their slot"),
    "late": ("bus_late_total", "answers that came after their time, dropped"),
    "foreign": ("bus_foreign_total", "answers to nobody's request, dropped"),
    "false_ids": ("bus_false_ids_total", "answers whose transaction id is another, dropped"),
    "noise": ("bus_noise_bytes_total", "bytes in which no frame was found (RTU)"),
    "garbled": ("bus_garbled_total", "answers that could not be read"),
    "exceptions": ("bus_exceptions_total", "Modbus exceptions"),
    "connects": ("bus_connects_total", "connections made"),
    "reconnects": ("bus_reconnects_total", "connections lost or given up"),
    "refusals": ("bus_refusals_total", "connections that failed"),
    "overruns": ("bus_overruns_total", "turns that were not over when the next began"),
    "probes": ("bus_probes_total", "requests to units that had fallen silent"),
    "stalls": ("bus_stalls_total", "times the whole line was stuck"),
    "splits": ("bus_splits_total", "block reads that were divided because a unit refused them"),
    "commands": ("bus_commands_total", "output commands sent"),
    "commands_failed": ("bus_commands_failed_total", "output commands that failed"),
}
"""Each counter of a line: its name and what it counts."""

MQTT = {
    "messages": ("mqtt_messages_total", "messages that arrived"),
    "readings": ("mqtt_readings_total", "readings taken from messages"),
    "dropped_retained": ("mqtt_dropped_retained_total", "messages the broker had kept from before: never fresh"),
    "dropped_size": ("mqtt_dropped_size_total", "messages beyond the size limit"),
    "dropped_garbled": ("mqtt_dropped_garbled_total", "messages that are no JSON text"),
    "dropped_empty": ("mqtt_dropped_empty_total", "messages without a byte"),
    "dropped_absent": ("mqtt_dropped_absent_total", "messages that do not speak of the head's value"),
    "dropped_duplicate": ("mqtt_dropped_duplicate_total", "the sample before, once more"),
    "out_of_sequence": ("mqtt_out_of_sequence_total", "another sample under an old sequence number"),
    "refused_topics": ("mqtt_refused_topics", "subscriptions the broker did not grant, at the last connection"),
    "reconnects": ("mqtt_reconnects_total", "connections made after the first"),
    "failed_connects": ("mqtt_failed_connects_total", "connections that failed"),
}
"""Each counter of the broker's messages: its name and what it counts."""

LANE = {
    "waiting": ("channel_waiting", "notices that wait for their attempt"),
    "in_hand": ("channel_in_hand", "notices that are being handed over"),
    "attempts": ("channel_attempts_total", "attempts to hand a notice over"),
    "timeouts": ("channel_timeouts_total", "attempts that were given up, the other side not answering in time"),
    "crowded_out": ("channel_crowded_out_total", "notices put off because too many waited"),
}
"""Each figure of a channel: its name and what it tells."""

STORE = {
    "seconds": ("store_seconds_total", "seconds of readings written to disk"),
    "dropped_seconds": ("store_dropped_seconds_total", "seconds of readings lost to a disk that failed"),
    "dropped_readings": ("store_dropped_readings_total", "readings lost because too many waited for the disk"),
}
"""Each counter of the depot's own readings: its name and what it counts."""

INFLUX = {
    "sent": ("influx_sent_total", "points the database took"),
    "requests": ("influx_requests_total", "requests to the database"),
    "failures": ("influx_failures_total", "requests the database did not answer, or not well"),
    "spool_points": ("influx_spool_points", "points that wait for the database"),
    "spool_bytes": ("influx_spool_bytes", "size of the file in which they wait"),
    "lost": ("influx_lost_total", "points dropped unsent, counted across restarts"),
    "refused": ("influx_refused_total", "points the database refused, counted across restarts"),
    "proof_age_s": ("influx_proof_age_seconds", "since a number was last written and read back; absent when never"),
}
"""Each figure of the way to the database: its name and what it tells."""


def watch_figures(
    engine: Engine, health: JournalHealth, wiring: Wiring, recording: Recording, *, restarts: int, lag_ns: int
) -> tuple[Figure, ...]:
    """Return every figure of the watch process. `lag_ns`: by how much its last heartbeat came too late."""
    outbox = engine.telling.outbox
    return (
        Figure("alarm_events_total", "alarm events, numbered across restarts", float(engine.book.last_seq)),
        Figure(
            "unknown_readings_total", "readings of detectors that are not configured", float(engine.unknown_readings)
        ),
        Figure("notices_grouped_total", "alarm events that were told together", float(engine.frequent.grouped)),
        Figure("outbox_owed", "notices that nobody has taken yet", float(len(outbox))),
        Figure("outbox_dropped_total", "notices given up", float(outbox.dropped)),
        Figure("journal_queued", "records that wait for the disk", float(health.queued)),
        Figure("journal_dropped_total", "records lost", float(health.dropped)),
        Figure("journal_entries", "entries of the journal", float(health.size)),
        Figure("part_restarts_total", "parts of the watch that ended and were started again", float(restarts)),
        Figure("loop_lag_seconds", "how late the last heartbeat was", lag_ns / SECOND),
        *_lines(wiring),
        *_counted(STORE, asdict(recording.counts), {}),
        *_counted(INFLUX, recording.sent(), {}),
    )


def kept_figures(engine: Engine, figures: Iterable[Figure]) -> dict[str, float]:
    """Return what the database keeps of the watch's health: figures without labels, and a few of the picture's."""
    heads = engine.sight.heads.values()
    kept = {figure.name: figure.value for figure in figures if not figure.labels}
    kept["detectors"] = float(len(heads))
    kept["detectors_watching"] = float(sum(engine.sight.watching(head) for head in heads))
    kept["alarms"] = float(len(engine.book))
    if engine.firsts.worst_ns is not None:
        kept["first_output_worst_seconds"] = engine.firsts.worst_ns / SECOND
    return kept


def _lines(wiring: Wiring) -> Iterator[Figure]:
    for bus, line in wiring.buses.items():
        yield from _counted(BUS, asdict(line.counters), {"bus": bus})
    if wiring.source is not None:
        yield from _counted(MQTT, asdict(wiring.source.counters), {})
    for channel, count in wiring.dispatcher.counts().items():
        yield from _counted(LANE, asdict(count), {"channel": channel})


def _counted(
    called: Mapping[str, tuple[str, str]], counts: Mapping[str, float], labels: dict[str, str]
) -> Iterator[Figure]:
    for field, count in counts.items():
        name, about = called[field]
        yield Figure(name, about, float(count), labels)
