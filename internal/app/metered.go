package app

import (
	"context"
	"errors"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/postgres"
	"loregate/internal/telemetry"
)

// meteredStore measures and traces a store's reads and writes; searches are measured separately.
type meteredStore struct {
	canon.Store
	metrics *telemetry.Metrics
}

func (m meteredStore) Read(ctx context.Context, f func(canon.Reader) error) error {
	ctx, end := telemetry.Start(ctx, "store.read")
	started := time.Now()
	err := m.Store.Read(ctx, func(r canon.Reader) error { return f(meteredReader{r, m.metrics}) })
	m.metrics.Store("read", time.Since(started))
	end(err)
	return err
}

func (m meteredStore) Write(ctx context.Context, f func(canon.Tx) error) error {
	ctx, end := telemetry.Start(ctx, "store.write")
	started := time.Now()
	err := m.Store.Write(ctx, f)
	m.metrics.Store("write", time.Since(started))
	end(err)
	return err
}

// WriteTo implements canon.Placer. In one database it is Write.
func (m meteredStore) WriteTo(ctx context.Context, w access.WorldID, f func(canon.Tx) error) error {
	p, ok := m.Store.(canon.Placer)
	if !ok {
		return m.Write(ctx, f)
	}
	ctx, end := telemetry.Start(ctx, "store.write")
	started := time.Now()
	err := p.WriteTo(ctx, w, f)
	m.metrics.Store("write", time.Since(started))
	end(err)
	return err
}

// Place implements canon.Placer. In one database there is nothing to choose.
func (m meteredStore) Place(ctx context.Context, w access.WorldID, slug string) error {
	if p, ok := m.Store.(canon.Placer); ok {
		return p.Place(ctx, w, slug)
	}
	return nil
}

// Mark returns the store's mark; ok is false if the store has none.
func (m meteredStore) Mark() (canon.Mark, bool) {
	if s, ok := m.Store.(canon.Marker); ok {
		return s.Mark()
	}
	return canon.Mark{}, false
}

type meteredReader struct {
	canon.Reader
	metrics *telemetry.Metrics
}

// Prefetch forwards to the Reader if it implements canon.Prefetcher.
func (m meteredReader) Prefetch(ctx context.Context, n canon.Needs) error {
	return canon.Prefetch(ctx, m.Reader, n)
}

func (m meteredReader) Search(ctx context.Context, s canon.Visibility, q canon.SearchQuery,
	p canon.Page) (canon.SearchResult, error) {
	ctx, end := telemetry.Start(ctx, "store.search")
	started := time.Now()
	result, err := m.Reader.Search(ctx, s, q, p)
	m.metrics.Search(time.Since(started))
	end(err)
	return result, err
}

// meteredLimits counts refusals.
type meteredLimits struct {
	*access.Limits
	metrics *telemetry.Metrics
}

func (m meteredLimits) Take(account, profile string, class access.Class) (time.Duration, bool) {
	return m.TakeSeveral(account, profile, class, 1)
}

func (m meteredLimits) TakeSeveral(account, profile string, class access.Class, n int64) (time.Duration, bool) {
	wait, ok := m.Limits.TakeSeveral(account, profile, class, n)
	if !ok {
		m.metrics.Refusal(string(class))
	}
	return wait, ok
}

// countWithin is the longest time that a scrape of the metrics waits for the store.
const countWithin = time.Second

// measureQueues exports the lengths of three queues: buffered access records, jobs of this process,
// and undelivered events of all processes.
func (a *App) measureQueues() error {
	events := func() int {
		ctx, cancel := context.WithTimeout(context.Background(), countWithin)
		defer cancel()
		n, err := a.store.Pending(ctx)
		if err != nil {
			return -1 // unknown; the store's own metrics show why
		}
		return n
	}
	return errors.Join(a.metrics.AccessBuffer(a.log.Depth), a.metrics.Queue("jobs", a.jobs.Waiting),
		a.metrics.Queue("events", events), a.measureLongReads())
}

// measureLongReads exports where long reads were made, if they may be made at a standby.
func (a *App) measureLongReads() error {
	if !a.Config.Standbys {
		return nil
	}
	sum := func(value func(postgres.LongReads) float64) func() float64 {
		return func() (all float64) {
			eachDatabase(a.store, func(s *postgres.Store) { all += value(s.LongReads()) })
			return all
		}
	}
	return a.metrics.LongReads(sum(func(n postgres.LongReads) float64 { return float64(n.AtStandby) }),
		sum(func(n postgres.LongReads) float64 { return float64(n.AtPrimary) }),
		sum(func(n postgres.LongReads) float64 { return n.Waited.Seconds() }))
}
