package vault

import (
	"cmp"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// hiddenTexts returns the name of the card in which the words of a sentence are hidden in the world before an import; ""
// for other words. A text of the given card is not hidden. In a note that is new or has changed such sentences stay
// hidden. Nil: none is.
type hiddenTexts func(words string, except canon.CardID) (string, error)

// rangesIn returns the ranges of a text of a card with sentences that are hidden, and the name of the card of the first.
func (h hiddenTexts) rangesIn(card canon.CardID, text string) (found []markup.Span, name string, err error) {
	if h == nil {
		return nil, "", nil
	}
	for s, words := range secrecy.KnownSentences(text) {
		of, err := h(words, card)
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
