package godot

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/slicesx"
	"loregate/internal/studio"
)

// writeBlueprint writes behaviour as a script and has the engine check it. The script is made from
// fixed templates; callers' text appears in it only as string literals, and the script is never
// run.
func (t *txn) writeBlueprint(ctx context.Context, w *studio.Work, in studio.BlueprintIn) (any, error) {
	rules := in.Graph
	if len(rules) == 0 {
		var err error
		if rules, err = studio.Rules(in.Logic); err != nil {
			return nil, err
		}
	}
	file := "scripts/" + in.Name + ".gd"
	script := formatScript(rules)
	if err := t.putFile(ctx, file, script); err != nil {
		return nil, err
	}
	said, failed, err := t.adapter.runEngine(ctx, t.folder, "--check-only", "-s", file)
	if err != nil {
		return nil, err
	}
	out := studio.BlueprintOut{Files: []string{file}, Status: "ok", Errors: compileErrors(string(said))}
	if failed != nil || len(out.Errors) > 0 {
		out.Status = "error"
		w.Warn("the engine does not accept the script; it is kept so that you can read it")
	}
	_, err = w.Keep(ctx, studio.OutputFile{Kind: "script", Name: filepath.Base(file), Media: "text/plain"}, script)
	return out, err
}

var errorForm = lazyregexp.New(`(?m)^SCRIPT ERROR: (.*)$`)

func compileErrors(said string) []string {
	return slicesx.Map(errorForm.FindAllStringSubmatch(said, 20), func(m []string) string { return m[1] })
}

// formatScript makes a script from rules.
func formatScript(rules []studio.LogicNode) []byte {
	var ready, rest strings.Builder
	on := map[string][]string{}
	for i, r := range rules {
		line := formatAction(r)
		if r.On != "timer" {
			on[r.On] = append(on[r.On], line)
			continue
		}
		fmt.Fprintf(&ready,
			"\tvar timer_%d = Timer.new()\n\ttimer_%d.wait_time = %s\n\ttimer_%d.autostart = true\n\tadd_child(timer_%d)\n\ttimer_%d.connect(\"timeout\", self, \"_on_timer_%d\")\n",
			i, i, formatNumber(max(r.Every, 0.05)), i, i, i, i)
		fmt.Fprintf(&rest, "\nfunc _on_timer_%d():\n%s", i, line)
	}
	for _, s := range [][2]string{{"entered", "body_entered"}, {"left", "body_exited"}} {
		if lines := on[s[0]]; lines != nil {
			fmt.Fprintf(&ready, "\tconnect(\"%s\", self, \"_on_%s\")\n", s[1], s[0])
			fmt.Fprintf(&rest, "\nfunc _on_%s(_body):\n%s", s[0], strings.Join(lines, ""))
		}
	}
	return []byte("extends Area\n\nfunc _ready():\n\tpass\n" +
		ready.String() + strings.Join(on["ready"], "") + rest.String() +
		"\nfunc _at(path):\n\tif path == \"\":\n\t\treturn self\n\tvar node = find_node(path, true, false)\n\treturn node if node != null else self\n")
}

func formatAction(r studio.LogicNode) string {
	at := "_at(" + quoteString(r.Target) + ")"
	switch r.Do {
	case "show", "hide":
		return fmt.Sprintf("\t%s.visible = %t\n", at, r.Do == "show")
	case "toggle":
		return fmt.Sprintf("\t%s.visible = not %s.visible\n", at, at)
	case "rotate":
		return fmt.Sprintf("\t%s.rotate_y(deg2rad(%s))\n", at, formatNumber(r.By))
	case "move":
		return fmt.Sprintf("\t%s.translate(Vector3(0, %s, 0))\n", at, formatNumber(r.By))
	}
	return "\tprint(" + quoteString(r.Text) + ")\n"
}

func formatNumber(x float64) string { return fmt.Sprintf("%.4f", x) }

// quoteString returns a text as a GDScript string literal.
func quoteString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f || r == 0x2028 || r == 0x2029:
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
