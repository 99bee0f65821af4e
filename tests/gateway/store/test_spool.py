"""The spool: first in first out, over restarts, with every loss counted."""

from pathlib import Path

import apsw
import pytest
from recorded import BEGIN_S, ROOMY

from gateway.journal.errors import StoreError
from gateway.store.spool import FILLING, Bounds, Loss, Spool, losses_on_record
from simulator.disks import FaultyDisk

DAY_MS = 86_400_000


def lines(number: int, count: int = 20) -> list[str]:
    """Lines that do not compress away."""
    return [
        f"gas,detector=GD-{head} lel_pct={(number * 7919 + head * 104729) % 99991 / 1000:.3f} {number}"
        for head in range(count)
    ]


def ms(number: int) -> int:
    return BEGIN_S * 1000 + number * 1000


def fill(spool: Spool, first: int, last: int, count: int = 20) -> None:
    for number in range(first, last):
        spool.put(lines(number, count), ms(number), ms(number) + 999)


def test_what_goes_in_first_comes_out_first_and_survives_a_restart(tmp_path: Path):
    spool = Spool(tmp_path / "s.db", ROOMY)
    fill(spool, 0, 10)
    spool.close()
    spool = Spool(tmp_path / "s.db", ROOMY)
    assert spool.health(ms(10)).points == 200
    out: list[str] = []
    while (parcel := spool.next(50)) is not None:
        assert parcel.points <= 50
        out += parcel.text.decode().split("\n")
        spool.done(parcel)
    assert out == [line for number in range(10) for line in lines(number)]
    assert spool.health(ms(10)).points == 0
    spool.close()


def test_a_batch_larger_than_asked_for_comes_whole(spool: Spool):
    spool.put(lines(0, 100), ms(0), ms(0))
    parcel = spool.next(10)
    assert parcel is not None and parcel.points == 100


@pytest.mark.trial("B39")
def test_b39_a_full_spool_warns_first_and_counts_exactly_what_it_loses_across_restarts(tmp_path: Path):
    path = tmp_path / "s.db"
    bounds = Bounds(96 * 1024, 400 * DAY_MS)
    spool = Spool(path, bounds)
    put = warned_at = 0
    while put < 100_000:
        fill(spool, put // 20, put // 20 + 1)
        put += 20
        health = spool.health(ms(put // 20))
        if health.fill >= FILLING and not warned_at:
            warned_at = put
        if health.lost and health.lost % 9000 == 0:
            spool.close()
            spool = Spool(path, bounds)
        assert health.points + health.lost == put
        assert health.bytes <= bounds.bytes
    assert warned_at > 0
    lost = spool.health(ms(put // 20)).lost
    assert lost > 10 * (put - lost), "the limit was overrun many times"
    assert warned_at < put - lost, "told before the first was lost"
    on_record = losses_on_record(path)
    assert sum(loss.points for loss in on_record) == lost
    assert on_record == [Loss(ms(0), ms(lost // 20 - 1) + 999, lost, "size")]
    parcel = spool.next(1)
    assert parcel is not None and parcel.text.decode().split("\n") == lines(lost // 20), "oldest first"
    spool.close()
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < bounds.bytes + 5 * 2**20


def test_what_is_too_old_goes_too(tmp_path: Path):
    spool = Spool(tmp_path / "s.db", Bounds(2**30, DAY_MS))
    fill(spool, 0, 5)
    fill(spool, 86_403, 86_404)
    assert spool.losses() == [Loss(ms(0), ms(2) + 999, 60, "age")]
    assert spool.health(ms(86_403)).points == 60
    spool.close()


def test_losses_that_do_not_touch_stand_apart(tmp_path: Path):
    spool = Spool(tmp_path / "s.db", Bounds(2**30, DAY_MS))
    fill(spool, 0, 2)
    fill(spool, 90_000, 90_002)
    parcel = spool.next(20)
    assert parcel is not None
    spool.done(parcel)
    fill(spool, 200_000, 200_001)
    assert [(loss.first_ms, loss.points) for loss in spool.losses()] == [(ms(0), 40), (ms(90_001), 20)]
    spool.close()


def test_what_is_on_its_way_is_not_dropped(tmp_path: Path):
    spool = Spool(tmp_path / "s.db", Bounds(2**30, DAY_MS))
    fill(spool, 0, 2)
    taken = spool.next(20)
    assert taken is not None
    fill(spool, 90_000, 90_001)
    assert spool.health(ms(90_000)).lost == 20, "the second batch, not the first"
    spool.done(taken)
    assert spool.health(ms(90_000)).lost == 20
    spool.close()


def test_a_full_disk_is_an_error_and_the_figures_stay_true(tmp_path: Path):
    disk = FaultyDisk("spool-disk")
    try:
        spool = Spool(tmp_path / "s.db", ROOMY, vfs=disk.name)
        fill(spool, 0, 3)
        disk.free_bytes = 0
        with pytest.raises(apsw.FullError):
            fill(spool, 3, 3000)
        disk.free_bytes = None
        kept = spool.health(ms(0)).points
        fill(spool, 3000, 3001)
        assert spool.health(ms(0)).points == kept + 20
        spool.close()
    finally:
        disk.unregister()


def test_refused_lines_are_kept_to_be_looked_at_and_counted(tmp_path: Path):
    spool = Spool(tmp_path / "s.db", ROOMY)
    fill(spool, 0, 1)
    parcel = spool.next(20)
    assert parcel is not None
    spool.done(parcel, [(lines(0)[3], "field type conflict")], too_old=2)
    spool.close()
    spool = Spool(tmp_path / "s.db", ROOMY)
    assert spool.refusals() == [(lines(0)[3], "field type conflict")]
    assert spool.health(ms(0)).refused == 3
    spool.close()


def test_room_is_given_back_when_all_is_sent(tmp_path: Path):
    spool = Spool(tmp_path / "s.db", ROOMY)
    fill(spool, 0, 300, count=200)
    full = spool.health(ms(0)).bytes
    while (parcel := spool.next(5000)) is not None:
        spool.done(parcel)
    assert spool.health(ms(0)).bytes < full / 4
    spool.close()


def test_a_file_of_something_else_is_refused(tmp_path: Path):
    other = apsw.Connection(str(tmp_path / "s.db"))
    other.execute("CREATE TABLE mine (x)")
    other.close()
    with pytest.raises(StoreError, match="no spool"):
        Spool(tmp_path / "s.db", ROOMY)
    assert losses_on_record(tmp_path / "none.db") == []
