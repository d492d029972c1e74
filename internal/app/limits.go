package app

import (
	"context"
	"sync"

	"loregate/internal/access"
)

// shareLimits lets the processes on one database count together what callers and players
// spend, until stop, which waits. Those on a data folder count each for itself: besides
// one serve there are stdio servers, which have no limits.
func (a *App) shareLimits(ctx context.Context) (stop func()) {
	with, ok := a.store.(access.Shared)
	if !ok {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	for _, l := range []*access.Limits{a.limits, a.places.Limits()} {
		all.Go(func() { l.Share(ctx, with, a.logger) })
	}
	return func() { cancel(); all.Wait() }
}
