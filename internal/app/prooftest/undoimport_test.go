package prooftest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/op"
)

// newImporter returns an importer to a world whose game masters manage cards.
func newImporter(t *testing.T, on string, seed uint64) importer {
	t.Helper()
	i := importer{newImportOracle(t, on, newMint(seed))}
	err := i.app.ConfigureWorld(t.Context(), "lendwater", func(_ *string, s *canon.Settings) {
		s.GMRights = canon.GMRightsAll
	})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// named is a card in an answer.
type named struct {
	Name    string
	Act     string
	Trashed bool
	By      string
	Lost    bool
	Why     string
}

func namesOf(list []named) string {
	var all []string
	for _, n := range list {
		all = append(all, n.Name)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// undoAnswer is the answer of undo_import.
type undoAnswer struct {
	UndoID                              string `json:"undo_id"`
	Trash, Restored, Former             []named
	Edits, Kept                         []named
	TrashCount                          int `json:"trash_count"`
	Opens                               []struct{ Name, Text string }
	Layers, Links, KeptLinks, EditCount int
}

// importedStep is an import in the list of changes.
type importedStep struct {
	ID, Kind, Source, Format, By, Of string
	Commits, Cards                   int
	Ended                            bool
	UndoneBy                         string `json:"undone_by"`
}

// importer is a game master who imports a vault.
type importer struct{ *oracle }

func (i importer) rest(who, operation, method, path string, in fields, out any) reply {
	i.t.Helper()
	body := ""
	if in != nil {
		b, _ := json.Marshal(in)
		body = string(b)
	}
	got := i.call(who, request{operation: operation, method: method, path: path, body: body,
		header: []string{"Accept: " + op.PlainJSON}})
	if out != nil {
		if got.status >= 300 {
			i.t.Fatalf("%s: %s", operation, got.body)
		}
		if err := json.Unmarshal([]byte(got.body), out); err != nil {
			i.t.Fatal(err)
		}
	}
	return got
}

func (i importer) undo(id string, in fields) (out undoAnswer) {
	i.t.Helper()
	i.rest("gm", "undo_import", "POST", "/api/mcp/imports/"+id+"/undo", in, &out)
	return out
}

func (i importer) imports(who string) []importedStep {
	i.t.Helper()
	var out struct {
		Imports []importedStep
		Changes []struct{ Operation, Name string }
	}
	i.rest(who, "recent_changes", "GET", "/api/mcp/changes?limit=100", nil, &out)
	for _, c := range out.Changes {
		if who != "user" && (c.Operation == "carry_out_import" || c.Operation == "undo_import") {
			i.t.Errorf("%s of %s is a change of its own", c.Operation, c.Name)
		}
	}
	return out.Imports
}

// text returns a card's text as somebody reads it; "-" if it does not exist for them.
func (i importer) text(who, name string) string {
	i.t.Helper()
	got := i.rest(who, "get_card", "GET", "/api/mcp/cards/"+url.PathEscape(name)+"?format=markdown", nil, nil)
	var c struct{ Content string }
	if got.status == 404 {
		return "-"
	}
	if err := json.Unmarshal([]byte(got.body), &c); err != nil {
		i.t.Fatalf("%s: %s", name, got.body)
	}
	return strings.TrimSpace(c.Content)
}

func (i importer) want(when, who string, texts map[string]string) {
	i.t.Helper()
	for name, want := range texts {
		if got := i.text(who, name); got != want {
			i.t.Errorf("%s: %s reads %q as %q, not %q", when, who, name, got, want)
		}
	}
}

func (i importer) edit(name, text string) {
	i.t.Helper()
	got := i.rest("admin", "update_card", "PATCH", "/api/mcp/cards/"+url.PathEscape(name), fields{"content": text}, nil)
	if got.status >= 300 {
		i.t.Fatalf("%s", got.body)
	}
}

// bring imports files, and returns the import.
func (i importer) bring(f sentFile) importedStep {
	i.t.Helper()
	checked := i.sendImport(f)
	if checked.Status != "completed" {
		i.t.Fatalf("%+v", checked)
	}
	done := i.awaitImport(request{operation: "carry_out_import", method: "POST", path: "/api/imports/" + checked.ID})
	if done.Status != "completed" {
		i.t.Fatalf("%+v", done)
	}
	all := i.imports("gm")
	if len(all) == 0 {
		i.t.Fatal("the import is no entry of the changes")
	}
	return all[0]
}

// wantPages looks at the pages of the changes and of the import.
func (i importer) wantPages(step importedStep) {
	i.t.Helper()
	changes := i.call("gm", pageRequest("/changes/lendwater")).body
	if n := strings.Count(changes, "Undo this import…"); n != 1 || !strings.Contains(changes, "Import of valley") {
		i.t.Errorf("%d imports on the page of changes: %s", n, clip(changes, 3000))
	}
	if got := i.call("user", pageRequest("/changes/lendwater")).body; strings.Contains(got, "Import of") {
		i.t.Errorf("a player's page of changes: %s", clip(got, 3000))
	}
	page := "/changes/lendwater/" + step.ID + "/import"
	asks := i.call("gm", pageRequest(page)).body
	if !strings.Contains(asks, "Undo this import?") || !strings.Contains(asks, "Changed since, and stay as they are") {
		i.t.Errorf("the page asks %s", clip(asks, 3000))
	}
	losing := i.call("gm", pageRequest(page+"?edits=lose")).body
	if !strings.Contains(losing, "these edits are lost") || !strings.Contains(losing, "Undo it, and lose 1 edited card") {
		i.t.Errorf("the page asks %s", clip(losing, 3000))
	}
	if got := i.call("user", pageRequest(page)); got.status < 400 {
		i.t.Errorf("a player: %d %s", got.status, clip(got.body, 3000))
	}
}

// undoOnPage undoes an import by its page, with the edits made since. A list that nobody was shown is not carried
// out.
func (i importer) undoOnPage(id string) {
	i.t.Helper()
	page := "/changes/lendwater/" + id + "/import"
	post := func(sure string) reply {
		return i.call("gm", request{operation: "page", method: "POST", path: page, page: true,
			body:   url.Values{"sure": {sure}, "edits": {"lose"}}.Encode(),
			header: []string{"Accept: text/html", "Content-Type: application/x-www-form-urlencoded", "Origin: http://" + host}})
	}
	if got := post("another list"); !strings.Contains(got.body, "Something has changed meanwhile") {
		i.t.Errorf("a list that was not shown: %d %s", got.status, clip(got.body, 2000))
	}
	shown := regexp.MustCompile(`name="sure" value="([0-9a-f]+)"`).FindStringSubmatch(
		i.call("gm", pageRequest(page+"?edits=lose")).body)
	if shown == nil {
		i.t.Fatal("the page does not ask")
	}
	if got := post(shown[1]); got.status != 303 && !strings.Contains(got.body, "Recent changes") {
		i.t.Errorf("undone on the page: %d %s", got.status, clip(got.body, 2000))
	}
}

var undoneVault = sentFile{"valley.zip", map[string]string{
	"Inn.md":      "An inn.\n\n> [!secret]\n> The keeper lies.\n",
	"Mill.md":     "It turns.\n",
	"Bridge.md":   "New stones.\n",
	"GM/Plot.md":  "The duke did it.\n",
	"Valley/A.md": "See [[Inn]].\n",
}, nil}

// TestAnImportIsOneStep imports a vault over the interface, undoes it with and without the edits made since, brings
// it back, and imports it again.
func TestAnImportIsOneStep(t *testing.T) {
	onEachStore(t, func(t *testing.T, on string) {
		skipOnPostgres(t, on)
		i := newImporter(t, on, 43)
		i.rest("admin", "create_card", "POST", "/api/mcp/cards", fields{"name": "Bridge", "content": "Old stones."}, &struct{}{})
		step := i.bring(undoneVault)
		if step.Kind != "import" || step.Format != "markdown" || step.Source == "" || step.Commits == 0 || !step.Ended ||
			step.Cards < 6 || step.By != "gm" {
			t.Errorf("%+v", step)
		}
		if got := i.imports("user"); len(got) > 0 {
			t.Errorf("a player is told of %+v", got)
		}
		var listed struct {
			Cards []named
			Total int
		}
		i.rest("gm", "list_import_cards", "GET", "/api/mcp/imports/"+step.ID+"/cards?limit=100", nil, &listed)
		if names := namesOf(listed.Cards); !strings.Contains(names, "Bridge, ") || !strings.Contains(names, "Vault source") ||
			listed.Total != len(listed.Cards) {
			t.Errorf("cards: %d %s", listed.Total, names)
		}
		for _, path := range []string{"GET /api/mcp/imports/" + step.ID + "/cards", "POST /api/mcp/imports/" + step.ID + "/undo"} {
			method, path, _ := strings.Cut(path, " ")
			if got := i.rest("user", "undo_import", method, path, nil, nil); got.status < 400 {
				t.Errorf("a player: %s %d %s", path, got.status, got.body)
			}
		}
		imported := map[string]string{"Inn": "An inn.", "Mill": "It turns.", "Bridge": "New stones.", "Plot": "-",
			"A": "See [[Inn]]."}
		i.want("imported", "user", imported)
		i.edit("Mill", "It turns slowly.")

		dry := i.undo(step.ID, fields{"dry_run": true})
		if dry.UndoID != "" || namesOf(dry.Edits) != "Mill" || dry.Edits[0].By != "admin" || dry.Edits[0].Lost ||
			!strings.Contains(namesOf(dry.Trash), "A, ") || namesOf(dry.Former) != "Bridge" ||
			!strings.Contains(namesOf(dry.Kept), "Vault source") || len(dry.Opens) > 0 {
			t.Errorf("dry run: %+v", dry)
		}
		i.want("a dry run", "user", map[string]string{"Inn": "An inn.", "Bridge": "New stones."})

		i.wantPages(step)
		undo := i.undo(step.ID, nil)
		if undo.UndoID == "" || namesOf(undo.Edits) != "Mill" || namesOf(undo.Trash) != namesOf(dry.Trash) {
			t.Errorf("undo: %+v", undo)
		}
		gone := map[string]string{"Inn": "-", "Mill": "It turns slowly.", "Bridge": "Old stones.", "A": "-", "Plot": "-"}
		i.want("undone but for edits", "user", gone)
		i.want("undone but for edits", "gm", gone)
		if again := i.undo(step.ID, nil); again.UndoID != undo.UndoID || len(again.Trash)+len(again.Former) > 0 {
			t.Errorf("again: %+v", again)
		}
		rest := i.undo(step.ID, fields{"lose_edits": true})
		if rest.UndoID != undo.UndoID || !strings.Contains(namesOf(rest.Trash), "Mill") ||
			!strings.Contains(namesOf(rest.Trash), "Vault source") {
			t.Errorf("the rest: %+v", rest)
		}
		gone["Mill"] = "-"
		i.want("undone", "gm", gone)
		if all := i.imports("gm"); len(all) != 2 || all[0].Of != step.ID || all[1].UndoneBy != undo.UndoID {
			t.Errorf("imports: %+v", all)
		}

		back := i.undo(undo.UndoID, nil)
		if len(back.Edits)+len(back.Kept) > 0 || back.UndoID == "" {
			t.Errorf("back: %+v", back)
		}
		imported["Mill"] = "It turns slowly."
		i.want("brought back", "user", imported)
		i.want("brought back", "gm", map[string]string{"Plot": "The duke did it.",
			"Inn": "An inn.\n\n> [!secret]\n> The keeper lies."})

		i.undoOnPage(step.ID)
		i.want("undone again", "gm", gone)
		i.bring(undoneVault)
		imported["Mill"] = "It turns."
		i.want("imported again", "user", imported)
		i.want("imported again", "gm", map[string]string{"Plot": "The duke did it.",
			"Inn": "An inn.\n\n> [!secret]\n> The keeper lies."})
		i.wantReplay()
	})
}

// TestTheUndoOfAnImportGoesOn cuts the undo of an import off, and repeats it. Nobody with fewer rights than the
// importer undoes it.
func TestTheUndoOfAnImportGoesOn(t *testing.T) {
	onEachStore(t, func(t *testing.T, on string) {
		skipOnPostgres(t, on)
		i := newImporter(t, on, 44)
		dir := filepath.Join(t.TempDir(), "many")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		const notes = 250
		for n := range notes {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("N %d.md", n)), []byte("x %%y%%"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := i.app.Import(t.Context(), "markdown", "lendwater", dir, app.ImportOptions{Level: access.LevelUser}); err != nil {
			t.Fatal(err)
		}
		step := i.imports("gm")[0]
		if step.Commits < 2 || step.Cards <= notes {
			t.Errorf("%+v", step)
		}
		got := i.rest("gm", "undo_import", "POST", "/api/mcp/imports/"+step.ID+"/undo", nil, nil)
		if got.status != 403 {
			t.Errorf("a game master undoes an import of the operator: %d %s", got.status, got.body)
		}
		undo := func(ctx context.Context, o canon.StepUndo) (u canon.Undone, err error) {
			r := access.Request{Operation: canon.OpUndoImport, Effect: access.Destroy, World: i.world, Operator: true}
			bad := i.app.WithGrant(t.Context(), app.Operator(), r, func(g access.Grant) error {
				u, err = i.app.Canon.UndoStep(ctx, g, uuid.MustParse(step.ID), o)
				return nil
			})
			return u, errors.Join(bad, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		asked := 0
		_, err := undo(ctx, canon.StepUndo{Last: func(canon.Card) bool {
			if asked++; asked == notes+130 { // it is asked once of each card, and then again in the undo
				cancel()
			}
			return false
		}})
		if err == nil {
			t.Fatal("the undo was not cut off")
		}
		living := func() (n int) {
			for at := range notes {
				if i.text("user", fmt.Sprintf("N %d", at)) == "x" {
					n++
				}
			}
			return n
		}
		left := living()
		if left == 0 || left == notes {
			t.Errorf("%d notes are left by an undo that was cut off", left)
		}
		cut := i.imports("gm")[0]
		if cut.Ended || cut.Of != step.ID {
			t.Errorf("cut off: %+v", cut)
		}
		u, err := undo(t.Context(), canon.StepUndo{})
		if err != nil || u.ID.String() != cut.ID || len(u.Kept)+len(u.Edits) > 0 || living() > 0 {
			t.Errorf("gone on: %v, %d kept, %d edits, %d left, %s", err, len(u.Kept), len(u.Edits), living(), u.ID)
		}
		if all := i.imports("gm"); !all[0].Ended || all[0].ID != cut.ID || len(all) != 2 {
			t.Errorf("ended: %+v", all)
		}
		step.ID = cut.ID
		if u, err = undo(t.Context(), canon.StepUndo{}); err != nil || living() != notes || len(u.Kept) > 0 {
			t.Errorf("brought back: %v, %d, %+v", err, living(), u.Kept)
		}
		i.wantReplay()
	})
}
