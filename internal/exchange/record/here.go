package record

import (
	"context"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// findHidden returns the name of the card of the world that a record describes, if its text must not open: players do
// not see the card, or the record has the words of a part or field that is hidden in it. An export from before had them
// openly.
func (s *Source) findHidden(ctx context.Context, r Card, h *hidden) (name string, err error) {
	if s.snapshot.View().Level < access.LevelGM || r.Above != nil {
		return "", nil
	}
	var open []string
	for _, b := range h.open {
		open = append(open, b.Text)
	}
	text := strings.Join(append(open, decoded.TextsOf(r.Fields)...), "\n")
	c, ok, err := s.snapshot.ByID(ctx, s.cardID(r.Key...))
	if err != nil || ok && c.Label.Level >= access.LevelGM { // an import keeps its level
		return "", err
	}
	cards := []canon.Card{c}
	if id := (canon.CardID{}); !ok && r.Of != "" && id.UnmarshalText([]byte(r.Of)) == nil {
		if c, ok, err = s.snapshot.ByID(ctx, id); err != nil || ok && c.Label.Level >= access.LevelGM {
			return c.Name, err
		}
		cards[0] = c
	}
	if key := markup.KeyOf(CardName(r.Name)); !ok && key != "" {
		if cards, err = s.snapshot.Homonyms(ctx, key); err != nil {
			return "", err
		}
	} else if !ok {
		return "", nil
	}
	for _, c := range cards {
		if c.TextKind() == canon.TextFile {
			continue
		}
		if has, err := s.hasHiddenText(ctx, c, text); err != nil || has {
			return c.Name, err
		}
	}
	return "", nil
}

// hasHiddenText reports whether a text has the words of a hidden part or field of a card, or of a sentence of a hidden
// card.
func (s *Source) hasHiddenText(ctx context.Context, c canon.Card, text string) (bool, error) {
	whole, err := s.snapshot.WholeText(ctx, c)
	if err != nil {
		return false, err
	}
	fields, err := s.snapshot.HiddenFields(ctx, c)
	if err != nil {
		return false, err
	}
	var hidden []string
	if text := canon.PlainText(c.TextKind(), whole.Open); c.Label.Level >= access.LevelGM {
		for _, sentence := range secrecy.Sentences(text) {
			hidden = append(hidden, text[sentence.From:sentence.To])
		}
	}
	for _, p := range whole.Parts {
		part, _ := secrecy.Unwrap(p.Text)
		hidden = append(hidden, canon.PlainText(c.TextKind(), part))
	}
	for _, f := range fields {
		hidden = append(hidden, f.Text)
	}
	words := " " + secrecy.WordsOf(text) + " "
	return slices.ContainsFunc(hidden, func(part string) bool {
		part = secrecy.WordsOf(part)
		return part != "" && strings.Contains(words, " "+part+" ")
	}), nil
}
