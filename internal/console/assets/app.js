// What pages do beyond links and forms. Everything works without it, but for signing in by a link.
"use strict";

// A link that signs in or invites carries its code in the fragment, which no server sees: it is sent by
// the form.
const codeForm = document.querySelector("#sign-in, #join");
function sendCode() {
  const into = codeForm && (codeForm.elements.secret || codeForm.elements.code);
  if (!into || location.hash.length < 2) return;
  into.value = location.hash.slice(1);
  history.replaceState(null, "", location.pathname + location.search);
  codeForm.submit();
}
addEventListener("hashchange", sendCode); // the link may be pasted into this page's address
sendCode();

// Passkeys: the authenticator's answer to the server's question is sent by the form.
for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!window.PublicKeyCredential || !PublicKeyCredential.parseRequestOptionsFromJSON) continue;
  form.hidden = false;
  const problem = form.querySelector(".problem");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    problem.hidden = true;
    try {
      const asked = await fetch(form.action + "/ask", { method: "POST" });
      const question = await asked.json();
      if (!asked.ok) throw new Error(question.error.message);
      const options = question.options.publicKey;
      const answer = form.dataset.passkey === "create"
        ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
        : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
      form.elements.state.value = question.state;
      form.elements.answer.value = JSON.stringify(answer.toJSON());
      form.submit();
    } catch (error) {
      problem.textContent = error.name === "NotAllowedError" ? "Nothing was chosen. Try again." : error.message;
      problem.hidden = false;
    }
  });
}

// Unsaved text survives a reload. Signing out clears the storage.
const text = document.querySelector("textarea[data-draft]");
if (text) {
  const key = "draft " + text.dataset.draft;
  const kept = localStorage.getItem(key);
  if (kept !== null && kept !== text.value) {
    const note = document.createElement("p");
    note.className = "hint";
    const restore = document.createElement("button");
    restore.type = "button";
    restore.className = "small";
    restore.textContent = "Restore it";
    restore.addEventListener("click", () => {
      text.value = kept;
      text.dispatchEvent(new Event("input")); // the editor over it follows
      note.remove();
    });
    note.append("There is unsaved text of yours. ", restore);
    text.before(note);
  }
  text.addEventListener("input", () => localStorage.setItem(key, text.value));
  text.form.addEventListener("submit", (event) => {
    if (event.submitter?.name !== "preview") localStorage.removeItem(key); // the text is sent
  });
}

// What is selected in the text of a card is the passage to hide.
let selected = "";
document.addEventListener("selectionchange", () => {
  const now = getSelection();
  if (!now.isCollapsed && now.anchorNode.parentElement.closest(".card .text")) selected = now.toString();
});
const hide = document.querySelector("details.hide");
hide?.addEventListener("toggle", () => {
  const passage = hide.querySelector("#passage");
  if (hide.open && passage.value.trim() === "") passage.value = selected;
  if (hide.open) passage.focus();
});

// A new card begins with the template of its type, as long as nothing else is written.
let template = document.getElementById("of-type")?.dataset.template;
document.addEventListener("htmx:after:swap", () => {
  const next = document.getElementById("of-type")?.dataset.template;
  if (next === undefined || next === template) return;
  if (text.value.trim() === "" || text.value === template) {
    text.value = next;
    text.dispatchEvent(new Event("input")); // the editor over it follows
  }
  template = next;
});

// In play, the text is sent as it was typed, the field is emptied, and the newest turn is in sight.
const act = document.getElementById("act");
const field = document.getElementById("text");
if (act) {
  act.addEventListener("htmx:after:request", () => { field.value = ""; field.focus(); });
  document.addEventListener("htmx:after:swap", () => act.scrollIntoView({ block: "end" }));
  document.addEventListener("click", (event) => {
    const way = event.target.closest("[data-act]");
    if (!way) return;
    event.preventDefault();
    field.value = way.value ?? way.dataset.act;
    act.requestSubmit();
  });
}

// The arrow keys bring back the player's earlier commands. Signing out clears the storage.
if (act) {
  const key = "commands " + act.getAttribute("action");
  const commands = JSON.parse(sessionStorage.getItem(key) ?? "[]");
  let at = commands.length;
  let unsent = "";
  act.addEventListener("submit", () => {
    const command = field.value.trim();
    if (command && command !== commands.at(-1)) commands.push(command);
    commands.splice(0, commands.length - 100);
    at = commands.length;
    sessionStorage.setItem(key, JSON.stringify(commands));
  });
  field.addEventListener("keydown", (event) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const next = at + step;
    if (!step || event.isComposing || !(next >= 0 && next <= commands.length)) return; // the list of texts opens
    event.preventDefault();
    if (at === commands.length) unsent = field.value;
    at = next;
    field.value = commands[at] ?? unsent;
    field.setSelectionRange(field.value.length, field.value.length);
  });
}

// A picture begins with the middle of its pins.
const pins = [...document.querySelectorAll(".chart .pin")].map((g) => g.getBoundingClientRect());
if (pins.length > 0) {
  const box = document.querySelector(".chart").closest(".drawing");
  const edge = box.getBoundingClientRect();
  const offset = (low, high, room) => {
    const at = pins.map((pin) => (pin[low] + pin[high]) / 2);
    return (Math.min(...at) + Math.max(...at) - room) / 2 - edge[low];
  };
  box.scrollTo(offset("left", "right", box.clientWidth), offset("top", "bottom", box.clientHeight));
}

// A map begins with the place where one is.
function centerMap() {
  const here = document.querySelector(".drawing .here rect");
  if (!here) return;
  const box = here.closest(".drawing");
  box.scrollLeft = here.x.baseVal.value + here.width.baseVal.value / 2 - box.clientWidth / 2;
  box.scrollTop = here.y.baseVal.value - box.clientHeight / 2;
}
centerMap();
document.addEventListener("htmx:after:swap", centerMap);

// The live parts of a page are asked for again at each message of its feed but the first, which says how things stood
// when it was opened.
const live = document.querySelector("[data-live]");
if (live) {
  const events = new EventSource(live.dataset.live);
  let asked = 0;
  const refresh = () => {
    clearTimeout(asked);
    asked = setTimeout(async () => {
      const answer = await fetch(location.href);
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of document.querySelectorAll("[data-part]")) {
        const fresh = page.getElementById(part.id);
        if (!fresh || fresh.innerHTML === part.innerHTML) continue;
        const box = part.querySelector(".drawing");
        const [left, top] = box ? [box.scrollLeft, box.scrollTop] : [0, 0];
        part.replaceChildren(...fresh.childNodes);
        part.querySelector(".drawing")?.scrollTo(left, top);
      }
    }, 100);
  };
  let first = true;
  for (const kind of ["players", "proposals"]) {
    events.addEventListener(kind, () => { if (!first) refresh(); first = false; });
  }
  let states; // of the runs that are listed
  events.addEventListener("runs", (event) => {
    const { runs } = JSON.parse(event.data);
    const now = JSON.stringify(runs.map((run) => [run.run_id, run.status]));
    if (states !== undefined && states !== now) refresh();
    states = now;
    for (const { run_id: id, progress } of runs) {
      const row = progress && document.getElementById("run-" + id);
      if (!row) continue;
      if (progress.total > 0) { row.firstElementChild.max = progress.total; row.firstElementChild.value = progress.done; }
      row.lastElementChild.textContent = progress.message;
    }
  });
  events.addEventListener("progress", (event) => {
    const { done, total, message } = JSON.parse(event.data);
    const bar = document.getElementById("progress");
    if (total > 0) { bar.max = total; bar.value = done; }
    const step = document.createElement("li");
    step.textContent = message;
    if (message) document.getElementById("steps").append(step);
  });
  events.addEventListener("ended", () => { events.close(); location.reload(); });
  addEventListener("pagehide", () => events.close());
}

// A click on a picture chooses the point of a new pin.
const pin = document.getElementById("pin");
if (pin) {
  document.addEventListener("click", (event) => {
    const chart = event.target.closest?.("svg.chart");
    if (!chart || event.target.closest("a") || !pin.closest("details").open) return;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(chart.getScreenCTM().inverse());
    pin.elements.x.value = Math.round(at.x);
    pin.elements.y.value = Math.round(at.y);
    pin.elements.card.focus();
  });
}

// A link to a card shows the first lines of the card while a mouse rests on it or the keyboard is at it.
const cardLink = (target) => target.closest?.('main a[href^="/w/"]:not(.wanted)');
let hovered = null; // the link that shows or awaits its card
let hovering = 0;
function hideCard() {
  clearTimeout(hovering);
  document.getElementById("hovercard")?.remove();
  hovered?.removeAttribute("aria-describedby");
  hovered = null;
}
function showCard(link) {
  if (link === hovered) { clearTimeout(hovering); return; }
  hideCard();
  if (link.pathname.split("/").length < 4) return; // a list of cards
  hovered = link;
  hovering = setTimeout(async () => {
    const answer = await fetch(link.pathname.replace("/w/", "/hovercard/") + link.search).catch(() => null);
    if (answer?.status !== 200 || answer.redirected) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const card = page.getElementById("hovercard");
    if (hovered !== link || !card) return;
    document.getElementById("main").append(card);
    link.setAttribute("aria-describedby", card.id);
    const at = link.getClientRects()[0];
    const below = at.bottom + card.offsetHeight < innerHeight || at.top < card.offsetHeight;
    card.style.left = scrollX + Math.max(8, Math.min(at.left, document.documentElement.clientWidth - card.offsetWidth - 8)) + "px";
    card.style.top = scrollY + (below ? at.bottom : at.top - card.offsetHeight) + "px";
  }, 300);
}
document.addEventListener("pointerover", (event) => {
  if (event.pointerType !== "mouse") return;
  const link = cardLink(event.target);
  if (link) showCard(link);
  else if (event.target.closest?.("#hovercard")) clearTimeout(hovering); // its text may be read and selected
  else if (hovered && !hovered.matches(":focus-visible")) {
    clearTimeout(hovering);
    hovering = setTimeout(hideCard, 200);
  }
});
document.addEventListener("focusin", (event) => {
  const link = cardLink(event.target);
  if (link?.matches(":focus-visible")) showCard(link);
  else hideCard();
});
addEventListener("keydown", (event) => { if (event.key === "Escape") hideCard(); });

// Keys: / searches, e edits.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, .cm-editor")) return;
  if (event.key === "/") {
    const find = document.getElementById("find");
    if (find) { event.preventDefault(); find.focus(); }
  }
  if (event.key === "e") {
    const edit = [...document.querySelectorAll(".tabs a")].find((a) => a.pathname.startsWith("/edit/"));
    if (edit) { event.preventDefault(); edit.click(); }
  }
});

// Files and folders can be dropped on the form of an import. A folder is sent with the paths in it.
const drop = document.querySelector("form.drop");
if (drop) {
  drop.querySelector(".dropping").hidden = false;
  const collect = async (entry, into) => {
    if (entry.isFile) {
      const file = await new Promise((done, failed) => entry.file(done, failed));
      into.append("file", file, entry.fullPath.slice(1));
      return;
    }
    const reader = entry.createReader();
    for (;;) { // a reader gives a hundred entries at a time
      const some = await new Promise((done, failed) => reader.readEntries(done, failed));
      if (some.length === 0) return;
      for (const inner of some) await collect(inner, into);
    }
  };
  drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", async (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
    const body = new FormData();
    body.append("level", drop.elements.level.value);
    for (const entry of entries) await collect(entry, body);
    const answer = await fetch(drop.action, { method: "POST", body });
    if (answer.redirected) location = answer.url;
    else {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      drop.before(page.querySelector(".problem") ?? "That did not work.");
    }
  });
}
