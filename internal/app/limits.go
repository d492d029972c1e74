package app

import (
	"context"
	"sync"

	"loregate/internal/access"
)

// shareLimits lets the processes on one database count the calls of callers and players together,
// until stop is called, which waits. Processes on a data folder count separately: beside one serve
// process there are only stdio servers, which have no limits.
func (a *App) shareLimits(ctx context.Context) (stop func()) {
	with, ok := homeOf(a.store).(access.Shared)
	if !ok {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	for _, l := range []*access.Limits{a.limits, a.host.Limits()} {
		all.Go(func() { l.Share(ctx, with, a.logger) })
	}
	return func() { cancel(); all.Wait() }
}
