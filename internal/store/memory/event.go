package memory

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"loregate/internal/canon"
)

func (r reader) Events(_ context.Context, s canon.Visibility,
	q canon.EventQuery) ([]canon.StoredEvent, canon.Total, error) {
	var all []canon.StoredEvent
	for key, e := range r.s.events.all() {
		if key.world == s.World && s.View.Sees(e.Label) && matchesEvent(q, e) {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b canon.StoredEvent) int {
		if q.Oldest {
			a, b = b, a
		}
		return cmp.Compare(b.Seq, a.Seq)
	})
	out, total := cutPage(all, q.Page)
	return out, total, nil
}

func matchesEvent(q canon.EventQuery, e canon.StoredEvent) bool {
	return (len(q.Scopes) == 0 || slices.Contains(q.Scopes, e.Scope)) &&
		(len(q.Types) == 0 || slices.Contains(q.Types, e.Type)) &&
		(q.Actor == "" || q.Actor == e.Actor.ID) &&
		(q.Key == "" || q.Key == e.Key) &&
		(q.ID == uuid.Nil || q.ID == e.ID) &&
		(q.After == 0 || e.Seq > q.After) &&
		(q.AsOf == 0 || e.Seq <= q.AsOf)
}

func (t tx) PutEvent(_ context.Context, e canon.StoredEvent) error {
	e.Payload = bytes.Clone(e.Payload)
	e.At = storedTime(e.At)
	t.s.events.put(eventKey{e.World, e.Seq}, e)
	return nil
}
