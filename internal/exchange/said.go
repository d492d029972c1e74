package exchange

import (
	"cmp"
	"context"
	"hash/fnv"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// HiddenTexts are the sentences that only game masters read in a world, each with a card that has it.
type HiddenTexts struct {
	owners map[uint64]sentenceOwner
	open   map[string]bool // sentences that were looked for in open texts
}

type sentenceOwner struct {
	card canon.CardID
	name string
}

// ReadHidden reads the hidden sentences of a world. each is called with all cards; it may be nil.
func ReadHidden(ctx context.Context, l *canon.Snapshot, each func(canon.Card)) (h HiddenTexts, err error) {
	h = HiddenTexts{owners: map[uint64]sentenceOwner{}, open: map[string]bool{}}
	if l.View().Level < access.LevelGM {
		return h, nil
	}
	for c, err := range l.AllCards(ctx, canon.Filter{}) {
		if err != nil {
			return h, err
		}
		if each != nil {
			each(c)
		}
		if c.Label.Level < access.LevelGM || c.TextKind() == canon.TextFile {
			continue
		}
		text, err := l.Body(ctx, c.Content)
		if err != nil {
			return h, err
		}
		name := c.Name
		if c.HoldsParts() {
			name = strings.TrimSuffix(name, "+"+c.Part)
		}
		for words := range sentencesOf(c.TextKind(), text, canon.FieldText(c.Fields)) {
			h.owners[hashWords(words)] = sentenceOwner{c.ID, name}
		}
	}
	return h, nil
}

// Owner returns the name of a card in which the words of a sentence are hidden, unless another card shows them. A text
// of the card except is not hidden.
func (h HiddenTexts) Owner(ctx context.Context, l *canon.Snapshot, words string, except canon.CardID) (string, error) {
	owner, hidden := h.owners[hashWords(words)]
	if !hidden || owner.card == except {
		return "", nil
	}
	open, known := h.open[words]
	if !known {
		found, err := l.Search(ctx, canon.SearchQuery{Q: words, InContent: true, InFields: true, Mode: canon.MatchPhrase,
			Filter: canon.Filter{Level: access.LevelUser}}, canon.Page{Limit: 1, Uncounted: true})
		if err != nil {
			return "", err
		}
		open = len(found.Hits) > 0
		h.open[words] = open
	}
	if open {
		return "", nil
	}
	return owner.name, nil
}

// readHidden reads the hidden sentences of the world before an import, for the sheets whose source does not tell of
// them. Vaults read them themselves.
func (w *Writer) readHidden(ctx context.Context) error {
	if w.Grant.View().Level < access.LevelGM || !slices.ContainsFunc(w.Collection.Sheets, (*Sheet).mayOpen) {
		return nil
	}
	return persist(ctx, func() error {
		return w.Canon.Read(ctx, w.Grant, func(l *canon.Snapshot) (err error) {
			w.hidden, err = ReadHidden(ctx, l, nil)
			return err
		})
	})
}

// mayOpen reports whether a sheet may have text that is hidden in the world without knowing it.
func (s *Sheet) mayOpen() bool {
	return !s.MarksKnown && !s.Items && !s.Folder && s.Data == nil && (s.Exact || s.MatchIDOnly)
}

func hashWords(words string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(words)) // never fails
	return h.Sum64()
}

// sentencesOf returns the words of the sentences of a text and of fields that are long enough to be known again.
func sentencesOf(kind canon.TextKind, text, fields string) map[string]bool {
	all := map[string]bool{}
	for _, t := range []string{text, canon.PlainText(kind, text), fields} {
		for _, words := range secrecy.KnownSentences(t) {
			all[words] = true
		}
	}
	return all
}

// opensHidden returns the name of a card with a hidden sentence that a sheet would make open: the card that it
// describes has it not openly, and no other one has.
func (w *Writer) opensHidden(ctx context.Context, p *canon.Plan, s *Sheet, card canon.Card) (name string, err error) {
	if len(w.hidden.owners) == 0 || !s.mayOpen() {
		return "", nil
	}
	var text string
	if s.Content.Text != nil {
		text = s.Divide(*s.Content.Text).Open
	}
	kind := canon.KindOf(cmp.Or(s.Content.Type, s.Type, canon.TypeRichText), s.Format)
	now := sentencesOf(kind, text, canon.FieldText(s.openFields()))
	was := map[string]bool{}
	if !card.ID.IsZero() && card.TextKind() != canon.TextFile {
		before, err := p.Body(ctx, card.Content)
		if err != nil {
			return "", err
		}
		was = sentencesOf(card.TextKind(), before, canon.FieldText(card.Fields))
	}
	for words := range now {
		if was[words] {
			continue
		}
		if in, err := w.hidden.Owner(ctx, p.Snapshot, words, canon.CardID{}); in != "" || err != nil {
			return in, err
		}
	}
	return "", nil
}

// hideSaid hides a sheet of a new card that would make a hidden sentence open, and leaves an open card as it is.
func (w *Writer) hideSaid(ctx context.Context, p *canon.Plan, t *tally, s *Sheet, card canon.Card) error {
	level := card.Label.Level
	if card.ID.IsZero() {
		level = s.EffectiveLevel()
	}
	if s.HiddenIn == "" && max(level, s.Label.Level) >= access.LevelGM {
		return nil
	}
	if s.HiddenIn == "" { // no earlier run of the plan has found it
		var err error
		if s.HiddenIn, err = w.opensHidden(ctx, p, s, card); err != nil || s.HiddenIn == "" {
			return err
		}
	}
	if card.ID.IsZero() {
		t.addProblem(s.File, "has text that is hidden in %q; the card is for the GM only: to open it, give it the level user",
			s.HiddenIn)
		s.Label = s.Label.Meet(access.NewLabel(access.LevelGM))
		return nil
	}
	t.addProblem(s.File, "has text that is hidden in %q; the text and the fields of %q stay as they are", s.HiddenIn,
		markup.Shorten(card.Name, 100))
	s.Content.Text, s.Fields, s.Exact = nil, nil, false
	return nil
}
