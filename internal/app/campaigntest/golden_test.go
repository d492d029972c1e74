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

// TestTenCallsComparedLineByLine makes the same ten calls with a player's key and with the game
// master's, and compares the differences between the answers with the file in testdata: lines
// with "-" are only in the player's answer, lines with "+" only in the game master's.
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
		fmt.Fprintf(&out, "## %s %s\n", c.name, nameIDs(string(asked), names))
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

// readable returns the lines of an answer, with names in place of parts that differ from run to
// run.
func readable(t *testing.T, v any, names map[string]string) []string {
	t.Helper()
	learnNames(v, names)
	sortRelationships(v)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	text := aTrace.ReplaceAllString(aTime.ReplaceAllString(nameIDs(b.String(), names), "TIME"), `correlation_id": "ID"`)
	text = aTag.ReplaceAllString(text, `etag": "$1"`)
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// nameIDs replaces ids by names; an id without a name gets a number.
func nameIDs(text string, names map[string]string) string {
	return anID.ReplaceAllStringFunc(text, func(id string) string {
		if names[id] == "" {
			names[id] = fmt.Sprint("#", len(names)+1)
		}
		return "<" + names[id] + ">"
	})
}

// learnNames collects the names of all objects that have an id and a name.
func learnNames(v any, names map[string]string) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			learnNames(x, names)
		}
	case map[string]any:
		id, isID := v["id"].(string)
		name, isName := v["name"].(string)
		if isID && isName && names[id] == "" {
			names[id] = name
		}
		for _, x := range v {
			learnNames(x, names)
		}
	}
}

// sortRelationships sorts relationships by their text, since their order by ids is random.
func sortRelationships(v any) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			sortRelationships(x)
		}
	case map[string]any:
		if list, ok := v["relationships"].([]any); ok {
			slices.SortFunc(list, func(a, b any) int { return strings.Compare(textWithoutIDs(a), textWithoutIDs(b)) })
		}
		for _, x := range v {
			sortRelationships(x)
		}
	}
}

// textWithoutIDs returns the text of a relationship without ids.
func textWithoutIDs(v any) string { return anID.ReplaceAllString(fmt.Sprint(v), "") }

// difference returns the lines of two texts; lines of only one text are marked.
func difference(a, b []string) []string {
	longest := make([][]int, len(a)+1) // lengths of the longest common subsequences of a[i:] and b[j:]
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
