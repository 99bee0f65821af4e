// The depot as last told, and the words for it (dashboards/views.py says the same things on the server; a test compares
// the two). Knows no element of the page.

import { current, lostFor, now } from "./contact.js";
import { age, ago, between, clock, counted, day, minute, number, page, reason, t, words } from "./wording.js";

const KINDS = ["GAS", "BLIND", "SYSTEM", "COMPLIANCE"];
const OPEN = new Set(["unacknowledged", "returned-unacknowledged", "latched-unacknowledged"]);

export const depot = {
  known: false,                 // a snapshot has come over the socket
  seq: 0, at: "", sentAt: null, info: null,
  detectors: new Map(), alarms: [], outputs: [], links: [], silenceS: 0,
  heard: { outputs: 0, links: 0 },
  worstMs: null,
};

export function gasOf(d) {
  if (d.at_least === null) return d.lel_pct;
  return d.lel_pct === null ? d.at_least : Math.max(d.lel_pct, d.at_least);
}
export function ageOf(d) { return d.age_s === null ? null : d.age_s + now() - d.heard; }
export function toneOf(d, present = current()) {
  if (!present) return "stale";
  const gas = gasOf(d);
  if (gas !== null && gas >= d.a1 && (d.quality !== "bad" || d.status === "over-range")) return "alarm";
  if (d.window?.kind === "out-of-service") return "aside";
  if (d.quality === "bad" || !d.watching) return "fault";
  if (d.quality !== "good" || d.status !== "measuring") return "attention";
  return "normal";
}
export function statusWord(d, tone) {
  if (tone === "alarm") {
    const gas = gasOf(d);
    return t("detector.level", { level: gas >= d.a3 ? "A3" : gas >= d.a2 ? "A2" : "A1" });
  }
  if (tone === "fault") return words[d.status === "measuring" ? "status.not-watching" : `status.${d.status}`];
  if (tone === "attention") return words[d.status === "measuring" ? "status.uncertain" : `status.${d.status}`];
  return words[tone === "normal" ? "status.measuring" : `tone.${tone}`];
}
export function valueText(d) {
  if (d.at_least !== null && (d.lel_pct === null || d.at_least >= d.lel_pct)) {
    return t("format.at_least", { value: number(d.at_least) });
  }
  return d.lel_pct === null ? words["format.none"] : t("format.lel", { value: number(d.lel_pct) });
}
export function isOpen(a) { return OPEN.has(a.state); }
export function isHeld(a) {   // its gas is gone, and a person has taken it: it waits for its reset
  return a.kind === "GAS" && a.state === "latched-acknowledged";
}
export function headline() {
  if (!current()) {
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
export function watching() {
  const heads = [...depot.detectors.values()];
  const count = heads.filter((d) => d.watching).length;
  if (!current()) return words["headline.lost_do"];
  if (!heads.length) return "";
  if (count === heads.length) return counted("headline.watching", count);
  return t("headline.watching_some", { count, total: heads.length });
}
export function urgency(a) {
  const level = { A3: "0", A2: "1", A1: "2" }[a.level] ?? "3";
  return `${a.suppression ? 1 : 0}${KINDS.indexOf(a.kind)}${isOpen(a) ? 0 : 1}${level}${a.since}`;
}
export function alarmWhere(a) {
  if (a.kind === "COMPLIANCE" && a.detail) return "";
  if (a.subject.startsWith("area:")) return t("page.area", { area: a.area || a.subject.slice(5) });
  const d = depot.detectors.get(a.subject);
  const plain = a.kind === "SYSTEM" ? a.subject.replace(/^[^:]*:(?=.)/, "") : a.subject;   // the sentence says what it is
  const who = d && d.name && d.name !== d.id ? t("format.named", { id: plain, name: d.name }) : plain;
  const area = d ? d.area_name || d.area : a.area;
  return area ? `${who} · ${t("page.area", { area })}` : who;
}
export function sentence(a) { return a.texts[page.language] ?? a.text; }
export function guideText(a) {
  const guide = a.guidance[page.language] ?? a;
  if (!guide.likely_cause) return "";
  if (a.kind === "GAS" || a.kind === "COMPLIANCE") return t("alarm.cause", { cause: guide.likely_cause });
  return t("alarm.guide", { cause: guide.likely_cause, action: guide.next_action });
}
export function alarmNow(a) {
  if (a.kind !== "GAS") return "";        // what else can be wrong has no present value: the sentence says it all
  const d = depot.detectors.get(a.subject);
  const peak = a.peak === null ? "" : t("alarm.peak", { value: t("format.lel", { value: number(a.peak) }) });
  const absent = !current() || !d || toneOf(d, true) === "fault" || gasOf(d) === null;
  const value = absent ? words["alarm.no_value"] : t("alarm.now", { value: valueText(d), age: ago(ageOf(d)) });
  return [value, peak].filter(Boolean).join(" · ");
}
export function alarmTimes(a) {
  if (a.kind === "COMPLIANCE") return "";
  const after = (moment) => t("alarm.plus", { ms: number(between(a.sampled, moment), 0) });
  return t("alarm.times", {
    sampled: clock(a.sampled, depot.at, true),
    decided: after(a.decided),
    output: a.first_output === null ? words["alarm.waiting"] : after(a.first_output),
  });
}
export function reasonText(d) {
  if (d.window?.kind === "out-of-service") {
    return t("detector.out_of_service", { by: d.window.by || "?", until: day(d.window.until), why: d.window.why });
  }
  if (d.window) return t(`detector.in_${d.window.kind}`, { by: d.window.by || "?", until: minute(d.window.until) });
  return d.reason ? t("detector.reason", { reason: reason(d.reason) }) : "";
}
export function stateText(a) {
  const over = a.suppression;
  if (!over) return t(`alarm.${a.state}`, { by: a.acknowledged_by || "?" }) + (a.muted ? ` · ${words["alarm.muted"]}` : "");
  const said = t(`alarm.${over.kind}`, { by: over.by || "?", until: day(over.until), why: over.why });
  return a.present ? said : `${said} · ${words["alarm.gone"]}`;
}
export function tested(o) {
  const ended = o.test_failed ? `output.test_${o.test_failed}` : "output.tested";
  return o.tested && t(ended in words ? ended : "output.test_failed", { at: day(o.tested) });
}
// Seconds since the server wrote `depot.at`.
export function sinceSent() { return now() - (depot.sentAt ?? now()); }
