package mcpd

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// The parts of any value, read one after another, hold all of it.
func TestPartsContainWholeValue(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 100 {
		want := map[string]any{}
		for i := range r.IntN(6) + 1 {
			want[fmt.Sprintf("m%d", i)] = someValue(r, 3)
		}
		whole, _ := json.Marshal(want)
		budget := 300 + r.IntN(4000)
		var from []any
		var got []string
		for steps := 0; ; steps++ {
			part, next, err := cutJSON(jsontext.Value(whole), from, budget)
			if err != nil {
				t.Fatalf("round %d from %v: %v", round, from, err)
			}
			if !part.IsValid() || !utf8.Valid(part) {
				t.Fatalf("round %d: %s is no JSON", round, part)
			}
			if len(part) > budget+600 {
				t.Fatalf("round %d: a part of %d bytes for %d", round, len(part), budget)
			}
			got = append(got, leaves(part)...)
			if next == nil {
				break
			}
			if fmt.Sprint(next) == fmt.Sprint(from) || steps > 10_000 {
				t.Fatalf("round %d: no way on from %v", round, from)
			}
			b, _ := json.Marshal(next) // as a client sends it
			from = nil
			if err := json.Unmarshal(b, &from); err != nil {
				t.Fatal(err)
			}
		}
		seen := map[string]bool{}
		for _, word := range strings.Fields(strings.Join(got, " ")) {
			seen[word] = true
		}
		for _, leaf := range leaves(whole) {
			for _, word := range strings.Fields(leaf) {
				if !seen[word] {
					t.Fatalf("round %d: %q is in no part", round, word)
				}
			}
		}
	}
}

func someValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(6); {
	case n == 0 && depth > 0:
		list := []any{}
		for range r.IntN(12) {
			list = append(list, someValue(r, depth-1))
		}
		return list
	case n == 1 && depth > 0:
		object := map[string]any{}
		for i := range r.IntN(12) {
			object[fmt.Sprintf("k%d", i)] = someValue(r, depth-1)
		}
		return object
	case n < 4:
		var b strings.Builder
		for range r.IntN(300) {
			fmt.Fprintf(&b, "%c%d ", []rune("aé日👩\n\"<")[r.IntN(7)], r.IntN(1<<30))
		}
		return b.String()
	}
	return r.IntN(1 << 30)
}

// leaves returns the texts of a value in order.
func leaves(v []byte) (list []string) {
	switch v := jsontext.Value(v); v.Kind() {
	case '"':
		var s string
		_ = json.Unmarshal(v, &s)
		return []string{s}
	case '[':
		items, _ := itemsOf(v)
		for _, item := range items {
			list = append(list, leaves(item)...)
		}
	case '{':
		for _, m := range mustMembers(v) {
			list = append(list, leaves(m.value)...)
		}
	}
	return list
}

func FuzzCutJSON(f *testing.F) {
	f.Add(`{"a":["x",{"b":"y"}]}`, `["a",1,"b",0]`, 40)
	f.Add(`{"a":""}`, `["a",-1]`, 0)
	f.Fuzz(func(t *testing.T, v, place string, budget int) {
		var from []any
		if !jsontext.Value(v).IsValid() || json.Unmarshal([]byte(place), &from) != nil || len(from) > maxPlace {
			return
		}
		part, _, err := cutJSON(jsontext.Value(v), from, min(budget, 1<<20))
		if err == nil && !part.IsValid() {
			t.Fatalf("%q from %s became %q", v, place, part)
		}
	})
}
