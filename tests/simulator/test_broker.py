"""The broker of the demo: it carries what it must, and ends in time."""

import asyncio
import struct

import aiomqtt
import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from simulator.children import Children
from simulator.lines import HOST

SOON_S = 5.0


def client(port: int, **settings: object) -> aiomqtt.Client:
    return aiomqtt.Client(HOST, port, **{"protocol": aiomqtt.ProtocolVersion.V311, **settings})


async def test_what_is_published_arrives_and_what_is_retained_is_kept(broker_port):
    async with asyncio.timeout(SOON_S), client(broker_port) as one:
        await one.publish("depot/x", b"kept", qos=1, retain=True)
        async with client(broker_port) as other:
            await other.subscribe("depot/#", qos=1)
            first = await anext(aiter(other.messages))
            assert (first.payload, first.retain) == (b"kept", True)
            await one.publish("depot/y", b"fresh", qos=1)
            second = await anext(aiter(other.messages))
            assert (str(second.topic), second.payload, second.retain) == ("depot/y", b"fresh", False)


@pytest.mark.parametrize("limit", [None, 65_536])
async def test_mqtt_five_is_refused_in_words_so_that_a_client_can_fall_back(broker_port, limit):
    properties = Properties(PacketTypes.CONNECT)
    if limit:
        properties.MaximumPacketSize = limit
    with pytest.raises(aiomqtt.MqttError, match="Unsupported protocol version"):
        async with client(broker_port, protocol=aiomqtt.ProtocolVersion.V5, properties=properties, timeout=SOON_S):
            pass
    async with asyncio.timeout(SOON_S), client(broker_port):
        pass


async def test_clients_that_hang_up_rudely_do_no_harm(broker_port):
    for _ in range(5):
        _, writer = await asyncio.open_connection(HOST, broker_port)
        sock = writer.get_extra_info("socket")
        sock.setsockopt(1, 13, struct.pack("ii", 1, 0))  # SO_LINGER 0: closing resets
        writer.write(b"\x10\x10\x00\x04MQTT\x05\x02\x00\x05\x00\x00\x03abc")
        await writer.drain()
        writer.close()
        await writer.wait_closed()
    async with asyncio.timeout(SOON_S), client(broker_port) as one:
        await one.subscribe("depot/x", qos=1)
        await one.publish("depot/x", b"still there", qos=1)
        assert (await anext(one.messages)).payload == b"still there"


@pytest.mark.measured
async def test_it_stops_in_time_with_clients_connected():
    with Children() as children:
        child = children.start("the broker", "-m", "simulator.broker", pipes=True)
        port = child.ports()["mqtt"]
        async with client(port, timeout=1.0):
            began = asyncio.get_running_loop().time()
            await asyncio.to_thread(child.stop)
            assert asyncio.get_running_loop().time() - began < 1.5
    assert child.process.returncode == 0
