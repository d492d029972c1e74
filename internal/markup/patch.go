package markup

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// PatchMode selects how a patch finds the text to change.
type PatchMode string

// The modes of a patch; Patch describes their fields.
const (
	ReplaceBetween PatchMode = "replace_between"
	Section        PatchMode = "section"
	FindReplace    PatchMode = "find_replace"
	Append         PatchMode = "append"
	Prepend        PatchMode = "prepend"
	ItemsMode      PatchMode = "items"
	Regex          PatchMode = "regex"
)

const (
	// MaxPatchInput is the maximum length of the content before a patch, in bytes.
	MaxPatchInput = 4 << 20
	// MaxPatchOutput is the maximum length of the content after a patch, in bytes.
	MaxPatchOutput = 4 << 20
)

// Patch is one edit of a card's content, in exactly one mode. A field of another mode is an error,
// because the author then expects an effect that it does not have. Everything outside the replaced
// regions is preserved byte for byte.
type Patch struct {
	Mode            PatchMode  `json:"mode" jsonschema:"how the place is found: replace_between, section, find_replace, append, prepend, items or regex"`
	StartMarker     string     `json:"start_marker,omitempty" jsonschema:"replace_between: literal text that the replaced region begins with"`
	EndMarker       string     `json:"end_marker,omitempty" jsonschema:"replace_between: literal text, the first after the start marker, that ends the region"`
	ReplacementHTML string     `json:"replacement_html,omitempty" jsonschema:"replace_between: HTML that takes the place of the region, start marker included"`
	EndInclusive    bool       `json:"end_inclusive,omitempty" jsonschema:"replace_between: replace the end marker too; default false keeps it"`
	Heading         string     `json:"heading,omitempty" jsonschema:"section: text of the heading whose section is replaced"`
	IncludeNested   bool       `json:"include_nested,omitempty" jsonschema:"section: replace the sections under deeper headings too; default false keeps them"`
	Content         string     `json:"content,omitempty" jsonschema:"section, append, prepend: the new text"`
	Find            string     `json:"find,omitempty" jsonschema:"find_replace: literal text to find; it must occur exactly once unless occurrence is given"`
	Replace         string     `json:"replace,omitempty" jsonschema:"find_replace: literal text that takes its place; empty removes it"`
	Occurrence      Occurrence `json:"occurrence,omitzero" jsonschema:"find_replace: which occurrence to replace, counted from 1; or first, last or all"`
	Separator       *string    `json:"separator,omitzero" jsonschema:"append, prepend: text between the old and the new text; by default a line break if there is none"`
	Add             []string   `json:"add,omitempty" jsonschema:"items: names to add at the end; those already there stay where they are"`
	Remove          []string   `json:"remove,omitempty" jsonschema:"items: names to remove"`
	Pattern         string     `json:"pattern,omitempty" jsonschema:"regex: RE2 pattern of at most 500 characters"`
	Replacement     string     `json:"replacement,omitempty" jsonschema:"regex: replacement; $1 or ${name} inserts a group, $$ a dollar sign; empty removes"`
	MaxMatches      int        `json:"max_matches,omitempty" jsonschema:"regex: most matches to replace, 1 to 100 (default 100); when there are more nothing is changed"`
	DryRun          bool       `json:"dry_run,omitempty" jsonschema:"regex: change nothing and return the diff"`
}

// Result is the outcome of a patch.
type Result struct {
	Content string // the content after the patch; the caller stores it unless DryRun is set
	Matches int    // number of replaced regions; in the mode items, of added and removed items
	DryRun  bool   // the patch asked for a preview
	Diff    string // if DryRun is set, the unified diff from before to after
}

// PatchError names the invalid field of a patch and the remedy.
type PatchError struct {
	Field   string // JSON name of the field
	Message string // a plain sentence for a person
}

func (e *PatchError) Error() string { return e.Field + ": " + e.Message }

func patchFault(field, format string, args ...any) error {
	return &PatchError{field, fmt.Sprintf(format, args...)}
}

// Apply applies the patch to content and returns the result, or a *PatchError. All modes except
// regex are linear. Regex stops soon after ctx ends, also with a *PatchError.
func (p Patch) Apply(ctx context.Context, content string) (Result, error) {
	return p.applyWith(ctx, content, p.replaceSection)
}

// ApplyToMarkdown is Apply for Markdown, whose headings are lines.
func (p Patch) ApplyToMarkdown(ctx context.Context, content string) (Result, error) {
	return p.applyWith(ctx, content, p.replaceMarkdownSection)
}

func (p Patch) applyWith(ctx context.Context, content string,
	section func(content string) (Result, error)) (Result, error) {
	if err := p.checkFields(); err != nil {
		return Result{}, err
	}
	if len(content) > MaxPatchInput {
		return Result{}, patchFault("mode", "The content is longer than the %d MiB that can be patched.", MaxPatchInput>>20)
	}
	r, err := p.applyMode(ctx, content, section)
	if err != nil {
		return Result{}, err
	}
	if len(r.Content) > MaxPatchOutput {
		return Result{}, patchFault("mode", "The result would be longer than %d MiB.", MaxPatchOutput>>20)
	}
	if r.DryRun = p.DryRun; p.DryRun {
		r.Diff = Diff(content, r.Content)
	}
	return r, nil
}

func (p Patch) applyMode(ctx context.Context, content string,
	section func(content string) (Result, error)) (Result, error) {
	switch p.Mode {
	case ReplaceBetween:
		return p.replaceBetween(content)
	case Section:
		return section(content)
	case FindReplace:
		return p.findReplace(content)
	case Append:
		return Result{Content: p.joinTexts(content, p.Content), Matches: 1}, nil
	case Prepend:
		return Result{Content: p.joinTexts(p.Content, content), Matches: 1}, nil
	case ItemsMode:
		return p.editItems(content), nil
	}
	return p.replaceRegex(ctx, content)
}

// patchField is a field with the modes that need it and the modes that allow it.
type patchField struct {
	name  string
	set   bool
	need  []PatchMode
	allow []PatchMode
}

func (p Patch) fieldRules() []patchField {
	return []patchField{
		{"start_marker", p.StartMarker != "", []PatchMode{ReplaceBetween}, nil},
		{"end_marker", p.EndMarker != "", []PatchMode{ReplaceBetween}, nil},
		{"replacement_html", p.ReplacementHTML != "", nil, []PatchMode{ReplaceBetween}},
		{"end_inclusive", p.EndInclusive, nil, []PatchMode{ReplaceBetween}},
		{"heading", strings.TrimSpace(p.Heading) != "", []PatchMode{Section}, nil},
		{"include_nested", p.IncludeNested, nil, []PatchMode{Section}},
		{"content", p.Content != "", []PatchMode{Append, Prepend}, []PatchMode{Section}},
		{"find", p.Find != "", []PatchMode{FindReplace}, nil},
		{"replace", p.Replace != "", nil, []PatchMode{FindReplace}},
		{"occurrence", p.Occurrence != 0, nil, []PatchMode{FindReplace}},
		{"separator", p.Separator != nil, nil, []PatchMode{Append, Prepend}},
		{"add", len(p.Add) > 0, nil, []PatchMode{ItemsMode}},
		{"remove", len(p.Remove) > 0, nil, []PatchMode{ItemsMode}},
		{"pattern", p.Pattern != "", []PatchMode{Regex}, nil},
		{"replacement", p.Replacement != "", nil, []PatchMode{Regex}},
		{"max_matches", p.MaxMatches != 0, nil, []PatchMode{Regex}},
		{"dry_run", p.DryRun, nil, []PatchMode{Regex}},
	}
}

// checkFields refuses unknown modes, missing fields and fields of other modes.
func (p Patch) checkFields() error {
	switch p.Mode {
	case ReplaceBetween, Section, FindReplace, Append, Prepend, ItemsMode, Regex:
	default:
		return patchFault("mode", "The mode must be replace_between, section, find_replace, append, prepend, items or regex.")
	}
	for _, f := range p.fieldRules() {
		needed := slices.Contains(f.need, p.Mode)
		switch {
		case needed && !f.set:
			return patchFault(f.name, "The mode %s needs a %s that is not empty.", p.Mode, f.name)
		case f.set && !needed && !slices.Contains(f.allow, p.Mode):
			return patchFault(f.name, "The field %s does not belong to the mode %s.", f.name, p.Mode)
		}
	}
	if p.Mode == ItemsMode && len(p.Add)+len(p.Remove) == 0 {
		return patchFault("add", "The mode items needs names to add or to remove.")
	}
	if p.Occurrence < AllOccurrences {
		return patchFault("occurrence", "Occurrences are counted from 1.")
	}
	for _, s := range []string{p.ReplacementHTML, p.Content, p.Replace, p.Replacement, p.separatorText()} {
		if !utf8.ValidString(s) {
			return patchFault("mode", "The new text is not valid UTF-8.")
		}
	}
	return nil
}

func (p Patch) replaceBetween(content string) (Result, error) {
	start := strings.Index(content, p.StartMarker)
	if start < 0 {
		return Result{}, patchFault("start_marker",
			"The start marker does not occur in the content; copy it from there exactly.")
	}
	after := start + len(p.StartMarker)
	end := strings.Index(content[after:], p.EndMarker)
	if end < 0 {
		return Result{}, patchFault("end_marker",
			"The end marker does not occur after the start marker; copy it from there exactly.")
	}
	end += after
	if p.EndInclusive {
		end += len(p.EndMarker)
	}
	return Result{Content: content[:start] + p.ReplacementHTML + content[end:], Matches: 1}, nil
}

func (p Patch) findReplace(content string) (Result, error) {
	n := strings.Count(content, p.Find)
	nth := int(p.Occurrence)
	switch {
	case n == 0:
		return Result{}, patchFault("find", "The text does not occur in the content; copy it from there exactly.")
	case p.Occurrence == 0 && n > 1:
		return Result{}, patchFault("find", "The text occurs %d times; choose one with occurrence, or find a longer text.", n)
	case nth > n:
		return Result{}, patchFault("occurrence", "The text occurs only %d times.", n)
	case p.Occurrence == AllOccurrences:
		if len(content)+n*(len(p.Replace)-len(p.Find)) > MaxPatchOutput {
			return Result{}, patchFault("mode", "The result would be longer than %d MiB.", MaxPatchOutput>>20)
		}
		return Result{Content: strings.ReplaceAll(content, p.Find, p.Replace), Matches: n}, nil
	case p.Occurrence == LastOccurrence:
		nth = n
	}
	at := strings.Index(content, p.Find)
	for range nth - 1 {
		at += len(p.Find)
		at += strings.Index(content[at:], p.Find)
	}
	return Result{Content: content[:at] + p.Replace + content[at+len(p.Find):], Matches: 1}, nil
}

// joinTexts joins two texts with the separator or, by default, with a newline if there is none.
func (p Patch) joinTexts(a, b string) string {
	if p.Separator == nil || a == "" || b == "" {
		return onLines(a, b)
	}
	return a + *p.Separator + b
}

func (p Patch) separatorText() string {
	if p.Separator == nil {
		return ""
	}
	return *p.Separator
}

// onLines joins two texts so that the second begins on a new line.
func onLines(a, b string) string {
	if a == "" || b == "" || strings.HasSuffix(a, "\n") || strings.HasPrefix(b, "\n") {
		return a + b
	}
	return a + "\n" + b
}

func (p Patch) editItems(content string) Result {
	after := AddItems(content, p.Add, p.Remove)
	before := map[Key]bool{}
	for _, i := range Items(content) {
		before[KeyOf(i)] = true
	}
	now := map[Key]bool{}
	changed := 0
	for _, i := range Items(after) {
		k := KeyOf(i)
		if !before[k] && !now[k] {
			changed++
		}
		now[k] = true
	}
	for k := range before {
		if !now[k] {
			changed++
		}
	}
	return Result{Content: after, Matches: changed}
}
