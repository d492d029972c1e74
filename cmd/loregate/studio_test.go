package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A plan file that is not right makes check fail, and say where.
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
