package canon

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/decoded"
	"loregate/internal/fault"
	"loregate/internal/secrecy"
)

// The greatest numbers of new sentences that are looked for in hidden texts, for a card and for a call. The longest
// come first.
const (
	maxCopiedOfCard = 4
	maxCopied       = 40
)

// checkNotCopied returns a fault if a game master writes a sentence into a card that players read, without a mark, that
// is hidden elsewhere and that no open card has, and the call does not say that it is text for everybody. Texts are
// those of the card, of its fields and its name.
func (p *Plan) checkNotCopied(before, after Card) error {
	if !p.looksForCopies(after.Label) || onlyMasters(before.Label) || before.Places != nil ||
		after.Content == before.Content && string(after.Fields) == string(before.Fields) && after.Part == before.Part {
		return nil
	}
	var was, now string
	if after.Content != before.Content && after.TextKind() != TextFile && before.TextKind() != TextFile {
		var err error
		if was, err = p.Body(p.ctx, before.Content); err != nil {
			return err
		}
		if now, err = p.openText(after); err != nil {
			return err
		}
	}
	return p.CheckNotCopied(after.Label, readableText(before, was), readableText(after, now))
}

// looksForCopies reports whether the author of a text for readers with a label is told of hidden sentences in it. In a
// dry run that is collected those count that are text for everybody.
func (p *Plan) looksForCopies(l access.Label) bool {
	r := p.grant.Request()
	return !p.composes && p.View().Level >= access.LevelGM && l.Level < access.LevelGM &&
		(r.Unsure != access.UnsureText || r.DryRunID != 0)
}

// CheckNotCopied returns a fault if a text for readers with a label has a sentence, which the text before did not have,
// that is hidden and that no open card has, if a game master writes it and does not say that it is text for everybody.
func (p *Plan) CheckNotCopied(l access.Label, was, now string) error {
	if !p.looksForCopies(l) {
		return nil
	}
	fresh := newSentences(was, now)
	var found []UnsureMark
	for _, s := range fresh[:min(len(fresh), maxCopiedOfCard)] {
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
	if p.grant.Request().Unsure == access.UnsureText {
		p.set.copied = append(p.set.copied, found...)
		return nil
	}
	return unsureFault(found)
}

// Copied returns the sentences in the texts of a change for everybody that are hidden in other cards, as far as a
// collected dry run has looked for them.
func (s ChangeSet) Copied() []UnsureMark { return s.copied }

// findSentence returns a card of a level with some words in its text or fields, if there is one.
func (p *Plan) findSentence(words string, l access.Level) ([]Hit, error) {
	r, err := p.Search(p.ctx, SearchQuery{Q: words, InContent: true, InFields: true, Mode: MatchPhrase,
		Filter: Filter{Level: l}}, Page{Limit: 1, Uncounted: true})
	return r.Hits, err
}

// readableText returns a card's text, its fields with all values in them, and its name. Lines of Markdown stay lines.
func readableText(c Card, text string) string {
	if c.TextKind() != TextMarkdown {
		text = PlainText(c.TextKind(), text)
	}
	lines := append([]string{text}, decoded.TextsOf(decoded.ParseObject(string(c.Fields)))...)
	return strings.Join(append(lines, c.Part), "\n")
}

// newSentences returns the words of the sentences of a text that another one does not have, the longest first.
func newSentences(was, now string) (fresh []string) {
	known := map[string]bool{}
	for _, s := range secrecy.Sentences(was) {
		known[was[s.From:s.To]] = true
	}
	for s, words := range secrecy.KnownSentences(now) {
		if sentence := now[s.From:s.To]; !known[sentence] {
			known[sentence] = true
			fresh = append(fresh, words)
		}
	}
	slices.SortStableFunc(fresh, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return fresh
}

// checkNotOutdated returns a fault if somebody writes a passage that stood openly in an earlier version of a text, or in
// a part that they were told, and that they do not see any more: the text that they changed is outdated. Others who
// write it are not told that it is hidden.
func (p *Plan) checkNotOutdated(c Card, was, open string) error {
	if c.Parts == NoParts {
		return nil
	}
	fresh := passagesOf(PlainText(c.TextKind(), open))
	for words := range passagesOf(PlainText(c.TextKind(), was)) {
		delete(fresh, words)
	}
	if len(fresh) == 0 {
		return nil
	}
	all := p.unlimited()
	work := outdatedWork
	stood, err := p.stoodOpenly(all, c, func(v Version) (bool, error) {
		if work -= v.Size; v.TextKind() == TextFile || work < 0 {
			return false, nil
		}
		text, err := all.Body(p.ctx, v.Content)
		if err != nil {
			return false, err
		}
		for words := range passagesOf(PlainText(v.TextKind(), text)) {
			if fresh[words] {
				return true, nil
			}
		}
		return false, nil
	})
	if stood {
		err = fault.New(fault.Conflict, "content has a passage that %q does not show any more; read the card again and "+
			"make your change to that text", c.Name)
	}
	return err
}

// outdatedWork is the number of bytes of earlier versions with which a text is compared, the latest first.
const outdatedWork = 16 << 20

// passagesOf returns all passages of passageWords words in the lines of a text, and the shorter lines as a whole.
func passagesOf(text string) map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(text) {
		words := strings.Fields(secrecy.WordsOf(line))
		for i := range words {
			if to := i + passageWords; to <= len(words) {
				all[strings.Join(words[i:to], " ")] = true
			}
		}
		if n := len(words); n > 1 && n < passageWords {
			all[strings.Join(words, " ")] = true
		}
	}
	return all
}

// passageWords is the number of words by which a passage of an earlier text is known again.
const passageWords = 4

// checkNoOldFields is checkNotOutdated for the fields of a card.
func (p *Plan) checkNoOldFields(before Card, fields json.RawMessage) error {
	if p.View().Level >= access.LevelGM || before.Parts == NoParts || string(fields) == string(before.Fields) {
		return nil
	}
	was, err := pickFields(before.Fields, nil)
	if err != nil {
		return err
	}
	now, err := pickFields(fields, nil)
	if err != nil {
		return err
	}
	all := p.unlimited()
	hidden, err := all.HiddenFields(p.ctx, before)
	if err != nil {
		return err
	}
	for name, v := range now {
		text := textOfField(v)
		if reflect.DeepEqual(v, was[name]) || !slices.ContainsFunc(hidden, func(h HiddenField) bool {
			return h.Text == text && !p.View().Sees(h.Label)
		}) {
			continue
		}
		stood, err := p.stoodOpenly(all, before, func(v Version) (bool, error) {
			then, err := pickFields(v.Fields, nil)
			return slices.ContainsFunc(slices.Collect(maps.Values(then)), func(v any) bool { return textOfField(v) == text }), err
		})
		if stood {
			err = fault.New(fault.Conflict, "fields.%s has a value that %q does not show any more; read the card again and "+
				"make your change to that", name, before.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// stoodOpenly reports whether an earlier version of a card that is hidden now, and that the view has read, holds
// something. Those of the parts that were told to the view are among them.
func (p *Plan) stoodOpenly(all *Snapshot, c Card, holds func(Version) (bool, error)) (bool, error) {
	told, err := all.Homonyms(p.ctx, c.Key+"+"+toldKey)
	if err != nil {
		return false, err
	}
	for _, c := range append(told, c) {
		for v, err := range all.AllVersions(p.ctx, c.ID) {
			if err != nil {
				return false, err
			}
			if v.Purged || p.View().Sees(v.Label) {
				continue
			}
			found, err := holds(v)
			if found && err == nil {
				found, err = p.readWhenWritten(all, v)
			}
			if found || err != nil {
				return found, err
			}
		}
	}
	return false, nil
}

// readWhenWritten reports whether the view saw a version that holds hidden parts when it was written. Other versions
// are taken to have been open.
func (p *Plan) readWhenWritten(all *Snapshot, v Version) (bool, error) {
	if v.Places == nil {
		return true, nil
	}
	commit, err := all.record(p.ctx, v.From)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(commit.Changes, func(ch Change) bool {
		return ch.Card != nil && ch.Card.ID == v.Card && p.View().Sees(ch.Card.Own)
	}), nil
}
