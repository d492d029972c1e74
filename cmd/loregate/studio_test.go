package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An invalid plan file makes check fail, and the output names the faulty place.
func TestStudioCheck(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	plan := func(name, text string) string {
		file := filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const good = "name: x\nseed: 1\ncalls:\n  - tool: generate_scene\n    with: {description: an inn}\n"
	for _, row := range []struct{ name, text, say string }{
		{"good", good, "ok"},
		{"parameter", good + "  - tool: render_preview\n    with: {widht: 3}\n", "calls[1].with.widht"},
		{"value", good + "  - tool: render_preview\n    with: {width: 3}\n", "calls[1].with.width"},
		{"tool", good + "  - tool: format_disk\n", "format_disk"},
		{"ahead", good + "  - tool: import_asset\n    with: {manifest: $5.manifest}\n", "$5.manifest"},
		{"unknown", good + "colour: red\n", "colour"},
		{"empty", "", "empty"},
	} {
		var out, errOut bytes.Buffer
		code := run([]string{"studio", "check", "--data", data, plan(row.name, row.text)}, &out, &errOut)
		if (code == 0) != (row.name == "good") || !strings.Contains(out.String(), row.say) {
			t.Errorf("%s: status %d, %s%s", row.name, code, out.String(), errOut.String())
		}
	}
}

// A plan is printed as a plan file that check accepts; assumptions and questions are printed as
// comments.
func TestStudioPlan(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	for _, row := range []struct {
		intent string
		say    []string
		good   bool
	}{
		{"build an inn with ten barrels at dusk, render it and export it",
			[]string{"# Proposed by rules.", "# Run it with: loregate studio run ", "style: dusk", "# assumed: "}, true},
		{"hello there", []string{"# question: What should be done?"}, false},
	} {
		var out, errOut bytes.Buffer
		if code := run([]string{"studio", "plan", "--data", data, row.intent}, &out, &errOut); code != 0 {
			t.Fatalf("%s: status %d, %s", row.intent, code, errOut.String())
		}
		for _, want := range row.say {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in\n%s", row.intent, want, out.String())
			}
		}
		file := filepath.Join(dir, "plan.yaml")
		if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		var checked bytes.Buffer
		if code := run([]string{"studio", "check", "--data", data, file}, &checked, &errOut); (code == 0) != row.good {
			t.Errorf("%s: check gives %d: %s%s", row.intent, code, checked.String(), errOut.String())
		}
	}
	var out, errOut bytes.Buffer
	if code := run([]string{"studio", "runs", "--data", data}, &out, &errOut); code != 0 ||
		!strings.Contains(out.String(), "There are no runs.") {
		t.Errorf("status %d, %s%s", code, out.String(), errOut.String())
	}
}
