// A long list: the next part is fetched when its end comes into view, and is a table of its own, so that the browser skips those that
// are out of sight. Its rows are in the order of their ids, the greatest first.
"use strict";

function chunks(of = document) { return [...of.querySelectorAll(".chunk")]; }

function rows(of = document) { return [...of.querySelectorAll(".chunk tbody tr")]; }

// cursor is the row after which the page goes on to which a link leads.
function cursor(link) { return "row-" + new URL(link.href, location).searchParams.get("after"); }

// readPart reads the part of the list after a row. It is null if there is no answer.
async function readPart(row) {
  const at = new URL(location);
  at.searchParams.set("after", row.slice("row-".length));
  const answer = await fetchAs(at.pathname + at.search).catch(() => null);
  if (!answer?.ok || answer.redirected) return null;
  const part = new DOMParser().parseFromString(await answer.text(), "text/html");
  showTimes(part);
  return part;
}

// lengthen adds the next part when the end is near.
function lengthen() {
  const link = document.getElementById("next");
  if (!link || link.ariaBusy) return;
  link.ariaBusy = "true"; // it is watched
  new IntersectionObserver(async (seen, observer) => {
    if (!seen.some((e) => e.isIntersecting)) return;
    observer.disconnect();
    const from = cursor(link), part = await readPart(from);
    link.ariaBusy = null;
    if (!part || !link.isConnected) return; // the link stays
    if (cursor(link) !== from) return lengthen(); // an update has come between
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
    if (some) link.textContent = "Older tasks";
    lengthen();
  }, { rootMargin: "800px" }).observe(link);
}

// An update of the page brings the first part of the list. The others stay; what has changed in them is read again when it is in sight.
const stale = new Set(), near = new Set();

const watched = new IntersectionObserver((seen) => {
  for (const e of seen) {
    near[e.isIntersecting ? "add" : "delete"](e.target);
    if (e.isIntersecting) showTimes(e.target);
  }
  freshen();
}, { rootMargin: "800px" });

// carry prepares an update: rows go on to the part in which they are from now on, with what the person has chosen.
function carry(main, next) {
  const [first, ...rest] = chunks(main), [fresh] = chunks(next), link = next.querySelector("#next"), mine = main.querySelector("#next");
  if (!rest.length || !fresh || !link) return; // all of it is in the update
  const end = cursor(link), older = (row) => row.id < end;
  rest[0].querySelector("tbody").prepend(...rows(main).filter((row) => first.contains(row) && older(row)));
  first.querySelector("tbody").append(...rows(main).filter((row) => !first.contains(row) && !older(row)));
  for (const chunk of rest.reverse()) {
    chunk.setAttribute("data-kept", "");
    fresh.after(chunk.cloneNode(false));
  }
  if (mine) link.href = mine.getAttribute("href");
  else link.remove();
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
  const last = (of) => [...of?.querySelectorAll("tbody tr") ?? []].at(-1)?.id;
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
      replaceRows(part, from, more ? cursor(more) : "");
      from = more ? cursor(more) : "";
    } while (from > to);
    count();
  }
}

// replaceRows puts the rows of a part in the place of those after one row and up to another.
function replaceRows(part, from, to) {
  const fresh = new Set(rows(part).map((row) => row.id)), link = document.getElementById("next"), end = link ? cursor(link) : "";
  for (const row of rows()) {
    if (row.id < from && row.id >= to && !fresh.has(row.id)) row.remove();
  }
  for (const row of rows(part)) {
    const here = document.getElementById(row.id), cells = [...row.cells];
    if (here) [...here.cells].forEach((cell, i) => { if (!cell.isEqualNode(cells[i])) cell.replaceWith(cells[i]); });
    else if (row.id >= end) { // the next part has the others
      const below = rows().find((r) => r.id < row.id);
      if (below) below.before(row);
      else chunks().at(-1).querySelector("tbody").append(row);
    }
  }
}

// The box at the head of a list chooses all of it, or as many as are changed at once.
document.addEventListener("change", (e) => {
  if (e.target.matches("tr textarea")) e.target.closest("tr").querySelector("input[name=task]").checked = true; // a route that was changed is to be taken
  if (e.target.matches("input.all")) boxes().forEach((box, i) => { box.checked = e.target.checked && i < most(); });
  count();
});

function boxes() { return [...document.querySelectorAll("input[name=task]")]; }

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
