// Whether the server and, behind it, the gateway are heard. Counts on the browser's monotonic clock only.

export const SILENCE_S = 3;     // no word from the server for this long: nothing on the page counts as present

export const contact = {
  lastWord: now(),              // when the server was last heard
  slept: false,                 // the machine or the tab slept, and no word has come since
  alive: true,                  // the gateway's alarm loop goes round
  lost: false, age: null,       // what the server says about the gateway: lost, and for how long (s)
  saidAt: 0,                    // when it said so
};

export function now() { return performance.now() / 1000; }

export function gatewaySaid({ lost, age }) { Object.assign(contact, { lost, age, saidAt: now() }); }
export function silence() {
  const silent = now() - contact.lastWord;
  return contact.slept ? Math.max(SILENCE_S, silent) : silent;
}
export function connected() { return silence() < SILENCE_S; }
export function current() { return connected() && !contact.lost && contact.alive; }
export function lostFor() {
  if (contact.age === null) return contact.lost ? null : silence();
  return contact.age + now() - contact.saidAt;
}
