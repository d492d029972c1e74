package canon

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// Suggested names the cards that a text was written for, which is kept outside the canon.
type Suggested struct {
	Cards []CardID
	Names []string // of further cards, as Find reads them
	At    Seq      // the commit on which it was written
	Key   string   // of the event of the commit that made the change; "" for none
}

// Withheld are the passages that stood openly in cards when a text was written for them, in versions that the view no
// longer sees: they were hidden since. Texts that were already hidden then are none of them, so that nobody can find
// them by trying.
type Withheld struct {
	texts  []withheldText
	fields map[string][]string // JSON of the values of fields, by name
	work   int                 // bytes that may still be compared
}

// withheldText is a text that the view reads, with the passages that it no longer reads at their places.
type withheldText struct {
	form secrecy.Form
	secrecy.Text
}

// withheldWork is the number of bytes of which From may compare each with the texts of a card. Texts beyond that are
// withheld as a whole.
const withheldWork = 64 << 20

// Withheld returns the passages that a view may no longer read in a text that was suggested for cards.
func (s *Snapshot) Withheld(ctx context.Context, q Suggested) (*Withheld, error) {
	out := &Withheld{fields: map[string][]string{}, work: withheldWork}
	all := s.unlimited()
	if s.View().Level >= access.LevelAdmin {
		return out, nil
	}
	made, err := all.commitOf(ctx, q.Key)
	if err != nil {
		return nil, err
	}
	ids := slices.Clone(q.Cards)
	for _, name := range q.Names {
		c, ok, err := all.Exists(ctx, name)
		if err != nil {
			return nil, err
		}
		if ok {
			ids = append(ids, c.ID)
		}
	}
	if made.Seq > 0 {
		for _, ch := range made.Changes {
			if ch.Card != nil {
				ids = append(ids, ch.Card.ID)
			}
		}
	}
	slices.SortFunc(ids, func(a, b CardID) int { return slices.Compare(a[:], b[:]) })
	for _, id := range slices.Compact(ids) {
		if err := s.withhold(ctx, all, out, id, q.At, made.Seq); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// unlimited returns the snapshot in the view of the system, without a plan.
func (s *Snapshot) unlimited() *Snapshot {
	all := *s
	all.visibility.View, all.planned = access.View{Level: access.LevelAll}, nil
	return &all
}

// commitOf returns the commit that has an event with a key; the zero Record if there is none.
func (s *Snapshot) commitOf(ctx context.Context, key string) (Record, error) {
	if key == "" {
		return Record{}, nil
	}
	events, _, err := s.Events(ctx, EventQuery{Key: key, Page: Page{Limit: 1}})
	if err != nil || len(events) == 0 {
		return Record{}, err
	}
	return s.record(ctx, events[0].Seq)
}

// record returns a commit of the world.
func (s *Snapshot) record(ctx context.Context, at Seq) (Record, error) {
	for commit, err := range s.r.Commits(ctx, WorldStream(s.world.ID), at) {
		if err != nil {
			return Record{}, err
		}
		return commit.Record()
	}
	return Record{}, nil
}

// withhold adds the passages of a card in the version that was current at a commit, and in the one that another commit
// wrote.
func (s *Snapshot) withhold(ctx context.Context, all *Snapshot, out *Withheld, id CardID, at, made Seq) error {
	c, ok, err := all.ByID(ctx, id)
	if err != nil || !ok {
		return err
	}
	var now, fields string
	for v, err := range all.AllVersions(ctx, id) {
		if err != nil {
			return err
		}
		if v.To > 0 && v.To <= min(at, cmp.Or(made, at)) {
			break // the latest come first
		}
		isThen := v.From <= at && (v.To == 0 || v.To > at) || made > 0 && v.From == made
		if !isThen || v.Purged || s.View().Sees(v.Label) {
			continue
		}
		if now == "" && fields == "" && s.View().Sees(c.Label) {
			if now, fields, err = s.textAndFields(ctx, c); err != nil {
				return err
			}
		}
		text, err := all.Body(ctx, v.Content)
		if err != nil {
			return err
		}
		form, _ := FormOf(v.TextKind())
		out.add(form, text, now)
		if err := out.addFields(v.Fields, fields); err != nil {
			return err
		}
	}
	return nil
}

// textAndFields returns a card's text, and its fields as JSON, as the view reads them.
func (s *Snapshot) textAndFields(ctx context.Context, c Card) (text, fields string, err error) {
	if c.TextKind() != TextFile {
		if text, err = s.Content(ctx, c); err != nil {
			return "", "", err
		}
	}
	all, err := s.Fields(ctx, c)
	return text, cmp.Or(string(all), "{}"), err
}

// add adds the passages of a text that another text no longer has.
func (w *Withheld) add(form secrecy.Form, was, now string) {
	t := secrecy.Text{Open: now}
	at, to := 0, 0 // up to which both texts are compared
	gone := func(from, end, place int) {
		if strings.TrimSpace(was[from:end]) != "" {
			t.Parts = append(t.Parts, secrecy.Passage{ID: fmt.Sprint(len(t.Parts)), At: place, Order: len(t.Parts),
				Label: access.NewLabel(access.LevelGM), Text: was[from:end]})
		}
	}
	for _, p := range markup.Shared(was, now) {
		gone(at, p.A, to)
		at, to = p.A+p.Len, p.B+p.Len
	}
	gone(at, len(was), to)
	if len(t.Parts) > 0 {
		w.texts = append(w.texts, withheldText{form, t})
	}
}

// addFields adds the fields that have another value now.
func (w *Withheld) addFields(was json.RawMessage, now string) error {
	before, err := pickFields(was, nil)
	if err != nil {
		return err
	}
	left, err := pickFields(json.RawMessage(now), nil)
	if err != nil {
		return err
	}
	var gone []string
	for _, name := range slices.Sorted(maps.Keys(before)) {
		value, err := json.Marshal(before[name])
		if err != nil {
			return fmt.Errorf("canon: fields: %w", err)
		}
		if b, err := json.Marshal(left[name]); err == nil && string(b) == string(value) {
			continue
		}
		w.fields[name] = append(w.fields[name], string(value))
		gone = append(gone, fmt.Sprintf("%q: %s", name, value), textOfField(before[name]))
	}
	for _, text := range gone {
		w.add(secrecy.Markdown, text, "")
	}
	return nil
}

// IsEmpty reports whether nothing is withheld.
func (w *Withheld) IsEmpty() bool { return len(w.texts)+len(w.fields) == 0 }

// HoldsField reports whether a value, as JSON, is withheld under the name of a field.
func (w *Withheld) HoldsField(name string, value json.RawMessage) bool {
	var v any
	if len(w.fields[name]) == 0 || decodeNumbers(value, &v) != nil {
		return false
	}
	b, err := json.Marshal(v)
	return err == nil && slices.Contains(w.fields[name], string(b))
}

// From returns a text without the passages.
func (w *Withheld) From(text string) string {
	for _, t := range w.texts {
		if strings.TrimSpace(text) == "" {
			return text
		}
		if w.work -= len(text) + len(t.Open); w.work < 0 {
			return ""
		}
		text = t.Without(text, t.form)
	}
	return text
}

// FromJSON returns a JSON value whose texts are without the passages, and whose objects are without the withheld
// fields.
func (w *Withheld) FromJSON(value json.RawMessage) (json.RawMessage, error) {
	if w.IsEmpty() || len(value) == 0 {
		return value, nil
	}
	var v any
	if err := decodeNumbers(value, &v); err != nil {
		return nil, err
	}
	return json.Marshal(w.fromValue(v))
}

func (w *Withheld) fromValue(v any) any {
	switch v := v.(type) {
	case string:
		return w.From(v)
	case []any:
		for i := range v {
			v[i] = w.fromValue(v[i])
		}
	case map[string]any:
		for name, x := range v {
			b, err := json.Marshal(x)
			if err == nil && slices.Contains(w.fields[name], string(b)) {
				delete(v, name)
				continue
			}
			v[name] = w.fromValue(x)
		}
	}
	return v
}
