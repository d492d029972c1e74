package loadtest

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Report is the result of a run. The names in its JSON are stable.
type Report struct {
	Servers []string         `json:"servers"`
	World   string           `json:"world"`
	Seed    uint64           `json:"seed"`
	Cards   int              `json:"cards"`
	Clients int              `json:"clients"`
	Rate    float64          `json:"rate,omitempty"` // requested rate; 0 in a closed loop
	Seconds float64          `json:"seconds"`
	Calls   int64            `json:"calls"` // successful calls, without notices
	PerSec  float64          `json:"calls_per_second"`
	All     Latency          `json:"latency"`
	Kinds   map[Kind]Figures `json:"kinds"`
	Failed  int              `json:"failed"`         // calls that failed in the end
	Retried int              `json:"retried"`        // lost tries of calls that succeeded when repeated
	Moved   int              `json:"moved"`          // tries that could not reach a server and continued with another
	Cut     int              `json:"cut"`            // calls that the end of the run cut off
	Limited int              `json:"limited"`        // tries refused by the server's limits
	Waited  float64          `json:"waited_seconds"` // waiting time because of limits, all clients together
	CPU     *ServerCPU       `json:"server_cpu"`     // null if unknown
	Over    []Slot           `json:"over_time"`
}

// Figures are the results for one kind of call.
type Figures struct {
	Calls   int64          `json:"calls"`
	Latency Latency        `json:"latency"`
	Failed  map[string]int `json:"failed,omitempty"`
	Retried map[string]int `json:"retried,omitempty"`
}

// Latency is in milliseconds.
type Latency struct {
	P50 float64 `json:"p50_ms"`
	P90 float64 `json:"p90_ms"`
	P99 float64 `json:"p99_ms"`
	Max float64 `json:"max_ms"`
}

// Slot is a sixtieth of a run.
type Slot struct {
	At     float64 `json:"at_seconds"`
	Calls  int64   `json:"calls"`
	P50    float64 `json:"p50_ms"`
	P99    float64 `json:"p99_ms"`
	Failed int     `json:"failed,omitempty"` // failed tries, including those that were repeated
}

type quantiles interface {
	ValueAtQuantile(q float64) int64
	Max() int64
	TotalCount() int64
}

func newLatency(h quantiles) Latency {
	ms := func(micros int64) float64 { return float64(micros) / 1000 }
	return Latency{ms(h.ValueAtQuantile(50)), ms(h.ValueAtQuantile(90)), ms(h.ValueAtQuantile(99)), ms(h.Max())}
}

func (m *measure) toReport(c Config, took time.Duration) *Report {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := &Report{Servers: c.URLs, World: c.World, Seed: c.Seed, Cards: c.Cards, Clients: c.Clients, Rate: c.Rate,
		Seconds: took.Seconds(),
		Kinds:   map[Kind]Figures{}, Moved: m.moved, Cut: m.undone, Limited: m.limited, Waited: m.waited.Seconds()}
	all := newMeasure(0).tallyOf("").h
	for k, t := range m.kinds {
		r.Kinds[k] = Figures{Calls: t.h.TotalCount(), Latency: newLatency(t.h), Failed: t.failed, Retried: t.retried}
		r.Failed, r.Retried = r.Failed+sumCounts(t.failed), r.Retried+sumCounts(t.retried)
		if k != Notice {
			all.Merge(t.h)
		}
	}
	r.Calls, r.All = all.TotalCount(), newLatency(all)
	r.PerSec = float64(r.Calls) / max(took.Seconds(), 1e-9)
	for i, h := range m.over {
		at := time.Duration(i) * m.slot
		if at >= took {
			break
		}
		s := Slot{At: at.Seconds(), Failed: m.bad[i]}
		if h != nil {
			l := newLatency(h)
			s.Calls, s.P50, s.P99 = h.TotalCount(), l.P50, l.P99
		}
		r.Over = append(r.Over, s)
	}
	return r
}

func sumCounts(by map[string]int) (n int) {
	for _, v := range by {
		n += v
	}
	return n
}

// Print writes the report for a person.
func (r *Report) Print(out io.Writer) error {
	var b strings.Builder
	loop := "as fast as answers come"
	if r.Rate > 0 {
		loop = fmt.Sprintf("%g calls a second asked for", r.Rate)
	}
	fmt.Fprintf(&b, "%.1f calls/s: %d in %.1f s, %d clients, %s\n\n", r.PerSec, r.Calls, r.Seconds, r.Clients, loop)
	t := tabwriter.NewWriter(&b, 2, 2, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\tcalls\tp50 ms\tp90 ms\tp99 ms\tmax ms\t\n")
	row := func(name string, n int64, l Latency) {
		fmt.Fprintf(t, "%s\t%d\t%.1f\t%.1f\t%.1f\t%.1f\t\n", name, n, l.P50, l.P90, l.P99, l.Max)
	}
	for _, k := range r.orderedKinds() {
		row(string(k), r.Kinds[k].Calls, r.Kinds[k].Latency)
	}
	row("all but notices", r.Calls, r.All)
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(&b, "\n%s\n", r.CPU.formatLine())
	fmt.Fprintf(&b, "\np99 over time, up to %.0f ms:  %s\n", r.worstP99(), r.Sparkline())
	r.printFailures(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

// RowHead is the head of a Markdown table with the rows of Row.
const RowHead = "| | calls/s | p50 ms | p99 ms | read p99 | search p99 | write p99 | propose p99 | notice p50 | notice p99 | failed | repeated | moved | limited | server CPU µs a call |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"

// Row formats the report as one row of a Markdown table.
func (r *Report) Row(name string) string {
	cells := []string{name, fmt.Sprintf("%.0f", r.PerSec), fmt.Sprintf("%.1f", r.All.P50), fmt.Sprintf("%.1f", r.All.P99)}
	cell := func(k Kind, figure func(Latency) float64) {
		f, ok := r.Kinds[k]
		if !ok || f.Calls == 0 {
			cells = append(cells, "–")
			return
		}
		cells = append(cells, fmt.Sprintf("%.1f", figure(f.Latency)))
	}
	p99 := func(l Latency) float64 { return l.P99 }
	for _, k := range []Kind{Read, Search, Write, Propose} {
		cell(k, p99)
	}
	cell(Notice, func(l Latency) float64 { return l.P50 })
	cell(Notice, p99)
	for _, n := range []int{r.Failed, r.Retried, r.Moved, r.Limited} {
		cells = append(cells, fmt.Sprint(n))
	}
	cells = append(cells, r.CPU.formatCell())
	return "| " + strings.Join(cells, " | ") + " |"
}

// orderedKinds returns the measured kinds in their order of display.
func (r *Report) orderedKinds() (list []Kind) {
	for _, k := range []Kind{Read, Search, Write, Propose, Notice} {
		if _, ok := r.Kinds[k]; ok {
			list = append(list, k)
		}
	}
	return list
}

func (r *Report) printFailures(b *strings.Builder) {
	if r.Failed == 0 && r.Retried == 0 {
		fmt.Fprintln(b, "No call failed.")
	}
	for _, k := range r.orderedKinds() {
		f := r.Kinds[k]
		for _, code := range slices.Sorted(maps.Keys(f.Failed)) {
			fmt.Fprintf(b, "%s failed: %d × %s\n", k, f.Failed[code], code)
		}
		for _, code := range slices.Sorted(maps.Keys(f.Retried)) {
			fmt.Fprintf(b, "%s lost, and answered when repeated: %d × %s\n", k, f.Retried[code], code)
		}
	}
	if r.Moved > 0 {
		fmt.Fprintf(b, "%d times a server could not be reached, and another was asked.\n", r.Moved)
	}
	if r.Limited > 0 {
		fmt.Fprintf(b, "The server's limits turned away %d askings, and clients waited %.0f s in all as it said: these figures are its limits', not its own. Raise limits.calls, limits.calls_burst and limits.writes for a measurement.\n", r.Limited, r.Waited)
	}
}
