// The search of a site: it finds the cards whose name or first words have all words that are typed.
"use strict";

const field = document.getElementById("find");
const found = document.getElementById("found");
const page = document.getElementById("page");
const up = document.body.dataset.up;
const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

function search() {
  const words = fold(field.value).split(/\s+/).filter(Boolean);
  found.hidden = words.length === 0;
  page.hidden = !found.hidden;
  const score = (card) => {
    const name = fold(card.n);
    const text = name + " " + fold(card.t) + " " + fold(card.x);
    if (!words.every((word) => text.includes(word))) return 0;
    return 1 + words.filter((word) => name.includes(word)).length + (name.startsWith(words[0]) ? 1 : 0);
  };
  const hits = window.cards.map((card) => [score(card), card]).filter(([n]) => n > 0);
  hits.sort((a, b) => b[0] - a[0] || a[1].n.localeCompare(b[1].n));
  found.replaceChildren(...hits.slice(0, 50).map(([, card]) => {
    const row = document.createElement("li");
    const link = document.createElement("a");
    link.href = up + card.f.split("/").map(encodeURIComponent).join("/");
    link.textContent = card.n;
    const type = document.createElement("span");
    type.className = "type";
    type.textContent = card.t;
    const text = document.createElement("p");
    text.className = "snippet";
    text.textContent = card.x;
    row.append(link, type, text);
    return row;
  }));
  if (hits.length === 0) found.append("Nothing was found.");
}
field.addEventListener("input", search);
field.form.addEventListener("submit", (event) => { event.preventDefault(); search(); });
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.closest("input")) { event.preventDefault(); field.focus(); }
});
