package vault

import (
	"cmp"
	"context"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange/native"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// hiddenTexts are the sentences that were hidden in the world after an import, by their words, with the names of their
// cards. The source shows them openly: in a note that is new or has changed they stay hidden.
type hiddenTexts map[string]string

// readHidden reads the hidden parts of the cards that a source has, and the texts of cards that were hidden here. It
// adds the cards to w.
func readHidden(ctx context.Context, l *canon.Snapshot, s *native.Source, w *world) (hiddenTexts, error) {
	h := hiddenTexts{}
	if len(s.Cards) == 0 || l.View().Level < access.LevelGM {
		return h, nil
	}
	known := map[canon.CardID]bool{} // whether the source hides the card
	for id, m := range s.Cards {
		known[cmp.Or(m.ID, id)] = m.Want.Level != access.LevelUser
	}
	for c, err := range l.AllCards(ctx, canon.Filter{}) {
		if err != nil {
			return nil, err
		}
		w.add(c)
		_, isPart := known[c.Parent]
		hides, isNote := known[c.ID]
		isPart = isPart && c.Places != nil && len(c.Places.Parts) > 0
		if !isPart && (!isNote || hides || c.Own.Level < access.LevelGM || c.TextKind() == canon.TextFile) {
			continue
		}
		text, err := l.Body(ctx, c.Content)
		if err != nil {
			return nil, err
		}
		if !isPart {
			h.add(text, c.Name)
			continue
		}
		for _, p := range c.Places.Parts {
			if p.From >= 0 && p.From+p.Len <= len(text) {
				part, _ := secrecy.Unwrap(text[p.From : p.From+p.Len])
				h.add(part, strings.TrimSuffix(c.Name, "+"+c.Part))
			}
		}
	}
	return h, nil
}

func (h hiddenTexts) add(text, name string) {
	for _, s := range secrecy.Sentences(text) {
		if words := secrecy.WordsOf(text[s.From:s.To]); strings.Count(words, " ") >= secrecy.LeastSentence-1 {
			h[words] = name
		}
	}
}

// rangesIn returns the ranges of a text with sentences that are hidden, and the name of the card of the first.
func (h hiddenTexts) rangesIn(text string) (found []markup.Span, name string) {
	if len(h) == 0 {
		return nil, ""
	}
	for _, s := range secrecy.Sentences(text) {
		if of, ok := h[secrecy.WordsOf(text[s.From:s.To])]; ok {
			found, name = append(found, s), cmp.Or(name, of)
		}
	}
	return found, name
}

// nameMarks returns the mark of a name that is a hidden sentence.
func (h hiddenTexts) nameMarks(name string) []secrecy.Mark {
	if _, ok := h[secrecy.WordsOf(name)]; ok {
		return []secrecy.Mark{{Rule: ruleHiddenText, What: name, Doubt: true}}
	}
	return nil
}

// ruleHiddenText is the rule of a new file whose name is a sentence that is hidden in the world.
const ruleHiddenText = "hidden text"
