package mcpd_test

import (
	"encoding/json"
	"strings"
	"testing"

	"loregate/internal/mcpd"
)

func TestCompactText(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ json, want string }{
		{`{"a":null,"b":"","c":[],"d":{}}`, "nothing"},
		{`null`, "nothing"},
		{`[]`, "nothing"},
		{`{"rows":[],"total":0}`, "nothing"},
		{`{"rows":["a"],"total":0}`, "rows: a\ntotal: 0"},
		{`{"total":0}`, "0"},
		{`{"note":"Only this."}`, "Only this."},
		{`{"name":"Quay","n":3,"yes":true,"no":false,"gone":null}`, "name: Quay\nn: 3\nyes: true\nno: false"},
		{`{"at":"2026-03-06T18:30:00.123Z","x":0.123456,"y":12.0,"z":1e3}`, "at: 2026-03-06T18:30:00Z\nx: 0.123\ny: " +
			"12\nz: 1000"},
		{`{"text":"one\ntwo","x":1}`, "text:\none\ntwo\nx: 1"},
		{`{"tags":["a","b"]}`, "tags: a, b"},
		{`{"tags":["a, b","c"]}`, "tags:\n  - a, b\n  - c"},
		{`{"rows":[{"name":"A","type":"T"},{"name":"B"},{"name":"C","n":2}]}`,
			"rows (name | type | n):\n  A | T\n  B\n  C |  | 2"},
		{`{"deep":{"in":{"x":1}}}`, "deep:\n  in:\n    x: 1"},
		{`{"mixed":[{"x":{"y":1}},{"x":{}}]}`, "mixed:\n  -\n    x:\n      y: 1"},
		{`[{"a":1},{"a":2}]`, "items (a):\n  1\n  2"},
		{`{"x":1,"y":2,"truncated":true,"next":{"tool":"t"}}`, "x: 1\ny: 2"},
		{`{"big":9007199254740993.5}`, "9007199254740993.5"},
		{`{"naïve":"ünïcode 漢字"}`, "ünïcode 漢字"},
	} {
		if got := string(mcpd.CompactText([]byte(row.json))); got != row.want {
			t.Errorf("%s\n%q, want\n%q", row.json, got, row.want)
		}
	}
}

// Every text of the output is in the compact text.
func FuzzCompactText(f *testing.F) {
	f.Add("name", "a text", 3.5)
	f.Add("", "line\nline", -1e300)
	f.Fuzz(func(t *testing.T, name, text string, n float64) {
		if !json.Valid([]byte(`"`+name+`"`)) || strings.ContainsAny(name+text, "\\\x00") {
			return
		}
		b, err := json.Marshal(map[string]any{name: []any{map[string]any{"t": text, "n": n}}})
		if err != nil {
			return
		}
		var back map[string][]struct{ T string }
		if json.Unmarshal(b, &back) != nil || len(back[name]) == 0 {
			return
		}
		got := string(mcpd.CompactText(b))
		if want := strings.TrimSpace(back[name][0].T); !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	})
}
