package vault

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/native"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// world are the cards of the last import as they are now.
type world struct {
	source *native.Source
	byPath map[string]canon.CardID // of notes
	byHash map[string]canon.CardID
	files  map[string]bool // attached, by path
	here   map[canon.CardID]card
	memory map[canon.CardID]exchange.Memory // by the ids of the cards
}

// card is the state of a card that tells who reads it.
type card struct {
	content canon.Hash
	level   access.Level // of its readers
	own     access.Label
}

func newWorld(s *native.Source) *world {
	w := &world{source: s, byPath: map[string]canon.CardID{}, byHash: map[string]canon.CardID{},
		files: map[string]bool{}, here: map[canon.CardID]card{}, memory: map[canon.CardID]exchange.Memory{}}
	for id, o := range s.Notes {
		w.byPath[o.Path], w.byHash[o.Hash] = id, id
	}
	for _, f := range s.Files {
		w.files[f.Path] = true
	}
	for id, m := range s.Cards {
		w.memory[cmp.Or(m.ID, id)] = m
	}
	return w
}

// add notes a card of the last import.
func (w *world) add(c canon.Card) {
	if _, ok := w.memory[c.ID]; ok {
		w.here[c.ID] = card{c.Content, c.Label.Level, c.Own}
	}
}

// findNote returns the card of a note that the last import had, by its path or its bytes.
func (w *world) findNote(n *note) (id canon.CardID, o *native.Origin) {
	if w == nil {
		return id, nil
	}
	id, ok := w.byPath[n.Path]
	if !ok {
		id = w.byHash[n.origin.Hash]
	}
	return id, w.source.Notes[id]
}

// hasFile reports whether the last import had a note or file.
func (w *world) hasFile(file string) bool {
	return w != nil && (!w.byPath[file].IsZero() || w.files[file])
}

// isSeen reports whether people below the GM read a card.
func (w *world) isSeen(id canon.CardID) bool {
	c, ok := w.here[id]
	return ok && c.level < access.LevelGM
}

// wasOpened reports whether a card that the last import hid was opened here.
func (w *world) wasOpened(id canon.CardID) bool {
	return w != nil && w.isSeen(id) && w.memory[id].WasOpened(w.here[id].own)
}

// standing returns how a note stands as a whole under a mark.
func (w *world) standing(n *note, m secrecy.Mark) (at exchange.Standing) {
	id, o := w.findNote(n)
	if o == nil || !w.isSeen(id) {
		return at
	}
	at.Open = w.wasOpened(id)
	// Earlier releases did not note for which notes a decision was given.
	at.Given = slices.Contains(o.Opened, openedMark(m)) || !w.source.Given && o.Level < access.LevelGM
	return at
}

// openedMark returns the form in which a mark is remembered that a decision opened.
func openedMark(m secrecy.Mark) string { return m.Rule + ": " + markup.Clip(m.What, 100) }

// verdicts are the verdicts about the parts of a note, by their marks.
type verdicts map[secrecy.Mark]exchange.Verdict

// judgeParts divides the text of a note by the marks in it. seen is the text of its card, if people below the GM read
// it.
func (f *reader) judgeParts(n *note, seen string) (h secrecy.Result, all verdicts) {
	all = verdicts{}
	standing := standingOfParts(n.Body, seen)
	h = secrecy.Split(n.Body, secrecy.Markdown, func(m secrecy.Mark) bool {
		if v, ok := all[m]; ok && (v == exchange.Asked || !v.Hides()) {
			return false
		}
		at := standing[m]
		at.New = n.opened && seen == ""
		at.Alike = slices.ContainsFunc(n.origin.Opened, func(opened string) bool {
			return strings.HasSuffix(exchange.FoldCase(opened), ": "+exchange.FoldCase(m.What))
		})
		v := f.v.choices.Judge(m, n.Path, true, at)
		all[m] = v
		return v.Hides() && v != exchange.Asked
	})
	return h, all
}

// standingOfParts returns how the parts stand whose marks look secret: whether the text that is seen has them.
func standingOfParts(text, seen string) map[secrecy.Mark]exchange.Standing {
	if seen == "" {
		return nil
	}
	standing := map[secrecy.Mark]exchange.Standing{}
	var doubts []secrecy.Mark
	bare := secrecy.Split(text, secrecy.Markdown, func(m secrecy.Mark) bool {
		if m.Doubt && !slices.Contains(doubts, m) {
			doubts = append(doubts, m)
		}
		return !m.Doubt
	})
	for _, m := range doubts {
		open := true
		h := secrecy.Split(bare.Open, secrecy.Markdown, func(o secrecy.Mark) bool { return o == m })
		for _, p := range h.Parts {
			open = open && strings.Contains(seen, strings.TrimSpace(p.Text))
		}
		standing[m] = exchange.Standing{Given: open && len(h.Parts) > 0, Open: open && len(h.Parts) > 0}
	}
	return standing
}

// texts returns the parts of a text whose marks have a verdict, spans their ranges.
func (all verdicts) texts(text string, v exchange.Verdict) (texts []string) {
	for _, s := range all.spans(text, v) {
		texts = append(texts, text[s.From:s.To])
	}
	return texts
}

func (all verdicts) spans(text string, v exchange.Verdict) (spans []markup.Span) {
	for m, is := range all {
		if is == v {
			h := secrecy.Split(text, secrecy.Markdown, func(o secrecy.Mark) bool { return o == m })
			spans = append(spans, h.Spans()...)
		}
	}
	slices.SortFunc(spans, func(a, b markup.Span) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return spans
}

// newLines returns the lines of a range of a text that another text does not have.
func newLines(text string, in markup.Span, other string) (found []secrecy.Range) {
	known := linesOf(other)
	for line := range strings.Lines(text[in.From:in.To]) {
		if trimmed := strings.TrimSpace(line); trimmed != "" && !known[trimmed] {
			found = append(found, secrecy.Range{Span: markup.Span{From: in.From, To: in.From + len(line)}})
		}
		in.From += len(line)
	}
	return found
}

// seenText returns the text of a note's card, if people below the GM read it.
func (f *reader) seenText(ctx context.Context, id canon.CardID) (string, error) {
	w := f.v.world
	if w == nil || !w.isSeen(id) {
		return "", nil
	}
	return f.snapshot.Body(ctx, w.here[id].content)
}
