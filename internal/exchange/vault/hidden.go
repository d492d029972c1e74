package vault

import (
	"cmp"
	"context"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// hiddenTexts are the sentences that are hidden in the world before an import. In a note that is new or has changed they
// stay hidden.
type hiddenTexts struct {
	exchange.HiddenTexts
	ctx      context.Context
	snapshot *canon.Snapshot
}

// rangesIn returns the ranges of a text of a card with sentences that are hidden, and the name of the card of the first.
func (h hiddenTexts) rangesIn(card canon.CardID, text string) (found []markup.Span, name string, err error) {
	for _, s := range secrecy.Sentences(text) {
		words := secrecy.WordsOf(text[s.From:s.To])
		if strings.Count(words, " ") < secrecy.LeastSentence-1 {
			continue
		}
		of, err := h.Owner(h.ctx, h.snapshot, words, card)
		if err != nil {
			return nil, "", err
		}
		if of != "" {
			found, name = append(found, s), cmp.Or(name, of)
		}
	}
	return found, name, nil
}

// nameMarks returns the mark of a name that is a hidden sentence.
func (h hiddenTexts) nameMarks(name string) []secrecy.Mark {
	if _, of, err := h.rangesIn(canon.CardID{}, name); err != nil || of != "" {
		return []secrecy.Mark{{Rule: ruleHiddenText, What: name, Doubt: true}}
	}
	return nil
}

// ruleHiddenText is the rule of a new file whose name is a sentence that is hidden in the world.
const ruleHiddenText = "hidden text"
