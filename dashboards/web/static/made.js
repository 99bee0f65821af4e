// What the server alone draws on the page: when the depot no longer has it so, the page must be fetched again.

import { page } from "./wording.js";

function signature(depot, silenceS, heads, outputs, links) {   // in any order: lines come up when they do
  return JSON.stringify([
    depot.name, depot.address, depot.timezone, depot.started, silenceS,
    heads.map((head) => head.join("\n")).sort(), [...outputs].sort(), [...links].sort(),
  ]);
}

const made = page.made_for;
const signed = made && signature(made.depot, made.silence_s, made.detectors, made.outputs, made.links);

export function madeFor(depot, silenceS, detectors, outputs, links) {
  const heads = [...detectors].map((d) => [d.id, d.name, d.area_name]);
  return signed === signature(depot, silenceS, heads, outputs.map((o) => o.id), links.map((l) => l.id));
}
