package app

import (
	"context"
	"time"

	"loregate/internal/access"
)

// witnesses answers the canon's questions about readers from the access log, which is opened after the canon.
type witnesses struct{ a *App }

// SeenBy returns those who were shown cards of a world since a time.
func (w witnesses) SeenBy(ctx context.Context, world access.WorldID, cards [][16]byte,
	since time.Time) ([]access.Seen, error) {
	return w.a.log.SeenBy(ctx, world, cards, since)
}
