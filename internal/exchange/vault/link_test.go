package vault

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/markup"
)

// leadsTo returns the text of the card to which each reference in the text of a card leads for a role, by the path
// that it writes: "-" for one that leads nowhere.
func (s *scene) leadsTo(who, name string) map[string]string {
	s.T.Helper()
	ctx, all := s.T.Context(), map[string]string{}
	err := s.Canon.Read(ctx, s.As(who), func(l *canon.Snapshot) error {
		c, err := l.Find(ctx, name)
		if err != nil {
			return err
		}
		text, err := l.Content(ctx, c)
		if err != nil {
			return err
		}
		means, err := l.Referred(ctx, c)
		if err != nil {
			return err
		}
		for _, r := range markup.MarkdownRefs(text) {
			to, ok := means[r.Path]
			if !ok {
				if to, _, err = l.ByRef(ctx, markup.KeyOf(markup.Resolve(r.Target, c.Name))); err != nil {
					return err
				}
			}
			if all[r.Path] = "-"; !to.ID.IsZero() {
				if all[r.Path], err = l.Content(ctx, to); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return all
}

func (s *scene) wantLeads(who, name string, want map[string]string) {
	s.T.Helper()
	got := s.leadsTo(who, name)
	for path, text := range want {
		if got[path] != text {
			s.T.Errorf("%s in %s leads %s to %q, want %q", path, name, who, got[path], text)
		}
	}
}

// linkedVault is a vault in which names alone do not lead to the notes that links mean. Each note's text is its path.
func linkedVault() map[string]string {
	v := map[string]string{}
	for _, p := range []string{"A/Tavern", "B/Tavern", "B/Tavern/Cellar", "C/Inn", "C/inn", "D/Caf\u00e9", "D/Cafe\u0301", "E/a+b", "GM/Tavern",
		"A/Deep/Well", "Deep/Deep"} {
		v[p+".md"] = p
	}
	v["A/Road.md"] = "---\nsee: ['[[B/Tavern]]']\n---\n" + `[[A/Tavern]] [[B/Tavern|other]] [x](../B/Tavern.md#Part) ![[B/Tavern#^b]]
| [[Tavern\|here]] | [[C/inn]] [[C/Inn]] [[D/Café]] [[D/Café]] [[a+b]] [[Cellar]] [[No/Where]] [[Nowhere]] [[Deep]] [[Well]] [[A]] [[E]] |

%%hidden [[C/inn|x]] [[GM/Tavern]]%%
`
	v["A/Road.md"] = strings.ReplaceAll(v["A/Road.md"], "[[D/Café]] [[D/Café]]", "[[D/Caf\u00e9]] [[D/Cafe\u0301]]")
	v["F/Far.md"] = "[[Tavern]] [[GM/Tavern]]"
	return v
}

var leadsFromRoad = map[string]string{"A/Tavern": "A/Tavern", "B/Tavern": "B/Tavern", "../B/Tavern": "B/Tavern",
	"Tavern": "A/Tavern", "C/inn": "C/inn", "C/Inn": "C/Inn", "D/Caf\u00e9": "D/Caf\u00e9", "D/Cafe\u0301": "D/Cafe\u0301", "a+b": "E/a+b",
	"Cellar": "B/Tavern/Cellar", "No/Where": "-", "Nowhere": "-", "A": "-", "E": "-", "Deep": "Deep/Deep", "Well": "A/Deep/Well"}

// TestLinksLeadToTheirCards imports notes whose names are not unique, with every use of folders, and follows their
// links.
func TestLinksLeadToTheirCards(t *testing.T) {
	for _, use := range []FolderUse{FolderTags, FolderNames, FolderNone} {
		s := newScene(t)
		sum := s.importAs("admin", linkedVault(), Options{Folders: use})
		gm := maps.Clone(leadsFromRoad)
		gm["GM/Tavern"] = "GM/Tavern"
		road := map[FolderUse]string{FolderNames: "A+Road"}[use]
		if road == "" {
			road = "Road"
		}
		s.wantLeads("gm", road, gm)
		s.wantLeads("user", road, leadsFromRoad)
		if text := sum.String(); !strings.Contains(text, "4 of them reach no note in the vault, 4 no card here") ||
			!strings.Contains(text, `"Tavern=A/Tavern.md" "Tavern=B/Tavern.md"`) {
			t.Errorf("%s: %s", use, text)
		}
		again := s.importAs("admin", linkedVault(), Options{Folders: use})
		if again.Created+again.Updated+again.Links > 0 {
			t.Errorf("%s: importing again: %s", use, again)
		}
		dir := t.TempDir()
		s.export("admin", dir)
		got := exchangetest.FolderText(t, dir)
		for file, text := range linkedVault() {
			if !strings.Contains(got, "=== "+file+"\n"+text) {
				t.Errorf("%s: %s does not come back: %s", use, file, got)
			}
		}
	}
}

// TestHiddenLinksBetrayNothing compares the links that players see with those of a vault without its hidden parts.
func TestHiddenLinksBetrayNothing(t *testing.T) {
	whole, open := linkedVault(), linkedVault()
	delete(open, "GM/Tavern.md")
	open["A/Road.md"], _, _ = strings.Cut(open["A/Road.md"], "\n%%")
	whole["A/Road.md"] = strings.TrimSuffix(whole["A/Road.md"], "\n")
	with, without := newScene(t), newScene(t)
	with.importAs("admin", whole, Options{})
	without.importAs("admin", open, Options{})
	wantSame(t, with.Listing("user"), without.Listing("user"))
	with.wantLeads("user", "Far", map[string]string{"GM/Tavern": "A/Tavern"}) // as if there were no other
}

// TestAmbiguousLinks decides a link that fits two notes in each way, and takes the decision back.
func TestAmbiguousLinks(t *testing.T) {
	s := newScene(t)
	for _, step := range []struct {
		o    Options
		want string
	}{{Options{}, "A/Tavern"}, {Options{Links: []string{"Tavern=B/Tavern.md"}}, "B/Tavern"}, {Options{}, "B/Tavern"},
		{Options{Links: []string{"Tavern=A/Tavern"}}, "A/Tavern"}, {Options{}, "A/Tavern"}} {
		sum := s.importAs("admin", linkedVault(), step.o)
		s.wantLeads("user", "Far", map[string]string{"Tavern": step.want})
		if asks := strings.Contains(sum.String(), "fit several notes"); asks != (step.want == "A/Tavern" && len(s.leadsTo("user", "Far")) > 0 &&
			!slices.ContainsFunc(sum.Said, func(t string) bool { return strings.Contains(t, "--link:") }) && step.o.Links == nil) {
			t.Errorf("%v asks: %t", step.o.Links, asks)
		}
	}
	if _, err := Import(t.Context(), s.Canon, s.As("admin"), exchangetest.Files(linkedVault()),
		Options{Links: []string{"Inn=C/Inn.md"}}); err == nil {
		t.Error("an answer to no question is taken")
	}
}

// TestLinksFollowRenamedCards renames cards here and at the source.
func TestLinksFollowRenamedCards(t *testing.T) {
	s := newScene(t)
	v := linkedVault()
	s.importAs("admin", v, Options{})
	s.Edit("B+Tavern", func(p *canon.Plan, c canon.Card) error { _, err := p.Rename(c, "Old House"); return err })
	s.wantLeads("user", "Road", leadsFromRoad)
	v["A/Road.md"] += "\nMore.\n"
	v["C/Yard/inn.md"] = v["C/inn.md"]
	delete(v, "C/inn.md")
	v["A/Road.md"] = strings.ReplaceAll(v["A/Road.md"], "C/inn", "Yard/inn")
	s.importAs("admin", v, Options{Vault: ""})
	want := maps.Clone(leadsFromRoad)
	delete(want, "C/inn")
	want["Yard/inn"] = "C/inn"
	s.wantLeads("user", "Road", want)
	var stale []string
	for _, line := range s.Listing("admin") {
		if strings.HasPrefix(line, "link") && strings.Contains(line, `"written":"C/inn"`) {
			stale = append(stale, line)
		}
	}
	if len(stale) > 0 {
		t.Errorf("links that no note has: %v", stale)
	}
	_, text, _ := s.Content("gm", "Old House")
	if text != "B/Tavern" {
		t.Errorf("the renamed card reads %q", text)
	}
}

// TestLinksInFieldsAreFollowed counts links in front matter, in each form that YAML allows, and takes out those to
// hidden notes.
func TestLinksInFieldsAreFollowed(t *testing.T) {
	for _, field := range []string{"keeper: '[[GM/Baker|him]]'", "keeper: [[GM/Baker|him]]", "keepers:\n  - '[[GM/Baker|him]]'",
		"keepers: ['[[GM/Baker|him]]']", "keepers:\n  - [[GM/Baker|him]]", "k: {a: '[[GM/Baker|him]]'}", "k: '[him](GM/Baker.md)'"} {
		v := map[string]string{"Inn.md": "---\n" + field + "\n---\nx", "GM/Baker.md": "x"}
		s := newScene(t)
		if sum := s.importAs("admin", v, Options{}); len(sum.Mentions) != 1 || !sum.Mentions[0].Link {
			t.Errorf("%s: %v", field, sum.Mentions)
		}
		s = newScene(t)
		s.importAs("admin", v, Options{HideLinks: true})
		if c, _, _ := s.Content("user", "Inn"); strings.Contains(string(c.Fields), "Baker") || !strings.Contains(string(c.Fields), "him") {
			t.Errorf("%s: the fields are %s", field, c.Fields)
		}
	}
}

// TestLinksFollowTheLabelOfTheirText hides text with links, and reveals it.
func TestLinksFollowTheLabelOfTheirText(t *testing.T) {
	s := newStoredScene(t)
	s.importAs("admin", map[string]string{"A/Inn.md": "x", "B/Inn.md": "y", "Road.md": "One.\n\nTwo [[B/Inn|there]].\n\nThree."},
		Options{Folders: FolderNone})
	seen := func() bool {
		return slices.ContainsFunc(s.Listing("user"), func(line string) bool { return strings.Contains(line, `"written":"B/Inn"`) })
	}
	if !seen() {
		t.Fatal("players do not see where an open link leads")
	}
	s.Edit("Road", func(p *canon.Plan, c canon.Card) error {
		_, err := p.HideText(c, []string{"Two [[B/Inn|there]]."}, false)
		return err
	})
	if seen() {
		t.Error("players see the link of a hidden text")
	}
	s.wantLeads("gm", "Road", map[string]string{"B/Inn": "y"})
	s.Edit("Road", func(p *canon.Plan, c canon.Card) error {
		parts, err := p.HiddenParts(c)
		if err != nil || len(parts) != 1 {
			t.Fatalf("%d parts: %v", len(parts), err)
		}
		_, err = p.LabelParts(c, []string{parts[0].ID}, access.NewLabel(access.LevelUser))
		return err
	})
	s.wantLeads("user", "Road", map[string]string{"B/Inn": "y"})
}
