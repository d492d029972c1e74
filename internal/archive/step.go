package archive

import (
	"context"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func stepReads(d *deps) []*op.Operation {
	return []*op.Operation{
		surface.DefineRead(d.Kit, op.Spec{
			Name: "list_import_cards", Title: "Cards of an import",
			Doc: "List the cards that an import, or the undo of one, has written. recent_changes lists the imports of a " +
				"world in imports.",
			MinRole: access.RoleGM, NoTool: true,
			Route:    "GET /api/mcp/imports/{id}/cards",
			Target:   "id",
			Examples: []op.Example{{Title: "The first ones", Input: `{"id": "01900000-0000-7000-8000-000000000000", "limit": 20}`}},
		}, listImportCards),
	}
}

func stepWrites(d *deps) []*op.Operation {
	return []*op.Operation{
		defineWrite(d, op.Spec{
			Name: canon.OpUndoImport, Title: "Undo an import",
			Doc: "Bring the world back to the time before an import: cards that it made go to the trash, others get their " +
				"former text, name and level back. Cards that were changed since stay as they are, unless lose_edits is set. " +
				"dry_run lists everything that would happen, the edits that would be lost, and everything that would become " +
				"readable. A call that was cut off is repeated to go on. The undo of an undo brings all back.",
			Route: "POST /api/mcp/imports/{id}/undo", Target: "id", Effect: access.Destroy, MinRole: access.RoleAdmin,
			Manages: true, NoTool: true, People: true, Timeout: undoTime,
			Examples: []op.Example{
				{Title: "What would happen", Input: `{"id": "01900000-0000-7000-8000-000000000000", "dry_run": true}`},
				{Title: "Undo it, with the edits since", Input: `{"id": "01900000-0000-7000-8000-000000000000", "lose_edits": true}`},
			},
		}, undoImport),
	}
}

// undoTime bounds the undo of an import. One of a large import that takes longer is gone on with by the next call.
const undoTime = 10 * time.Minute

// importStep is an import, or the undo of one, in the list of changes.
type importStep struct {
	ID       string         `json:"id" jsonschema:"Id of the import; undo_import takes it."`
	Kind     string         `json:"kind" enum:"import,undo"`
	Source   string         `json:"source,omitzero" jsonschema:"Name of the files that were imported."`
	Format   string         `json:"format,omitzero"`
	At       surface.Stamp  `json:"at"`
	By       access.Subject `json:"by"`
	Commits  int            `json:"commits" jsonschema:"Number of changes that it was made in; 0 if it has not ended."`
	Cards    int            `json:"cards" jsonschema:"Number of cards that it wrote."`
	Ended    bool           `json:"ended" jsonschema:"False if it still runs or was cut off."`
	Of       string         `json:"of,omitzero" jsonschema:"The import, or undo, that it undoes."`
	UndoneBy string         `json:"undone_by,omitzero" jsonschema:"The undo that undoes it."`
}

func stepOf(l *canon.Snapshot, s canon.Step) importStep {
	out := importStep{ID: s.ID.String(), Kind: string(s.Kind), Source: s.Source, Format: s.Format, At: surface.Stamp(s.At),
		By: s.By, Commits: s.Commits, Cards: s.CountFor(l.View().Level), Ended: s.Last > 0}
	if s.Of != uuid.Nil {
		out.Of = s.Of.String()
	}
	if s.UndoneBy != uuid.Nil {
		out.UndoneBy = s.UndoneBy.String()
	}
	return out
}

// groupSteps leaves the changes of imports out of a query for one page of the feed, and returns the imports.
func groupSteps(ctx context.Context, l *canon.Snapshot, q *canon.FeedQuery) ([]canon.Step, error) {
	if q.Type != "" {
		return nil, nil
	}
	all, err := l.Steps(ctx)
	if err != nil {
		return nil, err
	}
	var shown []canon.Step
	for _, s := range all[:min(len(all), maxListed)] {
		q.Except = append(q.Except, s.Span())
		if canon.Within(s.At, q.Since, q.Before) && (q.Author == "" || q.Author == s.By) {
			shown = append(shown, s)
		}
	}
	return shown, nil
}

// stepsOnPage returns those steps that stand between the changes of one page, or the last change of the page before.
func stepsOnPage(ctx context.Context, l *canon.Snapshot, q canon.FeedQuery, p page, steps []canon.Step,
	shown changesOut) (list []importStep, err error) {
	if len(steps) == 0 {
		return nil, nil
	}
	var before time.Time
	if p.Offset > 0 {
		q.Page = canon.Page{Limit: 1, Offset: p.Offset - 1, Uncounted: true}
		last, _, err := l.Feed(ctx, q)
		if err != nil || len(last) == 0 {
			return nil, err
		}
		before = last[0].At
	}
	var since time.Time
	if n := len(shown.Changes); shown.NextOffset != nil && n > 0 {
		since = time.Time(shown.Changes[n-1].At)
	}
	for _, s := range steps {
		if canon.Within(s.At, since, before) {
			list = append(list, stepOf(l, s))
		}
	}
	return list, nil
}

type stepIn struct {
	ID string `json:"id" minlen:"1" maxlen:"64" jsonschema:"Id of the import, or of the undo of one."`
}

func (in stepIn) parse() (uuid.UUID, error) {
	id, err := uuid.Parse(in.ID)
	if err != nil {
		return uuid.UUID{}, fault.BadField("id", "is the id of an import, as recent_changes lists it in imports")
	}
	return id, nil
}

type importCardsIn struct {
	stepIn
	page
}

// importCard is a card that an import wrote, as it is now.
type importCard struct {
	summary
	Act     string `json:"act" jsonschema:"What the import did first with it, such as create or update."`
	Trashed bool   `json:"trashed,omitzero" jsonschema:"It is in the trash now."`
}

type importCardsOut struct {
	Import importStep   `json:"import"`
	Cards  []importCard `json:"cards"`
	paged
}

func listImportCards(ctx context.Context, l *canon.Snapshot, _ *op.Call, in importCardsIn) (importCardsOut, error) {
	id, err := in.parse()
	if err != nil {
		return importCardsOut{}, err
	}
	step, err := l.Step(ctx, id)
	if err != nil {
		return importCardsOut{}, err
	}
	all, err := l.StepCards(ctx, step)
	if err != nil {
		return importCardsOut{}, err
	}
	from := min(in.Offset, len(all))
	list := all[from:min(from+in.Limit, len(all))]
	out := importCardsOut{Import: stepOf(l, step), Cards: []importCard{},
		paged: pagedAt(in.page, canon.Total{Count: len(all)}, len(list))}
	for _, c := range list {
		out.Cards = append(out.Cards, importCard{summaryFromCard(l, c.Card), string(c.Act), c.Trashed()})
	}
	return out, nil
}

type undoImportIn struct {
	stepIn
	LoseEdits bool `json:"lose_edits,omitzero" jsonschema:"Also undo cards that were changed since, so that those edits are lost."`
	DryRun    bool `json:"dry_run,omitzero" jsonschema:"Only list what would happen."`
}

// lostEdit is a card that was changed since an import.
type lostEdit struct {
	childName
	By   access.Subject `json:"by" jsonschema:"Who changed it last."`
	At   surface.Stamp  `json:"at"`
	Lost bool           `json:"lost" jsonschema:"The edit is undone too; else the card stays as it is."`
}

// keptCard is a card that the undo leaves as it is.
type keptCard struct {
	childName
	Why string `json:"why"`
}

type undoImportOut struct {
	Undone string      `json:"undone" jsonschema:"The import, or undo, that was undone."`
	UndoID string      `json:"undo_id,omitzero" jsonschema:"Id of the undo; undo_import with it brings all back. Nothing was changed without it."`
	DryRun bool        `json:"dry_run,omitzero" jsonschema:"Nothing was changed."`
	Trash  []childName `json:"trash" jsonschema:"Cards that go to the trash, at most 100; trash_count counts all."`
	Back   []childName `json:"restored" jsonschema:"Cards that come back from the trash, at most 100."`
	Former []childName `json:"former" jsonschema:"Cards that get back their former text, name or level, at most 100."`
	Edits  []lostEdit  `json:"edits" jsonschema:"Cards that were changed since, at most 1000."`
	Kept   []keptCard  `json:"kept" jsonschema:"Cards that stay as they are for another reason, at most 100."`

	TrashCount  int `json:"trash_count"`
	BackCount   int `json:"restored_count"`
	FormerCount int `json:"former_count"`
	EditCount   int `json:"edit_count"`
	KeptCount   int `json:"kept_count"`
	Links       int `json:"links" jsonschema:"Links that end or come back."`
	Layers      int `json:"layers" jsonschema:"Texts of places that end or come back."`
	KeptLinks   int `json:"kept_links" jsonschema:"Links and texts of places that were changed since and stay."`

	Opens []surface.OpenedData `json:"opens,omitzero" jsonschema:"Everything that more readers see after the change."`
}

// maxEdits is the number of edits that an answer names.
const maxEdits = 1000

func undoImport(ctx context.Context, d *deps, c *op.Call, in undoImportIn) (out undoImportOut, err error) {
	id, err := in.parse()
	if err != nil {
		return out, err
	}
	u, err := d.Canon.UndoStep(ctx, c.Grant, id, canon.StepUndo{LoseEdits: in.LoseEdits, Last: d.isMemory,
		Opened: func(r canon.Receipt) error {
			if len(out.Opens) >= surface.MaxOpened {
				return nil
			}
			return d.Canon.ReadAfter(ctx, c.Grant, r, func(l *canon.Snapshot) error {
				opens, err := surface.OpenedBy(ctx, l, r)
				out.Opens = append(out.Opens, opens...)
				return err
			})
		}})
	if err != nil {
		return undoImportOut{}, err
	}
	out.Opens = out.Opens[:min(len(out.Opens), surface.MaxOpened)]
	out.Undone, out.DryRun = u.Step.ID.String(), c.Grant.Request().DryRun
	if u.ID != uuid.Nil {
		out.UndoID = u.ID.String()
	}
	out.Trash, out.Back, out.Former = childNames(u.Trashed), childNames(u.Back), childNames(u.Former)
	out.Edits, out.Kept = []lostEdit{}, []keptCard{}
	for _, e := range u.Edits[:min(len(u.Edits), maxEdits)] {
		out.Edits = append(out.Edits, lostEdit{childName{e.Card.Name, e.Card.Type, e.Card.ID}, e.By, surface.Stamp(e.At), e.Lost})
	}
	for _, k := range u.Kept[:min(len(u.Kept), maxListed)] {
		out.Kept = append(out.Kept, keptCard{childName{k.Card.Name, k.Card.Type, k.Card.ID}, k.Why})
	}
	out.TrashCount, out.BackCount, out.FormerCount = len(u.Trashed), len(u.Back), len(u.Former)
	out.EditCount, out.KeptCount = len(u.Edits), len(u.Kept)
	out.Links, out.Layers, out.KeptLinks = u.Links, u.Layers, u.KeptLinks
	return out, nil
}
