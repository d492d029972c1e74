package canon

import (
	"cmp"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/secrecy"
)

// The numbers of new sentences that are looked for in hidden texts: the longest of a card, and those of a call.
const (
	maxCopiedOfCard = 4
	maxCopied       = 40
)

// checkNotCopied returns a fault if a game master writes a sentence into a card that players read, without a mark, that
// is hidden elsewhere and that no open card has, and the call does not say that it is text for everybody.
func (p *Plan) checkNotCopied(before, after Card) error {
	if p.View().Level < access.LevelGM || after.Label.Level >= access.LevelGM ||
		!p.grant.Request().TakesAnswer || p.grant.Request().Unsure == access.UnsureText ||
		before.Label.Level >= access.LevelGM || before.Places != nil || after.TextKind() == TextFile ||
		after.Content == before.Content && string(after.Fields) == string(before.Fields) {
		return nil
	}
	was, err := p.Body(p.ctx, before.Content)
	if err != nil {
		return err
	}
	now, err := p.OpenText(after)
	if err != nil {
		return err
	}
	var found []UnsureMark
	for _, s := range newSentences(readableText(before, was), readableText(after, now)) {
		if p.looked++; p.looked > maxCopied {
			break
		}
		hidden, err := p.findSentence(s, access.LevelGM)
		if err != nil {
			return err
		}
		if len(hidden) == 0 {
			continue
		}
		open, err := p.findSentence(s, access.LevelUser)
		if err != nil {
			return err
		}
		if len(open) == 0 {
			found = append(found, copiedMark(s, hidden[0].Card))
		}
	}
	return unsureFault(found)
}

// findSentence returns a card of a level with some words in its text or fields, if there is one.
func (p *Plan) findSentence(words string, l access.Level) ([]Hit, error) {
	r, err := p.Search(p.ctx, SearchQuery{Q: words, InContent: true, InFields: true, Mode: MatchPhrase,
		Filter: Filter{Level: l}}, Page{Limit: 1, Uncounted: true})
	return r.Hits, err
}

// readableText returns a card's text and fields. Lines of Markdown stay lines.
func readableText(c Card, text string) string {
	if c.TextKind() != TextMarkdown {
		text = PlainText(c.TextKind(), text)
	}
	return text + "\n" + FieldText(c.Fields)
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
