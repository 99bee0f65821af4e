"""The plain reference, ``python -m bench.bare PERIOD PORT...``: pymodbus's own client, reads only, one task a device.

Prints one JSON line a second: reads so far and CPU seconds so far. Ends when its standard input does.
"""

import asyncio
import json
import sys
import time

from pymodbus.client import AsyncModbusTcpClient

COUNT = 10


async def _poll(port: int, period_s: float, offset_s: float, reads: list[int]) -> None:
    client = AsyncModbusTcpClient("127.0.0.1", port=port)
    await client.connect()
    due = time.monotonic() + offset_s
    while True:
        await asyncio.sleep(due - time.monotonic())
        await client.read_holding_registers(0, count=COUNT, device_id=1)
        reads[0] += 1
        due += period_s


async def _report(reads: list[int]) -> None:
    while True:
        sys.stdout.write(json.dumps({"reads": reads[0], "cpu_s": time.process_time()}) + "\n")
        sys.stdout.flush()
        await asyncio.sleep(1.0)


async def _until_told() -> None:
    loop = asyncio.get_running_loop()
    ended = loop.create_future()

    def told() -> None:
        if not ended.done():
            ended.set_result(None)

    loop.add_reader(sys.stdin.fileno(), told)
    await ended


async def _main(period_s: float, ports: list[int]) -> None:
    reads = [0]
    tasks = [
        asyncio.create_task(_poll(port, period_s, period_s * number / len(ports), reads))
        for number, port in enumerate(ports)
    ]
    tasks.append(asyncio.create_task(_report(reads)))
    await _until_told()
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


if __name__ == "__main__":
    asyncio.run(_main(float(sys.argv[1]), [int(port) for port in sys.argv[2:]]))
