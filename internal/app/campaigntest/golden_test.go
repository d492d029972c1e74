package campaigntest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"loregate/internal/app"
)

var update = flag.Bool("update", false, "write the golden file anew")

// TestTenCallsComparedLineByLine makes the same ten calls with a player's key and with the
// game master's, and holds the difference of what they are answered to what is written in
// testdata: lines with "-" are the player's alone, with "+" the game master's.
func TestTenCallsComparedLineByLine(t *testing.T) {
	h := open(t)
	brandt, conductor := h.gm.find("ottilie"), h.gm.find("the conductor")
	type args = map[string]any
	names := map[string]string{}
	var out strings.Builder
	for _, c := range []struct {
		name string
		args args
	}{
		{"campaign_list", args{}},
		{"campaign_get", args{}},
		{"entity_search", args{"query": "ninth", "limit": 6}},
		{"entity_get", args{"entity_id": brandt}},
		{"entity_get", args{"entity_id": conductor}},
		{"relationship_map", args{"entity_id": brandt}},
		{"timeline_query", args{"start_date": "1930-01-17", "end_date": "1930-01-17"}},
		{"session_list", args{"limit": 3}},
		{"player_knowledge", args{"entity_id": brandt}},
		{"canon_check", args{}},
	} {
		if c.name != "campaign_list" {
			c.args["campaign_id"] = app.SampleCampaign
		}
		whole, _, _ := h.gm.call(c.name, c.args)
		part, _, _ := h.ada.call(c.name, c.args)
		gm, player := readable(t, whole, names), readable(t, part, names)
		asked, err := json.Marshal(c.args)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "## %s %s\n", c.name, named(string(asked), names))
		for _, line := range difference(player, gm) {
			out.WriteString(line + "\n")
		}
		out.WriteByte('\n')
	}
	golden(t, filepath.Join("testdata", "ten_calls.golden"), out.String())
}

// golden compares a text with a file, or writes the file.
func golden(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("player and game master are no longer answered as %s says; look, and run with -update where that is right:\n%s",
			path, strings.Join(difference(strings.Split(string(want), "\n"), strings.Split(text, "\n")), "\n"))
	}
}

var (
	anID   = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	aTime  = regexp.MustCompile(`20\d\d-\d\d-\d\dT[0-9:.]+Z`)
	aTrace = regexp.MustCompile(`correlation_id": "[^"]*"`)
	aTag   = regexp.MustCompile(`etag": "(whole|partial)-[^"]*"`)
)

// readable is an answer line by line, with names in place of what differs from run to run.
func readable(t *testing.T, v any, names map[string]string) []string {
	t.Helper()
	learn(v, names)
	settle(v)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	text := aTrace.ReplaceAllString(aTime.ReplaceAllString(named(b.String(), names), "TIME"), `correlation_id": "ID"`)
	text = aTag.ReplaceAllString(text, `etag": "$1"`)
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// named puts names for ids; one without a name gets a number.
func named(text string, names map[string]string) string {
	return anID.ReplaceAllStringFunc(text, func(id string) string {
		if names[id] == "" {
			names[id] = fmt.Sprint("#", len(names)+1)
		}
		return "<" + names[id] + ">"
	})
}

// learn finds what has an id and a name.
func learn(v any, names map[string]string) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			learn(x, names)
		}
	case map[string]any:
		id, isID := v["id"].(string)
		name, isName := v["name"].(string)
		if isID && isName && names[id] == "" {
			names[id] = name
		}
		for _, x := range v {
			learn(x, names)
		}
	}
}

// settle orders relationships, which come by ids that chance made, by what they say.
func settle(v any) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			settle(x)
		}
	case map[string]any:
		if list, ok := v["relationships"].([]any); ok {
			slices.SortFunc(list, func(a, b any) int { return strings.Compare(said(a), said(b)) })
		}
		for _, x := range v {
			settle(x)
		}
	}
}

// said is what a relationship says beside ids.
func said(v any) string { return anID.ReplaceAllString(fmt.Sprint(v), "") }

// difference are the lines of two texts, those of one alone marked.
func difference(a, b []string) []string {
	longest := make([][]int, len(a)+1) // common lines from places on
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	var out []string
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, "  "+a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && longest[i+1][j] >= longest[i][j+1]:
			out = append(out, "- "+a[i])
			i++
		default:
			out = append(out, "+ "+b[j])
			j++
		}
	}
	return out
}
