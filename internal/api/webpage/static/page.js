// What the page does beyond links and forms: it follows changes, shows times as people read them, and works by keyboard.
"use strict";

const units = [["year", 31536000], ["month", 2592000], ["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" }), exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

// ago has what relative wrote: a long list has few different times.
const ago = new Map();

function inWords(seconds) {
  const [unit, size] = units.find(([, n]) => Math.abs(seconds) >= n) || ["second", 1], n = Math.trunc(seconds / size), key = n + unit;
  if (!ago.has(key)) ago.set(key, relative.format(n, unit));
  return ago.get(key);
}

function showTimes(part = document) {
  const now = Date.now();
  for (const t of part.querySelectorAll("time[datetime]")) {
    const at = new Date(t.dateTime), text = inWords((at - now) / 1000);
    if (t.textContent !== text) t.textContent = text;
    if (!t.title) t.title = exact.format(at);
  }
}

// tick brings the times up to date that are in sight: of a long list, those of the parts that are near it.
function tick() {
  const [first, ...rest] = chunks();
  for (const part of rest.length ? [first, ...near] : [document]) showTimes(part);
}

// Following: the server says that something changed, and the page fetches itself and keeps what is the same.
const connection = document.getElementById("connection"), gone = document.getElementById("gone");
let fetching = false, again = false, retry;

function say(text) {
  connection.textContent = text;
  connection.hidden = !text;
}

// In another tab, so that what is typed here stays. This page follows again when the person is back.
function offerSignIn() {
  say("Your session has ended. What you have typed stays here. ");
  const link = document.createElement("a");
  link.href = "/sign-in?next=" + encodeURIComponent(location.pathname + location.search);
  link.target = "_blank";
  link.textContent = "Sign in again";
  connection.append(link, " to go on.");
}

// Somebody else has signed in in another tab. What is here was shown to the one before, and so is what is typed.
function offerOther(as) {
  const name = (of) => of.slice(of.indexOf("/") + 1); // without its workspace
  say(`In another tab, ${name(as)} has signed in. This page stays as it was shown to ${name(main().dataset.as)}. `);
  const link = document.createElement("a");
  link.href = location.href;
  link.textContent = "Load it again";
  connection.append(link, " to go on as the other.");
}

// fetchAs fetches a part of this page, as the principal that the page was shown to: the server refuses it to another.
function fetchAs(path) { return fetch(path, { headers: { "Trapeze-As": encodeURIComponent(main().dataset.as || "") } }); }

function main() { return document.getElementById("main"); }

// A page to sign in, to which an update was led, takes the place of nothing, and neither does a page that is shown to another.
document.addEventListener("htmx:before:swap", (e) => {
  const next = e.detail.tasks.find((t) => t.type === "main")?.fragment.querySelector("#main");
  const over = e.detail.ctx.response.raw.redirected;
  const status = e.detail.ctx.response.raw.status, busy = status === 429 || status >= 500;
  if (!over && !busy && next && next.dataset.as === main().dataset.as) {
    keep(main(), next);
    return carry(main(), next);
  }
  e.preventDefault();
  if (!over && (busy || !next?.dataset.as)) { // the server has trouble
    clearTimeout(retry);
    retry = setTimeout(refresh, 2000);
    return;
  }
  source?.close();
  if (over) offerSignIn();
  else offerOther(next.dataset.as);
});

// refresh fetches the page, and then not again for four times as long as that took: many pages of many people may follow a workspace where much changes.
async function refresh() {
  if (fetching) { again = true; return; }
  fetching = true;
  const began = performance.now();
  const at = document.activeElement, live = main().dataset.live;
  try {
    await htmx.ajax("GET", location.pathname + location.search, { target: "#main", select: "#main", swap: "outerMorph" });
    if (at?.isConnected && at !== document.activeElement) at.focus({ preventScroll: true });
    tick();
    notify();
    lengthen();
    freshen();
    tidy();
    count(); // what was chosen may have gone
    if (main().dataset.live !== live) follow(); // it has more parts, or others
    tickets().forEach(renew);
    if (current()) choose(current());
    else if (chosen) left(chosen);
  } finally {
    const pause = Math.min(Math.max(300, 4 * (performance.now() - began)), 15000); // a fetch may have taken as long as the computer slept
    setTimeout(() => {
      fetching = false;
      if (again) { again = false; refresh(); }
    }, pause);
  }
}

let source, missed = false, full = 0, later;

// later is the timer after which the page follows again: other pages have all streams of this person, or the server is away.
function follow() {
  const task = main().dataset.live;
  clearTimeout(later);
  source?.close();
  if (!task && !notices() || document.hidden && !leads) return; // a page that nobody looks at would take a stream from another
  source = new EventSource("/live?task=" + encodeURIComponent(task || "") + "&after=" + main().dataset.position);
  source.addEventListener("open", () => { say(""); if (missed) { missed = false; note("*"); if (task) refresh(); } });
  source.addEventListener("change", (e) => { full = 0; note(e.data); refresh(); });
  source.addEventListener("ticket", (e) => opened(e.data));
  source.addEventListener("end", () => { source.close(); missed = true; offerSignIn(); });
  source.addEventListener("full", () => {
    const seconds = Math.min(15 * 2 ** full++, 120);
    source.close();
    missed = true;
    say(`You have as many live pages open as you may. Close some: this page looks again in ${seconds} seconds.`);
    later = setTimeout(follow, 1000 * seconds);
  });
  source.onerror = () => {
    missed = true;
    say("The server is away. This page goes on when it is back.");
    if (source.readyState === EventSource.CLOSED) { later = setTimeout(follow, 2000); }
  };
}

document.addEventListener("visibilitychange", () => {
  sight();
  if (document.hidden ? leads : source?.readyState === EventSource.OPEN) return;
  missed = true;
  follow();
});

// notices reports whether the person wants to be told of new tickets, on whatever page.
function notices() {
  return "Notification" in window && Notification.permission === "granted" && main().dataset.as;
}

// Notices: a ticket that is new and not in sight.
const seen = new Set();
let asked = false, leads = false;

// lead makes this page the one that goes on in the background, once no other is: many would take all streams of the person.
function lead() {
  if (!notices()) return;
  navigator.serviceWorker?.register("/static/worker.js");
  navigator.locks?.request("notices", () => new Promise(() => { leads = true; if (!source || source.readyState === EventSource.CLOSED) follow(); }));
}

let leave; // of the lock of an inbox in sight

// sight says to the other pages whether this one has the inbox in sight: it needs no notice then, whatever page leads.
function sight() {
  leave?.();
  leave = null;
  if (document.hidden || !document.getElementById("queue")) return;
  navigator.locks?.request("sight", { mode: "shared" }, () => new Promise((done) => { leave = done; }));
}

// unseen are the tickets of a page that were in none before.
function unseen(page) {
  const fresh = [...page.querySelectorAll("[data-ticket]")].filter((card) => !seen.has(card.dataset.ticket));
  for (const card of fresh) seen.add(card.dataset.ticket);
  return fresh;
}

// notify is called after each change of the page.
function notify() {
  const fresh = unseen(document);
  if (asked && document.hidden && notices()) fresh.forEach(tell);
  asked = true;
}

// opened: a task has a ticket, which may be for this person.
async function opened(task) {
  if (!notices() || !document.hidden && document.getElementById("queue")) return; // it comes into sight
  const answer = await fetchAs("/inbox?task=" + encodeURIComponent(task));
  if (answer.ok && !answer.redirected) unseen(new DOMParser().parseFromString(await answer.text(), "text/html")).forEach(tell);
}

// tell leaves a notice with the worker, which shows it where a page may not, and when the page is closed.
async function tell(card) {
  if ((await navigator.locks?.query())?.held.some((l) => l.name === "sight")) return;
  const title = "Trapeze: a ticket waits", path = "/tickets/" + encodeURIComponent(card.dataset.ticket);
  const notice = { body: card.querySelector("h2")?.textContent || "", tag: card.dataset.ticket, data: { path, as: main().dataset.as } };
  try {
    const worker = await navigator.serviceWorker.getRegistration("/static/");
    await worker.showNotification(title, notice);
  } catch { // there is none
    new Notification(title, notice).onclick = () => { window.focus(); location.href = path; };
  }
}

// forget ends the notices that were for somebody else, who was signed in in this browser before.
async function forget() {
  const worker = await navigator.serviceWorker?.getRegistration("/static/");
  for (const n of await worker?.getNotifications() ?? []) {
    if (n.data.as !== main().dataset.as) n.close();
  }
}

function offerNotices() {
  const button = document.getElementById("notify"), none = document.getElementById("no-notices");
  if (!button) return;
  const show = () => {
    const may = "Notification" in window ? Notification.permission : "none";
    button.hidden = may !== "default";
    none.textContent = { none: "This browser has no notifications for this page.", denied: "This browser is set to show no notifications of this page." }[may] || "";
    none.hidden = !none.textContent;
  };
  show();
  button.onclick = () => Notification.requestPermission().then(() => { show(); lead(); });
}

// Keys: j and k go from ticket to ticket, one key chooses, Enter does it.
function tickets() { return [...document.querySelectorAll("[data-ticket]")]; }

const noted = new Map(); // by the id of what changed, the last time that this page was told; "*" is anything
const digests = new Map(); // of what was first shown beside a ticket
let times = 0;

// note keeps what the server says has changed.
function note(ids) {
  times++;
  for (const id of ids.split(" ")) noted.set(id, times);
  outdate(ids.split(" "));
}

let chosen; // the ticket that the person has come to last

// current is the ticket that keys are for: none, when that one has left. Another is chosen by the person alone.
function current() {
  return chosen ? tickets().find((t) => t.dataset.ticket === chosen) : tickets()[0];
}

// left says what has become of the chosen ticket, which an update has taken away.
async function left(ticket) {
  if (gone.dataset.left === ticket) return;
  gone.dataset.left = ticket;
  const answer = await fetchAs("/tickets/" + encodeURIComponent(ticket)).catch(() => null);
  const page = new DOMParser().parseFromString(answer?.ok ? await answer.text() : "", "text/html");
  const why = page.querySelector("[data-says]")?.dataset.says || "The ticket is not here any more.";
  const name = page.querySelector("h1")?.textContent;
  if (chosen !== ticket) return;
  gone.textContent = `${name ? name + ": " : ""}${why} ${tickets().length ? "Press j for the next." : ""}`;
  gone.hidden = false;
}

// choose shows a ticket of the inbox beside what the agents know, which is read then. Only the ticket that shows it is decided on.
async function choose(card) {
  if (!card) return;
  const sheet = card.querySelector(".sheet"), since = times;
  chosen = card.dataset.ticket;
  gone.hidden = true;
  delete gone.dataset.left;
  point(card);
  if (!sheet || "read" in sheet.dataset || sheet.ariaBusy) return;
  sheet.ariaBusy = "true";
  const answer = await fetchAs("/tickets/" + encodeURIComponent(card.dataset.ticket)).catch(() => null);
  const known = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("known");
  sheet.ariaBusy = null;
  if (!known) return; // the link stays
  for (const part of known.querySelectorAll("[id]")) part.removeAttribute("id"); // another sheet may have the same
  sheet.replaceChildren(...known.childNodes);
  Object.assign(sheet.dataset, { read: since, digest: known.dataset.digest || "", of: known.dataset.of });
  renew(card);
  if (card.dataset.ticket === chosen) choose(card); // again, if it has changed meanwhile
}

// point marks the chosen card, which stays where it is in the window while the one before folds.
function point(card) {
  const top = card.getBoundingClientRect().top;
  for (const t of tickets()) t.toggleAttribute("data-chosen", t === card);
  scrollBy({ top: card.getBoundingClientRect().top - top, behavior: "instant" });
}

// renew has a ticket approved by the digest of what is shown beside it, and says if that is not what was shown first. What has changed since it was read is to be read again.
function renew(card) {
  const sheet = card.querySelector(".sheet") || document.getElementById("known"), form = card.querySelector("input[name=digest]");
  if (!sheet || (card.contains(sheet) ? !("read" in sheet.dataset) : !form)) return;
  const { read, digest, of } = sheet.dataset, parts = of.split(" ").filter(Boolean), ticket = card.dataset.ticket;
  if (form) form.value = digest || "";
  if (!digests.has(ticket)) digests.set(ticket, digest);
  if (digests.get(ticket) !== digest && !sheet.querySelector(".again")) {
    const again = document.createElement("p");
    again.className = "again";
    again.role = "status";
    again.textContent = "This has changed, and was read again.";
    sheet.prepend(again);
  }
  if (parts.length && ["*", ...parts].some((id) => noted.get(id) > read)) delete sheet.dataset.read;
}

document.addEventListener("focusin", (e) => {
  const card = e.target.closest("[data-ticket]");
  if (card && card.dataset.ticket !== chosen) choose(card);
});

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.matches("input, select, textarea")) {
    if (e.key === "Escape") e.target.blur();
    return;
  }
  const all = tickets(), at = all.indexOf(document.activeElement?.closest("[data-ticket]"));
  let to;
  if (e.key === "/") to = document.getElementById("q");
  else if (e.key === "j") to = all[Math.min(at + 1, all.length - 1)];
  else if (e.key === "k") to = all[Math.max(at - 1, 0)];
  else if (/^[1-9]$/.test(e.key)) to = current()?.querySelector(`[data-digit="${e.key - 1}"]`);
  else if (/^[adr]$/.test(e.key)) to = current()?.querySelector(`[data-key="${e.key}"]`);
  if (!to?.checkVisibility({ visibilityProperty: true })) return; // what the agents know is not shown yet
  e.preventDefault();
  to.focus();
});

// Commands are ready to copy.
document.documentElement.classList.add("scripts");
document.addEventListener("click", async (e) => {
  const button = e.target.closest("[data-copy]");
  if (!button || !navigator.clipboard) return;
  await navigator.clipboard.writeText(button.dataset.copy || written(button.closest(".gone").parentElement));
  button.textContent = "Copied";
});

function begin() {
  showTimes();
  setInterval(tick, 5000);
  document.getElementById("go")?.click();
  for (const b of document.querySelectorAll("[data-digit] kbd")) b.textContent = Number(b.parentElement.dataset.digit) + 1;
  const find = document.getElementById("q");
  if (find && matchMedia("(width > 30rem)").matches) find.placeholder += "  ( / )"; // as the hints of other keys
  offerNotices();
  forget();
  notify();
  sight();
  tickets().forEach(renew);
  choose(current());
  lengthen();
  follow();
  lead();
}
begin();
