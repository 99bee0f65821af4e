"""Shelves, heads out of service and grouped notices on a running gateway: over kills, on page, status and ledger."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import aiomqtt
import pytest
from patience import WITHIN_S, until
from whole_depot import MQTT, MQTT_HEAD, SECRET, Whole


async def status(depot: Whole, *options: str) -> str:
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway.cli", "status", str(depot.file), *options),
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"VIGIA_HOOK_SECRET": SECRET, "VIGIA_LANG": "en"},
    )
    async with asyncio.timeout(30):
        out, _ = await child.communicate()
    return out.decode()


async def alarm(depot: Whole, subject: str, fits: Callable[[Any], bool] = bool) -> Any:
    """Wait until the API shows an alarm of this subject that fits; return it."""
    async with asyncio.timeout(WITHIN_S):
        while True:
            state = await depot.get("/api/v1/state")
            for one in state.get("alarms", ()):
                if one["subject"] == subject and fits(one):
                    return one
            await asyncio.sleep(0.02)


async def test_a_shelf_survives_a_kill_with_person_reason_and_end_and_a_person_ends_it(depot: Whole) -> None:
    await depot.start()
    await depot.all_watching()
    depot.line.units[2].silent = True
    await until(lambda: depot.hook.of("BLIND", "raised", "GD-2"), what="the notice that GD-2 is blind")
    blind = await alarm(depot, "GD-2")
    assert blind["can_shelve"] and blind["likely_cause"] and blind["next_action"]
    refused = await depot.post(f"/api/v1/alarms/{blind['id']}/shelve", by="Ana", note=" ")
    assert refused == (422, {"error": "needs-reason"})
    deed = {"by": "Ana", "note": "cabo em troca", "minutes": 60, "seen": blind["seq"]}
    assert (await depot.post(f"/api/v1/alarms/{blind['id']}/shelve", **deed))[0] == 200
    (told,) = await until(lambda: depot.hook.of("BLIND", "shelved"), what="the notice of the shelf")
    assert "suspenso por Ana durante 60 min (cabo em troca)" in told.body["text"]
    await depot.kill()
    await depot.start()
    await depot.web_up()
    shelved = await alarm(depot, "GD-2")
    over = shelved["suppression"]
    assert (over["kind"], over["by"], over["why"]) == ("shelved", "Ana", "cabo em troca")
    assert not shelved["can_shelve"]
    assert "SHELVED" in await status(depot)
    assert len(depot.hook.of("BLIND", "raised", "GD-2")) == 1
    assert (await depot.post(f"/api/v1/alarms/{shelved['id']}/unshelve", by="Bia"))[0] == 200
    after = await alarm(depot, "GD-2", lambda one: one["suppression"] is None)
    assert (after["suppression"], after["state"], after["acknowledged_by"]) == (None, "acknowledged", "Bia")
    await depot.stop()
    depot.sound()


async def test_gas_is_never_shelved(depot: Whole) -> None:
    await depot.start()
    await depot.all_watching()
    depot.gas(1, 12.0)
    gas = await depot.shown("GD-1")
    assert not gas["can_shelve"] and "Vazamento" in gas["likely_cause"]
    answer = await depot.post(f"/api/v1/alarms/{gas['id']}/shelve", by="Ana", note="incomoda")
    assert answer == (409, {"error": "not-possible"})
    assert depot.siren_on


async def test_heads_out_of_service_leave_an_area_alone_which_is_told_and_gas_there_is_real(depot: Whole) -> None:
    await depot.start()
    await depot.all_watching()
    for n in (1, 2, 3):
        deed = {"by": "Ana", "note": "calibração", "minutes": 2880}
        assert (await depot.post(f"/api/v1/detectors/GD-{n}/out-of-service", **deed))[0] == 200
    (alone,) = await until(lambda: depot.hook.of("BLIND", "raised", "area:patio"), what="the area that is alone")
    assert alone.body["text"].startswith("Área patio sem monitoramento: nenhum detector em operação")
    assert (alone.body["area"], alone.body["subjects"]) == ("patio", ["GD-1", "GD-2", "GD-3"])
    await depot.kill()
    await depot.start()
    await depot.web_up()
    said = await status(depot)
    assert "area patio: NOT COVERED" in said and said.count("OUT OF SERVICE by Ana, until") == 3
    page = await depot.get("/?lang=pt-BR")
    assert "SEM COBERTURA: nenhum detector em operação aqui" in page and "Fora de serviço por Ana até" in page
    assert (await depot.post("/api/v1/detectors/GD-1/return", by="Bia"))[0] == 200
    await until(lambda: depot.hook.of("BLIND", "cleared", "area:patio"), what="the area is watched again")
    began = depot.gas(2, 22.0)
    (gas,) = await until(depot.hook.gas, what="gas on a head out of service")
    assert gas.at - began < 3.0 and not gas.body["drill"]
    await until(lambda: depot.siren_on)
    ledger = await depot.get("/api/v1/ledger")
    out = [one for one in ledger["stretches"] if one["state"] == "out-of-service"]
    assert {one["detector"] for one in out} == {"GD-1", "GD-2", "GD-3"}
    assert {(one["cause"], one["by"]) for one in out} == {("out-of-service", "Ana")}
    assert json.loads(await status(depot, "--json"))["months"][0]["out_of_service_pct"] > 0
    await depot.stop()
    depot.sound()


async def test_a_configured_rule_keeps_its_alarm_quiet_and_ends_with_a_reload_without_it(depot: Whole) -> None:
    rule = '\n[[suppression]]\nalarms = ["BLIND GD-2"]\nby = "Rui"\nreason = "em obra"\nuntil = 2099-12-31\n'
    depot.extra = rule
    depot.line.units[2].silent = True
    await depot.start()
    await depot.web_up()
    blind = await alarm(depot, "GD-2")
    assert (blind["suppression"]["kind"], blind["suppression"]["by"]) == ("by-design", "Rui")
    depot.line.units[3].silent = True
    await until(lambda: depot.hook.of("BLIND", "raised", "GD-3"), what="the other head's own notice")
    assert depot.hook.of("BLIND", "raised", "GD-2") == []
    depot.extra = ""
    depot.write()
    assert depot.process is not None
    depot.process.send_signal(1)
    await until(lambda: depot.hook.of("BLIND", "unsuppressed", "GD-2"), what="the alarm that speaks again")


@pytest.mark.servers
async def test_a_lost_broker_is_one_notice_that_lists_its_detectors(depot: Whole, mosquitto: Any) -> None:
    depot.extra = MQTT.format(port=mosquitto.port) + "".join(MQTT_HEAD.format(n=n) for n in (11, 12, 13))

    async def publish() -> None:
        async with aiomqtt.Client("127.0.0.1", mosquitto.port) as client:
            no = 0
            while True:
                no += 1
                for n in (11, 12, 13):
                    await client.publish(f"depot/GD-{n}", json.dumps({"lel": 0.0, "seq": no}))
                await asyncio.sleep(0.25)

    publisher = asyncio.create_task(publish())
    try:
        await depot.start()
        await depot.all_watching()
        began = time.monotonic()
        mosquitto.stop()
        (notice,) = await until(lambda: depot.hook.of("BLIND", "raised"), what="the notice of the broker")
        assert notice.at - began < 3.5
        await asyncio.sleep(3.0)
        (only,) = depot.hook.of("BLIND", "raised")
        assert (only.body["subject"], only.body["subjects"]) == ("mqtt", ["GD-11", "GD-12", "GD-13"])
    finally:
        publisher.cancel()
        await asyncio.gather(publisher, return_exceptions=True)
