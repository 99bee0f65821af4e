"""The ledger of watched time out of a journal file, for the screens and the commands. Reads only."""

from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec

from dashboards.past import LedgerView, MonthView, StretchView
from gateway.journal.errors import StoreError
from gateway.journal.reader import MOST_ENTRIES, JournalReader
from gateway.ledger.ledger import Line, Share, Stretch, Watch, fold, month_start_ms, months, within
from sensors.sentences import Sentence
from sensors.stamps import MILLISECOND, UtcNanos, rfc3339


def ledger(path: Path, timezone: str, start_ms: int | None, end_ms: int, now_ms: int) -> LedgerView:
    """Fold the journal and return what touches the time asked for.

    Args:
        path: the journal file.
        timezone: whose months are summed.
        start_ms: UTC; None is the first of the local month that `end_ms` ends in.
        end_ms: UTC; what lies beyond `now_ms` is not known and not there.
        now_ms: the present.

    Raises:
        StoreError: the journal cannot be read.
    """
    zone = ZoneInfo(timezone)
    end_ms = min(end_ms, now_ms)
    start_ms = month_start_ms(end_ms - 1, zone) if start_ms is None else start_ms
    with JournalReader(path) as reader:
        found = within(fold(lines(reader), now_ms), start_ms, end_ms)
    return LedgerView(
        timezone=timezone,
        start=_time(start_ms),
        end=_time(end_ms),
        stretches=tuple(_stretch(one) for one in found),
        months=tuple(_month(share) for share in months(found, zone)),
    )


def lines(reader: JournalReader, at: int = 0) -> Iterator[Line]:
    """Every entry of the journal from index `at` on, with the name of the person behind it.

    Raises:
        StoreError: an entry cannot be read.
    """
    names = dict(reader.ask("SELECT ref, name FROM person"))
    while rows := reader.entries(at, MOST_ENTRIES):
        for idx, data in rows:
            try:
                entry = msgspec.json.decode(data)
                kind, body = entry["kind"], entry["body"]
            except (msgspec.DecodeError, TypeError, KeyError) as error:
                raise StoreError(
                    reader.path,
                    Sentence("entry {idx} cannot be read ({reason})", idx=idx, reason=error),
                    "run `vigia verify`",
                ) from error
            ref = body.get("by")
            yield Line(kind, body, None if ref is None else names.get(ref, f"#{str(ref)[:8]}"))
        at = rows[-1][0] + 1


def _stretch(one: Stretch) -> StretchView:
    return StretchView(
        detector=one.detector,
        state=one.state.value,
        start=_time(one.start_ms),
        end=_time(one.end_ms),
        seconds=(one.end_ms - one.start_ms) / 1000,
        cause=one.cause,
        by=one.by,
    )


def _month(share: Share) -> MonthView:
    return MonthView(
        detector=share.detector,
        month=share.month,
        seconds=sum(share.ms.values()) / 1000,
        watched_pct=share.percent(Watch.WATCHED),
        blind_pct=share.percent(Watch.BLIND),
        inhibited_pct=share.percent(Watch.INHIBITED),
        in_test_pct=share.percent(Watch.IN_TEST),
        out_of_service_pct=share.percent(Watch.OUT_OF_SERVICE),
        off_pct=share.percent(Watch.OFF),
    )


def _time(ms: int) -> str:
    return rfc3339(UtcNanos(ms * MILLISECOND))
