package postgres

import (
	"context"
	"fmt"
	"sync"

	"loregate/internal/canon"
)

// counts remembers how many documents searches found, and how often their world had been
// indexed then. A later count differs by no more than what was indexed since: what was
// found far above canon.CountCap stays above it for a while.
type counts struct {
	mu sync.Mutex // guards m
	m  map[string]count
}

type count struct {
	n    int64
	docs int64
}

const (
	// maxCounts bounds what is remembered, to some 10 MB.
	maxCounts = 20_000
	// farAbove is how far beyond canon.CountCap a search counts.
	farAbove = 2000
)

// holds gives a remembered count where it still answers for a state of the index.
func (c *counts) holds(key string, docs int64) (n int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was, ok := c.m[key]
	if !ok {
		return 0, false
	}
	since := max(was.docs-docs, docs-was.docs)
	return was.n, since == 0 || was.n-since > canon.CountCap
}

func (c *counts) put(key string, v count) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil || len(c.m) >= maxCounts {
		c.m = make(map[string]count)
	}
	c.m[key] = v
}

// remembered gives how many a search finds where that is known.
func (r *reader) remembered(f *finding, at state) (n int64, known bool) {
	if f.key == "" || r.writes != nil {
		return 0, false
	}
	return r.s.known.counts.holds(f.key, at.docs)
}

func (r *reader) remember(f *finding, at state, n int64) {
	if f.key != "" && r.writes == nil {
		r.s.known.counts.put(f.key, count{n, at.docs})
	}
}

// found counts what a search finds.
func (r *reader) found(ctx context.Context, f *finding, at state) (int64, error) {
	n, err := r.counted(ctx, f.sc, f.hits("1"), canon.CountCap+farAbove)
	if err == nil {
		r.remember(f, at, n)
	}
	return n, err
}

// counted counts the rows of a query, up to a number.
func (r *reader) counted(ctx context.Context, sc *scope, query string, most int) (int64, error) {
	query, args := sc.trimmed(fmt.Sprintf("SELECT count(*) FROM (%s LIMIT %d) t", query, most))
	return r.c.number(ctx, query, args...)
}
