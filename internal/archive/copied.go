package archive

import (
	"cmp"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/secrecy"
)

// The numbers of new sentences that are looked for in hidden texts: the longest of a card, and those of a call.
const (
	maxCopiedOfCard = 4
	maxCopied       = 40
)

// checkNotCopied returns a fault if a game master writes a sentence into a card that players read, without a mark, that
// is hidden elsewhere, and the call does not say that it is text for everybody.
func (w *writer) checkNotCopied(before, after canon.Card) error {
	if w.plan.View().Level < access.LevelGM || after.Label.Level >= access.LevelGM ||
		w.plan.Grant().Request().Unsure == access.UnsureText || before.Label.Level >= access.LevelGM ||
		after.Content == before.Content && string(after.Fields) == string(before.Fields) {
		return nil
	}
	was, err := w.plan.Body(w.ctx, before.Content)
	if err != nil {
		return err
	}
	now, err := w.plan.OpenText(after)
	if err != nil {
		return err
	}
	var found []canon.UnsureMark
	for _, s := range newSentences(readableText(before, was), readableText(after, now)) {
		if w.looked++; w.looked > maxCopied {
			break
		}
		r, err := w.plan.Search(w.ctx, canon.SearchQuery{Q: s, InContent: true, InFields: true, Mode: canon.MatchPhrase,
			Filter: canon.Filter{Level: access.LevelGM}}, canon.Page{Limit: 1, Uncounted: true})
		if err != nil {
			return err
		}
		for _, hit := range r.Hits {
			found = append(found, canon.CopiedMark(s, hit.Card))
		}
	}
	return canon.UnsureFault(found)
}

// readableText returns a card's text and fields. Lines of Markdown stay lines.
func readableText(c canon.Card, text string) string {
	if c.TextKind() != canon.TextMarkdown {
		text = canon.PlainText(c.TextKind(), text)
	}
	return text + "\n" + canon.FieldText(c.Fields)
}

// newSentences returns the words of the sentences of a text that another one does not have, the longest first.
func newSentences(was, now string) (fresh []string) {
	known := map[string]bool{}
	for _, s := range secrecy.Sentences(was) {
		known[was[s.From:s.To]] = true
	}
	for _, s := range secrecy.Sentences(now) {
		sentence := now[s.From:s.To]
		if known[sentence] {
			continue
		}
		known[sentence] = true
		if words := secrecy.WordsOf(sentence); strings.Count(words, " ") >= secrecy.LeastSentence-1 {
			fresh = append(fresh, words)
		}
	}
	slices.SortStableFunc(fresh, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return fresh[:min(len(fresh), maxCopiedOfCard)]
}
