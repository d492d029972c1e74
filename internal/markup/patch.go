package markup

import "context"

// Patch is one edit of a card's content, in exactly one mode.
type Patch struct {
	Mode            string   `json:"mode" jsonschema:"how to edit: replace_between, section, find_replace, append, prepend, items or regex"`
	StartMarker     string   `json:"start_marker,omitempty" jsonschema:"replace_between: text that the replaced region begins with"`
	EndMarker       string   `json:"end_marker,omitempty" jsonschema:"replace_between: first text after the start marker that ends the region"`
	ReplacementHTML string   `json:"replacement_html,omitempty" jsonschema:"replace_between: HTML that takes the place of the region"`
	EndInclusive    bool     `json:"end_inclusive,omitempty" jsonschema:"replace_between: replace the end marker too (default false)"`
	Heading         string   `json:"heading,omitempty" jsonschema:"section: text of the heading whose section is replaced"`
	IncludeNested   bool     `json:"include_nested,omitempty" jsonschema:"section: replace the sections below it too (default false)"`
	Content         string   `json:"content,omitempty" jsonschema:"section, append, prepend: the new text"`
	Find            string   `json:"find,omitempty" jsonschema:"find_replace: literal text to find; must occur exactly once unless occurrence is given"`
	Replace         string   `json:"replace,omitempty" jsonschema:"find_replace: literal text to put in its place"`
	Occurrence      int      `json:"occurrence,omitempty" jsonschema:"find_replace: which occurrence to replace, counting from 1"`
	Add             []string `json:"add,omitempty" jsonschema:"items: names to add; those already there are left"`
	Remove          []string `json:"remove,omitempty" jsonschema:"items: names to remove"`
	Pattern         string   `json:"pattern,omitempty" jsonschema:"regex: RE2 pattern of at most 500 characters"`
	Replacement     string   `json:"replacement,omitempty" jsonschema:"regex: replacement; $1 and ${name} insert groups, $$ a dollar sign"`
	MaxMatches      int      `json:"max_matches,omitempty" jsonschema:"regex: most matches to replace, 1 to 100 (default 100); more are refused"`
	DryRun          bool     `json:"dry_run,omitempty" jsonschema:"regex: change nothing and return the diff"`
}

// Result is the outcome of a patch.
type Result struct {
	Content string // the content after the patch
	Matches int    // places changed
	Diff    string // with DryRun: unified diff from before to after
}

// PatchError says which field of a patch is at fault.
type PatchError struct{ Field, Message string }

func (e *PatchError) Error() string { return e.Field + ": " + e.Message }

// Apply makes the edit.
func (p Patch) Apply(ctx context.Context, content string) (Result, error) {
	return Result{Content: content}, nil
}
