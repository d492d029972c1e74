package prooftest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/exchange/exchangetest"
)

// year is a world in which a game master works for long. It knows which code words each reader may see.
type year struct {
	*weave
	hidden map[string]access.Label // code words that not everybody may see
	lost   map[string]bool         // code words that an act deleted
	origin map[string]string       // acts that planted code words
	cards  []*planted
	total  int    // cards of the world
	worlds int    // that it went to
	last   string // the last act
	errors int
}

// codeWord matches the code words of the vault and of the acts.
var codeWord = regexp.MustCompile(`(?:MARK|OPEN)-\d{3}-[A-Z]+|[bcdfghjklmnpqrtvwxz]{16}`)

// newYear imports the vault of marks. PROOF_NOTES makes it larger: so many notes, of copies with code words of their
// own and of other vaults.
func newYear(t *testing.T, on string, seed uint64) *year {
	t.Helper()
	dir := exchangetest.RealData(t, "marks-vault")
	y := &year{weave: newWeave(t, on, seed, false), hidden: map[string]access.Label{}, lost: map[string]bool{},
		origin: map[string]string{}}
	table, err := os.ReadFile(dir + ".tsv")
	if err != nil {
		t.Fatal(err)
	}
	notes, files := filesBelow(t, dir), map[string]string{}
	wanted, _ := strconv.Atoi(os.Getenv("PROOF_NOTES"))
	for copies := 0; copies == 0 || len(files) < wanted; copies++ {
		sign := ""
		if copies > 0 {
			sign = "Q" + string(rune('A'+copies/26)) + string(rune('A'+copies%26))
		}
		y.addNotes(files, notes, string(table), sign)
	}
	if wanted > 0 {
		for _, other := range []string{"obsi-forge-apedia", "thellade-slice"} {
			for path, text := range filesBelow(t, exchangetest.RealData(t, other)) {
				files[other+"/"+path] = text
			}
		}
	}
	if err := y.importOne("marks.zip", zipOf(t, files)); err != nil {
		t.Fatal(err)
	}
	y.listCards()
	if len(y.cards) < 15 {
		t.Fatalf("only %d cards were imported", len(y.cards))
	}
	t.Logf("%d files, %d hidden words", len(files), len(y.hidden))
	return y
}

// addNotes adds a copy of the vault of marks to some files. The sign of a copy is a part of its names and code words.
func (y *year) addNotes(files, notes map[string]string, table, sign string) {
	for path, text := range notes {
		if sign == "" {
			files[path] = text
			continue
		}
		if filepath.Ext(path) != ".md" {
			continue // no note of the copy would show it
		}
		text = codeWord.ReplaceAllString(text, "${0}"+sign)
		for other := range notes {
			name, isNote := strings.CutSuffix(filepath.Base(other), ".md")
			if isNote {
				text = strings.ReplaceAll(text, "[["+name, "[["+name+" "+sign)
			}
		}
		base, part, isPart := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".md"), "+")
		name := base + " " + sign
		if isPart {
			name += "+" + part
		}
		files[filepath.Join(sign, filepath.Dir(path), name+".md")] = text
	}
	for line := range strings.Lines(table) {
		row := strings.Split(strings.TrimSpace(line), "\t")
		if len(row) == 4 && row[3] != "open" && (sign == "" || strings.HasSuffix(row[1], ".md")) &&
			!(strings.Contains(row[1], "Wax Ledger") && strings.HasPrefix(row[2], "setting")) {
			y.hidden[row[0]+sign] = forGM
			y.lost[row[0]+sign] = strings.Contains(row[1], "Ninth Psalm") // a game master imports nothing for admins
		}
	}
}

// filesBelow reads the files of a folder.
func filesBelow(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// listCards lists cards of text that the game master edits: of a large world those of some page.
func (y *year) listCards() {
	y.t.Helper()
	y.cards = nil
	for tries := 0; len(y.cards) == 0 && tries < 50; tries++ {
		y.listPage()
	}
}

func (y *year) listPage() {
	from := 0
	if y.total > 200 {
		from = y.rng.IntN(y.total - 100)
	}
	got := y.send("admin", request{operation: "list", method: "GET",
		path: fmt.Sprintf("/api/mcp/cards?sort=name&limit=100&offset=%d", from)})
	var page struct {
		Cards []struct{ ID, Name, Type, Level string }
		Total int
	}
	if err := json.Unmarshal([]byte(got.body), &page); err != nil {
		y.t.Fatal(err)
	}
	y.total = page.Total
	for _, c := range page.Cards {
		if parts := strings.Split(c.Name, "+"); slices.Contains([]string{"File", "Image"},
			c.Type) || slices.Contains(parts, "GM") || strings.Contains(c.Name, "Told by the GM") || c.Name == "Closed" {
			continue
		}
		p := &planted{id: "~" + c.ID, name: c.Name, gone: map[*mark]bool{}}
		if y.card(p) == nil {
			continue
		}
		if y.card(p).Format == "html" {
			p.mark.form = inHTML
		}
		y.cards = append(y.cards, p)
	}
}

// fail reports a fault once for each code word.
func (y *year) fail(format string, args ...any) {
	y.t.Helper()
	if y.errors++; y.errors < 20 {
		y.t.Errorf("after %s: %s", y.last, fmt.Sprintf(format, args...))
	}
}

// check looks for code words in an answer that the reader may not see.
func (y *year) check(who, what, asked, text string) {
	y.t.Helper()
	v := access.View{Level: access.LevelUser, Subject: access.Subject(who)}
	for _, word := range codeWord.FindAllString(text, -1) {
		if l, ok := y.hidden[word]; ok && !v.Sees(l) && !strings.Contains(asked, word) {
			at := strings.Index(text, word)
			y.fail("%s reads %s in %s: …%s…", who, word, what, text[max(0, at-200):min(len(text), at+100)])
			delete(y.hidden, word) // once is enough
		}
	}
	for _, l := range y.finds.findLeaks(text) { // also encoded
		if m, ok := y.hidden[l.mark.word]; ok && !v.Sees(m) && !strings.Contains(asked, l.mark.word) {
			y.fail("%s reads %s (%s) in %s: …%s…", who, l.mark.word, l.how, what, l.near)
			delete(y.hidden, l.mark.word)
		}
	}
}

func (y *year) ask(who string, r request) {
	y.t.Helper()
	y.check(who, r.String(), r.path+r.body, y.send(who, r).String())
}

// lookAll looks at everything as each reader.
func (y *year) lookAll() {
	y.t.Helper()
	for _, who := range weaveReaders {
		for _, r := range worldLooks() {
			y.ask(who, r)
		}
	}
	for i, c := range y.cards {
		for _, r := range cardLooks(c) {
			y.ask(weaveReaders[i%len(weaveReaders)], r)
		}
	}
	for _, format := range []string{"markdown", "site", "table"} {
		dir := filepath.Join(y.t.TempDir(), "out")
		if _, err := y.app.Export(y.t.Context(), format, "lendwater", dir, access.RoleUser, nil); err != nil {
			y.t.Errorf("export %s: %v", format, err)
		}
		y.check("guest", "the export "+format, "", exchangetest.FolderText(y.t, dir))
	}
	y.wantAll()
}

// wantAll checks that the game master's export has each hidden word that no act deleted.
func (y *year) wantAll() {
	y.t.Helper()
	dir := filepath.Join(y.t.TempDir(), "all")
	if _, err := y.app.Export(y.t.Context(), "markdown", "lendwater", dir, access.RoleAdmin, nil); err != nil {
		y.t.Errorf("export: %v", err)
	}
	text := exchangetest.FolderText(y.t, dir)
	for word, l := range y.hidden {
		isHidden := l.Level >= access.LevelGM && len(l.Subjects) == 0
		if isHidden && !y.lost[word] && codeWord.FindString(word) == word && !strings.Contains(text, word) {
			y.fail("the game master lost %s, planted by %s", word, y.origin[word])
			y.lost[word] = true
		}
	}
}

// codesOf returns the hidden code words that the game master reads in a card.
func (y *year) codesOf(c *planted) (all []string) {
	if got := y.card(c); got != nil {
		for _, word := range codeWord.FindAllString(got.Content, -1) {
			if _, ok := y.hidden[word]; ok {
				all = append(all, word)
			}
		}
	}
	return all
}

// newSecret plants a code word.
func (y *year) newSecret() string {
	m := y.word("year", forGM, nil)
	y.hidden[m.word], y.origin[m.word] = forGM, y.last
	return m.word
}

// yearActs are the acts of a game master and the players.
var yearActs = []struct {
	name string
	do   func(y *year, c *planted) error
}{
	{"GM appends a marked text", func(y *year, c *planted) error {
		var fit []exactMark
		for _, m := range exactMarks {
			if m.form == c.mark.form {
				fit = append(fit, m)
			}
		}
		m := fit[y.rng.IntN(len(fit))]
		a, b := y.newSecret(), y.newSecret()
		if !strings.Contains(m.text, "{b}") {
			y.lost[b] = true
		}
		err := y.rest("gm", "PATCH", y.at(c), fields{"format": c.mark.form.String(),
			"patch": fields{"mode": "append", "content": "\n\n" + y.fill(m.text, a, b)}}, nil)
		if err != nil { // such as in a fence without an end, where it may be code
			y.lost[a], y.lost[b] = true, true
		}
		return err
	}},
	{"GM appends by MCP", func(y *year, c *planted) error {
		return y.tool("gm", "/mcp", "write", fields{"name": c.id,
			"append": "Rain.\n\n> [!gm]\n> " + y.newSecret() + "\n"})
	}},
	{"GM writes the whole text with a word more", func(y *year, c *planted) error {
		return y.swap("gm", c, func(text string) string { return strings.Replace(text, " the ", " the old ", 1) })
	}},
	{"GM adds a line at the top", func(y *year, c *planted) error {
		return y.swap("gm", c, func(text string) string {
			if strings.HasPrefix(text, "---") || c.mark.form == inHTML {
				return text
			}
			return "%%" + y.newSecret() + "%%\n\nIt is late.\n\n" + text
		})
	}},
	{"player appends", func(y *year, c *planted) error {
		return y.rest("alice", "PATCH", y.at(c), fields{"format": c.mark.form.String(),
			"patch": fields{"mode": "append",
				"content": paragraph(c, "It snows.")}}, nil)
	}},
	{"player writes the whole text anew", func(y *year, c *planted) error {
		return y.swap("alice", c, func(text string) string { return strings.Replace(text, " a ", " a red ", 1) })
	}},
	{"player deletes a line", func(y *year, c *planted) error {
		return y.swap("alice", c, func(text string) string {
			lines := strings.SplitAfter(text, "\n")
			at := y.rng.IntN(len(lines))
			return strings.Join(slices.Delete(lines, at, at+1), "")
		})
	}},
	{"rename", func(y *year, c *planted) error {
		return y.weave.rename(c, c.name+" "+itoa(y.rng.IntN(1000)))
	}},
	{"move below an open card", func(y *year, c *planted) error {
		if strings.Contains(c.name, "+") {
			return errNothing
		}
		return y.weave.rename(c, "Open Parent+"+c.name)
	}},
	{"level gm, an edit, and back", func(y *year, c *planted) error {
		if y.cardAs("bob", c) == nil {
			return errNothing // opening it would show text that only a level hides
		}
		if err := y.level(c, "gm"); err != nil {
			return err
		}
		if err := y.rest("gm", "PATCH", y.at(c), fields{"format": c.mark.form.String(),
			"patch": fields{"mode": "append",
				"content": paragraph(c, "<secret>"+y.newSecret()+"</secret>")}}, nil); err != nil {
			return err
		}
		return y.level(c, "user")
	}},
	{"reveal a part", func(y *year, c *planted) error { return y.revealPart(c, nil, everyone) }},
	{"reveal a part to alice", func(y *year, c *planted) error {
		return y.revealPart(c, list("alice"), access.NewLabel(access.LevelGM, "alice"))
	}},
	{"hide what is open", func(y *year, c *planted) error {
		reads := y.cardAs("bob", c)
		if reads == nil {
			return errNothing
		}
		words := codeWord.FindAllString(reads.Content, -1)
		words = slices.DeleteFunc(words, func(w string) bool {
			_,
				ok := y.hidden[w]
			return ok || !strings.HasPrefix(w, "OPEN")
		})
		if len(words) == 0 {
			return errNothing
		}
		word := words[y.rng.IntN(len(words))]
		err := y.rest("gm", "POST", y.at(c)+"/hide", fields{"text": list(word)}, nil)
		if err == nil {
			y.hidden[word] = forGM
		}
		return err
	}},
	{"undo of the last change, and undo of that", func(y *year, c *planted) error {
		secret := y.newSecret()
		if err := y.rest("gm", "PATCH", y.at(c), fields{"format": c.mark.form.String(),
			"patch": fields{"mode": "append",
				"content": paragraph(c, "<secret>"+secret+"</secret>")}}, nil); err != nil {
			y.lost[secret] = true
			return err
		}
		for range 2 {
			if err := y.undoLast("admin"); err != nil {
				y.lost[secret] = true
				return err
			}
		}
		return nil
	}},
	{"delete and restore", func(y *year, c *planted) error {
		if err := y.rest("admin", "DELETE", y.at(c), fields{"force": true}, nil); err != nil {
			return err
		}
		y.ask("bob", request{operation: "trash", method: "GET", path: "/api/mcp/trash"})
		return y.rest("admin", "POST", y.at(c)+"/restore", fields{}, nil)
	}},
	{"a name rule comes and goes", func(y *year, _ *planted) error {
		for _, parts := range [][]string{{"gm", "ai", "open_parent"}, {"gm", "ai"}} {
			if err := y.app.ConfigureWorld(y.t.Context(), "lendwater", func(_ *string, s *canon.Settings) {
				s.GMParts = parts
			}); err != nil {
				return err
			}
		}
		return nil
	}},
	{"proposal of a player, approved", func(y *year, c *planted) error {
		return y.proposeAndApprove("alice", fields{"name": "update_card", "arguments": fields{"name": c.id,
			"format": c.mark.form.String(), "patch": fields{"mode": "append", "content": paragraph(c,
				"Alice was here.")}}})
	}},
	{"player replaces a word everywhere", func(y *year, c *planted) error {
		return y.rest("alice", "POST", "/api/mcp/replace", y.everywhere(c, fields{"find": " bell ", "replace": " bell ",
			"dry_run": false}), nil)
	}},
	{"GM replaces a word everywhere", func(y *year, c *planted) error {
		return y.rest("gm", "POST", "/api/mcp/replace", y.everywhere(c, fields{"find": " is ", "replace": " is still ",
			"limit": 100, "dry_run": false}), nil)
	}},
	{"links are made by themselves", func(y *year, c *planted) error {
		return y.rest("gm", "POST", "/api/mcp/auto_link", fields{"name": c.id, "mode": "apply", "dry_run": false}, nil)
	}},
}

// everywhere bounds a replacement to the cards below a card where the world has more than one call may change.
func (y *year) everywhere(c *planted, in fields) fields {
	if y.total > 100 {
		in["prefix"] = c.name
	}
	return in
}

// revealPart reveals a hidden part of a card. The words from the part to the next one may be seen then.
func (y *year) revealPart(c *planted, to []any, l access.Label) error {
	got := y.send("admin", request{operation: "read", method: "GET",
		path: y.at(c) + "?full=true&format=" + c.mark.form.String()})
	var card struct {
		Content string
		Hidden  []struct {
			ID string
			At int
		}
	}
	if err := json.Unmarshal([]byte(got.body), &card); err != nil || len(card.Hidden) == 0 || y.cardAs("bob",
		c) == nil {
		return errNothing
	}
	whole := []rune(card.Content)
	i := y.rng.IntN(len(card.Hidden))
	if strings.HasPrefix(card.Hidden[i].ID, "field:") {
		return errNothing // its words are none of the text
	}
	from, to2 := card.Hidden[i].At, len(whole)
	if i+1 < len(card.Hidden) && card.Hidden[i+1].At > from { // fields are at 0
		to2 = card.Hidden[i+1].At
	}
	in := fields{"parts": list(card.Hidden[i].ID)}
	if to != nil {
		in["to"] = to
	}
	if err := y.rest("gm", "POST", y.at(c)+"/reveal", in, nil); err != nil {
		return err
	}
	for _, word := range codeWord.FindAllString(string(whole[min(from, to2):to2]), -1) {
		if was, ok := y.hidden[word]; ok && to == nil {
			y.hidden[word] = everyone
		} else if ok && was.Level >= access.LevelGM {
			y.hidden[word] = l
		}
	}
	return nil
}

// comesBack exports the world as the game master and imports that again.
func (y *year) comesBack() error {
	dir := filepath.Join(y.t.TempDir(), "back")
	if _, err := y.app.Export(y.t.Context(), "markdown", "lendwater", dir, access.RoleGM, nil); err != nil {
		return err
	}
	return y.importOne("back.zip", zipOf(y.t, filesBelow(y.t, dir)))
}

// goesElsewhere exports the world as the game master, adds a line to each note as another program would, and imports
// that into a new world. The game master's marks must still be there.
func (y *year) goesElsewhere() error {
	dir := filepath.Join(y.t.TempDir(), "away")
	if _, err := y.app.Export(y.t.Context(), "markdown", "lendwater", dir, access.RoleGM, nil); err != nil {
		return err
	}
	for path, text := range filesBelow(y.t, dir) {
		if filepath.Ext(path) != ".md" {
			continue
		}
		if head, body, ok := strings.Cut(text, "\n---\n"); ok && y.rng.IntN(2) == 0 {
			text = head + "\n---\nIt is late.\n\n" + body
		} else {
			text += "\nIt is late.\n"
		}
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600); err != nil {
			return err
		}
	}
	y.worlds++
	slug := "elsewhere-" + itoa(y.worlds)
	if _, err := y.app.CreateWorld(y.t.Context(), canon.NewWorld{Slug: slug, Title: slug}); err != nil {
		return err
	}
	if _, err := y.app.Import(y.t.Context(), "", slug, dir, app.ImportOptions{Level: access.LevelUser}); err != nil {
		return err
	}
	for _, format := range []string{"markdown", "table"} {
		out := filepath.Join(y.t.TempDir(), "out")
		if _, err := y.app.Export(y.t.Context(), format, slug, out, access.RoleUser, nil); err != nil {
			return err
		}
		y.check("guest", "the export "+format+" from elsewhere", "", exchangetest.FolderText(y.t, out))
	}
	return nil
}

// TestAYearOfActs lets a game master and players work in the vault of marks: no reader sees a text that is hidden
// from them, and nothing marked is lost.
func TestAYearOfActs(t *testing.T) {
	skipWithRace(t)
	onEachStore(t, testAYear)
}

// drawCard draws a card, more often one that players read: most acts need one.
func (y *year) drawCard() *planted {
	c := y.cards[y.rng.IntN(len(y.cards))]
	for tries := 0; tries < 3 && y.cardAs("bob", c) == nil; tries++ {
		c = y.cards[y.rng.IntN(len(y.cards))]
	}
	return c
}

func testAYear(t *testing.T, on string) {
	skipOnPostgres(t, on)
	t.Parallel()
	seed := everySeed()
	t.Logf("PROOF_SEED=%d repeats it", seed)
	y := newYear(t, on, seed)
	y.last = "the import"
	y.lookAll()
	acts := newDeck(y.rng, yearActs)
	for i := range rounds(60) {
		c, a := y.drawCard(), acts.draw()
		was := y.codesOf(c)
		y.last = fmt.Sprintf("act %d, %s, on %q", i, a.name, c.name)
		err := a.do(y, c)
		y.note(a.name, err)
		y.tick()
		reader := weaveReaders[i%len(weaveReaders)]
		for n, r := range cardLooks(c) {
			if n%4 == i%4 {
				y.ask(reader, r)
			}
		}
		now := y.codesOf(c)
		for _, word := range was {
			if l, ok := y.hidden[word]; ok && l.Level >= access.LevelGM && len(l.Subjects) == 0 && !y.lost[word] &&
				!slices.Contains(now, word) {
				y.fail("the game master does not read %s any more in %q", word, c.name)
				y.lost[word] = true
			}
		}
		if i%50 == 49 {
			y.last += ", and before it"
			y.lookAll()
		}
		if i%120 == 100 {
			y.last = fmt.Sprintf("the export and import after act %d", i)
			y.note("export and import again", y.comesBack())
			y.note("export, edit and import elsewhere", y.goesElsewhere())
			y.listCards()
			y.lookAll()
		}
	}
	y.lookAll()
	y.logActs()
	t.Logf("%d acts on %d cards with %d hidden words, %d faults", rounds(60), len(y.cards), len(y.hidden), y.errors)
}
