package archive

import (
	"context"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func feedReads(d *deps) []*op.Operation {
	return []*op.Operation{
		surface.DefineRead(d.Kit, op.Spec{
			Name: "recent_changes",
			Asked: []string{
				"newest edits", "happened in the wiki lately", "who has been writing this week",
				"latest activity", "which pages were touched today", "who altered something lately",
				"since yesterday", "new", "others do while I was away", "edits of one person",
				"news of the wiki", "have we written this month", "latest edits everywhere",
				"who has been working on the wiki", "activity of the last days", "fresh or altered pages",
			},
			Title:    "Recent changes",
			Doc:      "List recent changes of the wiki, latest first, filtered by time, type or author.",
			Route:    "GET /api/mcp/changes",
			Examples: []op.Example{{Title: "Since a date", Input: `{"since": "2026-01-01", "limit": 20}`}},
		}, recentChanges),
		surface.DefineRead(d.Kit, op.Spec{
			Name:  "audit_changes",
			Title: "Audit the changes of cards",
			Doc: "List who changed which card, when and by which operation, latest first, of one card or by one subject. " +
				"Admins also get the changes of cards in the trash.",
			MinRole: access.RoleGM, NoTool: true,
			Route: "GET /api/mcp/audit",
			Examples: []op.Example{{Title: "Of a card", Input: `{"card": "Rent Quay"}`},
				{Title: "The latest", Input: `{"limit": 20}`}},
		}, auditChanges),
		surface.DefineRead(d.Kit, op.Spec{
			Name: "list_trash",
			Asked: []string{
				"thrown away pages", "deleted articles that can come back", "in the bin", "discarded entries",
				"lies in the bin", "which pages did we throw out", "deleted", "deleted pages",
				"rubbish bin of the wiki", "pages that somebody binned", "discarded articles",
			},
			Title:   "List the trash",
			Doc:     "List the deleted cards that restore_card can restore, latest first.",
			MinRole: access.RoleAdmin, Manages: true,
			Route:    "GET /api/mcp/trash",
			Examples: []op.Example{{Title: "What was deleted last", Input: `{"limit": 10}`}},
		}, listTrash),
	}
}

type changesIn struct {
	Since  time.Time `json:"since,omitzero" jsonschema:"Only changes at or after this time: RFC 3339, or a date."`
	Before time.Time `json:"before,omitzero" jsonschema:"Only changes before this time: RFC 3339, or a date."`
	Type   string    `json:"type,omitzero" maxlen:"255" jsonschema:"Only changes of cards of this type."`
	Author string    `json:"author,omitzero" maxlen:"100" jsonschema:"Only changes by this subject."`
	page
	uncounted
}

// uncounted lets a caller do without the number of all changes.
type uncounted struct {
	Uncounted bool `json:"uncounted,omitzero" jsonschema:"Do not count all changes, which reads each of them: total is a lower bound."`
}

// change is one card's change in the feed.
type change struct {
	ID        string         `json:"id" jsonschema:"Id of the change; versions that were written together share it."`
	CardID    canon.CardID   `json:"card_id"`
	Name      string         `json:"name" jsonschema:"The card's name when it was written."`
	Type      string         `json:"type"`
	Version   uint32         `json:"version"`
	At        surface.Stamp  `json:"at"`
	By        access.Subject `json:"by"`
	Operation string         `json:"operation"`
	Trashed   bool           `json:"trashed,omitzero"`
	Level     string         `json:"level,omitzero"`
}

type changesOut struct {
	Changes []change `json:"changes"`
	paged
}

// recentOut are changes with the imports among them, of which players are not told.
type recentOut struct {
	Changes []change `json:"changes"`
	paged
	Imports []importStep `json:"imports,omitzero" jsonschema:"Imports, and undos of imports, in the time of these changes. The changes that they consist of are not among changes; list_import_cards lists their cards."`
}

func recentChanges(ctx context.Context, l *canon.Snapshot, _ *op.Call, in changesIn) (recentOut, error) {
	q := canon.FeedQuery{Since: in.Since, Before: in.Before, Type: in.Type, Author: access.Subject(in.Author)}
	steps, err := groupSteps(ctx, l, &q)
	if err != nil {
		return recentOut{}, err
	}
	list, err := feedChanges(ctx, l, q, in.page, in.uncounted)
	if err != nil {
		return recentOut{}, err
	}
	imports, err := stepsOnPage(ctx, l, q, in.page, steps, list)
	return recentOut{Changes: list.Changes, paged: list.paged, Imports: imports}, err
}

type auditIn struct {
	Card   string    `json:"card,omitzero" maxlen:"1020" jsonschema:"Only changes of this card: its name or ~ID."`
	Author string    `json:"author,omitzero" maxlen:"100" jsonschema:"Only changes by this subject."`
	Since  time.Time `json:"since,omitzero" jsonschema:"Only changes at or after this time: RFC 3339, or a date."`
	Before time.Time `json:"before,omitzero" jsonschema:"Only changes before this time: RFC 3339, or a date."`
	page
	uncounted
}

func auditChanges(ctx context.Context, l *canon.Snapshot, _ *op.Call, in auditIn) (changesOut, error) {
	q := canon.FeedQuery{Since: in.Since, Before: in.Before, Author: access.Subject(in.Author), Trash: true}
	if in.Card != "" {
		c, err := findCardOrTrashed(ctx, l, in.Card)
		if err != nil {
			return changesOut{}, err
		}
		q.Card = c.ID
	}
	return feedChanges(ctx, l, q, in.page, in.uncounted)
}

// feedChanges lists one page of the changes that a query finds.
func feedChanges(ctx context.Context, l *canon.Snapshot, q canon.FeedQuery, p page, u uncounted) (changesOut, error) {
	q.Page = p.toCanonPage()
	if u.Uncounted {
		q.Page.Uncounted, q.Page.Limit = true, p.Limit+1 // one more, to know whether there are more
	}
	list, total, err := l.Feed(ctx, q)
	if err != nil {
		return changesOut{}, err
	}
	if u.Uncounted {
		more := len(list) > p.Limit
		list = list[:min(len(list), p.Limit)]
		total = canon.Total{Count: p.Offset + len(list), AtLeast: more}
	}
	out := changesOut{Changes: make([]change, len(list)), paged: pagedAt(p, total, len(list))}
	for i, v := range list {
		n, err := numberOf(ctx, l, v)
		if err != nil {
			return changesOut{}, err
		}
		out.Changes[i] = change{ID: v.Change.String(), CardID: v.Card, Name: v.Name, Type: v.Type, Version: n,
			At: surface.Stamp(v.At),
			By: v.By, Operation: v.Op, Trashed: v.Trashed, Level: shownLevel(l, v.Label)}
	}
	return out, nil
}

// numberOf returns the version number of v in the caller's view. For a view with a subject below
// level admin the number can depend on the current card, which is then loaded; for all others it
// follows from v alone.
func numberOf(ctx context.Context, l *canon.Snapshot, v canon.Version) (uint32, error) {
	if l.View().Subject == "" || l.View().Level == access.LevelAdmin {
		return v.Counts.For(l.View().Level), nil
	}
	c, _, err := l.ByID(ctx, v.Card)
	return l.Number(c, v), err
}

type trashIn struct{ page }

// trashedCard is a card in the trash.
type trashedCard struct {
	summary
	TrashedAt surface.Stamp  `json:"trashed_at"`
	By        access.Subject `json:"by" jsonschema:"Who deleted it."`
	With      int            `json:"with" jsonschema:"Cards below it that were deleted with it."`
}

type trashOut struct {
	Cards []trashedCard `json:"cards"`
	paged
}

func listTrash(ctx context.Context, l *canon.Snapshot, _ *op.Call, in trashIn) (trashOut, error) {
	cards, total, err := l.Trash(ctx, in.page.toCanonPage())
	if err != nil {
		return trashOut{}, err
	}
	out := trashOut{Cards: make([]trashedCard, len(cards)), paged: pagedAt(in.page, total, len(cards))}
	for i, c := range cards {
		with, err := l.TrashedWith(ctx, c.ID)
		if err != nil {
			return trashOut{}, err
		}
		out.Cards[i] = trashedCard{summaryFromCard(l, c), surface.Stamp(c.TrashedAt), c.UpdatedBy, max(len(with)-1, 0)}
	}
	return out, nil
}
