package markup_test

import (
	"errors"
	"strings"
	"testing"

	"loregate/internal/markup"
)

func TestKeyOf(t *testing.T) {
	for name, want := range map[string]markup.Key{
		// Examples from the contract.
		"This Name":                         "this_name",
		"this    Name":                      "this_name",
		"_This Name":                        "this_name",
		"ThisThing+Ethans":                  "this_thing+ethan",
		"*right":                            "*right",
		"Games + Butterfly_Galaxii+Players": "game+butterfly_galaxii+player",
		"RichText":                          "rich_text",
		"rich text":                         "rich_text",
		"A/B":                               "a_b",
		"A&B":                               "a_b",
		"Mañana":                            "mañana",
		"Species":                           "species",
		"Classes":                           "class",
		"Class":                             "class",
		"Status":                            "status",
		"table-of-contents":                 "table_of_content",
		"Été":                               "été",
		"GM":                                "gm",
		"gm":                                "gm",
		// Examples that were run on Decko.
		"__you motha @#$":             "you_motha",
		"cards hooks label foos":      "card_hook_label_foo",
		"3way":                        "3way",
		"S":                           "s",
		"grass":                       "grass",
		"Jean-fran&ccedil;ois Noubel": "jean_françoi_noubel",
		"AI-Agent":                    "ai_agent",
		"Dr. Smith":                   "dr_smith",
		"tags":                        "tag",
		"series":                      "series",
		"People":                      "person",
		"Wolves":                      "wolf",
		"Mars":                        "mar",
		"Magi":                        "magi",
		"Data":                        "datum",
		// Our own examples.
		"GMs":                  "gm",
		"AIs":                  "ai",
		"GMDocs":               "gm_doc",
		"GM Docs":              "gm_doc",
		"XIsland":              "x_island",
		"Matthias":             "matthias",
		"Oxenford":             "oxenford",
		"Route66Map":           "route66_map",
		"E\u0301te\u0301":      "été",
		"E\u0301te\u0301Chaud": "été_chaud",
		"G\u200bM":             "gm",
		"G&#8203;M":            "gm",
		"می\u200cخواهم":        "میخواهم",
		"हिन्दी":               "हिन्दी",
		"AT&T":                 "at_t",
		"Q&not B":              "q_not_b",
		"A&#43;B":              "a_b",
		"A&amp;ccedil;":        "a_ccedil",
		"":                     "",
		" + ":                  "+",
		"+tags":                "+tag",
		"A+":                   "a+",
		"\xff\xfe":             "",
		"x²":                   "x²",
	} {
		if got := markup.KeyOf(name); got != want {
			t.Errorf("KeyOf(%q) = %q, want %q", name, got, want)
		}
	}
}

// The singular follows the inflection rules of Rails, with the values of github.com/jinzhu/inflection v1.0.0. A
// word whose singular has a singular of its own stays as it is.
func TestSingularFollowsRails(t *testing.T) {
	words := strings.Fields(`
		people=person men=man women=woman children=child sexes=sex moves=move databases=database quizzes=quiz
		matrices=matrix vertices=vertex indices=index aliases=alias statuses=status octopi=octopus viruses=viruse
		crises=crisis testes=testis shoes=shoe heroes=hero potatoes=potato buses=bus boxes=box churches=church
		classes=class dishes=dish movies=movie series=series cities=city queries=query soliloquies=soliloquy
		wolves=wolf natives=native hives=hive knives=knife elves=elf shelves=shelf gulves=gulf analyses=analysis
		bases=basis diagnoses=diagnosis theses=thesis synopses=synopsis data=datum criteria=criterium
		phenomena=phenomena news=news grass=grass kings=king dragons=dragon axes=axis mice=mouse lice=louse
		equipment=equipment rice=rice fish=fish sheep=sheep matthias=matthias atlas=atla chaos=chao status=status
		virus=virus census=censu focus=focu bus=bus gas=ga lens=len cactus=cactu radius=radiu species=species
		boss=boss genus=genu ves=ve ies=ie oes=o ses=se es=e us=u is=i as=a a=a i=i ia=ium ta=tum hoofs=hoof
		roofs=roof leaves=leafe thieves=thiefe gloves=glofe olives=olife archives=archive detectives=detective
		mummies=mummy`)
	for _, pair := range words {
		word, want, _ := strings.Cut(pair, "=")
		if got := markup.PartKey(word); got != want {
			t.Errorf("PartKey(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{
		"Butterfly Galaxii+Player": true,
		"*right":                   true,
		"می\u200cخواهم":            true,
		"❤\ufe0f Hearts":           true,
		"👩\u200d🚀 Crew":            true,
		"A|B":                      true,
		strings.Repeat("é", 255):   true,
		strings.Repeat("é", 256):   false,
		"":                         false,
		" \t":                      false,
		"A+":                       false,
		"+A":                       false,
		"A++B":                     false,
		"A+!!":                     false,
		"A/B":                      false,
		"A&#47;B":                  false,
		"A\nB":                     false,
		"A\x00B":                   false,
		"A\u0085B":                 false,
		"A\u2028B":                 false,
		"A\xffB":                   false,
		"A\u202eB":                 false,
		"A&#x202e;B":               false,
		"A\u200bB":                 false,
		"G\u200dM":                 false,
		"A\U000e0041B":             false,
		"G\ufe0fM":                 false,
		"A\ufeffB":                 false,
	} {
		err := markup.CheckName(name)
		if (err == nil) != ok {
			t.Errorf("CheckName(%q) = %v, want ok %v", name, err, ok)
		}
		if e := (*markup.NameError)(nil); err != nil && (!errors.As(err, &e) || e.Message == "") {
			t.Errorf("CheckName(%q) = %T, want *NameError with a message", name, err)
		}
	}
}

func TestLeftRightParts(t *testing.T) {
	for _, c := range []struct {
		name, left, right, tag string
		parts                  []string
	}{
		{"A", "", "", "A", []string{"A"}},
		{"A + B", "A", "B", "B", []string{"A", "B"}},
		{"A+B +C", "A+B", "C", "C", []string{"A", "B", "C"}},
		{"+C", "", "C", "C", []string{"", "C"}},
		{" ", "", "", "", nil},
	} {
		parts := markup.Parts(c.name)
		if l, r, g := markup.Left(c.name), markup.Right(c.name), markup.Tag(c.name); l != c.left || r != c.right ||
			g != c.tag || strings.Join(parts, "|") != strings.Join(c.parts, "|") || len(parts) != len(c.parts) {
			t.Errorf("%q: left %q right %q tag %q parts %q", c.name, l, r, g, parts)
		}
	}
	if got := markup.Join("X", "+tags", " B "); got != "X+tags+B" {
		t.Errorf("Join = %q", got)
	}
	k := markup.KeyOf("Games+Hero+GM")
	if k.Left() != "game+hero" || k.Tag() != "gm" || !k.HasPrefix("game") || !k.HasPrefix(k) || !k.HasPrefix("") ||
		k.HasPrefix("gam") {
		t.Errorf("key methods of %q", k)
	}
}

func TestResolve(t *testing.T) {
	for _, c := range []struct{ relative, self, want string }{
		{"Other", "A+B", "Other"},
		{"+tags", "A+B", "A+B+tags"},
		{"tags+", "A+B", "tags+A+B"},
		{"_self", "A+B", "A+B"}, {"_", "A+B", "A+B"}, {"_whole", "A+B", "A+B"}, {"_SELF+x", "A", "A+x"},
		{"_left", "A+B+C", "A+B"}, {"_left", "A", "A"},
		{"_right", "A+B+C", "C"}, {"_right", "A", "A"},
		{"_left+GM", "A+B", "A+GM"},
		{"_1", "A+B+C", "A"}, {"_2", "A+B+C", "B"}, {"_9", "A+B+C", "C"},
		{"_L", "A+B+C", "A+B"}, {"_LL", "A+B+C", "A"}, {"_LLLL", "A+B+C", "A"},
		{"_R", "A+B+C", "C"}, {"_LR", "A+B+C", "B"}, {"_LLR", "A+B+C", "A"},
		{"_user", "A", "_user"}, {"_main", "A", "A"}, {"_lefty", "A+B", "_lefty"},
		{"+A+B+", "+A", "+A+B++A"},
		{"", "A", ""}, {"+", "A", "A+A"},
	} {
		if got := markup.Resolve(c.relative, c.self); got != c.want {
			t.Errorf("Resolve(%q, %q) = %q, want %q", c.relative, c.self, got, c.want)
		}
	}
	ctx := markup.Context{Self: "A", Main: "M", User: "Joe"}
	if got := ctx.Resolve("_user+_main"); got != "Joe+M" {
		t.Errorf("got %q", got)
	}
	if got := markup.Resolve(strings.Repeat("_+", 100000), strings.Repeat("a", 200)); len(got) > 1<<20 {
		t.Errorf("grew to %d bytes", len(got))
	}
}

func TestMatchGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*+GM*", "X+GM", true},
		{"*+GM*", "X+gm", true},
		{"*+GM*", "X+GMs", true},
		{"*+GM*", "X+GM+AI", true},
		{"*+GM*", "A+B+GM+C+D", true},
		{"*+GM*", "GM", true},
		{"*+GM*", "X+GM Docs", false},
		{"*+GM*", "X+Dogma", false},
		{"*+GM*", "X", false},
		{"+gm", "X+GM", true},
		{"+GM", "X+GM", true},
		{"+GM", "X+GM Docs", false},
		{"+GM", "X+GM+AI", false},
		{"*+GM", "X+GM", true},
		{"*+GM+*", "X+GM+AI", true},
		{"*+GM?*", "X+GMX", true},
		{"*GM*", "X+Dogma", true},
		{"Games*", "Games", true}, {"Games*", "Game", true}, {"Games*", "Games Night", true},
		{"Games*", "Games+Butterfly+Player", true}, {"Games*", "Gamesmanship", true}, {"Games*", "Gamers", false},
		{"Games+Butter*", "Games+Butterfly Galaxii+Player", true},
		{"Games+Butter*", "Games+Bitter", false},
		{"*Docs", "X+My Docs", true}, {"*Docs", "X+My Docs+B", false}, {"*atus", "Status", true},
		{"*draft*", "A+My Drafts+B", true},
		{"Games* Notes", "Games Night Notes", true}, {"Games* Notes", "Games Notes", true},
		{"Games* Notes", "Gamesnotes", false},
		{"Chapter ?", "Chapter 1", true}, {"Chapter ?", "Chapter 12", false},
		{"*right", "*right", true}, {"*right", "X+*right", true},
		{"Games", "game", true}, {"Games", "X+game", false},
		{"*", "anything+at all", true}, {"*+*", "A", true},
		{"É*", "Été", true},
		{"", "A", false}, {strings.Repeat("a", 2000), "A", false},
	} {
		if got := markup.MatchGlob(c.pattern, c.name); got != c.want {
			t.Errorf("MatchGlob(%q, %q) = %v, want %v", c.pattern, c.name, got, c.want)
		}
		if got := markup.MatchGlob(c.pattern, string(markup.KeyOf(c.name))); got != c.want {
			t.Errorf("MatchGlob(%q, key of %q) = %v, want %v", c.pattern, c.name, got, c.want)
		}
	}
}

func FuzzKeyOf(f *testing.F) {
	for _, s := range []string{"Games + Butterfly_Galaxii+Players", "E\u0301W\u030a", "İ&ccedil;S", "GMs𝐀a", "ǅa*+",
		"&amp;#43;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		key := markup.KeyOf(name)
		if again := markup.KeyOf(string(key)); again != key {
			t.Errorf("key of %q is %q, and of that %q", name, key, again)
		}
		if strings.ContainsAny(string(key), " /\n\x00&;") || strings.Contains(string(key), "__") {
			t.Errorf("key %q of %q", key, name)
		}
	})
}

func FuzzMatchGlob(f *testing.F) {
	f.Add("*+GM*", "X+GM")
	f.Add("a*b?c*+d", "ab+cd")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		got := markup.MatchGlob(pattern, name)
		if got != markup.MatchGlob(pattern, string(markup.KeyOf(name))) {
			t.Errorf("MatchGlob(%q, %q) depends on more than the key", pattern, name)
		}
		if markup.KeyOf(name) != "" && len(name) < 1000 && !strings.ContainsAny(name, "*?") &&
			!strings.HasPrefix(strings.TrimSpace(name), "+") && !strings.HasSuffix(strings.TrimSpace(name), "+") &&
			!markup.MatchGlob(name, name) {
			t.Errorf("%q does not fit itself", name)
		}
	})
}

func BenchmarkKeyOf(b *testing.B) {
	for b.Loop() {
		markup.KeyOf("Games+Butterfly Galaxii+Players")
	}
}

func BenchmarkKeyOfAccents(b *testing.B) {
	for b.Loop() {
		markup.KeyOf("Été à Mañana+Jean-fran&ccedil;ois")
	}
}

func BenchmarkMatchGlob(b *testing.B) {
	for b.Loop() {
		markup.MatchGlob("*+GM*", "Games+Butterfly Galaxii+Players+GM")
	}
}
