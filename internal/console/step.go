package console

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// importStep is an import, or the undo of one, in the list of changes.
type importStep struct {
	ID       string    `json:"id"`
	Kind     string    `json:"kind"`
	Source   string    `json:"source"`
	Format   string    `json:"format"`
	At       time.Time `json:"at"`
	By       string    `json:"by"`
	Commits  int       `json:"commits"`
	Cards    int       `json:"cards"`
	Ended    bool      `json:"ended"`
	UndoneBy string    `json:"undone_by"`
}

// title returns the name of the step.
func (s importStep) title() string {
	if s.Kind == "undo" {
		return "Undo of the import of " + s.Source
	}
	return "Import of " + s.Source
}

// detail returns the rest of the step's line.
func (s importStep) detail() string {
	parts := []string{}
	if s.Kind == "import" {
		parts = append(parts, s.Format)
	}
	if s.Ended {
		parts = append(parts, countText(s.Cards, "card")+" in "+countText(s.Commits, "change"))
	} else {
		parts = append(parts, "not ended")
	}
	return strings.Join(append(parts, "by "+s.By, dateText(s.At)), ", ")
}

// button returns the words of the link that undoes the step.
func (s importStep) button() string {
	if s.Kind == "undo" {
		return "Bring all back…"
	}
	return "Undo this import…"
}

// changeEntry is a line of the list of changes: a change of a card, or an import.
type changeEntry struct {
	change
	Import *importStep
}

// entries returns the changes and the imports among them, latest first.
func (l changeList) entries() []changeEntry {
	var all []changeEntry
	for _, c := range l.Changes {
		all = append(all, changeEntry{change: c})
	}
	for _, s := range l.Imports {
		all = append(all, changeEntry{change{At: s.At}, &s})
	}
	slices.SortStableFunc(all, func(a, b changeEntry) int { return cmp.Compare(b.At.UnixNano(), a.At.UnixNano()) })
	return all
}

// stepCards is a page of the cards that an import wrote.
type stepCards struct {
	Import importStep `json:"import"`
	Cards  []struct {
		card
		Act     string `json:"act"`
		Trashed bool   `json:"trashed"`
	} `json:"cards"`
	page
}

// undoneCard is a card in the list of the effects of an undo.
type undoneCard struct {
	Name string    `json:"name"`
	ID   string    `json:"id"`
	By   string    `json:"by"`
	At   time.Time `json:"at"`
	Why  string    `json:"why"`
}

// importUndo are the effects of the undo of an import, made or planned.
type importUndo struct {
	UndoID   string       `json:"undo_id"`
	Trash    []undoneCard `json:"trash"`
	Restored []undoneCard `json:"restored"`
	Former   []undoneCard `json:"former"`
	Edits    []undoneCard `json:"edits"`
	Kept     []undoneCard `json:"kept"`

	TrashCount    int `json:"trash_count"`
	RestoredCount int `json:"restored_count"`
	FormerCount   int `json:"former_count"`
	EditCount     int `json:"edit_count"`
	KeptCount     int `json:"kept_count"`
	Links         int `json:"links"`
	Layers        int `json:"layers"`

	Opens []opened `json:"opens"`
}

// changesNothing reports whether the undo changes nothing.
func (u importUndo) changesNothing() bool {
	return u.TrashCount+u.RestoredCount+u.FormerCount+u.Links+u.Layers == 0
}

// undoGroup is a part of the list of the effects of an undo.
type undoGroup struct {
	Title string
	Count int
	Cards []undoneCard
}

func (u importUndo) groups(losing bool) (all []undoGroup) {
	edits := undoGroup{"Changed since, and stay as they are", u.EditCount, u.Edits}
	if losing {
		edits.Title = "Changed since: these edits are lost"
	}
	for _, g := range []undoGroup{edits, {"Go to the trash", u.TrashCount, u.Trash},
		{"Come back from the trash", u.RestoredCount, u.Restored},
		{"Get back their former text, name or level", u.FormerCount, u.Former},
		{"Stay as they are", u.KeptCount, u.Kept}} {
		if g.Count > 0 {
			all = append(all, g)
		}
	}
	return all
}

// undoForm is the page that asks before an import is undone.
type undoForm struct {
	stepCards
	Undo    importUndo
	Losing  bool   // edits made since are undone too
	Sure    string // fingerprint of the list that the person sees
	Changed bool   // the list differs from the one that the person saw
}

// showUndoImport shows an import with its cards, and the effects of its undo.
func (s *server) showUndoImport(v *visit) error {
	return v.writeUndoImport(v.r.URL.Query().Get("edits") == "lose", false)
}

func (v *visit) writeUndoImport(losing, changed bool) error {
	id := v.r.PathValue("id")
	form := undoForm{Losing: losing, Changed: changed}
	var err error
	if form.stepCards, err = call[stepCards](v, "list_import_cards", v.paged(fields{"id": id})); err != nil {
		return err
	}
	if v.may("undo_import") {
		if form.Undo, form.Sure, err = v.tryUndoImport(id, losing); err != nil {
			return err
		}
	}
	return v.write(http.StatusOK, undoImportPage(v.frameAt(form.Import.title(), addressOf("changes", v.world)), form,
		addressOf("changes", v.world, id, "import")))
}

// tryUndoImport returns the effects of the undo of an import, and a fingerprint of them.
func (v *visit) tryUndoImport(id string, losing bool) (importUndo, string, error) {
	u, err := call[importUndo](v, "undo_import", fields{"id": id, "lose_edits": losing, "dry_run": true})
	if err != nil {
		return u, "", err
	}
	b, err := json.Marshal(u)
	sum := sha256.Sum256(b)
	return u, hex.EncodeToString(sum[:12]), err
}

// undoImport undoes an import, if the effects are those that the person has seen.
func (s *server) undoImport(v *visit) error {
	id, losing := v.r.PathValue("id"), v.r.PostFormValue("edits") == "lose"
	_, sure, err := v.tryUndoImport(id, losing)
	if err != nil {
		return err
	}
	if sure != v.r.PostFormValue("sure") {
		return v.writeUndoImport(losing, true)
	}
	if _, err := call[importUndo](v, "undo_import", fields{"id": id, "lose_edits": losing}); err != nil {
		return err
	}
	return v.redirect(addressOf("changes", v.world))
}
