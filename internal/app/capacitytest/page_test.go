package capacitytest

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"loregate/internal/loadtest"
)

var update = flag.Bool("update", false, "write the tables of docs/capacity.md")

const page = "../../../docs/capacity.md"

// usual is a service of three machines before one of a database, each twice as fast as the one measured.
var usual = setup{Processes: 3, Cores: 4, DatabaseCores: 8, Players: 50_000, Think: 20, Speed: 2}

// TestThePageShowsTheSimulation compares the tables of docs/capacity.md with the simulation.
func TestThePageShowsTheSimulation(t *testing.T) {
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text, f := string(b), measured(t)
	for name, table := range map[string]string{
		"costs": f.costTable(), "players": f.playerTable(), "limits": f.limitTable(), "failover": f.failoverTable(),
		"hot": f.hotTable(), "sizes": sizeTable(),
	} {
		begin, end := "<!-- "+name+" -->\n", "<!-- end -->"
		before, rest, ok := strings.Cut(text, begin)
		old, after, ended := strings.Cut(rest, end)
		switch {
		case !ok || !ended:
			t.Errorf("the page has no table %s", name)
		case *update:
			text = before + begin + table + end + after
		case old != table:
			t.Errorf("the page's table %s is not that of the simulation; go test -update writes it:\n%s", name, table)
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil { //nolint:gosec // a page of the sources
			t.Fatal(err)
		}
	}
}

type table struct{ strings.Builder }

func newTable(head ...string) *table {
	t := &table{}
	t.row(head...)
	t.WriteString(strings.Repeat("|---", len(head)) + "|\n")
	return t
}

func (t *table) row(cells ...string) { t.WriteString("| " + strings.Join(cells, " | ") + " |\n") }

// round formats a number with two digits, and more if they are before the point.
func round(v float64) string {
	switch {
	case v >= 10:
		return fmt.Sprintf("%.0f", v)
	case v >= 1:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func percent(v float64) string { return fmt.Sprintf("%.0f%%", v*100) }

func (f figures) costTable() string {
	t := newTable("one client at a time", "p50 ms", "p99 ms", "CPU of Loregate, ms", "CPU of PostgreSQL, ms")
	for _, kind := range []loadtest.Kind{loadtest.Read, loadtest.Search, loadtest.Write, loadtest.Propose} {
		c := f.Kinds[kind]
		t.row(string(kind), round(c.Latency.P50), round(c.Latency.P99), round(c.Process), round(c.Database))
	}
	s := t.String() + "\n"
	t = newTable("writes", "writes/s", "p50 ms", "CPU of Loregate, ms", "CPU of PostgreSQL, ms", "writes in a transaction",
		"lock held by a transaction, ms")
	for _, w := range []struct {
		name string
		writing
	}{{"one client, synchronous standby", f.Alone}, {"32 clients, synchronous standby", f.Full},
		{"32 clients, no standby", f.Plain}} {
		t.row(w.name, round(w.PerSecond), round(w.Latency.P50), round(w.Process), round(w.Database), round(w.Batch), round(w.Held))
	}
	return s + t.String()
}

func (o *outcome) cells() []string {
	writes := slices.Concat(o.Calls[loadtest.Write], o.Calls[loadtest.Propose])
	reads := o.Calls[loadtest.Read]
	return []string{round(o.PerSecond), round(quantile(reads, 0.5)), round(quantile(reads, 0.99)), round(quantile(writes, 0.5)),
		round(quantile(writes, 0.99)), percent(o.Process), percent(o.Database), percent(o.Writer)}
}

var cellNames = []string{"calls/s", "read p50 ms", "p99", "write p50 ms", "p99", "cores of Loregate", "of the database",
	"writer lock"}

func (f figures) playerTable() string {
	t := newTable(append([]string{"players", "speed"}, cellNames...)...)
	for _, speed := range []float64{1, 2} {
		for _, players := range []int{10_000, 25_000, 50_000, 75_000} {
			in := usual
			in.Players, in.Speed = players, speed
			t.row(append([]string{fmt.Sprint(players), round(speed)}, simulate(f, in).cells()...)...)
		}
	}
	return t.String()
}

// limitTable shows the most players whose calls are fast, in steps of 10,000, and the part that is used
// most with one step more.
func (f figures) limitTable() string {
	t := newTable("Loregate", "database", "speed", "most players", "calls/s", "first at its limit", "cores of Loregate",
		"of the database", "writer lock")
	for _, in := range []setup{
		{Processes: 1, Cores: 2, DatabaseCores: 2, Speed: 1}, {Processes: 3, Cores: 4, DatabaseCores: 8, Speed: 1},
		{Processes: 3, Cores: 4, DatabaseCores: 8, Speed: 2}, {Processes: 12, Cores: 8, DatabaseCores: 32, Speed: 2},
	} {
		in.Think = usual.Think
		most, least := 17, 1
		for most-least > 1 {
			in.Players = (most + least) / 2 * 10_000
			if simulate(f, in).slowest() < 250 {
				least = in.Players / 10_000
			} else {
				most = in.Players / 10_000
			}
		}
		in.Players = most * 10_000
		o := simulate(f, in)
		used := []float64{o.Process, o.Database, o.Writer}
		first := []string{"cores of Loregate", "cores of the database", "writer lock"}[slices.Index(used, slices.Max(used))]
		in.Players = least * 10_000
		o = simulate(f, in)
		t.row(fmt.Sprintf("%d × %d cores", in.Processes, in.Cores), fmt.Sprintf("%d cores", in.DatabaseCores), round(in.Speed),
			fmt.Sprint(in.Players), round(o.PerSecond), first, percent(o.Process), percent(o.Database), percent(o.Writer))
	}
	return t.String()
}

// slowest returns the longer one of the 99th percentiles of reads and writes.
func (o *outcome) slowest() float64 {
	return max(quantile(o.Calls[loadtest.Read], 0.99), quantile(o.Calls[loadtest.Write], 0.99))
}

func (f figures) failoverTable() string {
	t := newTable("pause s", "calls refused at first", "longest refusal s", "p99 at most twice as long as before after s")
	for _, q := range []float64{0.5, 0.9, 1} {
		in := usual
		in.Pause = quantile(f.Pauses, q)
		o := simulate(f, in)
		t.row(round(in.Pause), fmt.Sprint(o.Refused), round(o.Longest), round(o.Settled))
	}
	return t.String()
}

func (f figures) hotTable() string {
	t := newTable("writes on one card", "plans of such a write", "planned under the lock", "write p50 ms", "p99", "writer lock")
	for _, share := range []float64{0.001, 0.01, 0.1, 0.5, 1} {
		in := usual
		in.Hot = share
		o := simulate(f, in)
		c := o.cells()
		written := max(float64(o.Written), 1)
		t.row(fmt.Sprintf("%g%%", share*100), round(float64(o.Plans)/written), percent(float64(o.UnderLock)/written), c[3], c[4], c[7])
	}
	return t.String()
}

// sizeTable reckons from the figures of docs/benchmarks.md of a million cards of a kilobyte.
func sizeTable() string {
	const (
		million   = 1e6
		onSQLite  = 2.9e9 // bytes of a million cards in a data folder
		onServer  = 4.5e9 // bytes of a million cards on PostgreSQL
		inIndex   = 0.8e9 // bytes of their index, in each machine's folder
		perSecond = 3450  // cards loaded on PostgreSQL by calls
	)
	t := newTable("", "cards", "data folder", "PostgreSQL", "index, each machine", "loaded by calls", "one bulk import on SQLite")
	for _, row := range []struct {
		name  string
		cards float64
	}{{"one world of a million cards (measured)", 1e6}, {"one world of 10 million cards", 10e6},
		{"a million worlds of 1,000 cards", 1000e6}} {
		size := func(perMillion float64) string { return round(row.cards/million*perMillion/1e9) + " GB" }
		hours := func(perSecond float64) string { return round(row.cards/perSecond/3600) + " h" }
		t.row(row.name, fmt.Sprintf("%.0f million", row.cards/million), size(onSQLite), size(onServer), size(inIndex),
			hours(perSecond), hours(million/210))
	}
	return t.String()
}
