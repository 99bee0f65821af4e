"""The registers through the real processes: what is told is kept by the journal and judged."""

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from patience import until
from whole_depot import Whole
from whole_office import asked, done, opened, vigia

from dashboards.office import Enter, LineAsk, Look
from gateway.journal import check

pytestmark = pytest.mark.asyncio


def move(act: str, units: int, request: str = "", size: Any = "P-13") -> LineAsk:
    return LineAsk("stock", "patio", act, {"size_kg": size, "state": "full", "units": units}, id=request)


async def test_what_is_told_by_commands_is_kept_and_shown_as_at_any_day(depot: Whole, tmp_path: Path) -> None:
    await depot.start()
    file = str(depot.file)
    pile = ("--area=patio", "--size=P-13", "--state=cheio", "--by=Ana")
    await done("stock", "in", file, *pile, "--units=40", "--request=k1")
    _, _, said = await vigia("stock", "in", file, *pile, "--units=40", "--request=k1")
    assert "k1 stood in the book already" in said and "0 entered" in said, said
    await done(
        "stock",
        "state",
        file,
        "--area=patio",
        "--size=13",
        "--state=cheio",
        "--to-state=vazio",
        "--units=10",
        "--by=Ana",
    )
    stock = json.loads(await done("stock", "show", file, "--json"))
    (area,) = stock["areas"]
    assert (area["kg"], area["units"]) == ("520", 40)
    assert {pile["state"]: pile["units"] for pile in area["piles"]} == {"full": 30, "empty": 10}

    sheet = tmp_path / "extintores.csv"
    sheet.write_bytes(
        "id;Área;Agente;Carga (kg);No lugar;Validade da carga\nEXT-1;patio;pó BC;8,0;sim;07/2026\n".encode("cp1252")
    )
    await done("register", "import", file, "extinguisher", str(sheet), "--by=Ana Souza")
    again = json.loads(await done("register", "import", file, "extinguisher", str(sheet), "--by=Ana", "--json"))
    assert (again["entered"], again["unchanged"]) == ([], [{"line": 2, "subject": "EXT-1"}])
    (held,) = json.loads(await done("register", "show", file, "extinguisher", "--json"))
    assert (held["subject"], held["values"]["charge_kg"], held["values"]["charge_until"]) == (
        "EXT-1",
        "8",
        "2026-07-31",
    )
    assert held["told"]["agent"]["by"] == "Ana Souza"
    assert json.loads(await done("register", "show", file, "extinguisher", "--on=2020-01-01", "--json")) == []

    sheet.write_text(
        "id;area;agent;charge_kg;present\nEXT-2;patio;powder-bc;8,0;sim\nEXT-3;patio;powder-bc;muito;x\n"
        "EXT-4;telhado;powder-bc;8,0;sim\n",
        "utf-8",
    )
    code, _, err = await vigia("register", "import", file, "extinguisher", str(sheet), "--by=Ana")
    assert code == 1
    assert f"{sheet}: line 3: " in err and "muito" in err
    assert f"{sheet}: line 4: Area: there is no area telhado" in err, "what else is wrong is told at once"
    sheet.write_bytes(b"id;area\nE-4;patio" + b"x" * 9_000_000)
    code, _, err = await vigia("register", "import", file, "extinguisher", str(sheet), "--by=Ana")
    assert (code, err.strip()) == (1, f"{sheet}: has more than 8 MiB; split it into smaller parts")
    assert len(json.loads(await done("register", "show", file, "extinguisher", "--json"))) == 1
    assert await depot.stop() == 0
    assert check(depot.journal) == []


async def test_b64_many_hands_at_once_and_a_kill_lose_no_accepted_movement(depot: Whole) -> None:
    await depot.start()
    await opened(depot)
    assert (await asked(depot, Enter(1, "Ana", (move("in", 5, "first"),)))).ok
    moves = [("in" if number % 2 else "out", f"call-{number}") for number in range(40)]
    replies = await asyncio.gather(
        *(asked(depot, Enter(2, "Bia", (move(act, 1, request),))) for act, request in moves),
        asked(depot, Enter(3, "Bia", (move("in", 5, "first"),))),
    )
    assert replies[-1].ok and replies[-1].data["again"] == ["first"]
    accepted = [act for (act, _), reply in zip(moves, replies, strict=False) if reply.ok]
    expected = 5 + accepted.count("in") - accepted.count("out")
    await depot.kill()
    await depot.start()
    await opened(depot)
    await opened(depot)
    stock = (await asked(depot, Look(4, "stock"))).data
    assert stock["areas"][0]["units"] == expected
    repeated = await asyncio.gather(
        *(asked(depot, Enter(5, "Bia", (move(act, 1, request),))) for act, request in moves if act == "in")
    )
    assert all(reply.ok for reply in repeated)
    assert (await asked(depot, Look(6, "stock"))).data["areas"][0]["units"] == expected


async def test_a_report_tells_what_an_inspector_asks_and_its_journal_is_sound(depot: Whole, tmp_path: Path) -> None:
    await depot.start()
    file = str(depot.file)
    await done("stock", "in", file, "--area=patio", "--size=P-13", "--state=cheio", "--by=Ana", "--units=3")
    depot.gas(1, 15.0)
    await until(depot.hook.gas, what="alarm")
    assert await depot.stop() == 0

    out = tmp_path / "report.json"
    await done("report", file, "--from=2020-01-01", "--to=2100-01-01", "-o", str(out))
    found = json.loads(out.read_text("utf-8"))
    assert found["stock"]["areas"][0]["units"] == 3
    (gas,) = [one for one in found["alarms"] if one["kind"] == "GAS"]
    assert gas["subject"] == "GD-1" and 0 <= gas["first_output_ms"] <= 3000
    assert found["journal"]["problems"] == [] and found["journal"]["checkpoint"]
    assert found["verdicts"]["statutes"]

    await done("report", file, "--from=2020-01-01", "--to=2100-01-01", "--format=csv", "-o", str(out))
    text = out.read_bytes().decode("utf-8-sig")
    assert "Alarmes" in text and "GD-1;GAS;A1" in text
    code, _, err = await vigia("report", file, "--from=2100-01-01", "--to=2100-01-02")
    assert (code, "still to come" in err) == (2, True)
    code, _, err = await vigia("report", file, "--from=2100-01-01", "--to=2020-01-01")
    assert code == 2 and "before" in err


async def test_the_same_over_http_for_screens_and_programs(depot: Whole) -> None:
    await depot.start()
    await opened(depot)
    base = f"http://127.0.0.1:{depot.web_port}/api/v1"
    async with aiohttp.ClientSession() as session:
        forms = (await (await session.get(f"{base}/registers")).json())["data"]
        assert {"stock", "extinguisher", "document"} <= {form["register"] for form in forms}
        line = {"subject": "patio", "act": "in", "values": {"size_kg": 13, "state": "full", "units": 4}, "id": "a1"}
        async with session.post(f"{base}/registers/stock", json={"by": "Ana", "lines": [line]}) as answer:
            assert answer.status == 200, await answer.text()
            assert (await answer.json())["data"]["entered"] == ["a1"]
        count = {**line, "act": "count", "id": "c1"}
        async with session.post(f"{base}/registers/stock", json={"by": "Rui", "lines": [count]}) as answer:
            assert (await answer.json())["data"]["discrepancies"] == []
        count |= {"values": {"size_kg": 13, "state": "full", "units": 3}, "id": "c2"}
        async with session.post(f"{base}/registers/stock", json={"by": "Rui", "lines": [count], "dry": True}) as answer:
            (found,) = (await answer.json())["data"]["discrepancies"]
            assert (found["booked"], found["counted"], found["by"]) == (4, 3, "Rui")
        line |= {"act": "out", "values": {"size_kg": 13, "state": "full", "units": 9}, "id": "a2"}
        async with session.post(f"{base}/registers/stock", json={"by": "Ana", "lines": [line]}) as answer:
            assert answer.status == 422
            (fault,) = (await answer.json())["faults"]
            assert fault["texts"]["pt-BR"] == "não há tantos: pedidos 9, no estoque 4 P-13 cheio"
        stock = (await (await session.get(f"{base}/stock")).json())["data"]
        assert stock["areas"][0]["units"] == 4
        sheet = "id;área;agente;carga (kg);no lugar\nE-1;patio;pó BC;8;sim\n".encode()
        async with session.post(f"{base}/registers/extinguisher/import?by=Ana", data=sheet) as answer:
            assert answer.status == 200, await answer.text()
        found = (await (await session.get(f"{base}/findings")).json())["data"]
        assert found["findings"] and found["rules"]
        async with session.get(f"{base}/findings?on=ontem") as answer:
            assert answer.status == 422
        month = found["on"][:7]
        (row,) = (await (await session.get(f"{base}/stock/movements/{month}")).json())["data"]
        assert (row["in"], row["closing"]) == (4, 4)
        async with session.get(f"{base}/stock/movements/{month}?format=csv") as answer:
            sheet = (await answer.read()).decode("utf-8-sig")
            assert sheet.endswith("13;cheio;;0;4;0;0;0;4\r\n") and "mcmm-" in answer.headers["content-disposition"]


async def test_b64_crossing_the_limit_is_one_alarm_and_coming_back_one_clear(depot: Whole) -> None:
    depot.changes['alarms = ["A1", "A2", "A3", "BLIND", "SYSTEM"]'] = (
        'alarms = ["A1", "A2", "A3", "BLIND", "SYSTEM", "COMPLIANCE"]'
    )
    await depot.start()
    await opened(depot)
    assert (await asked(depot, Enter(1, "Ana", (move("in", 480),)))).ok
    refused = await asked(depot, Enter(2, "Ana", (move("in", 60),)))
    assert (refused.ok, refused.error) == (False, "would-break-law")
    over = {one["rule"]: one["margin"] for one in refused.data["breaks"]}
    assert any(margin and margin["high"] == "-60" for margin in over.values()), over
    assert any(margin and margin["high"] == "-780" for margin in over.values()), over
    assert (await asked(depot, Look(3, "stock"))).data["areas"][0]["units"] == 480

    assert (await asked(depot, Enter(4, "Ana", (move("in", 60),), anyway=True))).ok
    assert (await asked(depot, Enter(5, "Ana", (move("in", 5),), anyway=True))).ok
    rules = set(over)

    def told(event: str) -> list[str]:
        return sorted(call.body["subject"] for call in depot.hook.of("COMPLIANCE", event))

    await until(lambda: {subject.split("/")[0] for subject in told("raised")} >= rules, what="raised")
    assert (await asked(depot, Enter(6, "Ana", (move("out", 65),)))).ok
    await until(lambda: {subject.split("/")[0] for subject in told("cleared")} >= rules, what="cleared")
    of_limit = [subject for subject in told("raised") if subject.split("/")[0] in rules]
    assert len(of_limit) == len(set(of_limit))
    (history,) = [
        one for one in (await asked(depot, Look(7, "finding", name=min(rules)))).data if one["verdict"] == "VIOLATED"
    ]
    assert history["because"][0]["register"] == "stock"
