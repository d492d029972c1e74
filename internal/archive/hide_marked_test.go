package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/memory"
)

// cutStore loses its connection at a write, before or after the write's effects are kept.
type cutStore struct {
	canon.Store
	left  int // writes until then; negative: none is lost
	after bool
}

var errCut = errors.New("the connection is lost")

func (s *cutStore) Write(ctx context.Context, f func(canon.Tx) error) error {
	if s.left--; s.left != 0 {
		return s.Store.Write(ctx, f)
	}
	if s.after {
		if err := s.Store.Write(ctx, f); err != nil {
			return err
		}
	}
	return errCut
}

// writeAsBefore writes a Markdown card as a release did in which marks hid nothing.
func (s *scene) writeAsBefore(who, name, content, fields string) {
	s.t.Helper()
	role, ok := access.ParseRole(who)
	if !ok {
		role = access.RoleUser
	}
	guard := access.NewGuard(access.Config{Now: func() time.Time { return s.now }})
	a, err := guard.Admit(s.t.Context(), access.Caller{Subject: access.Subject(who), EveryRole: role},
		access.Request{Operation: "update_card", Effect: access.Write, World: s.world})
	if err != nil {
		s.t.Fatal(err)
	}
	s.now = s.now.Add(time.Second)
	_, err = s.canon.Update(s.t.Context(), a.Grant, func(p *canon.Plan) error {
		c, ok, err := p.Has(name)
		if err != nil {
			return err
		}
		if !ok {
			_, err = p.Create(canon.NewCard{Name: name, Content: content, Format: canon.FormatMarkdown,
				Fields: []byte(fields), Undivided: true})
			return err
		}
		_, err = p.Update(c, canon.Edit{Content: &content, Fields: []byte(fields), Undivided: true})
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// viewOf returns a grant with the view of a role, or of a player of that name.
func (s *scene) viewOf(who string) access.Grant {
	if role, ok := access.ParseRole(who); ok {
		return s.admin.As(role.Level())
	}
	return s.admin.AsPlayer(access.Subject(who))
}

// readAll returns everything that a reader reads of cards and their versions: lines with the name of the card.
func (s *scene) readAll(who string) map[string]bool {
	s.t.Helper()
	all := map[string]bool{}
	err := s.canon.Read(s.t.Context(), s.viewOf(who), func(l *canon.Snapshot) error {
		for c, err := range l.AllCards(s.t.Context(), canon.Filter{}) {
			if err != nil {
				return err
			}
			add := func(text string, err error) error {
				for line := range strings.Lines(text) {
					if line = strings.TrimSpace(line); line != "" {
						all[c.Name+": "+line] = true
					}
				}
				return err
			}
			if err := add(l.Content(s.t.Context(), c)); err != nil {
				return err
			}
			fields, err := l.Fields(s.t.Context(), c)
			if err := add(string(fields), err); err != nil {
				return err
			}
			for v, err := range l.AllVersions(s.t.Context(), c.ID) {
				if err != nil {
					return err
				}
				if err := add(l.VersionContent(s.t.Context(), c, v)); err != nil {
					return err
				}
				if err := add(string(v.Fields), nil); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// wholeTexts returns the texts and fields of cards as a reader reads them now.
func (s *scene) wholeTexts(who string) map[string]string {
	s.t.Helper()
	all := map[string]string{}
	err := s.canon.Read(s.t.Context(), s.viewOf(who), func(l *canon.Snapshot) error {
		for c, err := range l.AllCards(s.t.Context(), canon.Filter{}) {
			if err != nil || c.Places != nil {
				return err
			}
			text, err := l.Content(s.t.Context(), c)
			if err != nil {
				return err
			}
			fields, err := l.Fields(s.t.Context(), c)
			if all[c.Name] = text + "\n" + string(fields); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// writeRandomWorld writes cards with and without marks, as several writers did before marks hid.
func (s *scene) writeRandomWorld(r *rand.Rand, cards int) {
	blocks := []string{"Plain %d.", "%%%%Hidden %d.%%%%", "> [!secret] Cellar\n> Hidden %d.", "Bread and %%%%hidden %d%%%% salt.",
		"# Head %d", "<!-- hidden %d -->", "- one\n- %%%%hidden %d%%%%\n- two", "```\n%%%%code %d%%%%\n```"}
	writers := []string{"gm", "admin", "ada", "gm"}
	n := 0
	for i := range cards {
		name := fmt.Sprintf("Card %d", i)
		var text []string
		for range 1 + r.IntN(3) {
			for range 1 + r.IntN(3) {
				n++
				text = slices.Insert(text, r.IntN(len(text)+1), fmt.Sprintf(blocks[r.IntN(len(blocks))], n))
			}
			if len(text) > 2 && r.IntN(3) == 0 {
				text = slices.Delete(text, 0, 1)
			}
			fields := ""
			if r.IntN(4) == 0 {
				fields = fmt.Sprintf(`{"gm_notes": "hidden %d", "age": %d}`, n, n)
			}
			s.writeAsBefore(writers[r.IntN(len(writers))], name, strings.Join(text, "\n\n")+"\n", fields)
		}
		if r.IntN(5) == 0 {
			label := access.NewLabel(access.LevelGM, []access.Subject{"ada"}[:r.IntN(2)]...)
			s.on(name, func(p *canon.Plan, c canon.Card) error { _, err := p.SetLabel(c, label); return err })
		}
	}
}

var markReaders = []string{"ada", "bob", "gm", "admin"}

func decodeAnswer(a answer, into any) {
	a.T.Helper()
	if err := json.Unmarshal([]byte(a.Raw), into); err != nil {
		a.T.Fatal(err)
	}
}

// TestHideMarkedWidensNothing hides the marks of random worlds: the texts of each reader only shrink, game masters
// read the same texts, and a second call finds nothing.
func TestHideMarkedWidensNothing(t *testing.T) {
	for seed := range uint64(20) {
		s := newScene(t)
		s.writeRandomWorld(rand.New(rand.NewPCG(seed, 1)), 12)
		before, whole := map[string]map[string]bool{}, s.wholeTexts("admin")
		for _, who := range markReaders {
			before[who] = s.readAll(who)
		}
		var listed, done hideMarkedOut
		decodeAnswer(s.As("admin").Call("hide_marked", `{"dry_run": true}`, overREST), &listed)
		for _, who := range markReaders {
			if now := s.readAll(who); len(now) != len(before[who]) {
				t.Fatalf("seed %d: the dry run changes the texts of %s", seed, who)
			}
		}
		decodeAnswer(s.As("admin").Call("hide_marked", `{}`, overREST), &done)
		if len(done.Cards) != len(listed.Cards) || done.Count != listed.Count || len(done.Refused) > 0 {
			t.Errorf("seed %d: it hid %+v, and listed %+v", seed, done, listed)
		}
		for _, who := range markReaders {
			for line := range s.readAll(who) {
				if line = strings.Replace(line, "+GM: ", ": ", 1); !before[who][line] && !isWithinLine(before[who], line) {
					t.Errorf("seed %d: %s reads %q, and did not before: %q", seed, who, line, whole[line[:strings.Index(line, ":")]])
				}
			}
		}
		for name, text := range s.wholeTexts("admin") {
			if whole[name] != text {
				t.Errorf("seed %d: game masters read in %s\n%s\nand before\n%s", seed, name, text, whole[name])
			}
		}
		plain := map[string]bool{}
		for _, p := range done.Plain {
			plain[p.Name] = true
		}
		for name, text := range s.wholeTexts("bob") {
			if strings.Contains(strings.ToLower(text), "hidden") && !plain[name] {
				t.Errorf("seed %d: a player reads %q in %s", seed, text, name)
			}
		}
		hid := map[string]bool{}
		for _, c := range done.Cards {
			hid[c.Name] = !plain[c.Name]
		}
		for line := range s.readAll("bob") {
			if name, text, _ := strings.Cut(line, ": "); hid[name] && strings.Contains(strings.ToLower(text), "hidden") {
				t.Errorf("seed %d: a player reads in a version %q", seed, line)
			}
		}
		var again hideMarkedOut
		if decodeAnswer(s.As("admin").Call("hide_marked", `{}`, overREST), &again); again.Count+len(again.Changes) > 0 {
			t.Errorf("seed %d: a second call finds %+v", seed, again)
		}
	}
}

// isWithinLine reports whether a line is a part of one of the lines of the same card.
func isWithinLine(all map[string]bool, line string) bool {
	name, text, _ := strings.Cut(line, ": ")
	for other := range all {
		if at, rest, _ := strings.Cut(other, ": "); at == name && isSubsequence(strings.Fields(text), strings.Fields(rest)) {
			return true
		}
	}
	return strings.HasPrefix(text, "{")
}

func isSubsequence(words, of []string) bool {
	for _, w := range of {
		if len(words) > 0 && strings.Contains(w, words[0]) {
			words = words[1:]
		}
	}
	return len(words) == 0
}

// TestHideMarkedIsCutOff loses the store at a commit, before or after the commit is kept. Called again it comes
// to the same end as in one go. Then its commits are undone.
func TestHideMarkedIsCutOff(t *testing.T) {
	write := func(s *scene) {
		var cards []canon.NewCard
		for i := range 2*markedPerCommit + 20 {
			cards = append(cards, canon.NewCard{Name: fmt.Sprintf("Card %d", i), Format: canon.FormatMarkdown,
				Content: fmt.Sprintf("Open %d.\n\n%%%%Hidden %d.%%%%\n\nEnd.\n", i, i), Undivided: true})
		}
		s.made(cards...)
	}
	whole := newScene(t)
	write(whole)
	before := whole.readAll("bob")
	var all hideMarkedOut
	if decodeAnswer(whole.As("admin").Call("hide_marked", `{}`, overREST), &all); len(all.Changes) != 3 {
		t.Fatalf("it made %d commits, want 3", len(all.Changes))
	}
	want := whole.readAll("bob")
	for _, after := range []bool{false, true} {
		store := &cutStore{Store: memory.New(), left: -1, after: after}
		s := newSceneOn(t, store)
		write(s)
		store.left = 2
		if _, err := s.As("admin").invoke("hide_marked", `{}`, overREST); err == nil {
			t.Fatal("it did not notice that the store is gone")
		}
		store.left = -1
		s.As("admin").Call("hide_marked", `{}`, overREST)
		if got := s.readAll("bob"); !maps.Equal(got, want) {
			t.Errorf("cut off at the second commit (kept %t) a player reads %d lines, want %d", after, len(got), len(want))
		}
	}
	for _, id := range slices.Backward(all.Changes) {
		var out struct{ Opens []any }
		if decodeAnswer(whole.As("admin").Call("undo_change", `{"id": "`+id+`"}`), &out); len(out.Opens) == 0 {
			t.Error("the undo lists nothing that it opens")
		}
	}
	for line := range before {
		if !whole.readAll("bob")[line] {
			t.Errorf("after the undo a player does not read %q", line)
			break
		}
	}
	var again hideMarkedOut
	if decodeAnswer(whole.As("admin").Call("hide_marked", `{}`, overREST), &again); again.Count > 0 {
		t.Errorf("texts that were taken back are hidden again in %d cards", again.Count)
	}
}

// TestHideMarkedIsForAdmins refuses everybody else, and lists the marks of players and those that nobody can pair.
func TestHideMarkedIsForAdmins(t *testing.T) {
	s := newScene(t)
	s.writeAsBefore("gm", "Quay", "Busy.\n\n%%Deep.%%\n", "")
	s.writeAsBefore("ada", "Diary", "I like %%cheese%%.\n", "")
	s.writeAsBefore("gm", "Fair", "It is 100 %% fun.\n\nThe fool %%is a spy%% juggles.\n", "")
	s.As("gm").WantFault("permission_denied", "hide_marked", `{}`, overREST)
	s.As("ada").WantFault("permission_denied", "hide_marked", `{}`, overREST)
	var out hideMarkedOut
	s.As("bob").Call("get_card", `{"name": "Quay"}`)
	decodeAnswer(s.As("admin").Call("hide_marked", `{}`, overREST), &out)
	if out.Count != 1 || out.Cards[0].Hidden[0].Text != "%%Deep.%%" || out.Cards[0].Hidden[0].From != "players" ||
		len(out.Plain) != 1 || out.Plain[0].Name != "Diary" ||
		out.Mixed != 1 || len(out.Unsure) != 1 || !out.Unsure[0].Mixed {
		t.Errorf("it answers %+v", out)
	}
}
