"""The pages say what is: links, keys, bounds, samples, API paths, metric names and quoted words all exist."""

import hmac
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pydantic.fields import FieldInfo
from written import DOCS, PAGES, ROOT, blocks, page, prose, text_of

from alerts.alarmbook import AlarmBook
from alerts.alarms import AlarmKey, Delivery, Kind, Level, Notice
from alerts.messages.body import body
from alerts.messages.catalogue import Catalogue
from alerts.states_page import page as page_of_states
from compliance import statutes
from dashboards.ports import AlarmView, DetectorView
from dashboards.web.acting import STATUS_OF_ERROR
from dashboards.web.api import Screens, api
from dashboards.web.refusals import BAD_REQUEST, FAILED, NEEDS_NAME
from dashboards.web.refusals import CODES as REFUSALS
from gateway.budget import budgets
from gateway.commands.effects import page as page_of_effects
from gateway.configuration.loading import load
from gateway.configuration.problems import ConfigError
from gateway.configuration.schema import (
    CHANNELS,
    LATER_CHANNELS,
    LISTED,
    SINGLE,
    ChannelTable,
    OutputTable,
    PlainChannelTable,
    Table,
    WebhookTable,
)
from gateway.metrics import BUS, INFLUX, LANE, MQTT, STORE
from sensors import profiles
from sensors.profiles.keys import STATUSES
from sensors.profiles.page import page as page_of_profiles
from sensors.stamps import Instant, Stamp, UtcNanos

CONFIGURATION = DOCS / "configuration.md"
API = DOCS / "api.md"
GUIDES = {"pt-BR": DOCS / "guia-do-operador.md", "en": DOCS / "operator-guide.md"}
SAMPLE_SECRETS = {"VIGIA_HOOK_SECRET": "segredo", "VIGIA_LANG": "en"}


# --- links ----------------------------------------------------------------------------------------


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text_of(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@page
def test_every_relative_link_resolves(page: Path):
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), f"{link} leads nowhere"
        assert not anchor or anchor in anchors(file), f"{link}: no such heading"


def test_every_page_is_in_the_index():
    index = text_of(DOCS / "README.md")
    for path in DOCS.glob("*.md"):
        assert path.name == "README.md" or f"]({path.name})" in index, f"{path.name} is not in docs/README.md"


# --- configuration: every key, as the schema has it -----------------------------------------------


def section(heading: str) -> str:
    found = re.search(rf"^##+ {re.escape(heading)}\n(.*?)(?=^##|\Z)", text_of(CONFIGURATION), re.DOTALL | re.MULTILINE)
    assert found, f"configuration.md has no section {heading}"
    return found[1]


def rows(text: str) -> dict[str, list[str]]:
    """Rows of a section's tables by the keys in their first cell."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("| `"):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            found |= dict.fromkeys(re.findall(r"`([^`]+)`", cells[0]), cells)
    return found


CHANNEL_SECTIONS: dict[type[ChannelTable], str] = {
    OutputTable: "Outputs",
    WebhookTable: "Webhook",
    PlainChannelTable: "MQTT and console",
}

TABLES: list[tuple[str, type[Table]]] = [
    *((f"`[{name}]`", model) for name, model in SINGLE.items()),
    *((f"`[[{name}]]`", model) for name, model in LISTED.items() if name != "channel"),
    *((CHANNEL_SECTIONS[model], model) for model in dict.fromkeys(CHANNELS.values())),
]


def said_of_default(field: FieldInfo) -> str:
    if field.is_required():
        return "**required**"
    return "none" if field.default is None else f"`{json.dumps(field.default)}`"


def bounds(schema: object) -> Iterator[str]:
    """Every limit and choice in a JSON schema, as the page writes it."""
    if isinstance(schema, Mapping):
        for name, value in schema.items():
            if name in ("minimum", "maximum", "exclusiveMinimum"):
                yield f"{value:.15g}"
            elif name in ("enum", "const"):
                yield from (f"`{json.dumps(choice)}`" for choice in (value if name == "enum" else [value]))
            elif name not in ("default", "examples", "title"):
                yield from bounds(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from bounds(value)


@pytest.mark.parametrize(("heading", "model"), TABLES)
def test_every_key_stands_with_its_default_bounds_and_example(heading: str, model: type[Table]):
    described = rows(section(heading))
    schema: dict[str, Any] = model.model_json_schema()["properties"]
    keys = {field.alias or name: field for name, field in model.model_fields.items()}
    assert set(described) == set(keys)
    for key, field in keys.items():
        _, kind, default, example, _ = described[key]
        assert default == said_of_default(field), key
        assert example == f"`{(field.examples or [''])[0]}`", key
        words = re.split(r",? ", kind)
        for bound in bounds(schema[key]):
            assert bound in words or bound in kind.split(", "), f"{key}: {bound}"


def test_every_setting_of_the_generic_profiles_stands():
    text = section("Profiles")
    modbus, mqtt = text.split("Settings of **`mqtt-json`**")
    for part, name in ((modbus.split("Settings of **`generic-modbus`**")[1], "generic-modbus"), (mqtt, "mqtt-json")):
        assert set(rows(part)) == set(profiles.load(name).setting_names()), name


def test_every_shipped_profile_stands_with_its_settings():
    assert text_of(DOCS / "profiles.md") == page_of_profiles(), (
        "run: python -m sensors.profiles.page > docs/profiles.md"
    )


def test_the_table_of_effects_is_the_one_that_is_followed():
    assert text_of(DOCS / "effects.md") == page_of_effects(), "python -m gateway.commands.effects writes it"


def test_the_alarm_states_are_drawn_from_the_table():
    drawn = text_of(DOCS / "alarm-states.md")
    assert drawn == page_of_states(), "run: python -m alerts.states_page > docs/alarm-states.md"


def test_every_word_of_a_profile_stands_in_its_page():
    text = text_of(DOCS / "add-a-detector-profile.md")
    assert all(f"`{word}`" in text for word in STATUSES)


def test_every_law_stands_with_its_figures():
    described = rows(section("Laws"))
    assert set(described) == set(statutes.names()) - {statutes.HOUSE}
    for name, cells in described.items():
        detection = statutes.load(name).detection
        if detection is None:
            continue
        assert detection.clause in cells[1]
        for figure in (detection.set_point_lel_pct, detection.within_s, detection.above_kg):
            assert figure is None or f"{figure:g}" in re.split(r"[ ,]", cells[1]), name


def test_every_kind_of_channel_of_a_later_release_is_named():
    assert all(f"`{kind}`" in section("`[[channel]]`") for kind in LATER_CHANNELS)


# --- configuration: the samples -------------------------------------------------------------------


@pytest.mark.parametrize("info", ["toml depot", "toml profile", "toml refused"])
def test_every_marked_sample_is_there(info: str):
    assert any(blocks(path, info) for path in PAGES)


@page
def test_every_toml_block_is_toml(page: Path):
    for source in re.findall(r"^```toml.*?\n(.*?)^```$", text_of(page), re.DOTALL | re.MULTILINE):
        assert tomllib.loads(source), "a sample that sets nothing"


@page
def test_every_whole_depot_loads_without_a_warning_and_is_within_three_seconds(page: Path, tmp_path: Path):
    for source in blocks(page, "toml depot"):
        file = tmp_path / "depot.toml"
        file.write_text(source, encoding="utf-8")
        loaded = load(file, SAMPLE_SECRETS)
        assert not loaded.warnings
        assert all(budget.certified for budget in budgets(loaded.depot))


def test_the_sample_profile_can_be_installed(tmp_path: Path):
    (source,) = blocks(CONFIGURATION, "toml profile")
    (tmp_path / "own.toml").write_text(source, encoding="utf-8")
    assert profiles.load("own.toml", tmp_path).installed({"full_scale": 60}).points is not None


def test_the_refusal_is_word_for_word_what_the_sample_gets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (source,), (said,) = blocks(CONFIGURATION, "toml refused"), blocks(CONFIGURATION, "text")
    monkeypatch.chdir(tmp_path)
    Path("depot.toml").write_text(source, encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        load(Path("depot.toml"), SAMPLE_SECRETS)
    assert str(refused.value) == said.strip()


def test_the_sample_overlays_fit_a_file(tmp_path: Path):
    (depot,) = blocks(CONFIGURATION, "toml depot")
    lines = next(block for block in blocks(CONFIGURATION, "sh") if "__" in block).split()
    file = tmp_path / "depot.toml"
    file.write_text(depot, encoding="utf-8")
    overlaid = load(file, SAMPLE_SECRETS | dict(line.split("=", 1) for line in lines)).depot
    assert overlaid.levels.a1 == 5
    assert overlaid.web is not None and overlaid.web.port == 9090
    assert overlaid.buses[0].settings.host == "10.0.0.20"
    (head,) = (head for head in overlaid.buses[0].heads if head.detector == "GD-102")
    assert head.profile.table["scale"] == 0.2


# --- interfaces -----------------------------------------------------------------------------------


class NoScreens:
    """Routes are listed, never called."""


@cache
def routes() -> set[str]:
    screens: Screens = NoScreens()  # type: ignore[assignment]
    return {getattr(route, "path", "") for route in api(screens).routes}


@page
def test_every_api_path_named_is_a_route(page: Path):
    patterns = [re.sub(r"\{[^}]*\}", r"[^/]+", route) for route in routes()]
    patterns.append("/api/v1/openapi.json")
    for path in re.findall(r"(?<![\w.])(/(?:api/v1|health|metrics)[\w/{}.-]*)", text_of(page)):
        assert any(re.fullmatch(pattern, path) for pattern in patterns), f"{path} is no route"


def test_every_route_is_on_the_page_of_interfaces():
    page = text_of(API)
    assert all(route in page for route in routes())


@pytest.mark.parametrize(("heading", "struct"), [("A detector", DetectorView), ("An alarm", AlarmView)])
def test_every_field_of_the_api_stands(heading: str, struct: type[msgspec.Struct]):
    (paragraph,) = re.findall(rf"^\*\*{heading}\*\*: .*?^$", text_of(API), re.DOTALL | re.MULTILINE)
    assert set(struct.__struct_fields__) <= set(re.findall(r"`(\w+)`", paragraph))


def test_the_sample_of_the_webhook_has_the_fields_of_a_body():
    now = Stamp(Instant(0), UtcNanos(0))
    key = AlarmKey("GD-103", Kind.GAS)
    event = AlarmBook("deposito-centro", "a662df8c").raise_(key, now, level=Level.A1)
    owed = Delivery(id="x", event=event.id, recipient="dona", channel="aviso")
    notice = Notice(delivery=owed, event=event, depot="deposito-centro", area="patio", recorded=True, text="")
    (sample,) = blocks(API, "json")
    assert set(json.loads(sample)) == set(body(notice))


def test_the_printed_check_of_the_signature_tells_genuine_from_forged():
    (source,) = blocks(API, "python")
    names: dict[str, Any] = {}
    exec(source, names)  # noqa: S102 - the page's own lines
    signature = hmac.new(b"segredo", b'{"seq":1}', "sha256").hexdigest()
    assert names["genuine"](b'{"seq":1}', signature, "segredo")
    assert not names["genuine"](b'{"seq":2}', signature, "segredo")


def test_the_page_names_exactly_the_metrics_that_are_given_out():
    sources = "".join(
        text_of(path) for folder in ("dashboards/web", "gateway") for path in (ROOT / folder).rglob("*.py")
    )
    tables = (*BUS.values(), *MQTT.values(), *LANE.values(), *STORE.values(), *INFLUX.values())
    given = set(re.findall(r'\bFigure\(\s*"(\w+)"', sources)) | {name for name, _ in tables}
    assert len(given) > 40
    assert set(re.findall(r"`vigia_(\w+)`", text_of(API))) == given


def test_the_page_names_every_error_of_the_api():
    codes = set(STATUS_OF_ERROR) | set(REFUSALS.values()) | {NEEDS_NAME, BAD_REQUEST, FAILED}
    routes_of = "".join(text_of(path) for path in (ROOT / "dashboards/web").glob("*.py"))
    codes |= set(re.findall(r'Refused\("([a-z-]+)"', routes_of))
    codes |= set(re.findall(r'HTTPStatus\.\w+, "([a-z-]+)"', text_of(ROOT / "dashboards/web/guard.py")))
    named = set(re.findall(r"`([a-z]+(?:-[a-z]+)*)`", rows_of_errors()))
    assert codes <= named


def rows_of_errors() -> str:
    (table,) = re.findall(r"^\| status and `error`.*?^$", text_of(API), re.DOTALL | re.MULTILINE)
    return str(table)


# --- words ----------------------------------------------------------------------------------------


PLACES = re.compile(r"\{\w+\}")


@cache
def said_in(language: str) -> list[re.Pattern[str]]:
    texts = [
        text
        for package in ("dashboards", "dashboards.conformity", "alerts.messages", "gateway.words")
        for text in Catalogue.load(package, language).texts.values()
    ]
    own = [text for text in texts if re.search(r"\w{3}", PLACES.sub("", text))]  # one of places only is in every word
    return [re.compile(re.sub(r"\\\{\w+\\\}", ".+", re.escape(text))) for text in own]


@pytest.mark.parametrize("language", GUIDES)
def test_every_word_quoted_in_the_guides_is_on_the_page_or_in_a_notice(language: str):
    quoted = re.findall(r"“([^”]+)”", text_of(GUIDES[language]))
    assert len(quoted) > 30
    for words in (" ".join(words.split()) for words in quoted):
        assert any(pattern.fullmatch(words) for pattern in said_in(language)), f"nobody says “{words}”"


def test_both_guides_have_the_same_chapters_and_commands():
    portuguese, english = (text_of(path) for path in GUIDES.values())

    def shape(text: str) -> list[str]:
        return re.findall(r"^(#+) |\bvigia ([a-z]+) /etc", text, re.MULTILINE)

    assert shape(portuguese) == shape(english)
