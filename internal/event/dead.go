package event

import (
	"context"
	"regexp"
	"time"

	"loregate/internal/access"
	"loregate/internal/markup"
)

var uuids = regexp.MustCompile(`[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{8}([0-9a-fA-F]{4})`)

// Redacted returns a text in which only the last four characters of each id are left.
func Redacted(text string) string { return uuids.ReplaceAllString(markup.Clip(text, 500), "…$1") }

// DeadLetter is a delivery that has failed for good, as it is shown: with redacted ids.
type DeadLetter struct {
	Event    string // "…" and the last four characters of the event's id
	Handler  string
	Attempts int
	Problem  string
	At       time.Time
}

// maxDead bounds a listing of dead letters.
const maxDead = 1000

// DeadLetters lists the dead letters of a world, latest first.
func (d *Dispatcher) DeadLetters(ctx context.Context, w access.WorldID) ([]DeadLetter, error) {
	list, err := d.cfg.Deliveries.Dead(ctx, w, maxDead)
	out := make([]DeadLetter, len(list))
	for i, one := range list {
		out[i] = DeadLetter{Redacted(one.Event.String()), one.Handler, one.Attempts, one.Problem, one.Changed}
	}
	return out, err
}

// Replay makes dead letters due again: all of a world, or those of an event by its full id or its
// last four characters. It returns their number.
func (d *Dispatcher) Replay(ctx context.Context, w access.WorldID, event string) (n int, err error) {
	list, err := d.cfg.Deliveries.Dead(ctx, w, maxDead)
	if err != nil {
		return 0, err
	}
	for _, one := range list {
		id := one.Event.String()
		if event != "" && event != id && event != id[len(id)-4:] && event != Redacted(id) {
			continue
		}
		ok, err := d.cfg.Deliveries.Revive(ctx, w, one.Event, one.Handler, d.cfg.Now())
		if err != nil {
			return n, err
		}
		if ok {
			n++
		}
	}
	return n, nil
}
