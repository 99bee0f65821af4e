// Keeps the server's page moving: the live channel, its watchdog, the sound.

import "./acts.js";
import { connected, contact, current, gatewaySaid, now, SILENCE_S } from "./contact.js";
import { depot } from "./depot.js";
import { drawAll, drawChange, drawSound } from "./drawing.js";
import { horn } from "./horn.js";
import { madeFor } from "./made.js";

const TICK_MS = 500;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 5000;
const MAX_SILENT_CONNECT_MS = 4000;
const $ = (id) => document.getElementById(id);

// --- the live channel ----------------------------------------------------------------------------

let socket = null;
let retryMs = FIRST_RETRY_MS;
let opened = 0;
let lastWall = Date.now();

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
  contact.slept = false;
  contact.lastWord = now();
  retryMs = FIRST_RETRY_MS;
  const before = current();
  switch (message.type) {
    case "snapshot": snapshot(message); break;
    case "change":
      if (!depot.known || message.seq !== depot.seq + 1) return retry();
      change(message);
      break;
    case "heartbeat":
      gatewaySaid({ lost: false, age: message.age_s });
      beat();
      break;
    case "lost":
      gatewaySaid({ lost: true, age: message.age_s });
      break;
  }
  if (before !== current()) drawAll();
}
function heardFrom(message) {
  gatewaySaid({ lost: false, age: 0 });
  depot.seq = message.seq;
  depot.at = message.at;
  depot.sentAt = now();
  contact.alive = message.alive;
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
  drawChange(message.detectors);
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
  if (wall - lastWall > SILENCE_S * 1000 + TICK_MS) contact.slept = true;   // the machine or the tab slept: trust nothing until a word comes
  lastWall = wall;
  if (socket && !connected() && now() - Math.max(opened, contact.lastWord) > MAX_SILENT_CONNECT_MS / 1000) retry();
  drawAll();
}

// --- sound ---------------------------------------------------------------------------------------

horn.onchange = drawSound;
$("sound").addEventListener("click", () => horn.allow());
document.addEventListener("pointerdown", () => horn.allow());
if ($("sound-test")) {
  $("sound-test").hidden = false;
  $("sound-test").addEventListener("click", () => { horn.test(); drawSound(); });
}

// --- begin ---------------------------------------------------------------------------------------

if ($("contact").dataset.ok === "no") gatewaySaid({ lost: true, age: null });
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) tick(); });
connect();
setInterval(tick, TICK_MS);
drawSound();
