"""What the configuration says of recording: how long things stay, where they go, how fast. Values only."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Keeping:
    """How long what is kept. Day rows and what stands around alarms stay for ever. In seconds."""

    ticks_s: int = 900
    seconds_s: int = 35 * 86_400
    minutes_s: int = 1830 * 86_400


@dataclass(frozen=True, slots=True)
class Target:
    """Where the lines go.

    Attributes:
        database: InfluxDB 1: the database; 2: the bucket; 3: the database; VictoriaMetrics: becomes a label.
        org: InfluxDB 2 only.
        ca: a PEM file of the authority that signed the base's certificate.
        timeout_s: for one whole request, answer included.
    """

    url: str
    database: str
    org: str | None = None
    token: str | None = field(default=None, repr=False)
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    ca: Path | None = None
    timeout_s: float = 10.0
    compress: bool = False


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast, and how patient. Times in seconds.

    Attributes:
        most_points: in one request.
        catch_up: points of backlog a second, so that a base that comes back is not flooded.
        first_retry, longest_retry: after no answer or a busy one, doubling.
        refused_retry: after a refusal that only a person can cure.
        late: age of the oldest live batch at which live begins anew at the newest, the rest becoming backlog.
        unwell_after: without an answer for so long it is told.
        prove: between two proofs by writing and reading back.
        prove_within: how long a number written may take to be read back.
        refused_for: a refused line is told of for so long.
    """

    most_points: int = 5_000
    catch_up: float = 50_000.0
    first_retry: float = 0.5
    longest_retry: float = 15.0
    refused_retry: float = 30.0
    late: float = 5.0
    unwell_after: float = 30.0
    prove: float = 60.0
    prove_within: float = 10.0
    refused_for: float = 600.0


@dataclass(frozen=True, slots=True)
class Changes:
    """When a reading is news: its state is another, its value moved by `lel_pct`, or the last was `quiet_s` ago."""

    lel_pct: float = 0.5
    quiet_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Influx:
    """The database of a depot. `changes` None: every reading is sent."""

    target: Target
    pace: Pace
    changes: Changes | None
    spool_bytes: int
    spool_age_ms: int
