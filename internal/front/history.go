package front

import (
	"context"
	"fmt"

	"loregate/internal/access"
	"loregate/internal/op"
)

type historyIn struct {
	Name    string `json:"name,omitzero" maxlen:"1020" jsonschema:"Page; without it, the latest changes of the world."`
	Version int    `json:"version,omitzero" min:"1" jsonschema:"Read the page as it was at this version."`
	Compare int    `json:"compare,omitzero" min:"1" jsonschema:"Show what changed from this version to version, or until now."`
	Since   string `json:"since,omitzero" maxlen:"40" jsonschema:"Without name: changes from this time or date on."`
	Offset  int    `json:"offset,omitzero" default:"0" min:"0" jsonschema:"Entries, or characters of a text, to skip."`
}

type historyOut struct {
	Name     string   `json:"name,omitzero"`
	Versions []change `json:"versions,omitempty"`
	Changes  []commit `json:"changes,omitempty"`
	Imports  []string `json:"imports,omitempty" jsonschema:"Imports in the time of these changes, each of many cards."`
	Version  int      `json:"version,omitzero"`
	At       string   `json:"at,omitzero"`
	By       string   `json:"by,omitzero"`
	Changed  []string `json:"changed,omitempty"`
	Diff     string   `json:"diff,omitzero"`
	Content  string   `json:"content,omitzero"`
	More     string   `json:"more,omitzero"`
}

// change is a row of a history.
type change struct {
	Version   int    `json:"version,omitzero"`
	Name      string `json:"name,omitzero" jsonschema:"Its name then, if it was another one."`
	At        string `json:"at"`
	By        string `json:"by,omitzero"`
	Operation string `json:"operation,omitzero"`
	Trashed   bool   `json:"trashed,omitzero"`
}

// commit is a change of one or more cards.
type commit struct {
	At        string `json:"at"`
	By        string `json:"by,omitzero"`
	Operation string `json:"operation,omitzero"`
	Cards     string `json:"cards"`
	ID        string `json:"change_id" jsonschema:"undo_change takes it."`
}

// textLimit is the number of characters of a text in an answer. Codex cuts results at 12,000, in
// the middle.
const textLimit = 8000

func (f *Front) historyOp() *op.Operation {
	return define(op.Spec{
		Name: "history", Title: "What changed", Effect: access.Read, Target: "name",
		Asked: []string{"who edited this page last", "latest edits", "difference between two versions", "how was it worded before"},
		Doc: "See who wrote, edited or last touched a page and when, how often it was changed, read an older " +
			"revision, its " +
			"first or former wording, or show the difference between two: words added, removed or altered. " +
			"Without a name: the latest edits of the whole world, today, yesterday or this week, and by whom, " +
			"with the ids " +
			"that undo_change takes.",
		Examples: []op.Example{{Title: "A card's versions", Input: `{"name": "Rent Quay"}`},
			{Title: "The latest changes", Input: `{}`}},
	}, f.history)
}

func (f *Front) history(ctx context.Context, c *op.Call, in historyIn) (historyOut, error) {
	switch {
	case in.Name == "":
		return f.recentChanges(ctx, c, in)
	case in.Compare > 0:
		return f.compare(ctx, c, in)
	case in.Version > 0:
		return f.readVersion(ctx, c, in)
	}
	page, err := invoke[struct {
		Name     string   `json:"name"`
		Versions []change `json:"versions"`
		Next     *int     `json:"next_offset"`
	}](ctx, f, c, "get_card_history", args{"name": in.Name, "limit": rowLimit, "offset": in.Offset})
	out := historyOut{Name: page.Name, Versions: page.Versions}
	for i := range out.Versions {
		if out.Versions[i].Name == page.Name {
			out.Versions[i].Name = ""
		}
	}
	if page.Next != nil {
		out.More = callText("history", args{"name": page.Name, "offset": *page.Next})
	}
	return out, err
}

func (f *Front) recentChanges(ctx context.Context, c *op.Call, in historyIn) (historyOut, error) {
	query := args{"limit": rowLimit, "offset": in.Offset}
	set(query, "since", in.Since)
	page, err := invoke[struct {
		Changes []struct {
			commit
			Name string `json:"name"`
			ID   string `json:"id"`
		} `json:"changes"`
		Imports []struct {
			Kind   string `json:"kind"`
			Source string `json:"source"`
			At     string `json:"at"`
			By     string `json:"by"`
			Cards  int    `json:"cards"`
		} `json:"imports"`
		Next *int `json:"next_offset"`
	}](ctx, f, c, "recent_changes", query)
	var out historyOut
	for _, s := range page.Imports {
		of := map[bool]string{true: "undo of the import of ", false: "import of "}[s.Kind == "undo"]
		out.Imports = append(out.Imports, fmt.Sprintf("%s: %s%s by %s, %d cards", s.At, of, s.Source, s.By, s.Cards))
	}
	for _, row := range page.Changes {
		if n := len(out.Changes); n > 0 && out.Changes[n-1].ID == row.ID {
			out.Changes[n-1].Cards += ", " + row.Name
			continue
		}
		row.commit.ID, row.Cards = row.ID, row.Name
		out.Changes = append(out.Changes, row.commit)
	}
	if page.Next != nil {
		next := args{"offset": *page.Next}
		set(next, "since", in.Since)
		out.More = callText("history", next)
	}
	return out, err
}

func (f *Front) compare(ctx context.Context, c *op.Call, in historyIn) (historyOut, error) {
	query := args{"name": in.Name, "from": in.Compare, "offset": in.Offset}
	set(query, "to", in.Version)
	d, err := invoke[struct {
		Name    string   `json:"name"`
		To      int      `json:"to"`
		Changed []string `json:"changed"`
		Diff    string   `json:"diff"`
	}](ctx, f, c, "diff_card", query)
	out := historyOut{Name: d.Name, Changed: d.Changed}
	var end int
	if out.Diff, end = cutLines(d.Diff, textLimit); end > 0 {
		out.More = callText("history", args{"name": d.Name, "compare": in.Compare, "version": d.To,
			"offset": in.Offset + end})
	}
	return out, err
}

func (f *Front) readVersion(ctx context.Context, c *op.Call, in historyIn) (historyOut, error) {
	v, err := invoke[struct {
		Name    string `json:"name"`
		At      string `json:"at"`
		By      string `json:"by"`
		Content string `json:"content"`
	}](ctx, f, c, "get_revision", args{"name": in.Name, "version": in.Version, "max_content_length": textLimit + 1,
		"content_offset": in.Offset})
	out := historyOut{Name: v.Name, Version: in.Version, At: v.At, By: v.By}
	var end int
	if out.Content, end = cutText(v.Content, textLimit); end > 0 {
		out.More = callText("history", args{"name": v.Name, "version": in.Version, "offset": in.Offset + end})
	}
	return out, err
}
