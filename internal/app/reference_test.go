package app

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/access"
	"loregate/internal/op"
)

// renderReference returns the reference in Markdown, by file name: index.md and a page for each surface.
// The same declarations give the same bytes.
func renderReference(surfaces []op.Surface) map[string][]byte {
	pages := map[string][]byte{}
	var index bytes.Buffer
	index.WriteString("# Reference\n\nGenerated from the declarations; do not edit.\n\n| surface | purpose | " +
		"operations | resources | prompts |\n|---|---|---|---|---|\n")
	for _, s := range surfaces {
		fmt.Fprintf(&index, "| [%s](%s.md) | %s | %d | %d | %d |\n", s.Title, s.Name, tableCell(s.Doc), len(s.Operations),
			len(s.Resources), len(s.Prompts))
		pages[s.Name+".md"] = renderPage(s)
	}
	pages["index.md"] = index.Bytes()
	return pages
}

func renderPage(s op.Surface) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\nGenerated from the declarations; do not edit.\n\n%s\n\n", s.Title, s.Doc)
	if len(s.Operations) > 0 {
		b.WriteString("| operation | route | lowest role | effect |\n|---|---|---|---|\n")
		for _, o := range s.Operations {
			fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | %s |\n", o.Name, strings.ReplaceAll(o.Name, ".", ""), codeSpan(o.Route),
				roleText(o), o.Effect)
		}
		b.WriteByte('\n')
	}
	for _, o := range s.Operations {
		writeOperation(&b, o, s.Name)
	}
	for _, r := range s.Resources {
		fmt.Fprintf(&b, "## Resource %s\n\n`%s` · %s · role %s\n\n%s\n\n", r.Title, r.Template, r.MIME, r.MinRole, r.Doc)
	}
	for _, f := range s.Feeds {
		fmt.Fprintf(&b, "## Feed %s\n\n`%s` · server-sent events · role %s\n\n%s\n\n", f.Title, f.Route, f.MinRole, f.Doc)
		for _, k := range f.Kinds {
			fmt.Fprintf(&b, "- `%s`: %s\n", k.Event, k.Doc)
		}
		if len(f.Kinds) > 0 {
			b.WriteByte('\n')
		}
	}
	for _, p := range s.Prompts {
		fmt.Fprintf(&b, "## Prompt %s\n\nRole %s. %s\n\n", p.Name, p.MinRole, p.Doc)
		for _, a := range p.Args {
			fmt.Fprintf(&b, "- `%s`%s: %s\n", a.Name, map[bool]string{true: " (required)"}[a.Required], a.Doc)
		}
		if len(p.Args) > 0 {
			b.WriteByte('\n')
		}
	}
	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n')
}

func writeOperation(b *bytes.Buffer, o *op.Operation, surface string) {
	fmt.Fprintf(b, "## %s\n\n", o.Name)
	if home := o.Surfaces[0]; home != surface {
		first, _, _ := strings.Cut(strings.TrimSuffix(o.Doc, "."), ". ")
		fmt.Fprintf(b, "%s See [%s](%s.md#%s).\n\n", first+".", home, home, o.Name)
		return
	}
	fmt.Fprintf(b, "**%s.** %s\n\n", strings.TrimSuffix(o.Title, "."), o.Doc)
	facts := []string{"version " + cmp.Or(o.Version, "1"), string(o.Effect), "role " + roleText(o), "limit class " +
		string(cmp.Or(o.Class, access.ClassCall))}
	if o.Route != "" {
		facts = append(facts, codeSpan(o.Route))
	}
	if o.Unwrap != "" {
		facts = append(facts, "shown alone: "+codeSpan(o.Unwrap))
	}
	if o.Audience != "" {
		facts = append(facts, "open to "+o.Audience+" tokens")
	}
	if o.NoTool {
		facts = append(facts, "not an MCP tool")
	}
	fmt.Fprintf(b, "%s\n\n", strings.Join(facts, " · "))
	writeTable(b, "Input", o.InputSchema())
	writeTable(b, "Output", o.OutputSchema())
	for _, e := range o.Examples {
		v := jsontext.Value(e.Input)
		_ = v.Indent() // examples were checked when they were declared
		fmt.Fprintf(b, "%s\n\n```json\n%s\n```\n\n", e.Title, v)
	}
}

func writeTable(b *bytes.Buffer, title string, s *jsonschema.Schema) {
	if len(s.Properties) == 0 {
		return
	}
	fmt.Fprintf(b, "| %s | type | |\n|---|---|---|\n", title)
	for _, name := range op.PropertyNames(s) {
		p := s.Properties[name]
		kind := typeOf(p)
		if slices.Contains(s.Required, name) && title == "Input" {
			kind += ", required"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", name, kind, tableCell(strings.TrimSpace(p.Description+" "+boundsText(p))))
	}
	b.WriteByte('\n')
}

// typeOf describes a schema's type in a word or two.
func typeOf(s *jsonschema.Schema) string {
	switch {
	case s.Ref != "":
		return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
	case s.Type == "array" && s.Items != nil:
		return "list of " + typeOf(s.Items)
	case s.Format == "date-time":
		return "time"
	case s.ContentEncoding != "":
		return s.ContentEncoding
	case s.Type != "":
		return s.Type
	case len(s.Types) > 0:
		return strings.Join(s.Types, " or ")
	}
	return "any"
}

func boundsText(s *jsonschema.Schema) string {
	of := s
	if s.Type == "array" && s.Items != nil {
		of = s.Items
	}
	var parts []string
	add := func(set bool, format string, args ...any) {
		if set {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	var words []string
	for _, e := range of.Enum {
		words = append(words, fmt.Sprint(e))
	}
	add(words != nil, "one of %s", strings.Join(words, ", "))
	if of.Minimum != nil {
		add(true, "at least %s", formatNumber(*of.Minimum))
	}
	if of.Maximum != nil {
		add(true, "at most %s", formatNumber(*of.Maximum))
	}
	if of.MaxLength != nil {
		add(true, "at most %d characters", *of.MaxLength)
	}
	if s.MaxItems != nil {
		add(true, "at most %d items", *s.MaxItems)
	}
	add(s.Default != nil, "default %s", s.Default)
	if len(parts) == 0 {
		return ""
	}
	return "(" + strings.Join(parts, "; ") + ")"
}

// formatNumber formats a bound without an exponent.
func formatNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func roleText(o *op.Operation) string {
	if o.People {
		return o.MinRole.String() + ", a person"
	}
	switch {
	case o.Operator:
		return "operator"
	case o.MinRole == access.RoleNone:
		return "any"
	case o.Manages:
		return o.MinRole.String() + ", or gm where `gm_rights` is `all`"
	}
	return o.MinRole.String()
}

func codeSpan(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// tableCell escapes a text for one cell of a table.
func tableCell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(s)
}
