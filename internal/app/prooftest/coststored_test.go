package prooftest

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"loregate/internal/app"
	"loregate/internal/op"
)

// storedShapes are the shapes that are stored and then read by every operation: tables, links, nests, blocks, marks and
// lines. A short run has the first.
var storedShapes = []string{"near lines", "wide table", "links in links", "one link", "deep blocks", "paired marks",
	"table tags", "backticks", "like names", "same headings"}

// TestCostGrowsWithStoredTexts fills the cards of two like worlds with a hostile text, of 10 KB in one and of 100 KB in
// the other, in two versions that differ in every line, and makes every good call in both, in each of its modes.
// Reading, comparing, searching, changing and exporting a text costs at most in proportion to it.
func TestCostGrowsWithStoredTexts(t *testing.T) {
	onCostStores(t, func(t *testing.T, on string) {
		small, large := newGrowthMeter(t, on), newGrowthMeter(t, on)
		defer large.logGrowth()
		for i, shape := range storedShapes {
			switch only := os.Getenv("COST_SHAPE"); {
			case only != "" && only != shape, only == "" && i > 0 && os.Getenv("COST_ALL") == "":
				continue
			}
			small.storeVersions(shape, costSmall)
			large.storeVersions(shape, costLarge)
			large.compareStored(shape, small)
		}
	})
}

// storeVersions gives every card two further versions of a shape.
func (s *growthMeter) storeVersions(shape string, size int) {
	s.t.Helper()
	text := strings.ToValidUTF8(clip(hostileTexts[shape](size), size), "")
	s.overwriteCards(strings.ReplaceAll(text, "a", "b"))
	s.overwriteCards(text)
}

// compareStored compares every good call with the same call in a world whose texts are shorter.
func (s *growthMeter) compareStored(shape string, shorter *growthMeter) {
	s.t.Helper()
	for _, o := range s.app.Ops.All() {
		only := os.Getenv("COST_ONLY")
		if only != "" && !slices.Contains(strings.Fields(only), o.Name) ||
			os.Getenv("COST_ALL") == "" && !inBoundPart(o.Name, 6) {
			continue
		}
		long, short := withModes(o, s.goodValues(o)), withModes(o, shorter.goodValues(o))
		for i := range min(len(long), len(short)) {
			s.compare(fmt.Sprintf("%s %s on stored %s", o.Name, long[i].what, shape),
				func() time.Duration { return shorter.measureDryRun(o, short[i].in) },
				func() time.Duration { return s.measureDryRun(o, long[i].in) })
		}
	}
}

// goodValues returns the good inputs of an operation.
func (s *growthMeter) goodValues(o *op.Operation) (list []map[string]any) {
	for _, e := range s.goodInputs(o) {
		in, _ := toJSONValue(s.tryInputs(e)).(map[string]any) // the input is an object
		list = append(list, in)
	}
	return list
}

// modesByHand are the values of fields whose schema does not list them.
var modesByHand = map[string]map[string][]string{"export_world": {"format": app.ExportNames()}}

// moded is an input and what is special about it: its number, or the field and value of a mode.
type moded struct {
	what string
	in   map[string]any
}

// withModes returns inputs of an operation, and the first of them with each value of each of its fields that choose a
// mode, such as the way in which a text is written or compared.
func withModes(o *op.Operation, inputs []map[string]any) (all []moded) {
	if len(inputs) == 0 {
		return nil
	}
	for i, in := range inputs {
		all = append(all, moded{fmt.Sprint(i), in})
	}
	base := inputs[0]
	for _, p := range inputPlaces(o.InputSchema()) {
		for _, value := range p.schema.Enum {
			if valueAt(base, p.path) == value || len(p.path) > 1 && valueAt(base, p.path[:len(p.path)-1]) == nil {
				continue // it is there, or its object is not
			}
			if in, ok := withValueAt(base, p.path, value).(map[string]any); ok {
				all = append(all, moded{fmt.Sprintf("%v=%v", p.path, value), in})
			}
		}
	}
	for _, field := range slices.Sorted(maps.Keys(modesByHand[o.Name])) {
		for _, value := range modesByHand[o.Name][field] {
			in := maps.Clone(base)
			in[field] = value
			all = append(all, moded{field + "=" + value, in})
		}
	}
	return all
}
