"""The office's pages through the real processes: without a script, in a real browser, on a phone and on paper."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest
from browsers import launched
from patience import until
from whole_depot import Whole
from whole_office import asked, done, opened, vigia

from dashboards.conformity.entering import DAILY, REGISTERS
from dashboards.office import Enter, LineAsk

pytestmark = pytest.mark.asyncio

LAW = "ferraz-de-vasconcelos-3190-2013"


@pytest.fixture
async def page(depot: Whole) -> AsyncIterator[Any]:
    """A browser without a script, on the pages of a running depot."""
    await depot.start()
    await opened(depot)
    async with launched() as browser:
        context = await browser.new_context(
            locale="pt-BR",
            timezone_id="America/Sao_Paulo",
            java_script_enabled=False,
            viewport={"width": 360, "height": 740},
        )
        made = await context.new_page()
        made.base = f"http://127.0.0.1:{depot.web_port}"
        yield made


async def text(page: Any, selector: str = "main") -> str:
    return " ".join((await page.inner_text(selector)).split())


@pytest.mark.browser
async def test_a_delivery_is_checked_before_unloading_and_entered_all_the_same_once(page: Any, depot: Whole) -> None:
    await done(
        "stock", "in", str(depot.file), "--area=patio", "--size=P-13", "--state=vazio", "--units=432", "--by=Ana"
    )
    await page.goto(page.base + "/")
    await page.click("text=Conformidade")
    await page.click("text=Lançar")
    await page.click("text=Entrega recebida")
    await page.fill("#units", "60")
    await page.click("text=Conferir antes de descarregar")
    said = await text(page, ".breaks")
    assert "Esta entrega de 60 P-13 passaria da classe III (6.240 kg, Área patio) em pelo menos 12 unidades." in said
    assert "Lei 3.190/2013" in said or LAW in said
    assert await page.input_value("#units") == "60"
    await page.click("text=Registrar mesmo assim")
    assert "Escreva o seu nome." in await text(page, "form.entry")
    await page.fill("#by", "João da Silva")
    await page.fill("#units", "60")
    await page.click("button.main")
    await page.click("text=Registrar mesmo assim")
    assert "Lançado no livro: Entrega recebida." in await text(page)
    await page.goto(page.base + "/conformidade")
    assert "6.396 de 6.240 kg licenciados" in await text(page)
    assert "passa da licença em 156 kg (12 P-13)" in await text(page)
    assert "infraç" in await text(page, "h1")
    await page.goto(page.base + "/conformidade/lancar/sale")
    assert await page.input_value("#by") == "João da Silva", "the name is remembered"


@pytest.mark.browser
async def test_what_is_wrong_stands_beside_its_field_and_the_same_form_sent_twice_counts_once(
    page: Any, depot: Whole
) -> None:
    await page.goto(page.base + "/conformidade/lancar/delivery")
    await page.fill("#units", "doze")
    await page.fill("#by", "Ana")
    await page.click("button.main")
    assert await page.get_attribute("#units", "aria-invalid") == "true"
    assert await text(page, "#units-error")
    assert await page.input_value("#units") == "doze"
    await page.fill("#units", "12")
    rid = await page.get_attribute("input[name=rid]", "value")
    await page.click("button.main")
    assert "Lançado no livro" in await text(page)
    form = {"rid": rid, "area": "patio", "size_kg": "P-13", "units": "12", "by": "Ana"}
    async with aiohttp.ClientSession() as session:
        url = f"{page.base}/conformidade/lancar/delivery?lang=pt-BR"
        async with session.post(url, data=form) as answer:
            assert "contou uma vez só" in await answer.text()
        stock = (await (await session.get(f"{page.base}/api/v1/stock")).json())["data"]
    assert stock["areas"][0]["units"] == 12


@pytest.mark.browser
async def test_an_extinguisher_with_its_photo_is_recorded_changed_and_not_overwritten_unread(
    page: Any, depot: Whole, tmp_path: Path
) -> None:
    photo = tmp_path / "etiqueta.png"
    photo.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40)
    await page.goto(page.base + "/conformidade/lancar/extinguisher")
    await page.fill("#subject", "EXT-7")
    await page.select_option("#area", "patio")
    await page.select_option("#agent", "powder-bc")
    await page.fill("#charge_kg", "8,5")
    await page.select_option("#present", "sim")
    await page.fill("#charge_until", "2027-07-31")
    await page.set_input_files("#attachment", str(photo))
    await page.fill("#by", "Ana")
    await page.click("button.main")
    said = await text(page)
    assert "Extintor EXT-7" in said and "31/07/2027" in said and "8,5" in said and "por Ana" in said
    link = await page.get_attribute("text=Abrir anexo", "href")
    async with aiohttp.ClientSession() as session, session.get(page.base + link) as answer:
        assert answer.headers["content-type"] == "image/png"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert await answer.read() == photo.read_bytes()
    await page.click("text=Alterar")
    await done("register", "set", str(depot.file), "extinguisher", "EXT-7", "present=não", "--by=Bia")
    await page.fill("#charge_until", "2028-07-31")
    await page.click("button.main")
    assert "outra pessoa alterou este registro" in await text(page, ".notice.wrong")
    held = json.loads(await done("register", "show", str(depot.file), "extinguisher", "--json"))
    assert (held[0]["values"]["charge_until"], held[0]["values"]["present"]) == ("2027-07-31", False)
    assert (depot.folder / "var" / "attachments" / held[0]["values"]["attachment"]).read_bytes() == photo.read_bytes()


@pytest.mark.browser
async def test_what_is_in_the_book_is_moved_set_apart_corrected_and_made_void_on_the_pages(
    page: Any, depot: Whole
) -> None:
    async def send(form: str, **fields: str) -> str:
        await page.goto(f"{page.base}/conformidade/lancar/{form}")
        for name, value in fields.items():
            where = page.locator(f"#{name}")
            if name == "to_area":
                await where.select_option(value)
            else:
                await where.fill(value)
        await page.fill("#by", "Ana")
        await page.click("button.main")
        return await text(page)

    await send("delivery", units="60")
    assert "Lançado no livro: Separar com defeito." in await send("set-apart", units="2")
    assert "não há tantos: pedidos 90, no estoque 58 P-13 cheio" in await send("set-apart", units="90")
    assert "Lançado no livro: Transferência." in await send("transfer", to_area="patio", units="8", to_lot="L2")
    await page.goto(page.base + "/conformidade")
    said = await text(page)
    for pile in ("50 × P-13 cheio", "8 × P-13 cheio L2", "2 × P-13 cheio separado"):
        assert pile in said, pile
    await page.click("text=Ver e corrigir lançamentos")
    delivery = page.locator("ol.steps > li", has_text="entrada")
    await delivery.get_by_text("Corrigir").click()
    assert await page.input_value("#units") == "60" and await page.input_value("#effective")
    await page.fill("#units", "61")
    await page.click("button.main")
    assert "informe por que o lançamento é corrigido" in await text(page)
    await page.fill("#reason", "contei de novo")
    await page.click("button.main")
    assert "sem efeito" in await text(page) and "contei de novo" in await text(page)
    apart = page.locator("ol.steps > li", has_text="separado")
    await apart.get_by_text("Tornar sem efeito").click()
    await page.fill("#reason", "não havia vazamento")
    await page.click("button.main")
    stock = (await depot.get("/api/v1/stock"))["data"]["areas"][0]
    assert {(pile["lot"], pile["place"], pile["units"]) for pile in stock["piles"]} == {("", "", 53), ("L2", "", 8)}
    yesterday = (datetime.now(UTC) - timedelta(days=2)).date().isoformat()
    await page.fill("input[name=known]", yesterday)
    await page.click("form.pick button")
    said = await text(page)
    assert "como se sabia em" in said and "contei de novo" not in said and "Corrigir" not in said
    await page.goto(f"{page.base}/conformidade?known={yesterday}")
    await page.click("details.law a.what >> nth=0")
    assert "Como se sabe hoje:" in await text(page)


@pytest.mark.browser
async def test_the_survey_goes_screen_by_screen_keeps_what_is_known_and_asks_measures_again(
    page: Any, depot: Whole
) -> None:
    await page.goto(page.base + "/conformidade/vistoria")
    before = int(re.findall(r"(\d+) de (\d+) respostas", await text(page))[0][0])
    first = await text(page, "form.entry h2")
    await page.fill("#by", "Ana")
    await page.click("text=Salvar e continuar")
    assert await text(page, "form.entry h2") != first, "not knowing moves on"
    await page.goto(page.base + "/conformidade/vistoria?group=" + quote("distances@patio"))
    name = "area|patio|distance_assembly_m"
    await page.fill(f'[name="{name}"]', "sete")
    await page.fill("#by", "Ana")
    await page.click("text=Salvar e continuar")
    assert "sete não é um número" in await text(page, "form.entry")
    await page.fill(f'[name="{name}"]', "12,5")
    await page.click("text=Salvar e continuar")
    survey = json.loads(await done("register", "survey", str(depot.file), "--json"))
    assert survey["told"] > before
    await done("register", "set", str(depot.file), "lot", "L2", "area=patio", "--by=Bia")
    await page.goto(page.base + "/conformidade/vistoria?group=" + quote("distances@patio"))
    assert "Perguntado de novo: Lote L2 mudou depois da resposta (por Bia" in await text(page)
    assert await page.input_value(f'[name="{name}"]') == "12,5"


@pytest.mark.browser
async def test_every_page_reads_on_a_phone_in_both_languages_with_labels_and_contrast(page: Any, depot: Whole) -> None:
    values = {"kind": "operating-licence", "no_expiry": False, "revoked": False, "valid_until": "2020-01-01"}
    moved = {"size_kg": "13", "state": "full", "units": 9}
    lines = (LineAsk("document", "alvara", values=values, id="d-1"), LineAsk("stock", "patio", "in", moved, id="s-1"))
    assert (await asked(depot, Enter(1, "Ana", lines, anyway=True))).ok
    checks = [
        (Path(__file__).parent / f"{name}.js").read_text("utf-8") for name in ("unlabelled", "faint", "structure")
    ]
    paths = ["", "/lancar", "/vistoria", "/registros", "/registro?register=document&subject=alvara"]
    paths += [f"/lancar/{name}" for name in (*DAILY, *REGISTERS)]
    paths += ["/constatacao?rule=house-23-licence&subject=depot:depot", "/registro?register=stock&subject=patio"]
    paths += ["/corrigir?register=document&subject=alvara&entry=d-1", "/anular?register=stock&subject=patio&entry=s-1"]
    paths += ["/corrigir?register=stock&subject=patio&entry=s-1", "/baixa?register=document&subject=alvara"]
    paths += [
        "?on=2026-11-01&known=2026-11-02",
        "/constatacao?rule=house-23-licence&subject=depot:depot&known=2026-11-02",
    ]
    for width, scheme in ((360, "light"), (1280, "dark")):
        browser = page.context.browser
        looker = await browser.new_page(viewport={"width": width, "height": 740}, color_scheme=scheme)
        for path in paths if width == 360 else (each for each in paths if not each.startswith("/lancar/")):
            language = "pt-BR" if width == 360 else "en"
            await looker.goto(f"{page.base}/conformidade{path}{'&' if '?' in path else '?'}lang={language}")
            assert await looker.get_attribute("html", "lang") == language
            assert await looker.evaluate("document.documentElement.scrollWidth") <= width, path
            for check in checks:
                assert await looker.evaluate(check) == [], path
        await looker.close()


async def test_the_page_shows_the_law_as_at_a_day_and_as_known_then(depot: Whole) -> None:
    await depot.start()
    await opened(depot)
    today = datetime.now(UTC).astimezone().date()
    overview = await depot.get("/conformidade")
    assert "Lei 3.190/2013" in overview and "regra da casa" in overview and "a determinar" in overview
    assert "<script" not in overview
    past = await depot.get(f"/conformidade?on={today - timedelta(days=400)}&known={today - timedelta(days=2)}")
    assert "Como estava em" in past and "como se sabia em" in past and "são os do depot.toml de hoje" in past
    assert "Data não entendida: ontem" in await depot.get("/conformidade?on=ontem")
    then = (await depot.get(f"/api/v1/findings?on={today - timedelta(days=400)}"))["data"]["findings"]
    assert all(one["since"] is None for one in then), "nothing stands since a day after the one that is asked about"
    assert "entendida" not in await depot.get("/conformidade/registro?register=gato&subject=x"), "no register, no date"
    assert "Undetermined" in await depot.get("/conformidade?lang=en") or "undetermined" in await depot.get(
        "/compliance"
    )


async def test_reports_and_attachments_over_http(depot: Whole) -> None:
    await depot.start()
    await opened(depot)
    base = f"http://127.0.0.1:{depot.web_port}/api/v1"
    pdf = b"%PDF-1.7 " + bytes(2000)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as session:
        async with session.post(f"{base}/attachments?by=Ana", data=pdf) as answer:
            kept = (await answer.json())["data"]
            assert (answer.status, kept["type"], kept["bytes"]) == (200, "application/pdf", len(pdf))
        values = {"kind": "operating-licence", "no_expiry": True, "revoked": False, "attachment": kept["attachment"]}
        line = {"subject": "alvara", "values": values}
        async with session.post(f"{base}/registers/document", json={"by": "Ana", "lines": [line]}) as answer:
            assert answer.status == 200, await answer.text()
        line = {"subject": "outro", "values": values | {"attachment": "0" * 64}}
        async with session.post(f"{base}/registers/document", json={"by": "Ana", "lines": [line]}) as answer:
            assert answer.status == 422
            assert (await answer.json())["faults"][0]["problem"] == "no-such-attachment"
        async with session.post(f"{base}/attachments?by=Ana", data=b"<html>") as answer:
            assert answer.status == 422 and "PDF, JPEG, PNG" in await answer.text()
        async with session.get(f"{base}/attachments/{'0' * 64}") as answer:
            assert answer.status == 404
        async with session.get(f"{base}/reports?from=2020-01-01&to=2100-01-01") as answer:
            found = (await answer.json())["data"]
            assert found["registers"]["document"][0]["subject"] == "alvara" and found["journal"]["problems"] == []
        async with session.get(f"{base}/reports?from=2020-01-01&to=2100-01-01&format=csv") as answer:
            assert "attachment;" in answer.headers["content-disposition"]
            assert kept["attachment"] in (await answer.read()).decode("utf-8-sig")
        async with session.get(f"{base}/reports?from=2100-01-01&to=2020-01-01") as answer:
            assert answer.status == 422
        gone = {"register": "document", "subject": "alvara", "by": "Ana", "rid": "b1"}
        async with session.post(base.replace("/api/v1", "/conformidade/baixa"), data=gone) as answer:
            assert answer.status == 422 and "Escreva o motivo." in await answer.text()
        survey = (await (await session.get(f"{base}/survey")).json())["data"]
        assert survey["groups"] and 0 < survey["told"] < survey["total"]
    file = depot.folder / "laudo.pdf"
    file.write_bytes(pdf)
    assert (await done("register", "attach", str(depot.file), str(file), "--by=Ana")).strip() == kept["attachment"]
    code, _, err = await vigia("register", "survey", str(depot.file), "--ask")
    assert code == 2 and "--by" in err
    listed = await done("register", "survey", str(depot.file))
    assert "answers given" in listed
    assert await depot.stop() == 0
    depot.sound()


async def test_a_changed_licence_asks_the_measures_again(depot: Whole) -> None:
    await depot.start()
    await opened(depot)
    file = str(depot.file)
    await done("register", "set", file, "area", "patio", "distance_drain_m=6", "--by=Ana")

    async def state() -> str:
        survey = json.loads(await done("register", "survey", file, "--json"))
        asked = [one for group in survey["groups"] for one in group["questions"] if one["field"] == "distance_drain_m"]
        return asked[0]["state"] if asked else "told"

    assert await state() == "told"
    assert await depot.stop() == 0
    depot.changes["licensed_kg = 6240"] = "licensed_kg = 12480"
    await depot.start()
    await opened(depot)
    for _ in range(50):
        if await state() == "again":
            break
        await asyncio.sleep(0.1)
    assert await state() == "again"


async def test_a_notice_of_a_breach_says_what_where_and_what_to_do_and_no_code(depot: Whole) -> None:
    depot.changes['"BLIND", "SYSTEM"]'] = '"BLIND", "SYSTEM", "COMPLIANCE"]'
    await depot.start()
    await opened(depot)
    values = ("kind=fire-brigade-inspection", "no_expiry=não", "revoked=não", "valid_until=2020-01-01")
    await done("register", "set", str(depot.file), "document", "bombeiros", *values, "--by=Ana")
    await done("register", "set", str(depot.file), "depot", "depot", "documents_listed=sim", "--by=Ana")
    subject = "house-23-fire-brigade/depot:depot"
    (told, *_) = await until(lambda: depot.hook.of("COMPLIANCE", "raised", subject), what="notice")
    assert told.body["text"] == (
        "PENDÊNCIA LEGAL - Depósito: Vistoria dos bombeiros em vigor (regra da casa 23), Depósito. Não cumprido. "
        "Peça a vistoria e registre o certificado."
    )
    sentence, live = "Vistoria dos bombeiros em vigor (regra da casa 23)", ""
    for _ in range(100):  # the notice goes first, the picture some moments later
        live = await depot.get("/?lang=pt-BR")
        if sentence in live:
            break
        await asyncio.sleep(0.05)
    assert sentence in live
    assert f">{subject}<" not in live


async def test_a_depot_that_has_just_started_is_not_said_to_be_unwatched(depot: Whole) -> None:
    await depot.start()
    await opened(depot)
    await done("stock", "in", str(depot.file), "--area=patio", "--size=13", "--state=cheio", "--units=300", "--by=Ana")
    await done("register", "set", str(depot.file), "depot", "depot", "containers_listed=sim", "--by=Ana")
    found = (await depot.get("/api/v1/findings"))["data"]["findings"]
    watched = {one["rule"]: one["verdict"] for one in found if one["rule"] in ("house-2", "house-3")}
    assert "VIOLATED" not in watched.values(), watched
