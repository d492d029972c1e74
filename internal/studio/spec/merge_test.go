package spec

import (
	"fmt"
	"strings"
	"testing"
)

// Changes of both sides are merged by the names of the parts; a part or field that both changed differently is a
// conflict, and the preferred side wins.
func TestMerge(t *testing.T) {
	yard := func(parts string) *Scene { return parsed(t, "version: 1\nname: yard\nparts: "+parts) }
	const box = "box: {size: [1, 1, 1]}"
	base := yard("{a: {" + box + ", at: [1, 1]}, b: {" + box + "}, g: {parts: {c: {" + box + "}}}}")
	for name, row := range map[string]struct{ hand, plan, merged, conflicts string }{
		"both": {"{a: {" + box + ", at: [2, 1]}, b: {" + box + "}, g: {parts: {c: {" + box + "}}}}",
			"{a: {" + box + ", at: [1, 1], material: stone}, b: {" + box + "}, g: {parts: {c: {" + box + "}, d: {" + box + "}}}}",
			"{a: {" + box + ", at: [2, 1], material: stone}, b: {" + box + "}, g: {parts: {c: {" + box + "}, d: {" + box + "}}}}", ""},
		"same": {"{a: {" + box + ", at: [2, 1]}, b: {" + box + "}}", "{a: {" + box + ", at: [2, 1]}, b: {" + box + "}}",
			"{a: {" + box + ", at: [2, 1]}, b: {" + box + "}}", ""},
		"moved twice": {"{a: {" + box + ", at: [2, 1]}, b: {" + box + "}, g: {parts: {c: {" + box + "}}}}",
			"{a: {" + box + ", at: [3, 1]}, b: {" + box + "}, g: {parts: {c: {" + box + "}}}}",
			"{a: {" + box + ", at: [3, 1]}, b: {" + box + "}, g: {parts: {c: {" + box + "}}}}", "a at [1 1] [2 1] [3 1]"},
		"deleted and changed": {"{a: {" + box + ", at: [1, 1]}, g: {parts: {c: {" + box + "}}}}",
			"{a: {" + box + ", at: [1, 1]}, b: {" + box + ", turn: 9}, g: {parts: {c: {" + box + "}}}}",
			"{a: {" + box + ", at: [1, 1]}, b: {" + box + ", turn: 9}, g: {parts: {c: {" + box + "}}}}", "b "},
	} {
		t.Run(name, func(t *testing.T) {
			got, conflicts, err := Merge(base, yard(row.hand), yard(row.plan), "none")
			if err != nil {
				t.Fatal(err)
			}
			if diff, err := Diff(yard(row.merged), got); err != nil || len(diff) > 0 {
				t.Errorf("merged: %v, %v", diff, err)
			}
			said := ""
			for _, c := range conflicts {
				said += fmt.Sprint(c.Path, " ", c.Field, " ", c.Base, " ", c.Hand, " ", c.Plan, ";")
			}
			if (said == "") != (row.conflicts == "") || !strings.HasPrefix(said, row.conflicts) {
				t.Errorf("conflicts: %s", said)
			}
			if row.conflicts == "" {
				return
			}
			if got, _, err = Merge(base, yard(row.hand), yard(row.plan), "hand"); err != nil {
				t.Fatal(err)
			}
			if diff, err := Diff(yard(row.hand), got); err != nil || len(diff) > 0 {
				t.Errorf("by hand: %v, %v", diff, err)
			}
		})
	}
}
