// A person acts on an alarm: needs a name, which this browser remembers; says how it went beside the button.

import { words } from "./wording.js";

const ANSWER_MS = 5000;
const SAID_MS = 6000;
const SETTLE_MS = 1200;   // rows move after an action: a second tap must not land on the next alarm
let actedAt = -SETTLE_MS;

const name = document.getElementById("by");
name.value ||= localStorage.getItem("vigia.name") ?? "";
name.addEventListener("input", () => name.classList.remove("wanted"));

document.getElementById("acts").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = event.submitter;
  if (!button?.dataset.action || performance.now() - actedAt < SETTLE_MS) return;
  const item = button.closest("[data-alarm]");
  const said = item.querySelector('[data-f="said"]');
  const say = (key) => { said.textContent = words[`act.${key}`] ?? words["act.failed"]; };
  const forget = () => setTimeout(() => { said.textContent = ""; }, SAID_MS);
  const by = name.value.trim();
  const note = document.getElementById("note");
  const deed = { by, note: note.value.trim(), seen: Number(item.dataset.seen) };
  if (button.dataset.action === "shelve") {
    if (!deed.note) { note.focus(); say("needs-reason"); return; }
    deed.minutes = Number(document.getElementById("minutes").value);
  }
  if (!by) { name.classList.add("wanted"); name.focus(); say("needs-name"); return; }
  localStorage.setItem("vigia.name", by);
  actedAt = performance.now();
  say("sending");
  try {
    const answer = await fetch(`/api/v1/alarms/${encodeURIComponent(item.dataset.alarm)}/${button.dataset.action}`, {
      method: "POST", headers: { "content-type": "application/json" }, signal: AbortSignal.timeout(ANSWER_MS),
      body: JSON.stringify(deed),
    });
    const body = await answer.json();
    say(answer.ok ? "done" : body.error ?? "failed");
    actedAt = performance.now();
    if (answer.ok) note.value = "";
  } catch { say("no-contact"); }
  forget();
});
