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

// Query says which events are counted, and by what.
type Query struct {
	Since, Until time.Time // inclusive, exclusive
	Purpose      string    // "" for all
	Name         Name      // 0 for all
	GroupBy      string    // purpose, model, hour, day, or "" for all together
}

// Group is what a set of events comes to.
type Group struct {
	Key              string  `json:"key,omitempty"`
	Count            int     `json:"count"`
	TokensPrompt     int     `json:"tokensPrompt"`
	TokensCompletion int     `json:"tokensCompletion"`
	CostMicroUSD     int64   `json:"costMicroUsd"`
	LatencyMS        Latency `json:"latencyMs"`
	RejectedRate     float64 `json:"rejectedRate" jsonschema:"Of those that were validated, the share that was rejected."`
	FlaggedRate      float64 `json:"flaggedRate" jsonschema:"Share that moderation flagged."`
	CacheHits        int     `json:"cacheHits"`
	Retries          int     `json:"retries"`
	ToolCalls        int     `json:"toolCalls"`
	Grams            int     `json:"grams" jsonschema:"Three-word runs of texts."`
	DistinctGrams    int     `json:"distinctGrams" jsonschema:"Different ones among them: how varied the texts are."`
	RecallSamples    int     `json:"recallSamples" jsonschema:"Retrievals whose answer was known."`
	RecallMean       float64 `json:"recallMean" jsonschema:"Share of the known answers that they found."`
}

// Latency is how long calls took, in milliseconds to one decimal.
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

func (t *tally) group(key string) Group {
	g := t.Group
	g.Key, g.DistinctGrams = key, len(t.grams)
	slices.Sort(t.latencies)
	g.LatencyMS = Latency{tenths(quantile(t.latencies, 0.50)), tenths(quantile(t.latencies, 0.95)), tenths(quantile(t.latencies, 0.99))}
	g.RejectedRate = share(float64(t.rejected), t.validated)
	g.FlaggedRate = share(float64(t.flagged), t.Count)
	g.RecallMean = share(t.recall, t.RecallSamples)
	return g
}

func tenths(ms float64) float64 { return math.Round(ms*10) / 10 }

// share is a share to four decimals.
func share(part float64, of int) float64 {
	if of == 0 {
		return 0
	}
	return math.Round(part/float64(of)*1e4) / 1e4
}

// quantile is the nearest-rank quantile of sorted values.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(q*float64(len(sorted)) + 0.999999)
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// Aggregate counts a world's events, those that wait here among them.
func (r *Recorder) Aggregate(ctx context.Context, g access.Grant, q Query) (total Group, groups []Group, err error) {
	if err := r.Flush(ctx); err != nil {
		return Group{}, nil, err
	}
	all, by := &tally{}, map[string]*tally{}
	err = r.cfg.Canon.Follow(ctx, g, ledgerOf(g.World()), func(t *canon.LedgerTx) error {
		return q.each(t, func(e Event) {
			all.add(e)
			if q.GroupBy == "" {
				return
			}
			key := e.key(q.GroupBy)
			if by[key] == nil {
				by[key] = &tally{}
			}
			by[key].add(e)
		})
	})
	for key, t := range by {
		groups = append(groups, t.group(key))
	}
	slices.SortFunc(groups, func(a, b Group) int { return cmp.Compare(a.Key, b.Key) })
	return all.group(""), groups, err
}

func (e Event) key(by string) string {
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

// slack is how much later than its events a record may be.
const slack = time.Minute

// each hands out the events of a query.
func (q Query) each(t *canon.LedgerTx, f func(Event)) error {
	from, err := q.seek(t)
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
		list, err := decode(rec.Event.Payload)
		if err != nil {
			return err
		}
		for _, e := range list {
			if q.takes(e) {
				f(e)
			}
		}
	}
	return nil
}

func (q Query) takes(e Event) bool {
	return !e.At.Before(q.Since) && (q.Until.IsZero() || e.At.Before(q.Until)) && (q.Purpose == "" || e.Purpose == q.Purpose) && (q.Name == 0 || e.Name == q.Name)
}

// seek finds the first record that may hold events of the query's time, by halving.
func (q Query) seek(t *canon.LedgerTx) (canon.Seq, error) {
	low, high := canon.Seq(1), t.Head.Seq+1
	for low < high && !q.Since.IsZero() {
		middle := low + (high-low)/2
		at, err := timeOf(t, middle)
		if err != nil {
			return 0, err
		}
		if at.Before(q.Since.Add(-slack)) {
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
