package archive

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func historyReads(d *deps) []*op.Operation {
	return []*op.Operation{
		surface.DefineRead(d.Kit, op.Spec{
			Name: "get_card_history",
			Asked: []string{
				"who edited a page and when", "earlier edits of an article", "list of past wordings",
				"how often was it changed", "who last touched a page", "who wrote this first",
				"who has had a hand in it", "author of the last alteration", "when was a page last edited",
				"log of one entry", "former versions of a page", "who wrote this and when",
				"edits of an article", "who touched it last", "since when does the page exist",
			},
			Title: "History of a card",
			Doc: "List who changed a card, when and how, latest first. " +
				"Give a version to get_revision to read it, or two to diff_card to compare them.",
			Route:    "GET /api/mcp/cards/{name}/history",
			Target:   "name",
			Examples: []op.Example{{Title: "Versions of a card", Input: `{"name": "Rent Quay"}`}},
		}, getCardHistory),
		surface.DefineRead(d.Kit, op.Spec{
			Name: "get_revision",
			Asked: []string{
				"how did the text read before", "the page as it was at first", "earlier wording of an article",
				"original text", "how was it worded at first", "earlier text of a page", "before it was altered",
				"it say before", "show the second wording", "text of the version before last",
				"as it stood last week", "text as it was in an older version", "the page before the edit",
				"first wording of an article", "read an old state",
			},
			Title:    "Read an older version",
			Doc:      "Read a card as it was at one version. The numbers are those of get_card_history. Long content is returned in parts, as by get_card.",
			Route:    "GET /api/mcp/cards/{name}/history/{version}",
			Target:   "name",
			Examples: []op.Example{{Title: "The first version", Input: `{"name": "Rent Quay", "version": 1}`}},
		}, getRevision),
		surface.DefineRead(d.Kit, op.Spec{
			Name: "diff_card",
			Asked: []string{
				"difference between two wordings", "added or removed by the last edit",
				"compare old and new text", "before and after", "the last edit do to a page",
				"which words were altered", "new in it", "compare it with it was",
				"somebody cross out or insert", "old and new wording side by side",
				"which words were added or removed", "compare an article with its earlier state",
				"how has the text changed since",
			},
			Title:    "Compare two versions",
			Doc:      "Compare two versions of a card: a unified diff of the content, and the other aspects that changed. Without versions, compare the current one with the one before.",
			Route:    "GET /api/mcp/cards/{name}/diff",
			Target:   "name",
			Examples: []op.Example{{Title: "What changed since the first version", Input: `{"name": "Rent Quay", "from": 1}`}},
		}, diffCard),
	}
}

// version is one state of a card.
type version struct {
	Version       uint32         `json:"version"`
	At            surface.Stamp  `json:"at"`
	By            access.Subject `json:"by"`
	Operation     string         `json:"operation" jsonschema:"The operation that wrote it."`
	ChangeID      string         `json:"change_id" jsonschema:"Id of the change that wrote it, as in recent_changes."`
	Name          string         `json:"name" jsonschema:"The card's name when it was written."`
	Type          string         `json:"type"`
	TextFormat    string         `json:"text_format,omitzero" jsonschema:"Form of the content: html or markdown."`
	ContentLength int            `json:"content_length"`
	Current       bool           `json:"current,omitzero"`
	Trashed       bool           `json:"trashed,omitzero" jsonschema:"This change put the card in the trash."`
	Purged        bool           `json:"purged,omitzero" jsonschema:"The content was erased by the operator."`
	Level         string         `json:"level,omitzero" jsonschema:"Who could see it at that time; shown to gm and up."`

	changes []string // aspects that differ from the previous version, if that is known
}

func versionOf(l *canon.Snapshot, c canon.Card, v canon.Version) version {
	return version{Version: l.Number(c, v), At: surface.Stamp(v.At), By: v.By, Operation: v.Op,
		ChangeID: v.Change.String(), Name: v.Name,
		Type: v.Type, TextFormat: formName(v.TextKind()), ContentLength: shownLength(l, v.Type, v.Length),
		Current: v.To == 0 && !v.Trashed,
		Trashed: v.Trashed, Purged: v.Purged,
		Level: shownLevel(l, v.Label)}
}

type historyIn struct {
	namedCard
	page
}

type historyOut struct {
	Name     string    `json:"name"`
	Versions []version `json:"versions"`
	paged

	inTrash bool
}

func getCardHistory(ctx context.Context, l *canon.Snapshot, _ *op.Call, in historyIn) (historyOut, error) {
	c, err := findCardOrTrashed(ctx, l, in.Name)
	if err != nil {
		return historyOut{}, err
	}
	list, total, err := l.VersionsOf(ctx, c, in.page.toCanonPage())
	if err != nil {
		return historyOut{}, err
	}
	out := historyOut{Name: c.Name, Versions: make([]version, len(list)), paged: pagedAt(in.page, total, len(list)),
		inTrash: c.Trashed()}
	for i, v := range list {
		out.Versions[i] = versionOf(l, c, v)
		if i+1 < len(list) {
			out.Versions[i].changes = changedAspects(l, list[i+1], v)
		}
	}
	return out, nil
}

// findCardOrTrashed is findCard, but for those who manage cards it also searches the trash.
func findCardOrTrashed(ctx context.Context, l *canon.Snapshot, name string) (canon.Card, error) {
	c, err := findCard(ctx, l, name)
	if fault.KindOf(err) != fault.NotFound || l.Grant().Role() < l.World().Settings.ManagerRole() {
		return c, err
	}
	gone, bad := inTrash(ctx, l, name)
	if bad != nil || len(gone) == 0 {
		return c, cmp.Or(bad, err)
	}
	return gone[0], nil
}

type revisionIn struct {
	namedCard
	Version          uint32 `json:"version" alias:"act_id" min:"1" max:"4294967295" jsonschema:"Number of the version."`
	MaxContentLength int    `json:"max_content_length,omitzero" min:"1" max:"1048576" jsonschema:"Maximum number of characters of content to return; default 8000 over MCP, otherwise all."`
	ContentOffset    int    `json:"content_offset,omitzero" default:"0" min:"0" jsonschema:"Characters of content to skip."`
}

type revisionOut struct {
	Truncated bool              `json:"truncated,omitzero" jsonschema:"There is more content; next is the call that returns it."`
	Next      *surface.NextCall `json:"next,omitzero"`
	version
	Content       string          `json:"content"`
	Fields        json.RawMessage `json:"fields"`
	ContentOffset int             `json:"content_offset,omitzero"`

	goOn  func(offset int) *surface.NextCall
	card  string
	whole string // all of the content
}

// Cut shortens the content.
func (o revisionOut) Cut(budget int) (any, map[string]any, bool) {
	part, end, cut := surface.CutText(o.Content, o.ContentOffset, budget-len(o.Fields)-surface.Overhead)
	if !cut {
		return o, nil, false
	}
	o.Content, o.Truncated, o.Next = part, true, o.goOn(end)
	return o, o.Next.Arguments, true
}

func getRevision(ctx context.Context, l *canon.Snapshot, c *op.Call, in revisionIn) (revisionOut, error) {
	card, err := findCard(ctx, l, in.Name)
	if err != nil {
		return revisionOut{}, err
	}
	v, err := l.VersionOf(ctx, card, in.Version)
	if err != nil {
		return revisionOut{}, err
	}
	content, err := versionText(ctx, l, card, v)
	if err != nil {
		return revisionOut{}, err
	}
	fields, err := l.VersionFields(ctx, card, v)
	if err != nil {
		return revisionOut{}, err
	}
	out := revisionOut{version: versionOf(l, card, v), Fields: fieldsOf(fields),
		ContentOffset: in.ContentOffset,
		card:          card.Name, whole: content}
	out.goOn = func(offset int) *surface.NextCall {
		args := map[string]any{"name": in.Name, "version": in.Version, "content_offset": offset}
		if in.MaxContentLength != 0 {
			args["max_content_length"] = in.MaxContentLength
		}
		return surface.CallOn(l, "get_revision", args)
	}
	part, end, more := surface.TextPart(content, in.ContentOffset, contentLimit(c, in.MaxContentLength, false, content))
	if out.Content, out.Truncated = part, more; more {
		out.Next = out.goOn(end)
	}
	return out, nil
}

// versionText is contentOf for an older version.
func versionText(ctx context.Context, l *canon.Snapshot, c canon.Card, v canon.Version) (string, error) {
	if canon.TextOf(v.Type) == canon.TextFile || v.Purged {
		return "", nil
	}
	text, err := l.VersionContent(ctx, c, v)
	return markup.Clean(text), err
}

type diffIn struct {
	namedCard
	From   uint32 `json:"from,omitzero" min:"1" max:"4294967295" jsonschema:"Number of the older version; default the one before to."`
	To     uint32 `json:"to,omitzero" min:"1" max:"4294967295" jsonschema:"Number of the newer version; default the current one."`
	Offset int    `json:"offset,omitzero" default:"0" min:"0" jsonschema:"Characters of the diff to skip."`
}

type diffOut struct {
	Name    string   `json:"name"`
	From    uint32   `json:"from"`
	To      uint32   `json:"to"`
	Changed []string `json:"changed" jsonschema:"Aspects that differ: name, type, text_format, content, fields, level."`
	Diff    string   `json:"diff" jsonschema:"Unified diff of the content; empty if it is the same."`
	Offset  int      `json:"offset,omitzero"`
}

// Cut shortens the diff.
func (o diffOut) Cut(budget int) (any, map[string]any, bool) {
	part, _, cut := surface.CutText(o.Diff, o.Offset, budget)
	if !cut {
		return o, nil, false
	}
	if i := strings.LastIndexByte(part, '\n'); i > 0 {
		part = part[:i+1]
	}
	o.Diff = part
	return o, map[string]any{"from": o.From, "to": o.To, "offset": o.Offset + len([]rune(part))}, true
}

func diffCard(ctx context.Context, l *canon.Snapshot, _ *op.Call, in diffIn) (diffOut, error) {
	c, err := findCard(ctx, l, in.Name)
	if err != nil {
		return diffOut{}, err
	}
	if in.To == 0 {
		in.To = c.Version(l.View())
	}
	in.From = cmp.Or(in.From, max(in.To-1, 1))
	if in.From > in.To {
		return diffOut{}, fault.BadField("from", "must not be later than to")
	}
	older, err := l.VersionOf(ctx, c, in.From)
	if err != nil {
		return diffOut{}, err
	}
	newer, err := l.VersionOf(ctx, c, in.To)
	if err != nil {
		return diffOut{}, err
	}
	a, err := versionText(ctx, l, c, older)
	if err != nil {
		return diffOut{}, err
	}
	b, err := versionText(ctx, l, c, newer)
	if err != nil {
		return diffOut{}, err
	}
	diff := markup.Diff(a, b)
	return diffOut{Name: c.Name, From: in.From, To: in.To, Changed: changedAspects(l, older, newer),
		Diff: diff[len(markup.Clip(diff, in.Offset)):], Offset: in.Offset}, nil
}

// changedAspects returns the names of the aspects that differ between two versions.
func changedAspects(l *canon.Snapshot, a, b canon.Version) []string {
	list := []string{}
	for _, d := range []struct {
		what    string
		differs bool
	}{
		{"name", a.Name != b.Name},
		{"type", a.Type != b.Type},
		{"text_format", a.Format != b.Format},
		{"content", !a.SameContent(b)},
		{"fields", string(l.FieldsOf(a.Type, a.Fields)) != string(l.FieldsOf(b.Type, b.Fields))},
		{"level", shownLevel(l, a.Label) != shownLevel(l, b.Label)},
	} {
		if d.differs {
			list = append(list, d.what)
		}
	}
	return list
}
