package usage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/store/memory"
	"loregate/internal/store/sqlite/sqlitetest"
)

// desk is a world with a recorder.
type desk struct {
	*Recorder
	canon *canon.Canon
	guard *access.Guard
	world access.WorldID
}

func newDesk(t *testing.T, store canon.Store, c Config) *desk {
	t.Helper()
	d := &desk{canon: canon.New(canon.Config{Store: store, Ledgers: map[string][]string{LedgerKind: {canon.AnySurface}}}),
		guard: access.NewGuard(access.Config{})}
	w, err := d.canon.CreateWorld(t.Context(), d.grant(t, access.WorldID{}), canon.NewWorld{Slug: "main", Title: "Main"})
	if err != nil {
		t.Fatal(err)
	}
	d.world = w.ID
	c.Canon, c.Guard = d.canon, d.guard
	if d.Recorder, err = New(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close(context.Background()) })
	return d
}

func (d *desk) grant(t *testing.T, w access.WorldID) access.Grant {
	t.Helper()
	a, err := d.guard.Admit(t.Context(), access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true},
		access.Request{Operation: "test", Effect: access.Write, World: w})
	if err != nil {
		t.Fatal(err)
	}
	return a.Grant
}

func TestNamesHaveTheirForm(t *testing.T) {
	form := regexp.MustCompile(`^AI\.[A-Z][A-Za-z]+\.[A-Z][a-z]+$`)
	seen := map[string]bool{}
	for n := Name(1); int(n) < len(names); n++ {
		if !form.MatchString(n.String()) || seen[n.String()] {
			t.Errorf("%q is no Area.Thing.Verb, or is there twice", n)
		}
		seen[n.String()] = true
		var back Name
		if b, err := json.Marshal(n); err != nil || json.Unmarshal(b, &back) != nil || back != n {
			t.Errorf("%s comes back as %s, %v", n, back, err)
		}
	}
	if _, err := json.Marshal(Name(99)); err == nil {
		t.Error("a number that is no name is written")
	}
}

func TestAggregate(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	d := newDesk(t, sqlitetest.Open(t), Config{Now: func() time.Time { return now }})
	yes, found := true, 0.5
	for n, e := range []Event{
		{Name: ModelCalled, Purpose: "ambience", Model: "a", TokensPrompt: 100, TokensCompletion: 10, LatencyMS: 10,
			CostMicroUSD: 7, Outcome: Accepted},
		{Name: ModelCalled, Purpose: "ambience", Model: "a", TokensPrompt: 200, TokensCompletion: 20, LatencyMS: 30,
			Outcome: Rejected, Retries: 1},
		{Name: CacheAnswered, Purpose: "ambience", Model: "a", CacheHit: &yes, LatencyMS: 1},
		{Name: ModelCalled, Purpose: "npc_dialogue", Model: "b", LatencyMS: 20, Outcome: Accepted, Flagged: true,
			Grams: []uint32{1, 2, 2}},
		{Name: LoreRetrieved, Purpose: "retrieval", LatencyMS: 5, Recall: &found},
		{Name: ModelCalled, Purpose: "no such purpose"},
		{Purpose: "ambience"},
		{Name: ModelCalled, Purpose: "ambience", At: now.Add(-48 * time.Hour)},
	} {
		if e.At.IsZero() {
			e.At = now.Add(time.Duration(n) * time.Minute)
		}
		d.Record(d.world, e)
	}
	count := func(q Query) (Group, []Group) {
		t.Helper()
		total, groups, err := d.Aggregate(t.Context(), d.grant(t, d.world), q)
		if err != nil {
			t.Fatal(err)
		}
		return total, groups
	}
	total, groups := count(Query{Since: now.Add(-time.Hour), GroupBy: "purpose"})
	if total.Count != 5 || total.TokensPrompt != 300 || total.CostMicroUSD != 7 || total.CacheHits != 1 ||
		total.FlaggedRate != 0.2 || total.RecallMean != 0.5 || total.RecallSamples != 1 {
		t.Errorf("in all %+v", total)
	}
	if len(groups) != 3 || groups[0].Key != "ambience" || groups[0].RejectedRate != 0.5 || groups[0].LatencyMS.P50 != 10 ||
		groups[0].LatencyMS.P99 != 30 || groups[1].DistinctGrams != 2 || groups[1].Grams != 3 {
		t.Errorf("by purpose %+v", groups)
	}
	if all, days := count(Query{GroupBy: "day"}); all.Count != 6 || len(days) != 2 {
		t.Errorf("by day %+v", days)
	}
	if one, _ := count(Query{Purpose: "ambience", Name: ModelCalled, Since: now.Add(time.Minute)}); one.Count != 1 ||
		one.Retries != 1 {
		t.Errorf("narrowed %+v", one)
	}
	if none, _ := count(Query{Until: now.Add(-72 * time.Hour)}); none.Count != 0 {
		t.Errorf("before all %+v", none)
	}
}

// A query starts in the middle of many batches.
func TestSeek(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	now := start
	store := memory.New()
	d := newDesk(t, store, Config{Now: func() time.Time { return now }, Every: time.Hour})
	d.canon = canon.New(canon.Config{Store: store, Now: func() time.Time { return now },
		Ledgers: map[string][]string{LedgerKind: {canon.AnySurface}}})
	d.cfg.Canon = d.canon
	for n := range 50 {
		now = start.Add(time.Duration(n) * 10 * time.Minute)
		d.Record(d.world, Event{Name: ModelCalled, Purpose: "planning", LatencyMS: float64(n)})
		if err := d.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	total, _, err := d.Aggregate(t.Context(), d.grant(t, d.world), Query{Since: start.Add(400 * time.Minute)})
	if err != nil || total.Count != 10 {
		t.Errorf("%+v, %v", total, err)
	}
}

func TestBudgets(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 30, 0, 0, time.UTC)
	d := newDesk(t, memory.New(), Config{Now: func() time.Time { return now },
		Budget: map[string]Budget{"ambience": {SoftHour: 50, HardHour: 100, HardDay: 150}}})
	take := func(n int) error { return d.Take(t.Context(), d.world, "ambience", n) }
	for _, n := range []int{40, 40, 20} {
		if err := take(n); err != nil {
			t.Errorf("%d tokens: %v", n, err)
		}
	}
	var f *fault.Error
	if err := take(1); !errors.As(err, &f) || f.Kind != fault.RateLimited || f.RetryAfter != 30*time.Minute {
		t.Errorf("over the hour's: %v", err)
	}
	if err := d.Take(t.Context(), d.world, "planning", 1000); err != nil {
		t.Errorf("a purpose without a budget: %v", err)
	}
	now = now.Add(time.Hour)
	if err := take(60); err == nil || take(50) != nil {
		t.Errorf("over the day's: %v", err)
	}
	total, _, err := d.Aggregate(t.Context(), d.grant(t, d.world), Query{Name: BudgetWarned})
	if err != nil || total.Count != 1 {
		t.Errorf("warned %d times, %v", total.Count, err)
	}
}

// Two processes on a store share one budget, and so does a restarted one. Returned tokens can be
// spent again. The two warn once.
func TestProcessesShareABudget(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 30, 0, 0, time.UTC)
	c := Config{Now: func() time.Time { return now }, Budget: map[string]Budget{"ambience": {SoftDay: 100, HardDay: 150}}}
	d := newDesk(t, sqlitetest.Open(t), c)
	another := func() *Recorder {
		c.Canon, c.Guard = d.canon, d.guard
		r, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close(context.Background()) })
		return r
	}
	all := []*Recorder{d.Recorder, another()}
	for n, tokens := range []int{60, 50, 30} {
		if err := all[n%2].Take(t.Context(), d.world, "ambience", tokens); err != nil {
			t.Errorf("%d tokens: %v", tokens, err)
		}
	}
	all = append(all, another())
	for n, r := range all {
		if err := r.Take(t.Context(), d.world, "ambience", 11); !errors.Is(err, fault.RateLimited) {
			t.Errorf("the process %d spends over the day's: %v", n, err)
		}
	}
	if err := all[0].Return(t.Context(), d.world, "ambience", 20); err != nil {
		t.Fatal(err)
	}
	if err := all[2].Take(t.Context(), d.world, "ambience", 30); err != nil {
		t.Errorf("what was given back cannot be spent: %v", err)
	}
	now = now.Add(24 * time.Hour)
	if err := all[1].Take(t.Context(), d.world, "ambience", 100); err != nil {
		t.Errorf("the next day: %v", err)
	}
	for _, r := range all {
		if err := r.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	total, _, err := d.Aggregate(t.Context(), d.grant(t, d.world), Query{})
	if err != nil || total.Count != 4 {
		t.Errorf("%d events, want a warning and three refusals: %v", total.Count, err)
	}
}

// Figures are rounded: milliseconds to one decimal, shares to four.
func TestFiguresAreRounded(t *testing.T) {
	d := newDesk(t, memory.New(), Config{})
	for n := range 3 {
		e := Event{Name: ModelCalled, Purpose: "planning", LatencyMS: 3.416937, Outcome: Accepted}
		if n == 0 {
			e.Outcome = Rejected
		}
		d.Record(d.world, e)
	}
	total, _, err := d.Aggregate(t.Context(), d.grant(t, d.world), Query{})
	if err != nil || total.LatencyMS != (Latency{3.4, 3.4, 3.4}) || total.RejectedRate != 0.3333 {
		t.Errorf("%+v, %v", total, err)
	}
}

// Events are written within the configured time, and on Close.
func TestWaitingEventsAreWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, memory.New(), Config{})
		d.Record(d.world, Event{Name: ModelCalled, Purpose: "ambience"})
		time.Sleep(1100 * time.Millisecond) // of the bubble's clock
		synctest.Wait()
		if h, err := d.canon.Head(t.Context(), d.grant(t, d.world), ledgerOf(d.world)); err != nil || h.Seq != 1 {
			t.Errorf("after a second: %d, %v", h.Seq, err)
		}
		d.Record(d.world, Event{Name: ModelCalled, Purpose: "ambience"})
		if err := d.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if h, err := d.canon.Head(t.Context(), d.grant(t, d.world), ledgerOf(d.world)); err != nil || h.Seq != 2 {
			t.Errorf("at the end: %d, %v", h.Seq, err)
		}
	})
}

// The number of events that wait for a failing store is bounded over all worlds, and dropped events
// are logged.
func TestWaitingEventsAreBounded(t *testing.T) {
	var log bytes.Buffer
	d := newDesk(t, memory.New(), Config{Every: time.Hour, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	d.mu.Lock()
	d.count = maxWaiting - 1
	d.mu.Unlock()
	for _, w := range []access.WorldID{d.world, {1}, {2}} {
		d.Record(w, Event{Name: BudgetWarned, Purpose: "ambience"})
	}
	d.mu.Lock()
	waiting := len(d.waiting)
	d.mu.Unlock()
	if waiting != 1 {
		t.Errorf("events of %d worlds wait, past the bound of all", waiting)
	}
	if err := d.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "events=2") {
		t.Errorf("the log says %q", log.String())
	}
}
