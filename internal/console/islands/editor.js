// The editor of a card's text. It covers the form's textarea and keeps it up to date, so that forms, drafts and
// previews work as they do without scripts.
import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { defineLanguageFacet, Language, LRLanguage, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, keymap, MatchDecorator, ViewPlugin } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { parser as html } from "@lezer/html";
import { GFM, parser as markdown } from "@lezer/markdown";

const area = document.getElementById("content");
const form = area.form;
const problem = form.querySelector(".problem");

const languages = {
  html: [LRLanguage.define({ name: "html", parser: html })],
  markdown: [new Language(defineLanguageFacet(), markdown.configure([GFM]), [], "markdown")],
  text: [],
};

// References stand out in every language.
const references = new MatchDecorator({
  regexp: /\[\[[^[\]\n]+\]\]|\{\{[^{}\n]+\}\}/g,
  decoration: Decoration.mark({ class: "cm-reference" }),
});
const markReferences = ViewPlugin.fromClass(class {
  constructor(view) { this.decorations = references.createDeco(view); }
  update(update) { this.decorations = references.updateDeco(update, this.decorations); }
}, { decorations: (plugin) => plugin.decorations });

// After [[ the names of cards are proposed, as the server finds them for the person.
async function completeName(context) {
  const open = context.matchBefore(/\[\[[^[\]|\n]*$/);
  if (!open) return null;
  const aborter = new AbortController();
  context.addEventListener("abort", () => aborter.abort());
  const from = open.from + 2;
  const address = area.dataset.names + "?q=" + encodeURIComponent(context.state.sliceDoc(from, context.pos));
  try {
    const answer = await fetch(address, { signal: aborter.signal });
    if (!answer.ok) return null;
    const found = await answer.json();
    return { from, filter: false, options: found.names.map((n) => ({ label: n.name, detail: n.type, apply: insertName })) };
  } catch {
    return null; // aborted, or without a connection
  }
}

function insertName(view, completion, from, to) {
  const closed = view.state.sliceDoc(to, to + 2) === "]]";
  const insert = completion.label + (closed ? "" : "]]");
  view.dispatch({ changes: { from, to, insert }, selection: { anchor: from + completion.label.length + 2 },
    userEvent: "input.complete" });
}

// Pictures that are dropped or pasted become cards below this one, and are shown in the text.
async function attach(view, files, at) {
  for (const file of files) {
    const body = new FormData();
    body.append("below", area.dataset.below);
    body.append("level", form.elements.level?.value ?? area.dataset.level);
    body.append("file", file, file.name);
    problem.hidden = true;
    try {
      const answer = await fetch(area.dataset.attach, { method: "POST", body });
      if (answer.redirected) throw new Error("You are signed out. Sign in in another tab, and try again; your text is kept.");
      const made = await answer.json();
      if (!answer.ok) throw new Error(made.error.message);
      const insert = "{{" + made.name + "}}";
      view.dispatch({ changes: { from: at, insert }, selection: { anchor: at + insert.length } });
      at += insert.length;
    } catch (error) {
      problem.textContent = error.message;
      problem.hidden = false;
    }
  }
}

function takePictures(transfer, view, at) {
  const pictures = [...(transfer?.files ?? [])].filter((file) => file.type.startsWith("image/"));
  if (pictures.length === 0) return false;
  attach(view, pictures, at);
  return true;
}

const theme = EditorView.theme({
  "&": { marginBottom: "var(--s2)", border: "1px solid var(--line)", borderRadius: "6px", background: "var(--surface)", color: "var(--text)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", fontSize: ".95rem", lineHeight: "1.55", minHeight: "22rem", maxHeight: "70vh" },
  ".cm-content": { padding: ".5rem 0", caretColor: "var(--text)" },
  ".cm-line": { padding: "0 .7rem" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { background: "var(--mark)" },
  ".cm-reference, .tok-link, .tok-url": { color: "var(--link)" },
  ".tok-heading, .tok-strong": { fontWeight: "700" },
  ".tok-emphasis": { fontStyle: "italic" },
  ".tok-meta, .tok-punctuation, .tok-typeName, .tok-propertyName, .tok-string, .tok-comment": { color: "var(--soft)" },
  ".cm-tooltip": { border: "1px solid var(--line)", borderRadius: "6px", background: "var(--surface)", color: "var(--text)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--sans)", maxWidth: "min(32rem, 92vw)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: ".25rem .6rem" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--accent)", color: "var(--on-accent)" },
  ".cm-completionDetail": { fontStyle: "normal", color: "var(--soft)", fontSize: ".85rem" },
  "li[aria-selected] .cm-completionDetail": { color: "inherit" },
});

const language = new Compartment();
const view = new EditorView({
  parent: area.parentElement,
  state: EditorState.create({
    doc: area.value,
    extensions: [
      EditorView.cspNonce.of(area.dataset.nonce),
      history(), drawSelection(), EditorView.lineWrapping, theme,
      language.of(languages[area.dataset.format]), syntaxHighlighting(classHighlighter), markReferences,
      autocompletion({ override: [completeName], icons: false, activateOnTypingDelay: 150 }),
      EditorView.contentAttributes.of({ "aria-label": "Text", tabindex: "0", spellcheck: "true", autocapitalize: "sentences" }),
      keymap.of([
        { key: "Mod-s", run() { form.requestSubmit(form.querySelector("button.primary")); return true; } },
        ...completionKeymap, ...defaultKeymap, ...historyKeymap,
      ]),
      EditorView.updateListener.of((update) => {
        if (!update.docChanged) return;
        area.value = update.state.doc.toString();
        area.dispatchEvent(new Event("input", { bubbles: true }));
      }),
      EditorView.domEventHandlers({
        paste(event, view) { return takePictures(event.clipboardData, view, view.state.selection.main.head); },
        drop(event, view) {
          const at = view.posAtCoords({ x: event.clientX, y: event.clientY }) ?? view.state.doc.length;
          const taken = takePictures(event.dataTransfer, view, at);
          if (taken) event.preventDefault();
          return taken;
        },
      }),
    ],
  }),
});
area.before(view.dom);
area.hidden = true;

// A selection becomes a card of its own: a link takes its place, and a tab opens with the form of the new card.
const mostMoved = 4000; // characters, which fit into an address
const fromSelection = document.getElementById("from-selection");
fromSelection.hidden = false;
fromSelection.addEventListener("click", () => {
  const { from, to } = view.state.selection.main;
  const text = view.state.sliceDoc(from, to).trim();
  const name = text.split("\n")[0].replace(/<[^>]*>|[[\]{}|]|^[#>*\s-]+/g, "").trim().slice(0, 100);
  problem.hidden = name !== "" && text.length <= mostMoved;
  if (!problem.hidden) {
    problem.textContent = name === "" ? "Select a name or a text first." : `Select at most ${mostMoved} characters.`;
    return;
  }
  view.dispatch({ changes: { from, to, insert: "[[" + name + "]]" }, userEvent: "input" });
  const asked = new URLSearchParams({ name, text: text === name ? "" : text });
  if (area.dataset.format === "markdown") asked.set("type", "Markdown");
  open(area.dataset.new + "?" + asked, "_blank", "noopener");
});

// The text may be replaced from outside, as by a restored draft.
area.addEventListener("input", () => {
  if (area.value === view.state.doc.toString()) return;
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: area.value } });
});
document.querySelector("label[for=content]").addEventListener("click", () => view.focus());
form.elements.type?.addEventListener("change", (event) => {
  const format = event.target.selectedOptions[0].dataset.format;
  view.dispatch({ effects: language.reconfigure(languages[format]) });
  document.getElementById("format").textContent = event.target.selectedOptions[0].dataset.hint;
});
