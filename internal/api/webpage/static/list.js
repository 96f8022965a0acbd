// A long list: the next part is fetched when its end comes into view, and is a table of its own. The page has the rows of the first part and of those that are near what
// is in sight; those of the others are put away, out of the document, so that an update or a scroll takes as long in a long list as in a short one. Rows are in the order
// of their ids, the greatest first.
"use strict";

const aside = new WeakMap(); // the tables of parts whose rows are put away

function chunks(of = document) { return [...of.querySelectorAll(".chunk")]; }

// bodyOf is what has the rows of a part, in the document or not.
function bodyOf(chunk) { return (aside.get(chunk) || chunk.querySelector("table")).tBodies[0]; }

function rowsOf(chunk) { return [...bodyOf(chunk).rows]; }

// rows are those of all parts.
function rows(of = document) { return chunks(of).flatMap(rowsOf); }

// cursor is the row after which the page goes on to which a link leads.
function cursor(link) { return "row-" + new URL(link.href, location).searchParams.get("after"); }

let failures = 0, retrying; // the timer after which what could not be read is tried again

// readPart reads the part of the list after a row. It is null if there is no answer: it says so, and the list is read again later.
async function readPart(row) {
  const at = new URL(location);
  at.searchParams.set("after", row.slice("row-".length));
  const answer = await fetchAs(at.pathname + at.search).catch(() => null), ok = answer?.ok && !answer.redirected;
  const part = new DOMParser().parseFromString(await answer?.text().catch(() => "") ?? "", "text/html");
  if (ok && part.getElementById("main")) {
    failures = 0;
    sayLater("");
    showTimes(part);
    return part;
  }
  if (answer?.redirected) offerSignIn();
  else if (answer?.status === 409) offerOther(part.getElementById("main")?.dataset.as || "");
  else {
    const seconds = Math.min(2 ** failures++, 30);
    sayLater(`The list cannot be read on. It is tried again in ${seconds === 1 ? "a second" : seconds + " seconds"}.`);
    clearTimeout(retrying);
    retrying = setTimeout(() => { lengthen(); freshen(); }, 1000 * seconds);
  }
  return null;
}

function sayLater(text) {
  const later = document.getElementById("later");
  if (later && later.textContent !== text) later.textContent = text;
}

let reading = false; // the next part

const ends = new IntersectionObserver(async (seen) => {
  const link = seen.at(-1).target;
  if (reading || !seen.at(-1).isIntersecting) return;
  reading = true;
  ends.disconnect();
  const from = cursor(link), part = await readPart(from);
  reading = false;
  if (!part) return; // it is tried again
  if (link.isConnected && cursor(link) === from) addPart(link, part, from); // no update has come between
  lengthen();
}, { rootMargin: "1600px" });

// lengthen adds the next part when the end is near.
function lengthen() {
  const link = document.getElementById("next");
  ends.disconnect();
  if (link && !reading) ends.observe(link);
}

function addPart(link, part, from) {
  const more = part.getElementById("next");
  for (const chunk of rows(part).length ? chunks(part) : []) {
    chunk.id = "after-" + from;
    chunks().at(-1).after(chunk);
    watched.observe(chunk);
  }
  count();
  const some = document.querySelector(".chunk tbody tr");
  if (!more) return link.replaceWith(some ? "" : "No task fits.");
  link.href = more.getAttribute("href");
  if (some) link.textContent = "More tasks";
}

// An update of the page brings the first part of the list. The others stay; what has changed in them is read again when it is in sight.
const stale = new Set(), near = new Set();

const watched = new IntersectionObserver((seen) => {
  for (const e of seen) {
    if (e.isIntersecting) {
      near.add(e.target);
      bringBack(e.target);
    } else {
      near.delete(e.target);
      putAway(e.target);
    }
  }
  freshen();
}, { rootMargin: "800px" });

let printing = false;

// What is printed has the rows of all parts.
addEventListener("beforeprint", () => {
  printing = true;
  chunks().forEach(bringBack);
});

addEventListener("afterprint", () => {
  printing = false;
  tidy();
});

// putAway takes the rows of a part out of the document, which keeps their place. What the person has chosen, focused or selected stays.
function putAway(chunk) {
  const table = chunk.querySelector("table");
  if (printing || !table || table.contains(document.activeElement) || table.querySelector("input:checked") || getSelection().containsNode(chunk, true)) return;
  chunk.style.height = chunk.offsetHeight + "px";
  table.remove();
  aside.set(chunk, table);
}

function bringBack(chunk) {
  const table = aside.get(chunk);
  if (table) {
    aside.delete(chunk);
    chunk.append(table);
    chunk.style.height = "";
  }
  showTimes(chunk);
}

// tidy puts away what has stayed for what the person did there.
function tidy() {
  for (const chunk of chunks().slice(1)) if (!near.has(chunk)) putAway(chunk);
}

// carry prepares an update: rows go on to the part in which they are from now on, with what the person has chosen.
function carry(main, next) {
  const [first, ...rest] = chunks(main), [fresh] = chunks(next), link = next.querySelector("#next"), mine = main.querySelector("#next");
  if (!rest.length || !fresh || !link) return; // all of it is in the update
  const end = cursor(link);
  const older = rowsOf(first).filter((row) => row.id < end);
  if (older.some((row) => row.contains(document.activeElement) || row.querySelector("input:checked"))) bringBack(rest[0]);
  bodyOf(rest[0]).prepend(...older);
  for (const chunk of rest) {
    bodyOf(first).append(...rowsOf(chunk).filter((row) => row.id >= end));
    if (rowsOf(chunk).length) break;
  }
  const newer = split(rest[0]);
  if (newer) rest.unshift(newer);
  for (const chunk of rest.reverse()) {
    chunk.setAttribute("data-kept", "");
    const place = document.createElement("div");
    place.id = chunk.id;
    fresh.after(place);
  }
  if (mine) link.href = mine.getAttribute("href");
  else link.remove();
}

// split makes two parts of one to which many rows have gone on, and returns that of the newer ones.
function split(chunk) {
  const all = rowsOf(chunk);
  if (all.length < 200) return null;
  const newer = chunk.cloneNode(false), table = bodyOf(chunk).parentElement.cloneNode(false);
  newer.id = "before-" + all[100].id;
  newer.append(table);
  table.append(bodyOf(chunk).parentElement.tHead.cloneNode(true), document.createElement("tbody"));
  table.tBodies[0].append(...all.slice(0, 100));
  chunk.before(newer);
  watched.observe(newer);
  return newer;
}

// outdate notes which of the parts that an update does not bring have changed.
function outdate(ids) {
  for (const chunk of chunks().slice(1)) {
    const { from, to } = bounds(chunk);
    if (ids.some((id) => id === "*" || "row-" + id < from && "row-" + id >= to)) stale.add(chunk);
  }
}

// bounds are the ids of the last row before a part, and of its own last one.
function bounds(chunk) {
  const last = (of) => of?.matches(".chunk") ? bodyOf(of).lastElementChild?.id : "";
  let before = chunk.previousElementSibling;
  while (before?.matches(".chunk") && !last(before)) before = before.previousElementSibling;
  return { from: last(before) || "~", to: last(chunk) || "~" };
}

// freshen reads what is outdated and in sight again.
async function freshen() {
  for (const chunk of near) {
    if (!stale.delete(chunk) || !chunk.isConnected) continue;
    let { from, to } = bounds(chunk);
    do {
      const part = await readPart(from), more = part?.getElementById("next");
      if (!part) { stale.add(chunk); return; }
      replaceRows(chunk, part, from, more ? cursor(more) : "");
      from = more ? cursor(more) : "";
    } while (from > to);
    count();
  }
}

// replaceRows puts the rows of what was read in the place of those after one row and up to another, which begin in a part.
function replaceRows(chunk, read, from, to) {
  const fresh = new Map(rows(read).map((row) => [row.id, row])), link = document.getElementById("next"), end = link ? cursor(link) : "", all = chunks();
  const within = all.slice(all.indexOf(chunk)), here = new Map();
  for (const part of within) {
    if (bodyOf(part).firstElementChild?.id < to) break;
    for (const row of rowsOf(part)) {
      if (row.id < from && row.id >= to && !fresh.has(row.id)) row.remove();
      else here.set(row.id, row);
    }
  }
  for (const [id, row] of fresh) {
    const old = here.get(id), cells = [...row.cells];
    if (old) [...old.cells].forEach((cell, i) => { if (!cell.isEqualNode(cells[i])) cell.replaceWith(cells[i]); });
    else if (id >= end) put(row, within); // the next part has the others
  }
}

// put puts a row in its place in some parts, which are in order.
function put(row, parts) {
  for (const part of parts) {
    const below = bodyOf(part).lastElementChild?.id < row.id && rowsOf(part).find((r) => r.id < row.id);
    if (below) return below.before(row);
  }
  bodyOf(parts.at(-1)).append(row);
}

// The box at the head of a list chooses all of it, or as many as are changed at once.
document.addEventListener("change", (e) => {
  if (e.target.matches("tr textarea")) e.target.closest("tr").querySelector("input[name=task]").checked = true; // a route that was changed is to be taken
  if (e.target.matches("input.all")) chooseAll(e.target.checked);
  count();
});

// boxes are those of all tasks of a list, also of the rows that are put away.
function boxes() {
  const parts = chunks();
  return [...parts.length ? parts.map(bodyOf) : [document]].flatMap((of) => [...of.querySelectorAll("input[name=task]")]);
}

// chooseAll chooses all of a list, or none. What is chosen is in the document, since the form sends nothing else.
function chooseAll(on) {
  boxes().forEach((box, i) => { box.checked = on && i < most(); });
  for (const chunk of chunks()) if (aside.get(chunk)?.querySelector("input:checked")) bringBack(chunk);
}

// most is how many of a list are changed at once.
function most() { return Number(document.querySelector("input.all")?.dataset.most || Infinity); }

// count says how many of a list are chosen, and if they are too many. As long as some are, what is done with them stays in sight.
function count() {
  const out = document.querySelector("output.count"), n = document.querySelectorAll("input[name=task]:checked").length;
  document.querySelector("input.all")?.form.querySelector(":scope > fieldset")?.toggleAttribute("data-chosen", n > 0);
  if (!out) return;
  const all = n && boxes().length;
  out.textContent = n ? `${n} of ${all} are chosen${all > most() && n >= most() ? `; at most ${most()} are cancelled at once` : ""}` : "";
}
