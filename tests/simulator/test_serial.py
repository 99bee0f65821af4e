"""The serial line that is not there: plugged, pulled out, plugged in again."""

import asyncio
import errno
import os
from pathlib import Path

import pytest

from simulator.scripted import ScriptedServer, ScriptedUnit
from simulator.serial import Cable


class Ear:
    """Keeps what came, and lets others wait for it."""

    def __init__(self) -> None:
        self.came = bytearray()
        self._news = asyncio.Event()

    def __call__(self, data: bytes) -> None:
        self.came += data
        self._news.set()

    async def hears(self, wanted: bytes) -> None:
        async with asyncio.timeout(3):
            while self.came != wanted:
                assert len(self.came) <= len(wanted), self.came
                self._news.clear()
                await self._news.wait()


async def test_bytes_go_both_ways_and_nothing_is_echoed(tmp_path: Path) -> None:
    ear = Ear()
    cable = Cable(tmp_path / "adapter", ear)
    device = cable.plug()
    cable.write(b"before anybody opened it")
    near = os.open(tmp_path / "adapter", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        assert (tmp_path / "adapter").readlink() == Path(device)
        os.write(near, bytes(range(256)))
        await ear.hears(bytes(range(256)))
        cable.write(b"\x01\r\n\x03\x04")
        back = Ear()
        asyncio.get_running_loop().add_reader(near, lambda: back(os.read(near, 100)))
        await back.hears(b"before anybody opened it\x01\r\n\x03\x04")
        asyncio.get_running_loop().remove_reader(near)
    finally:
        os.close(near)
        cable.unplug()


async def test_pulled_out_it_hangs_up_and_comes_back_under_another_number(tmp_path: Path) -> None:
    ear = Ear()
    cable = Cable(tmp_path / "adapter", ear)
    first = cable.plug()
    near = os.open(first, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    cable.unplug()
    assert not (tmp_path / "adapter").is_symlink()
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        os.write(near, b"x")
    os.close(near)
    second = cable.plug()
    assert second != first
    near = os.open(tmp_path / "adapter", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    os.write(near, b"again")
    await ear.hears(b"again")
    os.close(near)
    # closed and opened anew by its user, without being pulled out
    await asyncio.sleep(0)
    near = os.open(tmp_path / "adapter", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    os.write(near, b" and again")
    await ear.hears(b"again and again")
    os.close(near)
    cable.unplug()


async def test_a_scripted_line_answers_a_request_cut_in_two_and_skips_what_is_none(tmp_path: Path) -> None:
    server = ScriptedServer({1: ScriptedUnit(holding={2: 0x1234})}, rtu=True)
    server.plug(tmp_path / "adapter")
    async with server:
        near = os.open(tmp_path / "adapter", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        request = bytes.fromhex("01 03 00 02 00 01 25 CA")
        os.write(near, b"\x00\xff" + request[:3])
        os.write(near, request[3:])
        ear = Ear()
        asyncio.get_running_loop().add_reader(near, lambda: ear(os.read(near, 100)))
        await ear.hears(bytes.fromhex("01 03 02 12 34 B5 33"))
        asyncio.get_running_loop().remove_reader(near)
        os.close(near)
