// Keeps the server's page moving: socket, watchdog, words by the page's own catalogue (dashboards/views.py says the
// same things on the server; a test compares the two), actions, sound. Ages run on the browser's monotonic clock only.

import "./acts.js";
import { horn } from "./horn.js";
import { madeFor } from "./made.js";
import { age, ago, between, clock, counted, day, minute, number, page, plain, reason, t, words } from "./wording.js";

const SILENCE_S = 3;            // no word from the server for this long: nothing below counts as present
const TICK_MS = 500;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 5000;
const MAX_SILENT_CONNECT_MS = 4000;
const OPEN = new Set(["unacknowledged", "returned-unacknowledged", "latched-unacknowledged"]);
const KINDS = ["GAS", "BLIND", "SYSTEM", "COMPLIANCE"];
const $ = (id) => document.getElementById(id);

const depot = {
  known: false,                 // a snapshot has come over the socket
  seq: 0, at: "", info: null, alive: true,
  detectors: new Map(), alarms: [], outputs: [], links: [], silenceS: 0,
  heard: { outputs: 0, links: 0 },
  worstMs: null, worstCaseS: 0,
};
let gateway = { lost: false, age: null, at: 0 };   // what the server says about the gateway, and when it said so
let lastWord = now();                              // when the server was last heard
let lastWall = Date.now();
let slept = false;

function now() { return performance.now() / 1000; }

// --- what it means -------------------------------------------------------------------------------

function silence() { return slept ? Math.max(SILENCE_S, now() - lastWord) : now() - lastWord; }
function connected() { return silence() < SILENCE_S; }
function current() { return connected() && !gateway.lost && depot.alive; }
function lostFor() {
  if (gateway.age === null) return gateway.lost ? null : silence();
  return gateway.age + now() - gateway.at;
}
function gasOf(d) {
  if (d.at_least === null) return d.lel_pct;
  return d.lel_pct === null ? d.at_least : Math.max(d.lel_pct, d.at_least);
}
function ageOf(d) { return d.age_s === null ? null : d.age_s + now() - d.heard; }
function toneOf(d, present = current()) {
  if (!present) return "stale";
  const gas = gasOf(d);
  if (gas !== null && gas >= d.a1 && (d.quality !== "bad" || d.status === "over-range")) return "alarm";
  if (d.window?.kind === "out-of-service") return "aside";
  if (d.quality === "bad" || !d.watching) return "fault";
  if (d.quality !== "good" || d.status !== "measuring") return "attention";
  return "normal";
}
function statusWord(d, tone) {
  if (tone === "alarm") {
    const gas = gasOf(d);
    return t("detector.level", { level: gas >= d.a3 ? "A3" : gas >= d.a2 ? "A2" : "A1" });
  }
  if (tone === "fault") return words[d.status === "measuring" ? "status.not-watching" : `status.${d.status}`];
  if (tone === "attention") return words[d.status === "measuring" ? "status.uncertain" : `status.${d.status}`];
  return words[tone === "normal" ? "status.measuring" : `tone.${tone}`];
}
function valueText(d) {
  if (d.at_least !== null && (d.lel_pct === null || d.at_least >= d.lel_pct)) {
    return t("format.at_least", { value: number(d.at_least) });
  }
  return d.lel_pct === null ? words["format.none"] : t("format.lel", { value: number(d.lel_pct) });
}
function isHeld(a) {   // its gas is gone, and a person has taken it: it waits for its reset
  return a.kind === "GAS" && a.state === "latched-acknowledged";
}
function headline() {
  const present = current();
  if (!present) {
    const lost = lostFor();
    return { tone: "stale", word: lost === null ? words["headline.lost"] : t("headline.lost_for", { age: age(lost) }) };
  }
  const heads = [...depot.detectors.values()];
  const blind = new Set(heads.filter((d) => !d.watching).map((d) => d.id));
  for (const a of depot.alarms) if (a.kind === "BLIND" && a.present && depot.detectors.has(a.subject)) blind.add(a.subject);
  const count = (test) => depot.alarms.filter(test).length;
  const attentions = count((a) => !a.suppression && (a.kind === "COMPLIANCE" || (a.kind === "BLIND" && !a.present)))
    + heads.filter((d) => toneOf(d) === "attention" && !blind.has(d.id)).length;
  const said = [
    [count((a) => a.kind === "GAS" && !isHeld(a)), "headline.gas", "alarm"],
    [count((a) => a.kind === "BLIND" && a.present && a.subject.startsWith("area:")), "headline.alone", "fault"],
    [blind.size, "headline.blind", "fault"],
    [count((a) => a.kind === "SYSTEM" && !a.suppression), "headline.fault", "fault"],
    [count(isHeld), "headline.held", "attention"],
    [attentions, "headline.attention", "attention"],
    [count((a) => a.suppression && !blind.has(a.subject)), "headline.aside", "attention"],
  ].filter(([n]) => n);
  if (said.length) return { tone: said[0][2], word: said.map(([n, key]) => counted(key, n)).join(" · ") };
  if (!heads.length) return { tone: "attention", word: words["headline.none"] };
  return { tone: "normal", word: words["headline.normal"] };
}
function watching() {
  const heads = [...depot.detectors.values()];
  const count = heads.filter((d) => d.watching).length;
  if (!current() || !heads.length) return "";
  if (count === heads.length) return counted("headline.watching", count);
  return t("headline.watching_some", { count, total: heads.length });
}
function urgency(a) {
  const level = { A3: "0", A2: "1", A1: "2" }[a.level] ?? "3";
  return `${a.suppression ? 1 : 0}${KINDS.indexOf(a.kind)}${OPEN.has(a.state) ? 0 : 1}${level}${a.since}`;
}
function alarmWhere(a) {
  if (a.kind === "COMPLIANCE" && a.detail) return "";
  if (a.subject.startsWith("area:")) return t("page.area", { area: a.area || a.subject.slice(5) });
  const d = depot.detectors.get(a.subject);
  const plain = a.kind === "SYSTEM" ? a.subject.replace(/^[^:]*:(?=.)/, "") : a.subject;   // the sentence says what it is
  const who = d && d.name && d.name !== d.id ? t("format.named", { id: plain, name: d.name }) : plain;
  const area = d ? d.area_name || d.area : a.area;
  return area ? `${who} · ${t("page.area", { area })}` : who;
}
function sentence(a) { return a.texts[page.language] ?? a.text; }
function guideText(a) {
  const guide = a.guidance[page.language] ?? a;
  if (!guide.likely_cause) return "";
  if (a.kind === "GAS" || a.kind === "COMPLIANCE") return t("alarm.cause", { cause: guide.likely_cause });
  return t("alarm.guide", { cause: guide.likely_cause, action: guide.next_action });
}
function alarmNow(a) {
  if (a.kind !== "GAS") return "";        // what else can be wrong has no present value: the sentence says it all
  const d = depot.detectors.get(a.subject);
  const peak = a.peak === null ? "" : t("alarm.peak", { value: t("format.lel", { value: number(a.peak) }) });
  const absent = !current() || !d || toneOf(d, true) === "fault" || gasOf(d) === null;
  const value = absent ? words["alarm.no_value"] : t("alarm.now", { value: valueText(d), age: ago(ageOf(d)) });
  return [value, peak].filter(Boolean).join(" · ");
}
function alarmTimes(a) {
  if (a.kind === "COMPLIANCE") return "";
  const after = (moment) => t("alarm.plus", { ms: number(between(a.sampled, moment), 0) });
  return t("alarm.times", {
    sampled: clock(a.sampled, depot.at, true),
    decided: after(a.decided),
    output: a.first_output === null ? words["alarm.waiting"] : after(a.first_output),
  });
}

// --- drawing -------------------------------------------------------------------------------------

function put(element, text) { if (element && element.textContent !== text) element.textContent = text; }
function field(root, name) { return root.querySelector(`[data-f="${name}"]`); }
function drawBadge(element, tone, word) {
  element.dataset.tone = tone;
  put(element.querySelector(".shape"), words[`shape.${tone}`]);
  put(element.querySelector(".word"), word);
}
function onBar(value, full) { return Math.round(Math.min(Math.max(value / full, 0), 1) * 1000) / 10; }

const cards = new Map([...document.querySelectorAll("[data-detector]")].map((c) => [c.dataset.detector, c]));
const outputRows = new Map([...document.querySelectorAll("[data-output]")].map((r) => [r.dataset.output, r]));
const linkRows = new Map([...document.querySelectorAll("[data-link]")].map((r) => [r.dataset.link, r]));

function reasonText(d) {
  if (d.window?.kind === "out-of-service") {
    return t("detector.out_of_service", { by: d.window.by || "?", until: day(d.window.until), why: d.window.why });
  }
  if (d.window) return t(`detector.in_${d.window.kind}`, { by: d.window.by || "?", until: minute(d.window.until) });
  return d.reason ? t("detector.reason", { reason: reason(d.reason) }) : "";
}
function drawDetector(d) {
  const card = cards.get(d.id);
  if (!card) return;
  const tone = toneOf(d);
  const gas = gasOf(d);
  const struck = tone === "stale" || ((tone === "fault" || tone === "aside") && gas !== null);
  card.dataset.tone = tone;
  card.classList.toggle("struck", struck);
  drawBadge(card.querySelector(".badge"), tone, statusWord(d, tone));
  put(field(card, "value"), valueText(d));
  put(field(card, "age"), ago(ageOf(d)));
  put(field(card, "quality"), t("detector.quality", { quality: words[`quality.${d.quality}`] }));
  put(field(card, "reason"), reasonText(d));
  card.querySelector(".level").setAttribute("width", gas === null || struck ? 0 : onBar(gas, d.a3 * 1.25));
  const label = t("detector.scale", { value: valueText(d), full: plain(d.a3 * 1.25) });
  card.querySelector(".meter").setAttribute("aria-label", label);
}
function newAlarm(a) {
  const item = $("alarm-template").content.firstElementChild.cloneNode(true);
  item.dataset.alarm = a.id;
  return item;
}
function stateText(a) {
  const over = a.suppression;
  if (!over) return t(`alarm.${a.state}`, { by: a.acknowledged_by || "?" }) + (a.muted ? ` · ${words["alarm.muted"]}` : "");
  const said = t(`alarm.${over.kind}`, { by: over.by || "?", until: day(over.until), why: over.why });
  return a.present ? said : `${said} · ${words["alarm.gone"]}`;
}
function drawAlarm(item, a) {
  const over = a.suppression;
  const tone = over ? "aside" : isHeld(a) ? "attention" : { GAS: "alarm", COMPLIANCE: "attention" }[a.kind] ?? "fault";
  const open = OPEN.has(a.state) && (!over || over.kind === "out-of-service");
  const present = current();
  item.dataset.tone = tone;
  item.dataset.seen = a.seq;
  for (const button of item.querySelectorAll("button")) {
    button.formAction = `/alarms/${encodeURIComponent(a.id)}/${button.dataset.action}?lang=${page.language}&seen=${a.seq}`;
  }
  item.classList.toggle("flashing", open && !over && present);
  drawBadge(field(item, "badge"), tone, t(`alarm.${a.kind.toLowerCase()}`, { level: a.level ?? "" }).trim());
  put(field(item, "where"), alarmWhere(a));
  put(field(item, "now"), alarmNow(a));
  put(field(item, "since"), t("alarm.since", { time: clock(a.since, depot.at), age: ago(sinceSent() + between(a.since, depot.at) / 1000) }));
  put(field(item, "times"), alarmTimes(a));
  put(field(item, "state"), stateText(a));
  put(field(item, "advice"), sentence(a));
  put(field(item, "guide"), guideText(a));
  const can = {
    acknowledge: open && present,
    silence: a.kind === "GAS" && open && !a.muted && present,
    reset: a.state === "latched-acknowledged" && present,
    shelve: a.can_shelve && present,
    unshelve: over?.kind === "shelved" && present,
  };
  for (const button of item.querySelectorAll("button")) {
    button.disabled = !can[button.dataset.action];
    if (button.dataset.action.endsWith("shelve")) button.hidden = button.disabled;
  }
}
function drawAlarms() {
  const list = $("alarm-list");
  const held = list.contains(document.activeElement) ? document.activeElement : null;
  const have = new Map([...list.children].map((item) => [item.dataset.alarm, item]));
  const cut = new Set(depot.alarms.filter((a) => a.kind === "BLIND" && a.present).map((a) => a.subject));
  const spokenFor = (a) => a.kind === "BLIND" && a.reason === "link" && cut.has(depot.detectors.get(a.subject)?.source);
  const wanted = depot.alarms.filter((a) => !spokenFor(a)).sort((a, b) => (urgency(a) < urgency(b) ? -1 : 1));
  for (const [id, item] of have) if (!wanted.some((a) => a.id === id)) item.remove();
  wanted.forEach((a, place) => {
    const item = have.get(a.id) ?? newAlarm(a);
    drawAlarm(item, a);
    if (list.children[place] !== item) list.insertBefore(item, list.children[place] ?? null);
  });
  if (held && (held.disabled || document.activeElement !== held)) hold(held);
  $("alarms").hidden = wanted.length === 0;
  $("alarms").classList.toggle("old", !current());
  $("old-note").hidden = current();
  announce(wanted);
}
function hold(button) {         // its row moved or its deed is done: who acts by keyboard stays on that alarm, on no other button
  const row = button.closest("[data-alarm]");
  const place = button.isConnected && !button.disabled ? button : row.isConnected ? row : $("headline");
  if (place !== button) place.tabIndex = -1;
  place.focus({ preventScroll: true });
}
function drawRow(row, tone, word, detail) {
  drawBadge(row.querySelector(".badge"), tone, word);
  put(field(row, "detail"), detail);
}
function tested(o) {
  const ended = o.test_failed ? `output.test_${o.test_failed}` : "output.tested";
  return o.tested && t(ended in words ? ended : "output.test_failed", { at: day(o.tested) });
}
function drawOutput(o) {
  const row = outputRows.get(o.id);
  if (!row) return;
  const told = o.wanted ? "on" : "off";
  let tone = o.wanted ? "alarm" : "normal";
  let key = `output.${told}`;
  if (o.confirmed === null) [tone, key] = ["attention", `output.${told}_unconfirmed`];
  else if (o.confirmed !== o.wanted) [tone, key] = ["fault", `output.${told}_wrong`];
  const old = o.age_s === null ? null : o.age_s + now() - depot.heard.outputs;
  drawRow(row, current() ? tone : "stale", words[key], [ago(old), o.reason && reason(o.reason), tested(o)].filter(Boolean).join(" · "));
}
function drawAreas() {
  const watched = new Set();
  for (const d of depot.detectors.values()) if (d.watching) watched.add(d.area);
  for (const area of document.querySelectorAll("[data-area]")) {
    const alone = current() && !watched.has(area.dataset.area);
    put(field(area, "uncovered"), alone ? words["page.uncovered"] : "");
  }
}
function drawLink(l) {
  const row = linkRows.get(l.id);
  if (!row) return;
  const word = t(l.up ? "link.up" : "link.down", { age: age(l.age_s + now() - depot.heard.links) });
  drawRow(row, !current() ? "stale" : l.up ? "normal" : "fault", word, l.reason ? reason(l.reason) : "");
}
function drawTimes() {
  if (depot.worstMs !== null) {
    const late = depot.worstMs > 3000;
    const word = t("format.ms", { count: number(depot.worstMs, 0) });
    put($("measured").querySelector(".word"), late ? `${word} (${words["promise.late"]})` : word);
    $("measured").querySelector(".badge").dataset.tone = late ? "alarm" : "normal";
  }
}
function drawSigns() {
  const present = current();
  const head = headline();
  const box = $("headline");
  box.dataset.tone = head.tone;
  document.body.dataset.tone = head.tone;
  put(field(box, "shape"), words[`shape.${head.tone}`]);
  put(field(box, "word"), head.word);
  put(field(box, "watching"), watching());
  $("contact").dataset.ok = present ? "yes" : "no";
  put(field($("contact"), "word"), words[present ? "page.contact" : "page.contact_lost"]);
  if (depot.info) document.title = t(`title.${head.tone}`, { depot: depot.info.name });
  const icon = `/static/${head.tone}.svg`;
  if ($("icon").getAttribute("href") !== icon) $("icon").setAttribute("href", icon);
  drawBanner();
  if (depot.at) put($("clock"), clock(new Date(Date.parse(depot.at) + sinceSent() * 1000).toISOString(), depot.at));
}
function drawBanner() {
  let text = "";
  if (!connected()) text = t("headline.no_connection", { age: t("format.seconds", { count: Math.floor(silence()) }) });
  else if (gateway.lost && gateway.age === null) text = words["headline.gateway_never"];
  else if (gateway.lost || !depot.alive) text = t("headline.gateway_lost", { age: age(lostFor()) });
  const banner = $("banner");
  put(banner, text);
  if (banner.hidden !== (text === "")) {
    banner.hidden = text === "";
    put($("announce"), text && words["headline.lost"]);   // once each time: the banner's seconds are no live region
  }
}
function sinceSent() { return now() - (depot.sentAt ?? now()); }
function drawAll() {
  drawSigns();
  if (!depot.known) {
    if (!current()) for (const card of cards.values()) { card.dataset.tone = "stale"; card.classList.add("struck"); }
    return;
  }
  for (const d of depot.detectors.values()) drawDetector(d);
  drawAreas();
  drawAlarms();
  depot.outputs.forEach(drawOutput);
  depot.links.forEach(drawLink);
  drawTimes();
  drawSound();
}

const told = new Set();
function announce(alarms) {
  const news = alarms.filter((a) => OPEN.has(a.state) && !a.suppression && !told.has(`${a.id}/${a.level}`));
  for (const a of news) told.add(`${a.id}/${a.level}`);
  if (told.size > 500) told.clear();
  if (news.length) put($("announce"), news.map((a) => sentence(a) || `${a.kind} ${a.level ?? ""} ${a.subject}`).join(" "));
}

// --- the live channel ----------------------------------------------------------------------------

let socket = null;
let retryMs = FIRST_RETRY_MS;
let opened = 0;

function connect() {
  opened = now();
  const mine = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/v1/live`);
  socket = mine;
  mine.onmessage = (event) => { if (mine === socket) take(JSON.parse(event.data)); };
  mine.onclose = () => { if (mine === socket) retry(); };
}
function retry() {
  const old = socket;
  socket = null;
  if (old) old.close();
  setTimeout(connect, retryMs * (0.5 + Math.random() / 2));
  retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
}
function take(message) {
  slept = false;
  lastWord = now();
  retryMs = FIRST_RETRY_MS;
  const before = current();
  switch (message.type) {
    case "snapshot": snapshot(message); break;
    case "change":
      if (!depot.known || message.seq !== depot.seq + 1) return retry();
      change(message);
      break;
    case "heartbeat":
      gateway = { lost: false, age: message.age_s, at: now() };
      beat();
      break;
    case "lost":
      gateway = { lost: true, age: message.age_s, at: now() };
      break;
  }
  if (before !== current()) drawAll();
}
function heardFrom(message) {
  gateway = { lost: false, age: 0, at: now() };
  depot.seq = message.seq;
  depot.at = message.at;
  depot.sentAt = now();
  depot.alive = message.alive;
}
function snapshot(message) {
  heardFrom(message);
  depot.known = true;
  depot.info = message.depot;
  depot.silenceS = message.silence_s;
  depot.worstMs = message.worst_ms;
  depot.detectors = new Map(message.detectors.map((d) => [d.id, { ...d, heard: now() }]));
  depot.alarms = message.alarms;
  depot.outputs = message.outputs;
  depot.links = message.links;
  depot.heard = { outputs: now(), links: now() };
  if (differs()) return renew();
  drawAll();
}
function change(message) {
  heardFrom(message);
  for (const d of message.detectors) depot.detectors.set(d.id, { ...d, heard: now() });
  if (message.alarms !== null) depot.alarms = message.alarms;
  if (message.outputs !== null) { depot.outputs = message.outputs; depot.heard.outputs = now(); }
  if (message.links !== null) { depot.links = message.links; depot.heard.links = now(); }
  if (message.worst_ms !== null) depot.worstMs = message.worst_ms;
  if (differs()) return renew();
  drawSigns();
  for (const d of message.detectors) drawDetector(depot.detectors.get(d.id));
  drawAreas();
  drawAlarms();
  depot.outputs.forEach(drawOutput);
  depot.links.forEach(drawLink);
  drawTimes();
  drawSound();
}
function differs() { return !madeFor(depot.info, depot.silenceS, depot.detectors.values(), depot.outputs, depot.links); }
function renew() {              // the depot is another one than the page was made for: fetch the page again, not too often
  const last = Number(sessionStorage.getItem("vigia.renewed") ?? 0);
  if (Date.now() - last < 5000) return drawAll();
  sessionStorage.setItem("vigia.renewed", String(Date.now()));
  location.reload();
}
function beat() { document.querySelector(".pulse").classList.toggle("beat"); }

function tick() {
  const wall = Date.now();
  if (wall - lastWall > SILENCE_S * 1000 + TICK_MS) slept = true;   // the machine or the tab slept: trust nothing until a word comes
  lastWall = wall;
  if (socket && !connected() && now() - Math.max(opened, lastWord) > MAX_SILENT_CONNECT_MS / 1000) retry();
  drawAll();
}

// --- sound ---------------------------------------------------------------------------------------

function drawSound() {
  horn.sound(depot.alarms.some((a) => a.kind === "GAS" && OPEN.has(a.state) && !a.muted));
  $("sound").hidden = horn.ready;
  document.body.dataset.horn = horn.sounding ? "on" : "off";
}
horn.onchange = drawSound;
$("sound").addEventListener("click", () => horn.allow());
document.addEventListener("pointerdown", () => horn.allow());
if ($("sound-test")) {
  $("sound-test").hidden = false;
  $("sound-test").addEventListener("click", () => { horn.test(); drawSound(); });
}

// --- begin ---------------------------------------------------------------------------------------

if ($("contact").dataset.ok === "no") gateway = { lost: true, age: null, at: now() };
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) tick(); });
connect();
setInterval(tick, TICK_MS);
drawSound();
