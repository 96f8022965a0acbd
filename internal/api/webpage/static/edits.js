// What a person types stays: an update of the page changes everything but the parts that are edited, and keeps those that it no longer has.
"use strict";

const fields = "input:not([type=checkbox], [type=hidden]), select, textarea";

// changed reports whether something was typed or chosen in a field, or is about to be.
function changed(field) {
  if (field === document.activeElement) return true;
  if (!field.matches("select")) return field.value !== field.defaultValue;
  return field.selectedIndex !== Math.max([...field.options].findIndex((o) => o.defaultSelected), 0);
}

// written is what a person has typed in a part of the page.
function written(part) {
  return [...part.querySelectorAll("input:not([type=checkbox], [type=hidden]), textarea")].map((f) => f.value).filter((text) => text.trim()).join("\n");
}

// keep prepares an update of the main part of the page.
function keep(main, next) {
  const here = (e) => e.id && next.querySelector("#" + CSS.escape(e.id));
  for (const e of main.querySelectorAll("[data-kept]")) e.removeAttribute("data-kept");
  for (const part of main.querySelectorAll("form[id], fieldset[id]")) {
    if (![...part.querySelectorAll(fields)].some(changed)) continue;
    const card = part.closest("[data-ticket]"), whole = card && !here(card) ? card : part;
    whole.setAttribute("data-kept", ""); // an update skips it
    if (here(part)) { reopen(part); continue; }
    close(part, card, next);
    let at = whole;
    while (at.parentElement !== main && !here(at.parentElement)) at = at.parentElement;
    const into = at.parentElement === main ? next : here(at.parentElement);
    into.insertBefore(whole.cloneNode(true), into.children[[...at.parentElement.children].indexOf(at)] || null);
  }
}

// close says why a part can no longer be sent, and offers what was written to be copied.
async function close(part, card, next) {
  if (part.querySelector(".gone")) return;
  for (const b of part.querySelectorAll("button:enabled")) b.disabled = b.dataset.closed = true;
  const note = document.createElement("div"), text = document.createElement("p"), copy = document.createElement("button"), away = document.createElement("button");
  note.className = "gone problem";
  note.setAttribute("role", "alert");
  copy.type = away.type = "button";
  copy.dataset.copy = "";
  copy.textContent = "Copy what you wrote";
  away.textContent = "Put it away";
  away.onclick = () => (part.closest("[data-kept]") || part).remove();
  note.append(text, copy, " ", away);
  part.prepend(note);
  const say = (why) => { text.textContent = why + " What you have written stays here, and is not sent."; };
  say("This can no longer be sent here.");
  if (!card) return;
  let ticket = next.querySelector("#" + CSS.escape(card.id));
  if (!ticket) {
    const answer = await fetchAs("/tickets/" + encodeURIComponent(card.dataset.ticket)).catch(() => null);
    ticket = new DOMParser().parseFromString(await answer?.text() ?? "", "text/html");
  }
  const why = ticket.querySelector("[data-says]");
  if (why) say(why.dataset.says);
}

// reopen undoes close: the part can be sent again, as after a claim that was released.
function reopen(part) {
  part.querySelector(".gone")?.remove();
  for (const b of part.querySelectorAll("[data-closed]")) { b.disabled = false; delete b.dataset.closed; }
}
