package telemetry

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Labels are the values that metric labels may have. Any other value counts as "other", so that
// callers cannot create new series.
type Labels struct {
	Operations []string
	Surfaces   []string
	Codes      []string // "ok" and the error codes
	Limits     []string // limit classes
	Queues     []string // "jobs", "outbox", "access", …
	Purposes   []string // purposes of token budgets
	Runs       []string // states of studio runs
}

// Metrics are the metrics of the process, by the names that /metrics shows. A nil *Metrics records
// nothing. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	allowed  map[string][]string

	calls    *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	refusals *prometheus.CounterVec
	store    *prometheus.HistogramVec
	search   prometheus.Histogram
	budget   *prometheus.CounterVec
	runs     *prometheus.CounterVec
	model    *prometheus.HistogramVec
	cost     *prometheus.CounterVec
	judged   *prometheus.CounterVec
	recall   prometheus.Histogram
	drift    *prometheus.CounterVec
	turns    *prometheus.CounterVec
	texts    map[string]*variety // by kind of text
}

// other replaces every value that a label may not have.
const other = "other"

// Upper bounds in seconds; of shares, as such. A call takes 0.1 ms (a point read) to 5 s (the longest query
// allowed); a step of the store 10 µs to a second, an answer of a model up to half a minute.
var (
	callBuckets  = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5}
	modelBuckets = []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	shareBuckets = []float64{0, .25, .5, .75, .9, 1}
	storeBuckets = []float64{.00001, .000025, .00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .1, .5, 1}
)

// NewMetrics returns the metrics.
func NewMetrics(l Labels) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		calls: newCounter("loregate_calls_total", "Calls by operation, surface and outcome.", "operation", "surface",
			"code"),
		seconds:  newHistogram("loregate_call_seconds", "Duration of calls in seconds.", callBuckets, "operation"),
		refusals: newCounter("loregate_refusals_total", "Calls refused by a limit.", "limit"),
		store: newHistogram("loregate_store_seconds", "Duration of reads and writes of the store in seconds.", storeBuckets,
			"action"),
		search: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "loregate_search_seconds",
			Help: "Duration of searches in seconds.", Buckets: callBuckets}),
		budget: newCounter("loregate_budget_used_total", "Model tokens used, by purpose.", "purpose"),
		runs:   newCounter("loregate_runs_total", "Studio runs by the state that they reached.", "state"),
		model: newHistogram("loregate_model_seconds", "Duration of answers of models in seconds, by purpose.", modelBuckets,
			"purpose"),
		cost: newCounter("loregate_model_cost_usd_total", "Cost of models in US dollars, by purpose.", "purpose"),
		judged: newCounter("loregate_judged_total", "Judged proposals by purpose and outcome: accepted or rejected.",
			"purpose", "outcome"),
		recall: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "loregate_retrieval_recall",
			Help: "Share of the correct answers that sampled retrievals found.", Buckets: shareBuckets}),
		drift: newCounter("loregate_drift_total", "Kept texts that audits judged: clean, or drifted away from the canon.",
			"result"),
		turns: newCounter("loregate_turns_total", "Acts of players that were told, by their narrator: rules or model.", "by"),
		texts: map[string]*variety{"dialogue": {}, "narration": {}},
	}
	m.AllowLabels(l)
	m.registry.MustRegister(m.calls, m.seconds, m.refusals, m.store, m.search, m.budget, m.runs, m.model, m.cost, m.judged,
		m.recall, m.drift, m.turns,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for kind, v := range m.texts {
		for n := range maxRun {
			m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "loregate_distinct_ratio",
				Help:        "Share of different runs of so many words among all runs in the latest 200 texts of a kind.",
				ConstLabels: prometheus.Labels{"text": kind, "words": strconv.Itoa(n + 1)}},
				func() float64 { return v.share(n + 1) }))
		}
	}
	return m
}

// AllowLabels replaces the values that labels may have. Call it at start, before anything is counted.
func (m *Metrics) AllowLabels(l Labels) {
	m.allowed = map[string][]string{
		"operation": l.Operations, "surface": l.Surfaces, "code": l.Codes, "limit": l.Limits,
		"queue": l.Queues, "purpose": l.Purposes, "state": l.Runs, "action": {"read", "write"},
		"outcome": {"accepted", "rejected", "modified"}, "by": {"rules", "model"},
	}
}

func newCounter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func newHistogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

func (m *Metrics) labelValue(name, value string) string {
	if slices.Contains(m.allowed[name], value) {
		return value
	}
	return other
}

// Call counts a call and records its duration. code is "ok" or the error code.
func (m *Metrics) Call(operation, surface, code string, took time.Duration) {
	if m == nil {
		return
	}
	operation = m.labelValue("operation", operation)
	m.calls.WithLabelValues(operation, m.labelValue("surface", surface), m.labelValue("code", code)).Inc()
	m.seconds.WithLabelValues(operation).Observe(took.Seconds())
}

// Refusal counts a call that a limit refused.
func (m *Metrics) Refusal(limit string) {
	if m != nil {
		m.refusals.WithLabelValues(m.labelValue("limit", limit)).Inc()
	}
}

// Store records the duration of a "read" or "write" of the store.
func (m *Metrics) Store(action string, took time.Duration) {
	if m != nil {
		m.store.WithLabelValues(m.labelValue("action", action)).Observe(took.Seconds())
	}
}

// Search records the duration of a search.
func (m *Metrics) Search(took time.Duration) {
	if m != nil {
		m.search.Observe(took.Seconds())
	}
}

// Budget counts model tokens used for a purpose.
func (m *Metrics) Budget(purpose string, tokens int) {
	if m != nil && tokens > 0 {
		m.budget.WithLabelValues(m.labelValue("purpose", purpose)).Add(float64(tokens))
	}
}

// Model records an answer of a model: its purpose, cost and duration.
func (m *Metrics) Model(purpose string, costUSD float64, took time.Duration) {
	if m != nil {
		purpose = m.labelValue("purpose", purpose)
		m.cost.WithLabelValues(purpose).Add(max(costUSD, 0))
		m.model.WithLabelValues(purpose).Observe(took.Seconds())
	}
}

// Judged counts a judged proposal.
func (m *Metrics) Judged(purpose, outcome string) {
	if m != nil {
		m.judged.WithLabelValues(m.labelValue("purpose", purpose), m.labelValue("outcome", outcome)).Inc()
	}
}

// Drift counts the kept texts that an audit judged, and those that a gate would refuse by now.
func (m *Metrics) Drift(judged, drifted int) {
	m.drift.WithLabelValues("clean").Add(float64(judged - drifted))
	m.drift.WithLabelValues("drifted").Add(float64(drifted))
}

// Recall records the share of the correct answers that a retrieval found.
func (m *Metrics) Recall(share float64) {
	if m != nil {
		m.recall.Observe(share)
	}
}

// Turn counts an act of a player that was told by "rules" or by a "model".
func (m *Metrics) Turn(by string) {
	if m != nil {
		m.turns.WithLabelValues(m.labelValue("by", by)).Inc()
	}
}

// Text adds a text of the kind "dialogue" or "narration", by HashWords, to those whose variety is measured.
func (m *Metrics) Text(kind string, words []uint32) {
	if m == nil || m.texts[kind] == nil || len(words) == 0 {
		return
	}
	m.texts[kind].add(words)
}

// Run counts a studio run that reached a state.
func (m *Metrics) Run(state string) {
	if m != nil {
		m.runs.WithLabelValues(m.labelValue("state", state)).Inc()
	}
}

// Queue registers the gauge of a queue. depth is called at every scrape and must be quick. It
// returns an error if the queue is not in the set or is registered already.
func (m *Metrics) Queue(queue string, depth func() int) error {
	if m == nil {
		return nil
	}
	if !slices.Contains(m.allowed["queue"], queue) {
		return fmt.Errorf("telemetry: %q is not a measured queue", queue)
	}
	return m.registerGauge("loregate_queue_depth", "Waiting entries, by queue.", prometheus.Labels{"queue": queue}, depth)
}

// LongReads registers the counters of reads that may be made at a standby of the database: those at a
// standby, those at the primary, and the seconds that were spent waiting for a standby.
func (m *Metrics) LongReads(atStandby, atPrimary, waited func() float64) error {
	if m == nil {
		return nil
	}
	count := func(at string, value func() float64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "loregate_long_reads_total",
			Help:        "Reads of exports and of index building, by the server that answered: standby or primary.",
			ConstLabels: prometheus.Labels{"at": at}}, value)
	}
	for _, c := range []prometheus.Collector{count("standby", atStandby), count("primary", atPrimary),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "loregate_standby_wait_seconds_total",
			Help: "Time that such reads waited for a standby to have all that the primary had."}, waited)} {
		if err := m.registry.Register(c); err != nil {
			return fmt.Errorf("telemetry: long reads: %w", err)
		}
	}
	return nil
}

// AccessBuffer registers the gauge of access records that are not durable yet.
func (m *Metrics) AccessBuffer(depth func() int) error {
	if m == nil {
		return nil
	}
	return m.registerGauge("loregate_access_buffer",
		"Access records that are not durable yet, including those of running calls.",
		nil, depth)
}

func (m *Metrics) registerGauge(name, help string, labels prometheus.Labels, value func() int) error {
	g := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels},
		func() float64 { return float64(value()) })
	if err := m.registry.Register(g); err != nil {
		return fmt.Errorf("telemetry: %s: %w", name, err)
	}
	return nil
}

// Handler serves /metrics in the Prometheus text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}
