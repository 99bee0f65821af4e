// Words, numbers, ages and clock times by the page's own catalogue; dashboards/wording.py writes the same on the server.

export const page = JSON.parse(document.body.dataset.page);
export const words = page.words;

export function t(key, values = {}) {
  return words[key].replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));
}
export function counted(key, count) { return t(`${key}_${count === 1 ? "one" : "many"}`, { count }); }
export function number(value, places = 1) {
  const text = Math.abs(value).toFixed(places);
  return ((value < 0 && Number(text) !== 0 ? "-" : "") + text).replace(".", words["format.decimal"]);
}
export function plain(value) { return number(value, Number.isInteger(value) ? 0 : 1); }
export function age(seconds) {
  const s = Math.max(0, seconds);
  if (s < 9.95) return t("format.seconds", { count: number(s) });
  if (s < 120) return t("format.seconds", { count: Math.floor(s) });
  if (s < 7200) return t("format.minutes", { count: Math.floor(s / 60) });
  if (s < 172800) return t("format.hours", { count: Math.floor(s / 3600) });
  return t("format.days", { count: Math.floor(s / 86400) });
}
export function ago(seconds) { return seconds === null ? words["format.never"] : t("format.ago", { age: age(seconds) }); }
export function reason(code) {
  const numbered = /^(.+)-(\d+)$/.exec(code);
  const said = words[`why.${numbered ? numbered[1] : code}`] ?? words["format.code"];
  return said.replaceAll("{number}", () => numbered?.[2] ?? "").replaceAll("{code}", () => code);
}
const parts = new Intl.DateTimeFormat("en-GB", {
  timeZone: page.zone, year: "numeric", month: "2-digit", day: "2-digit",
  hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23",
});
const fields = (text) => Object.fromEntries(parts.formatToParts(new Date(text)).map((p) => [p.type, p.value]));
export function minute(moment) {
  const then = fields(moment);
  return `${then.hour}:${then.minute}`;
}
export function day(moment) {
  const then = fields(moment);
  const date = page.language === "pt-BR" ? `${then.day}/${then.month}` : `${then.year}-${then.month}-${then.day}`;
  return `${date} ${then.hour}:${then.minute}`;
}
export function clock(moment, now, thousandths = false) {
  const then = fields(moment);
  const today = fields(now);
  let text = `${then.hour}:${then.minute}:${then.second}`;
  if (thousandths) text += words["format.decimal"] + String(new Date(moment).getUTCMilliseconds()).padStart(3, "0");
  if (then.year === today.year && then.month === today.month && then.day === today.day) return text;
  return page.language === "pt-BR"
    ? `${then.day}/${then.month}/${then.year} ${text}` : `${then.year}-${then.month}-${then.day} ${text}`;
}
export function between(start, end) { return Date.parse(end) - Date.parse(start); }
