package usage

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// Query selects the events to count and their grouping.
type Query struct {
	Since, Until time.Time // inclusive, exclusive
	Purpose      string    // "" for all
	Name         Name      // 0 for all
	GroupBy      string    // purpose, model, hour, day, or "" for no groups
}

// Group is the aggregate of a set of events.
type Group struct {
	Key              string  `json:"key,omitempty"`
	Count            int     `json:"count"`
	TokensPrompt     int     `json:"tokensPrompt"`
	TokensCompletion int     `json:"tokensCompletion"`
	CostMicroUSD     int64   `json:"costMicroUsd"`
	LatencyMS        Latency `json:"latencyMs"`
	RejectedRate     float64 `json:"rejectedRate" jsonschema:"Share of the validated proposals that was rejected."`
	FlaggedRate      float64 `json:"flaggedRate" jsonschema:"Share that moderation flagged."`
	CacheHits        int     `json:"cacheHits"`
	Retries          int     `json:"retries"`
	ToolCalls        int     `json:"toolCalls"`
	Grams            int     `json:"grams" jsonschema:"Three-word sequences in the texts."`
	DistinctGrams    int     `json:"distinctGrams" jsonschema:"Different three-word sequences; the more, the more varied the texts."`
	RecallSamples    int     `json:"recallSamples" jsonschema:"Retrievals with known correct answers."`
	RecallMean       float64 `json:"recallMean" jsonschema:"Share of the correct answers that they found."`
}

// Latency holds percentiles of the calls' durations, in milliseconds to one decimal.
type Latency struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
}

// tally counts the events of a group.
type tally struct {
	Group
	validated, rejected, flagged int
	latencies                    []float64
	grams                        map[uint32]struct{}
	recall                       float64
}

func (t *tally) add(e Event) {
	t.Count++
	t.TokensPrompt += e.TokensPrompt
	t.TokensCompletion += e.TokensCompletion
	t.CostMicroUSD += e.CostMicroUSD
	t.Retries += e.Retries
	t.ToolCalls += e.ToolCalls
	t.latencies = append(t.latencies, e.LatencyMS)
	if e.Outcome != "" {
		t.validated++
	}
	if e.Outcome == Rejected {
		t.rejected++
	}
	if e.Flagged {
		t.flagged++
	}
	if e.CacheHit != nil && *e.CacheHit {
		t.CacheHits++
	}
	if e.Recall != nil {
		t.RecallSamples++
		t.recall += *e.Recall
	}
	t.Grams += len(e.Grams)
	for _, g := range e.Grams {
		if t.grams == nil {
			t.grams = map[uint32]struct{}{}
		}
		t.grams[g] = struct{}{}
	}
}

func (t *tally) toGroup(key string) Group {
	g := t.Group
	g.Key, g.DistinctGrams = key, len(t.grams)
	slices.Sort(t.latencies)
	g.LatencyMS = Latency{roundTenths(quantile(t.latencies, 0.50)), roundTenths(quantile(t.latencies, 0.95)),
		roundTenths(quantile(t.latencies, 0.99))}
	g.RejectedRate = roundShare(float64(t.rejected), t.validated)
	g.FlaggedRate = roundShare(float64(t.flagged), t.Count)
	g.RecallMean = roundShare(t.recall, t.RecallSamples)
	return g
}

func roundTenths(ms float64) float64 { return math.Round(ms*10) / 10 }

// roundShare returns part divided by of, to four decimals.
func roundShare(part float64, of int) float64 {
	if of == 0 {
		return 0
	}
	return math.Round(part/float64(of)*1e4) / 1e4
}

// quantile returns the nearest-rank quantile of sorted values.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(q*float64(len(sorted)) + 0.999999)
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// Aggregate counts a world's events, including those that this Recorder has not written yet.
func (r *Recorder) Aggregate(ctx context.Context, g access.Grant, q Query) (total Group, groups []Group, err error) {
	if err := r.Flush(ctx); err != nil {
		return Group{}, nil, err
	}
	all, by := &tally{}, map[string]*tally{}
	err = r.cfg.Canon.Follow(ctx, g, ledgerOf(g.World()), func(t *canon.LedgerTx) error {
		return q.eachEvent(t, func(e Event) {
			all.add(e)
			if q.GroupBy == "" {
				return
			}
			key := e.groupKey(q.GroupBy)
			if by[key] == nil {
				by[key] = &tally{}
			}
			by[key].add(e)
		})
	})
	for key, t := range by {
		groups = append(groups, t.toGroup(key))
	}
	slices.SortFunc(groups, func(a, b Group) int { return cmp.Compare(a.Key, b.Key) })
	return all.toGroup(""), groups, err
}

func (e Event) groupKey(by string) string {
	switch by {
	case "purpose":
		return e.Purpose
	case "model":
		return cmp.Or(e.Model, "none")
	case "hour":
		return e.At.UTC().Format("2006-01-02T15:00Z")
	}
	return e.At.UTC().Format(time.DateOnly)
}

// recordDelay is the longest time between an event and its record.
const recordDelay = time.Minute

// eachEvent calls f for every event of a query.
func (q Query) eachEvent(t *canon.LedgerTx, f func(Event)) error {
	from, err := q.seekStart(t)
	if err != nil {
		return err
	}
	for rec, err := range t.From(from) {
		if err != nil {
			return err
		}
		if rec.Event == nil || rec.Event.Type != eventType {
			continue
		}
		list, err := decodeBatch(rec.Event.Payload)
		if err != nil {
			return err
		}
		for _, e := range list {
			if q.isMatch(e) {
				f(e)
			}
		}
	}
	return nil
}

func (q Query) isMatch(e Event) bool {
	return !e.At.Before(q.Since) && (q.Until.IsZero() || e.At.Before(q.Until)) &&
		(q.Purpose == "" || e.Purpose == q.Purpose) && (q.Name == 0 || e.Name == q.Name)
}

// seekStart returns the first record that may hold events of the query's time, by binary search.
func (q Query) seekStart(t *canon.LedgerTx) (canon.Seq, error) {
	low, high := canon.Seq(1), t.Head.Seq+1
	for low < high && !q.Since.IsZero() {
		middle := low + (high-low)/2
		at, err := timeOf(t, middle)
		if err != nil {
			return 0, err
		}
		if at.Before(q.Since.Add(-recordDelay)) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, nil
}

func timeOf(t *canon.LedgerTx, seq canon.Seq) (time.Time, error) {
	for rec, err := range t.From(seq) {
		return rec.At, err
	}
	return time.Time{}, nil
}
