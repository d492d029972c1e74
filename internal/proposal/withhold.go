package proposal

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// maxNames is the number of texts of a proposal that are looked up as names of cards.
const maxNames = 50

// withoutHidden returns a proposal as its reader may read it now: without the passages of its cards that were hidden
// since it was judged. The record stays as it is.
func (s *Service) withoutHidden(ctx context.Context, g access.Grant, j *judgedEvent) (*judgedEvent, error) {
	shown := *j
	err := s.cfg.Canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		w, err := snap.Withheld(ctx, canon.Suggested{Cards: j.Cards, Names: s.namesOfCards(j), At: j.World,
			Key: eventKey(j.ID)})
		if err != nil || w.IsEmpty() {
			return err
		}
		shown.Preview = withoutFields(w, shown.Preview)
		for _, part := range []any{&shown.Payload, &shown.Preview, &shown.Issues, &shown.Refused} {
			b, err := json.Marshal(part)
			if err == nil {
				b, err = w.FromJSON(b)
			}
			if err != nil {
				return err
			}
			emptied(part)
			if err := json.Unmarshal(b, part); err != nil {
				return err
			}
		}
		return nil
	})
	return &shown, err
}

// withoutFields returns a preview without the changes of withheld fields.
func withoutFields(w *canon.Withheld, items []PreviewItem) []PreviewItem {
	items = slices.Clone(items)
	for i := range items {
		items[i].Fields = slices.DeleteFunc(slices.Clone(items[i].Fields), func(f FieldChange) bool {
			return w.HoldsField(f.Name, f.Before) || w.HoldsField(f.Name, f.After)
		})
	}
	return items
}

// emptied sets a part of a record to its zero value, so that it shares nothing with the record.
func emptied(part any) {
	switch part := part.(type) {
	case *json.RawMessage:
		*part = nil
	case *[]PreviewItem:
		*part = nil
	case *[]Issue:
		*part = nil
	case **Rejection:
		*part = nil
	}
}

// namesOfCards returns the texts of a proposal that may be names of the cards that it changes.
func (s *Service) namesOfCards(j *judgedEvent) (names []string) {
	add := func(name string) {
		if name != "" && len(name) <= 1024 && len(names) < maxNames && !strings.Contains(name, "\n") {
			names = append(names, name)
		}
	}
	for _, item := range j.Preview {
		before, after, _ := strings.Cut(item.What, " -> ")
		add(before)
		add(after)
	}
	for _, t := range TextsOf("", j.Payload) {
		add(t.Text)
	}
	return names
}
