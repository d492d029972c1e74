package prooftest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/cputest"
	"loregate/internal/op"
	"loregate/internal/raceenabled"
)

// The bar of the cost of a call: with a text that is ten times as long it costs at most twelve times as much. A
// call that costs less than costFloor with the long text passes, because that is mostly the cost of any call.
const (
	costSmall  = 10_000
	costLarge  = 100_000
	costGrowth = 12
	costFloor  = 5 * time.Millisecond
)

// costTries is the number of times that a call is measured before it is found too dear: other programs
// on the machine take its caches.
const costTries = 12

// allowedGrowth returns the bar for this run. Without COST_ALL it is far above the measurements, and below the hundred
// times of a quadratic cost.
func allowedGrowth() float64 {
	if os.Getenv("COST_ALL") != "" {
		return costGrowth
	}
	return 3 * costGrowth
}

// growthMeter measures how the processor time of calls grows with their texts.
type growthMeter struct {
	*costMeter
	rows []growth
}

// growth is the processor time of one call by the size of its text.
type growth struct {
	call         string
	small, large time.Duration
}

func (g growth) ratio() float64 {
	return float64(g.large) / float64(max(g.small, costFloor/costGrowth))
}

func newGrowthMeter(t *testing.T, on string) *growthMeter {
	t.Helper()
	if raceenabled.Detected {
		t.Skip("the race detector takes time of its own")
	}
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(1<<30) // garbage is collected between the calls
	t.Cleanup(func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) })
	s := &growthMeter{costMeter: &costMeter{story: &story{stage: newStage(t, on), mint: newMint(7),
		who: newAuthor("user", access.RoleUser), ids: map[string]string{}}}}
	s.tellAll()
	return s
}

// measureDryRun makes a call as a dry run, so that it can be made again, and returns its processor time.
func (s *growthMeter) measureDryRun(o *op.Operation, in map[string]any) (used time.Duration) {
	s.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		s.t.Fatal(err)
	}
	if heapInUse() > 256<<20 {
		runtime.GC()
	}
	who := callerFor(o)
	a := access.Request{Operation: "story", Effect: access.Read, World: s.world}
	err = s.app.WithGrant(s.t.Context(), who, a, func(g access.Grant) error {
		r := (&op.Call{Grant: g.DryRun(), Transport: "rest"}).PartOf(o.Name, body)
		if in["campaign_id"] != nil || in["world"] != nil || o.NoWorld {
			r.World = ""
		}
		began := cputest.Used()
		_, err := s.app.Ops.Invoke(s.t.Context(), who, r) // every answer is allowed
		used = cputest.Used() - began
		if os.Getenv("COST_LOUD") == "2" {
			fmt.Fprintf(os.Stderr, "%s with %d bytes: %v %v\n", o.Name, len(body), used, err)
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.calls++
	return used
}

// compare measures two sizes of a call by their least of several times, and requires the bar.
func (s *growthMeter) compare(name string, small, large func() time.Duration) {
	s.t.Helper()
	g := growth{call: name, large: large()}
	if g.large < costFloor {
		return
	}
	g.small = small()
	for i := 1; i < costTries && g.large >= costFloor && g.ratio() > allowedGrowth(); i++ {
		g.small, g.large = min(g.small, small()), min(g.large, large())
	}
	s.rows = append(s.rows, g)
	if g.large < costFloor || g.ratio() <= allowedGrowth() {
		return
	}
	s.t.Errorf("%s: %v for %d bytes, %v for %d", g.call, g.small, costSmall, g.large, costLarge)
	if os.Getenv("COST_LOUD") != "" {
		fmt.Fprintf(os.Stderr, "RED %s: %v, then %v: %.1f times\n", g.call, g.small, g.large, g.ratio())
	}
}

// logGrowth logs the calls whose cost grows most and those that cost most.
func (s *growthMeter) logGrowth() {
	log := func(by string, less func(a, b growth) int) {
		slices.SortFunc(s.rows, less)
		for _, g := range s.rows[:min(10, len(s.rows))] {
			s.t.Logf("worst by %s: %s: %v, then %v: %.1f times", by, g.call, g.small.Round(10*time.Microsecond),
				g.large.Round(10*time.Microsecond), g.ratio())
		}
	}
	log("cost", func(a, b growth) int { return cmp.Compare(b.large, a.large) })
	log("growth", func(a, b growth) int { return cmp.Compare(b.ratio(), a.ratio()) })
	s.t.Logf("%d calls measured", s.calls)
}

// TestCostGrowsWithTheText gives every text of every operation hostile shapes of 10 and 100 KB. A short run has
// those that were quadratic once, and a few others.
func TestCostGrowsWithTheText(t *testing.T) {
	onCostStores(t, proveCostOfTexts)
}

// onCostStores runs a test on the embedded store, and with COST_ALL on each store.
func onCostStores(t *testing.T, test func(t *testing.T, on string)) {
	list := stores
	if os.Getenv("COST_ALL") == "" {
		list = stores[:1]
	}
	for _, on := range list {
		t.Run(on, func(t *testing.T) { test(t, on) })
	}
}

func proveCostOfTexts(t *testing.T, on string) {
	s := newGrowthMeter(t, on)
	defer s.logGrowth()
	for i, o := range s.app.Ops.All() {
		if only := os.Getenv("COST_ONLY"); only != "" && !slices.Contains(strings.Fields(only), o.Name) {
			continue
		}
		for _, p := range inputPlaces(o.InputSchema()) {
			if i > 0 && slices.Equal(p.path, []any{"world"}) {
				continue // one code reads it for all operations
			}
			for _, base := range withModes(o, s.costInputs(o, p)) {
				for _, shape := range costShapes(p, base.in) {
					name := fmt.Sprintf("%s %v %s: %s", o.Name, p.path, base.what, shape.what)
					if isCostSelected(name) {
						s.compareInput(o, name, func(size int) map[string]any {
							in, _ := withValueAt(base.in, p.path, shape.value(size)).(map[string]any) // the input stays an object
							return in
						})
					}
				}
			}
		}
	}
}

func (s *growthMeter) compareInput(o *op.Operation, name string, input func(size int) map[string]any) {
	s.t.Helper()
	small, large := input(costSmall), input(costLarge)
	s.compare(name, func() time.Duration { return s.measureDryRun(o, small) },
		func() time.Duration { return s.measureDryRun(o, large) })
}

// onceQuadratic are calls whose cost was quadratic: a short run makes them too.
var onceQuadratic = []string{
	"batch_cards [ops 0 content] 0: one link", "moderate-content [text] 0: wide table",
}

func isCostSelected(name string) bool {
	if shape := os.Getenv("COST_SHAPE"); shape != "" {
		return strings.HasSuffix(name, shape)
	}
	return os.Getenv("COST_ALL") != "" || slices.Contains(onceQuadratic, name) || inBoundPart(name, 400)
}

// costInputs returns the inputs in which a place is filled: the examples that have a value there, or else an example
// and the part of it that is required.
func (s *growthMeter) costInputs(o *op.Operation, p inputPlace) (list []map[string]any) {
	var all []map[string]any
	for _, e := range s.goodInputs(o) {
		in, _ := toJSONValue(s.tryInputs(e)).(map[string]any) // the input is an object
		all = append(all, in)
		if valueAt(in, p.path) != nil && len(list) < 2 {
			list = append(list, in)
		}
	}
	if len(list) > 0 {
		return list
	}
	required := maps.Clone(all[0])
	maps.DeleteFunc(required, func(name string, _ any) bool { return !slices.Contains(o.In().Required, name) })
	return []map[string]any{all[0], required}
}

// valueAt returns the value at a path; nil if there is none.
func valueAt(v any, path []any) any {
	for _, step := range path {
		switch at := v.(type) {
		case map[string]any:
			name, _ := step.(string)
			v = at[name]
		case []any:
			if v = any(nil); len(at) > 0 {
				v = at[0]
			}
		default:
			return nil
		}
	}
	return v
}

// costShape makes a hostile value of about a number of bytes.
type costShape struct {
	what  string
	value func(size int) any
}

// costShapes returns the hostile shapes of a place that takes a large value.
func costShapes(p inputPlace, base map[string]any) (all []costShape) {
	kind := append([]string{p.schema.Type}, p.schema.Types...)
	switch {
	case slices.Contains(kind, "string") && len(kind) == 2 && kind[1] != "": // a number in the form of a text
	case slices.Contains(kind, "string"):
		if len(p.schema.Enum) > 0 || p.schema.Format != "" || p.schema.MaxLength != nil && *p.schema.MaxLength < costSmall {
			return nil
		}
		for _, what := range slices.Sorted(maps.Keys(hostileTexts)) {
			all = append(all, costShape{what, func(size int) any {
				if m := p.schema.MaxLength; m != nil {
					size = min(size, *m)
				}
				return strings.ToValidUTF8(clip(hostileTexts[what](size), size), "")
			}})
		}
	case slices.Contains(kind, "array") && maxItemsOf(p.schema) > 1000:
		all = append(all, costShape{"items", func(size int) any {
			return repeatFirst(p, base, min(size/20, maxItemsOf(p.schema)))
		}})
	case slices.Contains(kind, "object") && len(p.schema.Properties) == 0:
		all = append(all, costShape{"members", func(size int) any {
			many := map[string]any{}
			for i := range size / 20 {
				many[fmt.Sprint("member", i)] = "a value"
			}
			return many
		}}, costShape{"long member", func(size int) any { return map[string]any{"a": repeat("|a", size)} }})
	}
	return all
}
