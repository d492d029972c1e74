package native

import (
	"context"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// Former holds the memories of the imports of a world, as far as they are about hidden parts. Imports of earlier
// releases kept the hidden parts of a note in the card Origin.Hidden, and their places in the memory.
type Former struct {
	origins map[canon.CardID]*Origin
	cards   map[canon.CardID]exchange.Memory
}

// ReadFormer reads the memories that the snapshot shows.
func ReadFormer(ctx context.Context, l *canon.Snapshot) (*Former, error) {
	f := &Former{origins: map[canon.CardID]*Origin{}, cards: map[canon.CardID]exchange.Memory{}}
	sources, err := Sources(ctx, l)
	if err != nil {
		return nil, err
	}
	var r SourceReader
	for _, c := range sources {
		s, err := r.Load(ctx, l, c)
		if err != nil {
			return nil, err
		}
		for id, o := range s.Notes {
			if len(o.Parts) > 0 || !o.Hidden.IsZero() {
				f.origins[id] = o
			}
		}
		for id, m := range s.Cards {
			if m.ReadMarks() {
				if !m.ID.IsZero() {
					id = m.ID
				}
				f.cards[id] = m
			}
		}
	}
	return f, nil
}

// Decides reports whether an import has read the marks in the text of a card, which nobody has changed since: those
// that are open were opened by the importer's user.
func (f *Former) Decides(c canon.Card) bool {
	m, ok := f.cards[c.ID]
	return ok && m.IsOf(c)
}

// IsUnplaced reports whether a card has hidden parts or fields that are not at their places.
func (f *Former) IsUnplaced(ctx context.Context, l *canon.Snapshot, c canon.Card) (bool, error) {
	o, child, err := f.childOf(ctx, l, c)
	if err != nil || o == nil {
		return false, err
	}
	parts, _, err := o.unplacedParts(ctx, l, c, child)
	return len(parts)+len(o.unplacedFields(c, child)) > 0, err
}

// childOf returns the memory of a card, or nil, and the card with its hidden parts.
func (f *Former) childOf(ctx context.Context, l *canon.Snapshot, c canon.Card) (o *Origin, child canon.Card, err error) {
	if o = f.origins[c.ID]; o == nil {
		return nil, canon.Card{}, nil
	}
	child, ok, err := l.ByID(ctx, o.Hidden)
	if err != nil || !ok || child.Parent != c.ID {
		return o, canon.Card{}, err
	}
	return o, child, nil
}

// Place plans that the hidden parts and fields of a card come to their places. They keep their readers, and the open
// text stays as it is.
func (f *Former) Place(ctx context.Context, p *canon.Plan, c canon.Card) error {
	o, child, err := f.childOf(ctx, p.Snapshot, c)
	if err != nil || o == nil {
		return err
	}
	parts, rest, err := o.unplacedParts(ctx, p.Snapshot, c, child)
	if err != nil {
		return err
	}
	fields := map[string]any{}
	own := decoded.ParseObject(string(child.Fields))
	for _, name := range o.unplacedFields(c, child) {
		fields[name] = own[name]
	}
	if len(parts)+len(fields) == 0 {
		return nil
	}
	if len(parts) > 0 && !child.ID.IsZero() {
		if _, err := p.Update(child, canon.Edit{Content: &rest, Beside: true}); err != nil {
			return err
		}
	}
	label := access.NewLabel(access.LevelGM)
	if !child.ID.IsZero() {
		label = child.Label
	}
	return p.AddParts(c, label, parts, fields)
}

// unplacedFields returns the names of hidden fields that child has for its own.
func (o *Origin) unplacedFields(c, child canon.Card) (names []string) {
	open, own := decoded.ParseObject(string(c.Fields)), decoded.ParseObject(string(ownFields(child)))
	for _, name := range decoded.SortedKeys(decoded.ParseObject(string(o.Under))) {
		if own[name] != nil && open[name] == nil {
			names = append(names, name)
		}
	}
	return names
}

// unplacedParts returns the hidden parts of a note's card that stand in child, which the import wrote, at their
// places in the open text. The text of both may have changed since. rest is the text of child without them. child may
// be zero.
func (o *Origin) unplacedParts(ctx context.Context, l *canon.Snapshot, c, child canon.Card) (parts []secrecy.Passage,
	rest string, err error) {
	if !child.ID.IsZero() {
		if rest, err = l.Beside(ctx, child); err != nil {
			return nil, "", err
		}
	}
	if len(o.Parts) == 0 {
		return nil, rest, nil
	}
	hidden, err := l.Body(ctx, o.Secret)
	if err != nil {
		return nil, "", err
	}
	spans := o.hiddenSpans(len(hidden))
	now := secrecy.Follow(hidden, rest, spans)
	var taken []markup.Span
	for i, p := range o.Parts {
		text := p.Text
		if text == "" {
			at := now[len(now)-len(spans)]
			was := strings.TrimSpace(hidden[spans[0].From:spans[0].To])
			spans = spans[1:]
			if text = rest[at.From:at.To]; strings.TrimSpace(text) == "" ||
				strings.TrimSpace(text) != was && !secrecy.IsMarked(text, secrecy.Markdown) {
				continue // it is gone, or a note of the game master's now
			}
			taken = append(taken, at)
		}
		parts = append(parts, secrecy.Passage{At: p.At, Order: i, Text: text})
	}
	if len(parts) == 0 || len(taken) == 0 && c.Parts != canon.NoParts {
		return nil, rest, nil
	}
	for _, s := range slices.Backward(taken) {
		rest = rest[:s.From] + strings.TrimPrefix(rest[s.To:], secrecy.PartSeparator)
	}
	was, err := l.Body(ctx, o.Open)
	if err != nil {
		return nil, "", err
	}
	open, err := l.Body(ctx, c.Content)
	if err != nil {
		return nil, "", err
	}
	if last := parts[len(parts)-1]; last.At > len(was) { // the text was erased
		was = open
		for i := range parts {
			parts[i].At = len(open)
		}
	}
	return secrecy.Relocate(was, open, parts), rest, nil
}

// hiddenSpans returns the ranges of the parts in the text of the hidden card, which has n bytes.
func (o *Origin) hiddenSpans(n int) (all []markup.Span) {
	for _, p := range o.Parts {
		if p.Text != "" {
			continue
		}
		if i := len(all) - 1; i >= 0 {
			all[i].To = max(all[i].From, min(n, p.From)-len(secrecy.PartSeparator))
		}
		all = append(all, markup.Span{From: min(n, p.From), To: n})
	}
	return all
}
