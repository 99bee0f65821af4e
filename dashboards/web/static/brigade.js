// Renews the fire brigade's page in place. When nobody answers, what was last known stays, and a line says how old it is.

const EVERY_MS = 5000;
const ANSWER_MS = 4000;
const LOST_S = 8;
let heard = performance.now();

async function renew() {
  try {
    const answer = await fetch(location.href, { signal: AbortSignal.timeout(ANSWER_MS) });
    const made = new DOMParser().parseFromString(await answer.text(), "text/html");
    const content = made.getElementById("content");
    if (!content) return;                                     // no page of ours: as good as no answer
    document.getElementById("content").replaceWith(content);
    document.title = made.title;
    heard = performance.now();
  } catch { /* the line below says it */ }
}
function say() {
  const seconds = Math.floor((performance.now() - heard) / 1000);
  const lost = document.getElementById("lost");
  if (seconds >= LOST_S) {
    if (lost.hidden) lost.textContent = document.body.dataset.lost;
    document.getElementById("content").classList.add("old");
  }
  lost.hidden = seconds < LOST_S;
}
setInterval(renew, EVERY_MS);
setInterval(say, 500);
