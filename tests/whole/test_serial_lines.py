"""The whole gateway with its heads on a serial port and its siren behind a serial server."""

import pytest
from patience import until
from whole_depot import Whole


@pytest.fixture
async def serial(depot: Whole) -> Whole:
    """The same depot on RTU, both lines of it."""
    depot.line.rtu = depot.siren.rtu = True
    link = depot.folder / "usb-RS485"
    depot.line.plug(link)
    port = f'transport = "rtu"\ndevice = "{link}"\nbaud = 115200'
    depot.changes = {
        f'transport = "tcp"\nhost = "127.0.0.1"\nport = {depot.line.port}': port,
        f'transport = "tcp"\nhost = "127.0.0.1"\nport = {depot.siren.port}': (
            f'transport = "rtu-over-tcp"\nhost = "127.0.0.1"\nport = {depot.siren.port}\nline_baud = 9600'
        ),
    }
    return depot


async def test_a_leak_on_a_serial_line_sounds_a_siren_on_another_in_three_seconds(serial: Whole) -> None:
    await serial.start()
    await serial.web_up()
    began = serial.gas(2, 12.3)
    await until(lambda: serial.siren_on, what="the siren")
    (call,) = await until(serial.hook.gas, what="the hook")
    assert call.at - began < 3.0
    assert (call.body["subject"], call.body["level"], call.body["lel_pct"]) == ("GD-2", "A1", 12.3)
    assert await serial.stop() == 0
    serial.sound()


@pytest.mark.trial("B05")
async def test_b05_c_a_pulled_adapter_is_one_notice_and_gas_is_told_again_once_it_is_back(serial: Whole) -> None:
    await serial.start()
    await serial.web_up()
    link = serial.line.cable.link
    serial.line.unplug()
    (notice,) = await until(lambda: serial.hook.of("BLIND", "raised", "linha"), what="the notice of the line")
    assert "serial" in notice.body["text"]
    serial.line.plug(link)
    await until(lambda: serial.hook.of("BLIND", "cleared", "linha"), what="the line to be back")
    serial.gas(1, 30.0)
    await until(lambda: serial.siren_on, what="the siren")
    assert await serial.stop() == 0
