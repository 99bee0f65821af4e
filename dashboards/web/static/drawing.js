// Puts the depot into the server's page. Knows the page's elements; what they say is made in depot.js.

import { connected, contact, current, lostFor, now, silence } from "./contact.js";
import {
  ageOf, alarmNow, alarmTimes, alarmWhere, depot, gasOf, guideText, headline, isHeld, isOpen, reasonText, sentence,
  sinceSent, stateText, statusWord, tested, toneOf, urgency, valueText, watching,
} from "./depot.js";
import { horn } from "./horn.js";
import { age, ago, between, clock, number, page, plain, reason, t, words } from "./wording.js";

const $ = (id) => document.getElementById(id);

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
  const tried = d.lel_pct === null && d.at_least === null && d.age_s !== null;
  put(field(card, "age"), tried ? t("format.tried", { ago: ago(ageOf(d)) }) : ago(ageOf(d)));
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
function drawAlarm(item, a) {
  const over = a.suppression;
  const tone = over ? "aside" : isHeld(a) ? "attention" : { GAS: "alarm", COMPLIANCE: "attention" }[a.kind] ?? "fault";
  const open = isOpen(a) && (!over || over.kind === "out-of-service");
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
  else if (contact.lost && contact.age === null) text = words["headline.gateway_never"];
  else if (contact.lost || !contact.alive) text = t("headline.gateway_lost", { age: age(lostFor()) });
  const banner = $("banner");
  put(banner, text);
  if (banner.hidden !== (text === "")) {
    banner.hidden = text === "";
    put($("announce"), text && `${words["headline.lost"]}. ${words["headline.lost_do"]}`);   // once each time: the banner's seconds are no live region
  }
}
export function drawChange(detectors) {
  drawSigns();
  for (const d of detectors) drawDetector(depot.detectors.get(d.id));
  drawRest();
}
function drawRest() {
  drawAreas();
  drawAlarms();
  depot.outputs.forEach(drawOutput);
  depot.links.forEach(drawLink);
  drawTimes();
  drawSound();
}
export function drawAll() {
  drawSigns();
  if (!depot.known) {
    if (!current()) for (const card of cards.values()) { card.dataset.tone = "stale"; card.classList.add("struck"); }
    return;
  }
  for (const d of depot.detectors.values()) drawDetector(d);
  drawRest();
}

const told = new Set();
function announce(alarms) {
  const news = alarms.filter((a) => isOpen(a) && !a.suppression && !told.has(`${a.id}/${a.level}`));
  for (const a of news) told.add(`${a.id}/${a.level}`);
  if (told.size > 500) told.clear();
  if (news.length) put($("announce"), news.map((a) => sentence(a) || `${a.kind} ${a.level ?? ""} ${a.subject}`).join(" "));
}

export function drawSound() {
  horn.sound(depot.alarms.some((a) => a.kind === "GAS" && isOpen(a) && !a.muted));
  $("sound").hidden = horn.ready;
  document.body.dataset.horn = horn.sounding ? "on" : "off";
}
