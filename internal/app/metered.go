package app

import (
	"context"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/telemetry"
)

// meteredStore measures and traces a store's reads and writes, and searches by themselves.
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

type meteredReader struct {
	canon.Reader
	metrics *telemetry.Metrics
}

func (m meteredReader) Search(ctx context.Context, s canon.Sight, q canon.SearchQuery, p canon.Page) (canon.SearchResult, error) {
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
	wait, ok := m.Limits.Take(account, profile, class)
	if !ok {
		m.metrics.Refusal(string(class))
	}
	return wait, ok
}
