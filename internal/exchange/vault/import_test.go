package vault

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/cputest"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/fault"
	"loregate/internal/secrecy"
)

func (s *scene) importAs(who string, texts map[string]string, o Options) exchange.Summary {
	s.T.Helper()
	sum, err := Import(s.T.Context(), s.Canon, s.As(who), exchangetest.Files(texts), o)
	if err != nil {
		s.T.Fatal(err)
	}
	return sum
}

func TestNoteBecomesCards(t *testing.T) {
	for _, tc := range []struct {
		name  string
		vault map[string]string
		o     Options
		sees  map[string]string
	}{
		{"text and tags", map[string]string{"Town/Old Mill.md": "---\ntags: ['#Status/Blank', river]\nbuilt: 08 Nightveil -128 PR\n---\nIt *turns*.\n"}, Options{},
			map[string]string{"user Old Mill": "RichText user It *turns*.\n",
				"user Old Mill+tags": "Pointer user [[Status/Blank]]\n[[river]]\n[[Town]]"}},
		{"folders as names", map[string]string{"Town/Old Mill.md": "x"}, Options{Folders: FolderNames},
			map[string]string{"user Town+Old Mill": "RichText user x", "user Town": "RichText user ",
				"user Town+Old Mill+tags": "-"}},
		{"a secret", map[string]string{"Mill.md": "open\n\n> [!secret]\n> *hidden*\n\nopen %%too%%"}, Options{},
			map[string]string{"user Mill": "RichText user open\n\nopen", "user Mill+GM": "-",
				"gm Mill+GM": "RichText gm > [!secret]\n> *hidden*\n\n %%too%%"}},
		{"a secret in a secret note stays", map[string]string{"GM/Mill.md": "a %%b%%"}, Options{},
			map[string]string{"user Mill": "-", "gm Mill": "RichText gm a %%b%%", "gm Mill+GM": "-",
				"user Mill+tags": "-"}},
		{"a folder of the GM, named otherwise", map[string]string{"a/secret factions/x/Mill.md": "a"},
			Options{GMFolders: []string{"Secret Factions"}, Folders: FolderNone},
			map[string]string{"user Mill": "-", "gm Mill": "Faction gm a"}},
		{"a level for all", map[string]string{"Mill.md": "a"}, Options{Options: exchange.Options{Level: access.LevelGM}},
			map[string]string{"user Mill": "-", "gm Mill": "RichText gm a"}},
		{"a level of a character", map[string]string{"Hero.md": "---\nlevel: 5\n---\na"}, Options{},
			map[string]string{"user Hero": "RichText user a"}},
		{"a level", map[string]string{"Hero.md": "---\nlevel: GM\n---\na"}, Options{},
			map[string]string{"user Hero": "-", "gm Hero": "RichText gm a"}},
		{"broken front matter", map[string]string{"Hero.md": "---\na: [b\nc: }\n---\na"}, Options{},
			map[string]string{"user Hero": "-", "gm Hero": "RichText gm a"}},
		{"a type of HTML", map[string]string{"Hero.md": "---\ntype: character\n---\na"}, Options{},
			map[string]string{"user Hero": "Character user a"}},
		{"a type for programs", map[string]string{"Hero.md": "---\ntype: Cardtype\n---\na"}, Options{},
			map[string]string{"user Hero": "RichText user a"}},
		{"a nested type", map[string]string{"Hero.md": "---\ntype: npc/villain\n---\na"}, Options{},
			map[string]string{"user Hero": "Character user a"}},
		{"an unknown type", map[string]string{"Hero.md": "---\ntype: humanoid\n---\na"}, Options{},
			map[string]string{"user Hero": "RichText user a"}},
		{"links", map[string]string{"a/One.md": "[[two]] [[b/Two|t]] [x](../b/Two.md#h) [[Two#Part]] [[Zwei]] [[#Here]] [[None/There]] `[[code]]` {{x}}", "b/Two.md": "---\naliases: Zwei\n---\n"},
			Options{Folders: FolderNone},
			map[string]string{"user One": "RichText user [[two]] [[b/Two|t]] [x](../b/Two.md#h) [[Two#Part]] [[Zwei]] [[#Here]] [[None/There]] `[[code]]` {{x}}"}},
		{"links to the hidden say no more than they said",
			map[string]string{"One.md": "[[Zwei]] [x](GM/two.md)", "GM/Two.md": "---\naliases: [Zwei]\n---\nx"},
			Options{Folders: FolderNone}, map[string]string{"user One": `RichText user [[Zwei]] [x](GM/two.md)`}},
		{"hidden and open notes of one name", map[string]string{"GM/Heir.md": "the baker", "Town/Heir.md": "nobody knows"},
			Options{Folders: FolderNone},
			map[string]string{"user Heir": "RichText user nobody knows"}},
		{"two notes of one name", map[string]string{"a/x/Inn.md": "1", "b/x/Inn.md": "2", "Inn.md": "3"},
			Options{Folders: FolderNone},
			map[string]string{"user Inn": "RichText user 3", "user a+x+Inn": "RichText user 1",
				"user b+x+Inn": "RichText user 2"}},
		{"attachments", map[string]string{"A.md": "![[map.png]] ![x](art/b%20c.pdf)", "map.png": "\x89PNG\r\n\x1a\n",
			"art/b c.pdf": "%PDF", "c.txt": "x"}, Options{},
			map[string]string{"user A": "RichText user ![[map.png]] ![x](art/b%20c.pdf)",
				"user map.png": "Image user \x89PNG\r\n\x1a\n", "user b c.pdf": "File user %PDF", "user c.txt": "-"}},
		{"an attachment of a secret", map[string]string{"A.md": "%% ![[map.png]] %%", "map.png": "x"}, Options{},
			map[string]string{"user map.png": "-", "gm map.png": "Image gm x"}},
		{"an attachment of a secret and of what all read",
			map[string]string{"A.md": "%% ![[map.png]] %%", "B.md": "![[map.png]]", "map.png": "x"}, Options{},
			map[string]string{"user map.png": "Image user x"}},
		{"hard names", map[string]string{"a+b.md": "1", "[x]|{y}.md": "2", "!!!.md": "3"}, Options{},
			map[string]string{"user a b": "RichText user 1", "user x y": "RichText user 2"}},
		{"our own dialect hides what is typed into it",
			map[string]string{"A.md": "---\nloregate: 1\nname: A\n---\nopen %%hidden%%"}, Options{},
			map[string]string{"user A": "RichText user <p>open</p>", "gm A+GM": "RichText gm  <!-- hidden -->",
				"user A+GM": "-"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newScene(t)
			first := s.importAs("admin", tc.vault, tc.o)
			s.WantSees(tc.sees)
			again := s.importAs("admin", tc.vault, tc.o)
			if again.Created+again.Updated > 0 || again.Unchanged != first.Created {
				t.Errorf("importing again: %s", again)
			}
		})
	}
}

func TestVisibilityWords(t *testing.T) {
	for _, tc := range []struct {
		meta string
		want access.Level
	}{
		{"a: b", access.LevelUser}, {"secret: true", access.LevelGM}, {"secret: false", access.LevelUser},
		{"secret:", access.LevelUser},
		{"dm: true", access.LevelGM}, {"gm: yes", access.LevelGM}, {"publish: false", access.LevelGM},
		{"publish: true", access.LevelUser},
		{"private: true", access.LevelGM}, {"private: no", access.LevelUser}, {"visibility: players", access.LevelUser},
		{"visibility: public", access.LevelUser},
		{"visibility: only Ann", access.LevelGM}, {"visibility: [a]", access.LevelGM},
		{"visibility: admin", access.LevelAdmin},
		{"level: gm", access.LevelGM}, {"level: user", access.LevelUser}, {"level: 7", access.LevelUser},
		{"GM Notes: he did it", access.LevelUser}, {"secret: he did it", access.LevelGM},
		{"tags: [dm-only]", access.LevelGM}, {"tags: '#secret'", access.LevelGM}, {"tags: [secretary]", access.LevelUser},
		{"level: user\nsecret: true", access.LevelGM},
	} {
		if got := visibilityOf(t, "---\n"+tc.meta+"\n---\n"); got != tc.want {
			t.Errorf("%q: %s, want %s", tc.meta, got, tc.want)
		}
	}
}

// visibilityOf returns the level that a note with the given text gets.
func visibilityOf(t testing.TB, text string) access.Level {
	t.Helper()
	v := newTestVault(t, exchangetest.Files(map[string]string{"x.md": text}))
	if err := v.indexNotes(); err != nil {
		t.Fatal(err)
	}
	return v.notes[0].level
}

func TestImportingAgainUpdates(t *testing.T) {
	s := newScene(t)
	v := map[string]string{"Mill.md": "old %%s%%", "Inn.md": "inn"}
	s.importAs("admin", v, Options{Options: exchange.Options{Label: "v"}})
	s.Edit("Mill", func(p *canon.Plan, c canon.Card) error { _, err := p.Rename(c, "The Mill"); return err })
	s.Edit("Inn", func(p *canon.Plan, c canon.Card) error { return p.Trash(c) })

	v["Mill.md"] = "new %%t%%"
	sum := s.importAs("admin", v, Options{Options: exchange.Options{Label: "v"}})
	s.WantSees(map[string]string{"user The Mill": "RichText user new", "user Mill": "-",
		"gm The Mill+GM": "RichText gm  %%t%%", "admin Inn": "-"})
	if sum.Updated != 1 || sum.Created != 0 || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].Why, "trash") {
		t.Errorf("%s", sum)
	}

	v["Mill.md"] = "---\nsecret: true\n---\nthe heir lies here"
	s.importAs("admin", v, Options{Options: exchange.Options{Label: "v"}})
	s.WantSees(map[string]string{"user The Mill": "-", "gm The Mill": "RichText gm the heir lies here"})
	s.Edit("The Mill", func(p *canon.Plan, c canon.Card) error {
		_, err := p.SetLabel(c, access.NewLabel(access.LevelUser))
		return err
	})
	for _, text := range s.Versions("user", "The Mill") {
		if text != "the heir lies here" && strings.Contains(text, "heir") {
			t.Errorf("the past shows %q", text)
		}
	}
}

func TestSecretVersionsStayHiddenAfterLowering(t *testing.T) {
	s := newScene(t)
	s.importAs("admin", map[string]string{"A.md": "open"}, Options{})
	s.importAs("admin", map[string]string{"A.md": "---\nsecret: true\n---\nthe duke did it"}, Options{})
	s.importAs("admin", map[string]string{"A.md": "---\nsecret: true\n---\na duke"}, Options{})
	s.Edit("A", func(p *canon.Plan, c canon.Card) error {
		_, err := p.SetLabel(c, access.NewLabel(access.LevelUser))
		return err
	})
	if got := s.Versions("user", "A"); slices.ContainsFunc(got,
		func(v string) bool { return strings.Contains(v, "did it") }) {
		t.Errorf("a user reads in the history: %q", got)
	}
}

func TestImportLeavesHiddenCardsAlone(t *testing.T) {
	s := newScene(t)
	gm := access.NewLabel(access.LevelGM)
	s.Create(canon.NewCard{Name: "Heir", Content: "the baker", Label: &gm})
	s.Create(canon.NewCard{Name: "Mill", Content: "mine"})
	s.Create(canon.NewCard{Name: "Mill+GM", Content: "my notes"})
	s.importAs("admin", map[string]string{"Heir.md": "nobody knows", "Mill.md": "yours %%s%%", "GM/Town.md": "hidden"},
		Options{Folders: FolderNone})
	s.Create(canon.NewCard{Name: "Town", Content: "open"})
	s.WantSees(map[string]string{"user Heir": "RichText user nobody knows", "gm Mill+GM": "RichText gm my notes\n %%s%%",
		"user Mill": "RichText user yours", "user Town": "RichText user open"})
	s.importAs("admin", map[string]string{"GM/Town.md": "---\ntags: a\n---\nstill hidden"},
		Options{Folders: FolderNone})
	s.WantSees(map[string]string{"user Town": "RichText user open", "user Town+tags": "-"})
}

func TestADryRunChangesNothing(t *testing.T) {
	s := newScene(t)
	v := map[string]string{}
	for i := range 450 {
		v[fmt.Sprintf("f/n%d.md", i)] = "---\ntags: a\n---\nx %%y%%"
	}
	sum, err := Import(t.Context(), s.Canon, s.As("admin").DryRun(), exchangetest.Files(v),
		Options{Folders: FolderNames})
	if err != nil || sum.Created != 450+1 || sum.TagLists != 450 || len(sum.Problems) > 0 || !sum.DryRun {
		t.Errorf("%v: %s", err, sum)
	}
	if got := s.Listing("admin"); len(got) > 0 {
		t.Errorf("%d things are there", len(got))
	}
}

// A dry run counts levels correctly also for cards below a card of an earlier commit.
func TestDryRunCountsLevels(t *testing.T) {
	v := map[string]string{}
	for i := range 150 {
		v[fmt.Sprintf("n%d.md", i)] = "---\nvisibility: gm\ntags: a\n---\nx"
		v[fmt.Sprintf("open%d.md", i)] = "---\ntags: a\n---\nx %%y%%"
	}
	s := newScene(t)
	dry, err := Import(t.Context(), s.Canon, s.As("admin").DryRun(), exchangetest.Files(v),
		Options{Options: exchange.Options{Label: "v"}})
	if err != nil {
		t.Fatal(err)
	}
	s.importAs("admin", v, Options{Options: exchange.Options{Label: "v"}})
	cards := func(who string) int {
		return len(slices.DeleteFunc(s.Listing(who), func(line string) bool {
			return !strings.HasPrefix(line, "card ") || strings.Contains(line, "vault_source") ||
				strings.Contains(line, `+tags"`) || strings.Contains(line, `+GM"`)
		}))
	}
	want := map[access.Level]int{access.LevelUser: cards("user"), access.LevelGM: cards("gm") - cards("user")}
	if !maps.Equal(dry.Levels, want) {
		t.Errorf("a dry run says %v, and %v came in", dry.Levels, want)
	}
	if again := s.importAs("admin", v, Options{Options: exchange.Options{Label: "v"}}); !maps.Equal(again.Levels, want) ||
		!strings.Contains(again.String(), "Players see") {
		t.Errorf("importing again says %v: %s", again.Levels, again)
	}
}

func TestAUserImportsNothingSecret(t *testing.T) {
	s := newScene(t)
	sum := s.importAs("user", map[string]string{"A.md": "a %%b%%", "GM/B.md": "---\ntags: x\n---\nb", "C.md": "c"},
		Options{Folders: FolderNone})
	s.WantSees(map[string]string{"user A": "RichText user a", "admin A+GM": "-", "admin B": "-",
		"admin B+tags": "-", "user C": "RichText user c"})
	if len(sum.Problems) != 3 {
		t.Errorf("%s", sum)
	}
}

func TestHostileVaults(t *testing.T) {
	deep := strings.Repeat("d/", 5000) + "x.md"
	bomb := "---\na: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ","))
	}
	for name, vault := range map[string]map[string]string{
		"folders without end":     {deep: "x", "a.md": "x"},
		"a bomb of YAML":          {"a.md": bomb + "---\nx"},
		"YAML nested without end": {"a.md": "---\na: " + strings.Repeat("[", 60_000) + "\n---\nx"},
		"a note without end":      {"a.md": strings.Repeat("x", maxNote+1), "b.md": "x"},
		"not UTF-8":               {"a.md": "\xff\xfe\x00x\x00", "b\xff.md": "x"},
		"NUL":                     {"a\x00b.md": "a\x00b"},
		"fences without end":      {"a.md": strings.Repeat("```a\n", 40_000)},
		"ticks of every length":   {"a.md": ticksOf(700)},
		"tags of HTML":            {"a.md": "class" + strings.Repeat("<a ", 60_000)},
		"brackets":                {"a.md": strings.Repeat("[[", 60_000) + strings.Repeat("![", 40_000)},
		"comments":                {"a.md": strings.Repeat("%%a%%", 40_000)},
		"spoilers without end":    {"a.md": strings.Repeat(" >!", 60_000)},
		"tags of forums":          {"a.md": strings.Repeat("[spoiler]", 30_000)},
		"fields in brackets":      {"a.md": strings.Repeat("[gm:: ", 30_000)},
		"summaries":               {"a.md": strings.Repeat("<details><summary>", 10_000)},
		"callouts":                {"a.md": strings.Repeat("> [!secret]\n> a\n", 10_000)},
		"one name a thousand times": func() map[string]string {
			v := map[string]string{}
			for i := range 1500 {
				v[fmt.Sprintf("f%d/index.md", i)] = "x"
			}
			return v
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			began := cputest.Used()
			s := newScene(t)
			v := newTestVault(t, exchangetest.Files(vault))
			if err := v.indexNotes(); err != nil {
				t.Fatal(err)
			}
			for _, n := range v.notes {
				h := secrecy.Split(n.Body, secrecy.Markdown, func(secrecy.Mark) bool { return true })
				_, signs := v.findReferences(n, h.Open, n.level)
				withoutSigns(h.Open, signs)
				v.findReferences(n, h.Secret(), access.LevelGM)
			}
			if len(vault) < 100 {
				s.importAs("admin", vault, Options{})
			}
			if used := cputest.Used() - began; used > 20*time.Second {
				t.Errorf("used the processor for %s", used)
			}
		})
	}
}

func newTestVault(t testing.TB, files fstest.MapFS) *vault {
	t.Helper()
	v, err := readVault(files, Options{})
	if err != nil {
		t.Fatal(err)
	}
	v.findMembers = func([]string) ([]access.Subject, bool, error) { return nil, false, nil }
	return v
}

func ticksOf(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("`", i+1) + " ")
	}
	return b.String()
}

func TestRefusedCardsAreReported(t *testing.T) {
	s := newScene(t)
	s.Create(canon.NewCard{Name: "Other", Codename: "code"})
	big := "---\nloregate: 1\nname: Big\n---\n" + strings.Repeat("x", canon.MaxContent+1)
	sum := s.importAs("admin", map[string]string{"Big.md": big,
		"Named.md": "---\nloregate: 1\nname: Named\ncodename: code\n---\nx",
		"Typed.md": "---\nloregate: 1\nname: Typed\ntype: Nonesuch\n---\nx", "Ok.md": "x",
		"Bad.md": "---\nloregate: 1\nname: a/b\nlevel: none\n---\nx"}, Options{})
	s.WantSees(map[string]string{"user Ok": "RichText user x", "user Named": "RichText user <p>x</p>",
		"user Typed": "RichText user <p>x</p>", "admin Big": "-"})
	if len(sum.Problems) != 5 {
		t.Errorf("%s", sum)
	}
}

func TestImportOfUnreadableFolder(t *testing.T) {
	s := newScene(t)
	_, err := Import(t.Context(), s.Canon, s.As("admin"), exchangetest.ErrorFS{}, Options{})
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("%v", err)
	}
}
