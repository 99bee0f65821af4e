"""The page in a real browser: alarms at once, no old value as a present one, actions, every size, no script at all."""

import asyncio
import re
import time
from typing import Any

import msgspec
import pytest

from dashboards.ports import Answer, GuidanceView, LinkView, OutputView, SuppressionView, Window, WindowView

pytestmark = [pytest.mark.browser, pytest.mark.measured]


@pytest.fixture
async def open_page(browser: Any, child: Any) -> Any:
    """Open the page in a fresh context; contexts are closed with the browser."""

    async def opened(path: str = "/", **context: Any) -> Any:
        made = await browser.new_context(locale="pt-BR", timezone_id="America/Sao_Paulo", **context)
        page = await made.new_page()
        page.troubles = []
        page.on("pageerror", lambda error: page.troubles.append(str(error)))
        page.on("console", lambda line: page.troubles.append(line.text) if "Security Policy" in line.text else None)
        await page.goto(child.url + path)
        return page

    return opened


LATER = "2026-12-02T17:30:59.000Z"


def shelf(kind: Any) -> SuppressionView:
    return SuppressionView(kind, "Ana", "peça pedida", "2026-11-30T17:30:59.000Z", LATER)


async def live(page: Any) -> None:
    """Wait until the socket has brought the picture: the script has drawn what the server had drawn."""
    await page.wait_for_function("() => document.querySelector('.pulse.beat') !== null", timeout=5000)


async def text(page: Any, selector: str) -> str:
    return " ".join((await page.inner_text(selector)).split())


async def test_an_alarm_is_on_the_page_within_a_second(gateway: Any, open_page: Any) -> None:
    page = await open_page()
    await live(page)
    assert await text(page, "#headline h1") == "Tudo normal"
    began = time.monotonic()
    gateway.push(gateway.head("GD-101", 23.4), alarms=(gateway.gas(),))
    await page.wait_for_selector('.alarm[data-alarm="centro-7f3a-GD-101"]', timeout=1000)
    assert time.monotonic() - began < 1.0
    assert await text(page, "#headline h1") == "1 alarme de gás"
    assert (await text(page, ".alarm .now")).startswith("Agora 23,4 % LIE, há 0,")
    assert "+212 ms" in await text(page, ".alarm .times")
    assert await page.title() == "■ ALARME - Depósito Centro"
    assert await page.get_attribute("#icon", "href") == "/static/alarm.svg"
    assert "EVACUE" in await page.text_content("#announce")
    assert page.troubles == []


async def test_an_alarm_that_ends_leaves_the_page(gateway: Any, open_page: Any) -> None:
    gateway.push(alarms=(gateway.gas(),))
    page = await open_page()
    await live(page)
    gateway.push(alarms=())
    await page.wait_for_function("() => document.querySelectorAll('#alarm-list .alarm').length === 0", timeout=2000)
    assert await page.is_hidden("#alarms")
    assert await text(page, "#headline h1") == "Tudo normal"


async def test_a_stopped_server_is_said_within_three_seconds_and_every_value_is_struck(
    child: Any, open_page: Any
) -> None:
    import signal

    page = await open_page()
    await live(page)
    child.signal(signal.SIGSTOP)
    began = time.monotonic()
    await page.wait_for_selector("#banner:not([hidden])", timeout=6000)
    assert time.monotonic() - began < 3.0 + 1.0
    assert "Sem conexão há" in await text(page, "#banner")
    assert await page.locator(".card.struck .value").count() == 4
    assert await text(page, "#headline .shape") == "?"
    line = await page.eval_on_selector(".card .value", "e => getComputedStyle(e).textDecorationLine")
    assert line == "line-through"
    first = await text(page, ".card .age")
    await page.wait_for_function(
        "old => document.querySelector('.card .age').textContent !== old", arg=first, timeout=3000
    )
    child.signal(signal.SIGCONT)
    await page.wait_for_selector("#banner", state="hidden", timeout=8000)
    assert await page.locator(".card.struck").count() == 0


async def test_a_lost_gateway_is_said_within_three_seconds_and_offers_no_action(gateway: Any, open_page: Any) -> None:
    gateway.push(alarms=(gateway.gas(),))
    page = await open_page()
    await live(page)
    began = time.monotonic()
    gateway.fall_silent()
    await page.wait_for_selector("#banner:not([hidden])", timeout=6000)
    assert time.monotonic() - began < 3.0 + 0.5
    assert "os valores abaixo são antigos" in await text(page, "#banner")
    assert await page.locator("#alarm-list button:enabled").count() == 0
    assert "Sem valor presente" in await text(page, ".alarm .now")
    assert await page.locator(".card.struck").count() == 4
    assert (await page.text_content("#announce") or "").startswith("Sem contato com o vigia. Não conte com esta página")
    gateway.resume()
    await page.wait_for_selector("#banner", state="hidden", timeout=5000)
    told = "() => document.getElementById('announce').textContent === ''"
    await page.wait_for_function(told, timeout=2000)  # else the next loss is no news to who listens


async def test_the_page_comes_back_by_itself_after_the_child_was_replaced(
    gateway: Any, child: Any, start: Any, open_page: Any
) -> None:
    page = await open_page()
    await live(page)
    await child.stop()
    await page.wait_for_selector("#banner:not([hidden])", timeout=6000)
    await start("--listen", child.host)
    gateway.push(gateway.head("GD-101", 7.5))
    await page.wait_for_selector("#banner", state="hidden", timeout=15000)
    await page.wait_for_function(
        "() => document.querySelector('.card .value').textContent === '7,5 % LIE'", timeout=3000
    )
    assert await page.locator(".card.struck").count() == 0


async def test_acknowledging_needs_a_name_reaches_the_gateway_and_is_remembered(gateway: Any, open_page: Any) -> None:
    gateway.push(gateway.head("GD-101", 23.4), alarms=(gateway.gas(),))
    page = await open_page()
    await live(page)
    await page.click("button[data-action=acknowledge]")
    assert await text(page, ".said") == "Escreva o seu nome primeiro."
    assert gateway.acts == []
    await page.fill("#by", "João da Silva")
    await page.fill("#note", "indo ver")
    await page.click("button[data-action=acknowledge]")
    await gateway.until(lambda: gateway.acts)
    assert [(act.action, act.alarm, act.by, act.note) for act in gateway.acts] == [
        ("acknowledge", "centro-7f3a-GD-101", "João da Silva", "indo ver")
    ]
    gateway.push(alarms=(gateway.gas(state="acknowledged", acknowledged_by="João da Silva"),))
    await page.wait_for_function(
        "() => document.querySelector('.state').textContent === 'Reconhecido por João da Silva'"
    )
    assert await page.is_disabled("button[data-action=acknowledge]")
    assert await page.locator(".flashing").count() == 0
    await page.reload()
    assert await page.input_value("#by") == "João da Silva"
    gateway.answer = lambda act: Answer(act.ref, ok=False, error="not-possible")
    gateway.push(alarms=(gateway.gas(state="latched-acknowledged", acknowledged_by="João da Silva"),))
    await page.click("button[data-action=reset]:enabled")
    await page.wait_for_function("() => document.querySelector('.said').textContent === 'Agora não é possível.'")


async def test_only_the_unacknowledged_flash_slowly_and_not_at_all_for_who_wants_no_motion(
    gateway: Any, open_page: Any
) -> None:
    gateway.push(alarms=(gateway.gas(), gateway.gas("GD-102", state="acknowledged", acknowledged_by="Ana")))
    page = await open_page()
    style = "e => { const s = getComputedStyle(e); return [s.animationName, parseFloat(s.animationDuration)] }"
    badges = page.locator('#alarm-list .badge[data-f="badge"]')
    name, period_s = await badges.nth(0).evaluate(style)
    assert name == "call"
    assert 1 / period_s < 3
    assert (await badges.nth(1).evaluate(style))[0] == "none"
    still = await open_page(reduced_motion="reduce")
    assert (await still.locator('#alarm-list .badge[data-f="badge"]').nth(0).evaluate(style))[0] == "none"


async def test_no_request_leaves_the_origin(gateway: Any, child: Any, open_page: Any, browser: Any) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda opened: asked.append(opened.url))
    await page.goto(child.url)
    await live(page)
    gateway.push(alarms=(gateway.gas(),))
    await page.wait_for_selector(".alarm")
    assert {url.split("/")[2] for url in asked} == {child.host}
    assert any(url.startswith("ws://") for url in asked)


async def test_without_javascript_the_page_shows_the_values_and_acts(gateway: Any, open_page: Any) -> None:
    gateway.push(gateway.head("GD-101", 23.4), alarms=(gateway.gas(),))
    page = await open_page("/?hold=1", java_script_enabled=False)
    assert await text(page, "#headline h1") == "1 alarme de gás"
    assert await text(page, "article:has-text('GD-101') .value") == "23,4 % LIE"
    await page.fill("#by", "Ana")
    await page.click("button[data-action=silence]")
    await gateway.until(lambda: gateway.acts)
    assert (gateway.acts[0].action, gateway.acts[0].by) == ("silence", "Ana")
    assert "Registrado." in await text(page, ".said-banner")


async def test_the_script_says_what_the_server_says(gateway: Any, open_page: Any) -> None:
    guided = {
        "likely_cause": "Banco desligado.",
        "next_action": "Confira o banco.",
        "guidance": {"en": GuidanceView("Database off.", "Check the database.")},
    }
    heads = (
        gateway.head("GD-101", 23.4, certified=False, worst_case_s=5.24, name="Porta 2", area_name="Pátio norte"),
        gateway.dead("GD-102", reason="exception-2"),
        gateway.head("GD-103", None, at_least=40.0, quality="bad", status="over-range", reason="over-range"),
        gateway.head("GD-104", 2.0, quality="uncertain", status="warm-up", reason="gremlin"),
        gateway.head("GD-105", watching=False, window=WindowView("test", "Ana", "2026-11-30T03:05:10.000Z")),
        gateway.head("GD-106", watching=False, window=WindowView("inhibit", "", "2026-11-30T17:30:59.000Z")),
        gateway.head(
            "GD-201", area="fundos", watching=False, window=WindowView("out-of-service", "Ana", LATER, "peça")
        ),
    )
    gateway.picture = msgspec.structs.replace(gateway.picture, detectors=heads)
    alarms = (
        gateway.gas(),
        gateway.gas("GD-103", "A3", state="latched-acknowledged", acknowledged_by="Ana", muted=True, first_output=None),
        gateway.blind("GD-102"),
        gateway.gas("journal", kind="SYSTEM", level=None, area="", reason="slow", detail="2 s", peak=None),
        gateway.gas("extintor-3", kind="COMPLIANCE", level=None, area="", state="acknowledged", acknowledged_by="Ana"),
        gateway.gas("influx", kind="SYSTEM", level=None, area="", suppression=shelf("shelved"), **guided),
        gateway.gas("web", kind="SYSTEM", level=None, area="", suppression=shelf("by-design"), present=False),
        gateway.blind("GD-201", suppression=shelf("out-of-service")),
        gateway.blind("area:fundos", area="Fundos", reason="uncovered"),
    )
    gateway.push(
        *heads,
        alarms=alarms,
        outputs=(OutputView("sirene", wanted=True, confirmed=False, reason="timeout", age_s=65.0),),
        links=(
            LinkView("detectores", up=False, reason="refused", age_s=300.0),
            LinkView("mqtt", up=True, reason="no-packet-limit", age_s=7200.0),
        ),
        worst_ms=3211.4,
    )
    for language in ("pt-BR", "en"):
        served = await open_page(f"/?lang={language}", java_script_enabled=False)
        moved = await open_page(f"/?lang={language}")
        await live(moved)
        for selector in (
            "#headline", ".card .badge", ".card .value", '.card [data-f="quality"]', '.card [data-f="reason"]',
            ".alarm .badge", ".alarm .where", ".alarm .state", ".alarm .times", ".alarm .advice", ".alarm button",
            ".alarm .guide", ".alarm button:not([hidden])", ".uncovered", ".called", ".area h2", ".rows .badge",
            '[data-link] [data-f="detail"]', "#measured", "#computed",
        ):  # fmt: skip
            one, other = [await page.locator(selector).all_inner_texts() for page in (served, moved)]
            assert one == other, selector
            assert one
        for attribute in ("width", "x"):
            bars = [
                await page.locator(".meter rect").evaluate_all(f"all => all.map(e => +e.getAttribute('{attribute}'))")
                for page in (served, moved)
            ]
            assert bars[0] == bars[1]
        assert moved.troubles == []
        shown = await moved.inner_text("main")
        assert not re.search(r"no-packet-limit|timeout|exception-2|\bslow\b", shown)
        told = {"pt-BR": ("ALARME DE GÁS nível", "não limita"), "en": ("GAS ALARM level", "cannot limit")}
        assert all(words in shown for words in told[language])
        assert not any(words in shown for other, said in told.items() if other != language for words in said)


async def test_lines_of_neighbouring_cards_are_level_whatever_their_tone(gateway: Any, open_page: Any) -> None:
    gateway.picture = msgspec.structs.replace(
        gateway.picture,
        seq=gateway.picture.seq + 3,
        detectors=(
            gateway.head("GD-101", 1.0),
            gateway.head("GD-102", 100.0, age_s=119.0, name="Porta dos fundos do galpão dois"),
            gateway.head("GD-103", None, at_least=100.0, quality="bad", status="over-range", reason="over-range"),
            gateway.dead("GD-104"),
            gateway.head("GD-105", 2.0, quality="uncertain", status="warm-up", certified=False),
            gateway.head("um-detector-de-nome-muito-comprido-0001", 55.5),
        ),
    )
    tops = (
        "[...document.querySelectorAll('.card')]"
        ".map(c => [c, ...c.querySelectorAll('.value, .age, .meter, .set-points')]"
        ".map(e => Math.round(e.getBoundingClientRect().top)))"
    )
    for width in (320, 768, 1280, 1920):
        page = await open_page(viewport={"width": width, "height": 900})
        await live(page)
        rows: dict[int, set[tuple[int, ...]]] = {}
        for top, *lines in await page.evaluate(tops):
            rows.setdefault(top, set()).add(tuple(lines))
        assert all(len(lines) == 1 for lines in rows.values()), width
        assert width < 1280 or len(rows) < 3
        outside = "[...document.querySelectorAll('.value')].filter(e => e.scrollWidth > e.clientWidth).length"
        assert await page.evaluate(outside) == 0, width


async def test_what_calls_changes_its_colours_and_never_its_size(gateway: Any, open_page: Any) -> None:
    gateway.push(alarms=(gateway.gas(), gateway.blind("GD-102")))
    page = await open_page()
    await live(page)
    badges = page.locator('#alarm-list .flashing .badge[data-f="badge"]')
    look = "e => { const s = getComputedStyle(e); return [s.backgroundColor, s.boxShadow, s.outlineStyle] }"
    for place, calm in ((0, "rgb(176, 0, 32)"), (1, "rgb(11, 92, 173)")):
        seen = []
        for moment in (100, 600):
            await badges.nth(place).evaluate(
                f"e => e.getAnimations().forEach(a => {{ a.pause(); a.currentTime = {moment} }})"
            )
            seen.append(await badges.nth(place).evaluate(look))
        assert [colour for colour, *_ in seen] == [calm, "rgb(255, 255, 255)"]
        assert [rest for _, *rest in seen] == [["none", "none"]] * 2
        edges = "e => [e, e.closest('.alarm').querySelector('.advice')].map(e => e.getBoundingClientRect().left)"
        badge, sentence = await badges.nth(place).evaluate(edges)
        assert abs(badge - sentence) < 1


async def test_on_a_phone_the_alarm_comes_before_the_fields_which_stay_in_sight(gateway: Any, open_page: Any) -> None:
    gateway.push(gateway.head("GD-101", 23.4), alarms=tuple(gateway.gas(f"GD-10{n}") for n in range(1, 6)))
    page = await open_page(viewport={"width": 390, "height": 844})
    await live(page)
    box = "s => { const r = document.querySelector(s).getBoundingClientRect(); return [r.top, r.bottom] }"
    advice, button, fields = [await page.evaluate(box, s) for s in (".alarm .advice", ".alarm .acts", ".person")]
    assert advice[1] < button[0] < button[1] < fields[0], "nobody has to scroll to take an alarm"
    await page.set_viewport_size({"width": 320, "height": 640})
    alarm, now, fields = [await page.evaluate(box, s) for s in (".alarm .badge", ".alarm .now", ".person")]
    assert 0 < alarm[0] < now[1] < fields[0] < fields[1] <= 640
    await page.locator(".alarm").nth(3).locator("button[data-action=acknowledge]").focus()
    button = await page.evaluate("document.activeElement.getBoundingClientRect().bottom")
    assert button <= (await page.evaluate(box, ".person"))[0], "the fields cover the button in focus"


async def test_on_a_small_phone_the_order_and_its_buttons_stay_in_sight_though_a_notice_can_be_shelved(
    gateway: Any, open_page: Any
) -> None:
    order = "ALARME DE GÁS nível A3 - Depósito de demonstração, Rua das Acácias 120, portão 2, área patio, "
    order += "detector GD-101: 80,5 % LIE. EVACUE JÁ, não acione interruptores nem motores, ligue 193."
    gateway.push(
        gateway.head("GD-101", 80.5),
        gateway.dead("GD-102"),
        alarms=(gateway.gas(level="A3", text=order), gateway.blind("GD-102", can_shelve=True)),
    )
    page = await open_page(viewport={"width": 360, "height": 740})
    await live(page)
    box = "s => { const r = document.querySelector(s).getBoundingClientRect(); return [r.top, r.bottom] }"
    buttons = [f".alarm button[data-action={action}]" for action in ("acknowledge", "silence")]
    fields = (await page.evaluate(box, ".person"))[0]
    assert all([(await page.evaluate(box, button))[1] <= fields for button in buttons])
    call = page.locator(".headline .call")
    assert (await text(page, ".headline .call"), await call.get_attribute("href")) == ("Ligar 193", "tel:193")
    assert (await call.bounding_box())["height"] >= 44
    await page.focus("#minutes")
    assert (await page.evaluate(box, "#minutes"))[1] <= 740, "a field in use is in sight"


async def test_with_letters_of_twice_the_size_no_word_of_the_headline_is_broken(gateway: Any, open_page: Any) -> None:
    gateway.push(gateway.head("GD-101", 80.5), gateway.dead("GD-102"), alarms=(gateway.gas(), gateway.blind("GD-102")))
    page = await open_page(viewport={"width": 360, "height": 740})
    await live(page)
    await page.evaluate("document.documentElement.style.fontSize = '32px'")
    width, size = await page.evaluate(
        "(e => [e.clientWidth, parseFloat(getComputedStyle(e).fontSize)])(document.querySelector('.headline h1'))"
    )
    assert width >= 5 * size, f"{width} px for letters of {size}: a word of ten letters does not fit"
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360


async def test_who_acts_by_keyboard_stays_on_the_alarm_they_acted_on_though_its_row_moves(
    gateway: Any, open_page: Any
) -> None:
    first, second = (
        gateway.gas("GD-101", since=gateway.utc(70)),
        gateway.gas("GD-102", since=gateway.utc(60)),
    )
    gateway.push(gateway.head("GD-101", 23.4), gateway.head("GD-102", 23.4), alarms=(first, second))
    page = await open_page()
    await live(page)
    await page.fill("#by", "Ana")
    await page.focus(f'[data-alarm="{first.id}"] button[data-action=acknowledge]')
    await page.keyboard.press("Enter")
    await gateway.until(lambda: gateway.acts)
    gateway.push(alarms=(msgspec.structs.replace(first, state="acknowledged", acknowledged_by="Ana"), second))
    await page.wait_for_selector(f'.alarm:last-child[data-alarm="{first.id}"]')
    holder = "document.activeElement.closest('[data-alarm]')?.dataset.alarm"
    await page.wait_for_function(f"() => {holder} === '{first.id}'", timeout=2000)
    gateway.push(alarms=(second,))
    await page.wait_for_function("() => document.activeElement.id === 'headline'", timeout=2000)


async def test_without_gas_nobody_is_asked_to_call_the_brigade(gateway: Any, open_page: Any) -> None:
    gateway.push(gateway.dead("GD-102"), alarms=(gateway.blind("GD-102"),))
    page = await open_page(viewport={"width": 360, "height": 740})
    await live(page)
    assert not await page.locator(".headline .call").is_visible()


async def test_gas_that_is_gone_and_taken_is_said_to_wait_for_its_reset(gateway: Any, open_page: Any) -> None:
    page = await open_page()
    await live(page)
    gone = msgspec.structs.replace(gateway.gas(), state="latched-acknowledged", present=False, acknowledged_by="Ana")
    gateway.push(gateway.head("GD-101", 0.0), alarms=(gone,))
    await page.wait_for_function("() => document.body.dataset.tone === 'attention'", timeout=3000)
    assert await text(page, "#headline h1") == "1 alarme de gás a rearmar"
    assert await page.get_attribute(".alarm", "data-tone") == "attention"


async def test_on_a_wall_detectors_stand_beside_the_alarms_however_many(gateway: Any, open_page: Any) -> None:
    alarms = tuple(gateway.blind(f"GD-{number}") for number in range(110, 122))
    gateway.push(alarms=alarms)
    page = await open_page(viewport={"width": 1920, "height": 1080})
    await live(page)
    box = await page.locator("article.card").first.bounding_box()
    assert box is not None and box["y"] + box["height"] < 1080 and box["x"] > 960


async def test_another_name_in_the_same_depot_makes_the_page_fetch_itself_again(gateway: Any, open_page: Any) -> None:
    page = await open_page()
    await live(page)
    heads = gateway.picture.detectors
    gateway.picture = msgspec.structs.replace(
        gateway.picture,
        detectors=(msgspec.structs.replace(heads[0], name="Porta 2", area_name="Pátio norte"), *heads[1:]),
        silence_s=45.0,
    )
    gateway.server.renew()
    await page.wait_for_selector(".called", timeout=5000)
    assert await text(page, ".called") == "Porta 2"
    assert await text(page, ".area h2") == "Área Pátio norte"
    assert "Silenciar 45 s" in await page.inner_html("#alarm-template")


async def test_another_depot_behind_the_page_makes_it_fetch_itself_again(gateway: Any, open_page: Any) -> None:
    page = await open_page()
    await live(page)
    gateway.picture = msgspec.structs.replace(
        gateway.picture,
        detectors=(*gateway.picture.detectors, gateway.head("GD-900", 4.4)),
        seq=gateway.picture.seq + 3,
    )
    await page.wait_for_selector('[data-detector="GD-900"]', timeout=5000)
    assert await text(page, '[data-detector="GD-900"] .value') == "4,4 % LIE"
    assert await page.locator("[data-detector]").count() == len(gateway.picture.detectors)


@pytest.mark.parametrize(("width", "height"), [(320, 640), (360, 740), (768, 1024), (1920, 1080), (3840, 2160)])
async def test_nothing_scrolls_sideways_and_every_button_is_large_enough(
    gateway: Any, open_page: Any, width: int, height: int
) -> None:
    gateway.push(
        gateway.head("GD-101", 23.4),
        gateway.dead("GD-102"),
        alarms=(
            gateway.gas(detail="x"),
            gateway.blind("GD-102"),
            gateway.gas("um-detector-de-nome-muito-comprido-0001"),
        ),
    )
    page = await open_page(viewport={"width": width, "height": height})
    await live(page)
    assert await page.evaluate("document.documentElement.scrollWidth") <= width
    sizes = await page.evaluate(
        "[...document.querySelectorAll('button:not([hidden]), input, .language')].map(e => e.getBoundingClientRect())"
        ".filter(r => r.width).map(r => [r.width, r.height])"
    )
    assert min(min(size) for size in sizes) >= 44


async def test_the_horn_sounds_after_one_tap_and_stops_when_acknowledged_or_silenced(
    gateway: Any, open_page: Any
) -> None:
    page = await open_page()
    await live(page)
    assert await page.is_visible("#sound")
    await page.click("#sound")
    await page.wait_for_selector("#sound", state="hidden", timeout=3000)
    assert await page.get_attribute("body", "data-horn") == "off"
    for quiet in ({"muted": True}, {"state": "acknowledged", "acknowledged_by": "Ana"}):
        gateway.push(alarms=(gateway.gas(),))
        await page.wait_for_selector("body[data-horn=on]", timeout=2000)
        gateway.push(alarms=(gateway.gas(**quiet),))
        await page.wait_for_selector("body[data-horn=off]", timeout=2000)
    gateway.push(alarms=(gateway.blind("GD-102"),))
    await page.wait_for_selector(".alarm")
    assert await page.get_attribute("body", "data-horn") == "off"


async def test_a_clock_that_is_ten_minutes_off_changes_no_age(gateway: Any, open_page: Any) -> None:
    page = await open_page()
    await page.add_init_script("const real = Date.now; Date.now = () => real() + 600000;")
    await page.reload()
    await live(page)
    assert (await text(page, ".card .age")).startswith("há 0,")
    assert await page.is_hidden("#banner")


async def test_twenty_tabs_of_one_browser_all_hear_the_alarm(gateway: Any, child: Any, browser: Any) -> None:
    context = await browser.new_context()
    tabs = [await context.new_page() for _ in range(20)]
    await asyncio.gather(*(tab.goto(child.url) for tab in tabs))
    await asyncio.gather(*(tab.wait_for_function("() => document.querySelector('.pulse.beat')") for tab in tabs))
    gateway.push(alarms=(gateway.gas(),))
    await asyncio.gather(*(tab.wait_for_selector("#alarm-list .alarm", timeout=5000, state="attached") for tab in tabs))
    assert [await tab.locator("#alarm-list .alarm").count() for tab in tabs] == [1] * 20


async def test_a_fault_is_shelved_with_person_reason_and_end_and_gas_has_no_such_button(
    gateway: Any, open_page: Any
) -> None:
    fault = gateway.gas("influx", kind="SYSTEM", level=None, area="", can_shelve=True, seq=7)
    gateway.push(alarms=(gateway.gas(), fault))
    page = await open_page()
    await live(page)
    assert await page.locator("#alarm-list button[data-action=shelve]:visible").count() == 1
    row = page.locator('[data-alarm="centro-7f3a-influx"]')
    await page.fill("#by", "Ana")
    await row.locator("button[data-action=shelve]").click()
    assert await row.locator('[data-f="said"]').inner_text() == "Escreva o motivo na observação."
    await page.fill("#note", "banco em manutenção")
    await page.select_option("#minutes", "240")
    await row.locator("button[data-action=shelve]").click()
    await gateway.until(lambda: gateway.acts)
    (act,) = gateway.acts
    assert (act.action, act.by, act.note, act.minutes, act.seen) == ("shelve", "Ana", "banco em manutenção", 240.0, 7)
    gateway.push(alarms=(msgspec.structs.replace(fault, can_shelve=False, suppression=shelf("shelved")),))
    await page.wait_for_selector("button[data-action=unshelve]:visible", timeout=2000)
    assert await text(page, "#alarm-list .state") == "Suspenso por Ana até 02/12 14:30: peça pedida"


async def test_a_detector_is_taken_out_of_service_and_brought_back_without_a_script(
    gateway: Any, open_page: Any
) -> None:
    page = await open_page(java_script_enabled=False)
    form = page.locator("#service")
    await form.locator("[name=detector]").select_option("GD-103")
    await form.locator("[name=minutes]").select_option("4320")
    await form.locator("[name=by]").fill("Ana")
    await form.locator("[name=note]").fill("foi para calibração")
    await form.locator("button:has-text('Tirar de serviço')").click()
    await gateway.until(lambda: gateway.acts)
    out = gateway.acts[0]
    assert out == Window(out.ref, "out-of-service", "GD-103", "Ana", "foi para calibração", 4320.0)
    assert "Registrado." in await text(page, ".said-banner")
    await form.locator("[name=detector]").select_option("GD-103")
    await form.locator("[name=note]").fill("voltou")
    await form.locator("button:has-text('Devolver ao serviço')").click()
    await gateway.until(lambda: len(gateway.acts) == 2)
    assert (gateway.acts[1].kind, gateway.acts[1].detector) == ("close", "GD-103")
