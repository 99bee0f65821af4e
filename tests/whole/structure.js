// What a screen reader or a keyboard would stumble over: names, ids, headings, landmarks, references, small targets.
() => {
  const wrong = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const shown = (element) => element.getClientRects().length > 0;
  const name = (element) =>
    (element.getAttribute("aria-label") || element.textContent || element.value || element.title || "").trim();
  const brief = (element) => element.outerHTML.slice(0, 90);

  if (!document.title.trim()) wrong.push("no title");
  if (all("main").length !== 1) wrong.push("not one main");
  if (all("h1").length !== 1) wrong.push("not one h1");
  const levels = all("h1,h2,h3,h4").filter(shown).map((heading) => Number(heading.tagName[1]));
  levels.forEach((level, place) => {
    if (place && level > levels[place - 1] + 1) wrong.push(`heading h${level} after h${levels[place - 1]}`);
  });
  all("h1,h2,h3").forEach((heading) => { if (!heading.textContent.trim() && shown(heading)) wrong.push("empty heading"); });
  const ids = all("[id]").map((element) => element.id);
  ids.forEach((id, place) => { if (ids.indexOf(id) !== place) wrong.push(`id twice: ${id}`); });
  for (const attribute of ["aria-describedby", "aria-labelledby", "aria-controls"])
    all(`[${attribute}]`).forEach((element) => element.getAttribute(attribute).split(/\s+/)
      .forEach((id) => { if (!document.getElementById(id)) wrong.push(`${attribute} leads nowhere: ${id}`); }));
  all("label[for]").forEach((label) => { if (!document.getElementById(label.htmlFor)) wrong.push(`label of nothing: ${label.htmlFor}`); });
  all("a[href], button, summary").filter(shown).forEach((element) => { if (!name(element)) wrong.push(`no name: ${brief(element)}`); });
  all("img, svg:not([aria-hidden=true])").filter(shown).forEach((picture) => {
    if (!picture.getAttribute("alt") && !picture.getAttribute("aria-label") && !picture.closest("[aria-hidden=true]")) wrong.push(`no words: ${brief(picture)}`);
  });
  all("nav").forEach((nav) => { if (!nav.getAttribute("aria-label")) wrong.push("nav without a name"); });
  all("[tabindex]").forEach((element) => { if (element.tabIndex > 0) wrong.push(`order forced: ${brief(element)}`); });
  all("ul, ol").forEach((list) => [...list.children].forEach((child) => { if (child.tagName !== "LI") wrong.push(`${child.tagName} in a list`); }));
  all("dl").forEach((list) => [...list.children].forEach((child) => { if (!["DT", "DD"].includes(child.tagName)) wrong.push(`${child.tagName} in a dl`); }));
  all("button, select, input:not([type=hidden]), a.button, nav a, .mends a").filter(shown).forEach((target) => {
    const box = target.getBoundingClientRect();
    if (box.width < 24 || box.height < 24) wrong.push(`small target ${Math.round(box.width)}x${Math.round(box.height)}: ${brief(target)}`);
  });
  const again = {};
  all("main a[href]").filter(shown).forEach((link) => {
    const said = name(link), to = link.getAttribute("href");
    if (said in again && again[said] !== to && !link.getAttribute("aria-label") && !link.closest("li, .area-stock")) wrong.push(`one name, two places: ${said}`);
    again[said] = to;
  });
  return wrong;
}
