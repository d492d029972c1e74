package mediawiki

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/store/memory"
)

const dump = `<mediawiki><siteinfo><namespaces><namespace key="14" case="x">Kategoreja</namespace></namespaces></siteinfo>
<page><title>Weir</title><ns>0</ns><id>1</id><sha1>misplaced</sha1>
<revision><id>3</id><timestamp>2024-01-02T00:00:00Z</timestamp><text xml:space="preserve">{{Infobox town
| name = Weir
| ruler = [[Mira|the ''ferrywoman'']]
| people = {{formatnum:1200}}
}}
'''Weir''' is a town.&lt;ref&gt;gone&lt;/ref&gt; See [[mira]] and [[Drowned Bell|the bell]], [[File:x.png]] [https://x.example site].
== Places ==
* mill
** wheel
# ferry
{{quote|a}} {| class="x" &lt;script&gt;
{|
! a
|}
[[Kategoreja:Towns]] [[category:River_towns|w]]</text></revision>
<revision><id>2</id><timestamp>2020-01-02T00:00:00Z</timestamp><text>Old.</text></revision></page>
<page><title>Mira</title><ns>0</ns><id>2</id><revision><text>Rows.</text></revision></page>
<page><title>Ferrywoman</title><ns>0</ns><id>4</id><revision><text>  # redirect  [[ Mira ]]</text></revision></page>
<page><title>Nowhere</title><ns>0</ns><id>5</id><redirect title="Gone" /><revision><text>#REDIRECT [[Gone]]</text></revision></page>
<page><title>Mira</title><ns>0</ns><id>9</id><revision><text>A second.</text></revision></page>
<page><title>Talk:Mira</title><ns>1</ns><id>6</id><revision><text>x</text></revision></page>
<page><title>Cut</title><ns>0</ns><revision><text>Half`

func TestDump(t *testing.T) {
	s := exchangetest.NewOn(t, memory.New())
	files := exchangetest.Files(map[string]string{"w.xml": dump})
	sum := s.Import(Import, files, exchange.Options{Label: "x"})
	want := "Location user <p><b>Weir</b> is a town. See [[Mira|mira]] and the bell,  <a href=\"https://x.example\">site</a>.</p>\n<h2>Places</h2>\n" +
		"<ul><li>mill</li><ul><li>wheel</li></ul></ul><ol><li>ferry</li></ol>\n<p>&#123;&#123;quote|a}} {| class=&#34;x&#34; </p>\n<pre>{|\n! a\n|}</pre>\n"
	s.WantSees(map[string]string{"user Weir": want, "user Mira": "Lore user <p>Rows.</p>\n",
		"user Mira (page 9)": "Lore user <p>A second.</p>\n"})
	c, _, _ := s.Content("user", "Weir")
	for _, part := range []string{`"ruler":"the ferrywoman"`, `"infobox":"Infobox town"`} {
		if !strings.Contains(string(c.Fields), part) {
			t.Errorf("%s is missing from %s", part, c.Fields)
		}
	}
	if c, _, _ := s.Content("user", "Mira"); !strings.Contains(string(c.Fields), `"aliases":["Ferrywoman"]`) {
		t.Errorf("aliases %s", c.Fields)
	}
	if _, text, _ := s.Content("user", "Weir+tags"); !strings.Contains(text, "River towns") || !strings.Contains(text,
		"Towns") {
		t.Errorf("tags %q", text)
	}
	for _, said := range []string{"1 talk pages are left out", "redirects lead to no page; left out: Nowhere",
		`a second page is called "Mira"`, "cannot be read further"} {
		if !strings.Contains(sum.String(), said) {
			t.Errorf("%q is missing from\n%s", said, sum)
		}
	}
	if again := s.Import(Import, files, exchange.Options{Label: "x"}); again.Created+again.Updated+again.Links > 0 {
		t.Errorf("importing again: %s", again)
	}
}

// story returns a dump of a page with the given revisions, newest first as some wikis write them.
func story(revisions ...int) string {
	var b strings.Builder
	b.WriteString("<mediawiki><page><title>Weir</title><ns>0</ns><id>1</id>")
	for _, n := range revisions {
		fmt.Fprintf(&b, "<revision><id>%d</id><timestamp>20%02d-01-02T00:00:00Z</timestamp><contributor><username>Author %[1]d"+
			"</username></contributor><comment>change %[1]d</comment><text>Text %[1]d. [[Weir]]</text></revision>", n, n)
	}
	return b.String() + "</page></mediawiki>"
}

func TestRevisionsBecomeVersions(t *testing.T) {
	s := exchangetest.NewOn(t, memory.New())
	load := func(history bool, revisions ...int) exchange.Summary {
		t.Helper()
		return s.Import(Import, exchangetest.Files(map[string]string{"w.xml": story(revisions...)}),
			exchange.Options{Label: "x", History: history})
	}
	versions := func() string {
		t.Helper()
		var told []string
		if err := s.Canon.Read(t.Context(), s.As("user"), func(l *canon.Snapshot) error {
			c, ok, err := l.Exists(t.Context(), "Weir")
			if err != nil || !ok {
				return err
			}
			list, _, err := l.Versions(t.Context(), c.ID, canon.Page{Limit: 100})
			for _, v := range list {
				text, err := l.Body(t.Context(), v.Content)
				if err != nil {
					return err
				}
				var f struct {
					Revision struct{ Author, Time, Comment string }
				}
				if err := json.Unmarshal(v.Fields, &f); err != nil {
					return err
				}
				told = append(told, fmt.Sprintf("%s %s %s %s", f.Revision.Time[:4], f.Revision.Author, f.Revision.Comment,
					strings.TrimSpace(text)))
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return strings.Join(told, "\n")
	}
	of := func(n int) string {
		return fmt.Sprintf("20%02d Author %[1]d change %[1]d <p>Text %[1]d. [[Weir]]</p>", n)
	}
	sum := load(true, 7, 5, 6)
	if want := strings.Join([]string{of(7), of(6), of(5)}, "\n"); versions() != want || sum.Created != 1 ||
		sum.Updated != 0 || sum.Versions != 2 {
		t.Errorf("%s\n%s", versions(), sum)
	}
	if again := load(true, 7, 5, 6); again.Created+again.Updated+again.Versions > 0 {
		t.Errorf("importing again: %s", again)
	}
	later := load(true, 9, 7, 5, 6, 8)
	if want := strings.Join([]string{of(9), of(8), of(7), of(6), of(5)}, "\n"); versions() != want || later.Created != 0 ||
		later.Updated != 1 || later.Versions != 1 {
		t.Errorf("%s\n%s", versions(), later)
	}
	if sum := load(false, 9, 8); !strings.Contains(sum.String(),
		"1 older revisions are left out; --history imports them") {
		t.Errorf("without --history: %s", sum)
	}
}

func TestHostileDumps(t *testing.T) {
	for name, text := range map[string]string{
		"not XML":  "hello",
		"entities": `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><mediawiki><page><title>&b;</title></mediawiki>`,
		"no page":  "<mediawiki></mediawiki>", "nesting": strings.Repeat("<a>", 20_000),
	} {
		s := exchangetest.NewOn(t, memory.New())
		if _, err := Import(t.Context(), s.Canon, s.As("admin"), exchangetest.Files(map[string]string{"w.xml": text}),
			exchange.Options{}); err == nil ||
			len(s.Listing("admin")) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRealDump(t *testing.T) {
	s, files := exchangetest.NewOn(t, memory.New()), os.DirFS(exchangetest.RealData(t, "mediawiki-tiny"))
	sum := s.Import(Import, files, exchange.Options{Label: "w"})
	t.Log(sum)
	if _, text, ok := s.Content("user", "Hello"); !ok || !strings.Contains(text, "<h2>The header</h2>") {
		t.Errorf("Hello: %q", text)
	}
}

// FuzzDumps checks that no bytes cause a panic, or cards that players see against the level.
func FuzzDumps(f *testing.F) {
	f.Add(dump)
	f.Fuzz(func(t *testing.T, text string) {
		s := exchangetest.NewOn(t, memory.New())
		page := "<mediawiki><page><title>A</title><ns>0</ns><revision><text>" + text + "</text></revision></page></mediawiki>"
		// only panics and visible cards are failures
		_, _ = Import(t.Context(), s.Canon, s.As("admin"), fstest.MapFS{"a.xml": {Data: []byte(text)},
			"b.xml": {Data: []byte(page)}},
			exchange.Options{Level: access.LevelGM})
		if got := s.Listing("user"); len(got) > 0 {
			t.Errorf("a user sees %v", got)
		}
	})
}

func Example() {
	world, owner := exchangetest.NewWorld()
	files := exchangetest.Files(map[string]string{"w.xml": "<mediawiki><page><title>Weir</title><ns>0</ns><id>1</id>" +
		"<revision><text>A '''town'''.</text></revision></page></mediawiki>"})
	summary, err := Import(context.Background(), world, owner, files, exchange.Options{Label: "example"})
	fmt.Println(summary.Created, err)
	// Output: 1 <nil>
}

// TestHeadingsHideSections imports sections with headings that hide: as in HTML, up to the next heading.
func TestHeadingsHideSections(t *testing.T) {
	for _, source := range []string{
		"SEEN\n== GM notes ==\nHID\n=== More ===\nHID\n== Next ==\nSEEN",
		"SEEN\n==Trade==\nSEEN\n=== Secrets ===\nHID\n== Next ==\nSEEN",
		"SEEN SEEN\n== '''GM notes''' ==\n* HID\n", "SEEN\n  == GM notes ==&lt;!-- x --&gt; \nHID\n",
		"SEEN\n== GM notes &lt;ref&gt;x&lt;/ref&gt; ==&#13;\nHID\n",
	} {
		s := exchangetest.NewOn(t, memory.New())
		s.Import(Import, exchangetest.Files(map[string]string{"w.xml": "<mediawiki><page><title>Weir</title><ns>0</ns><id>1</id>" +
			"<revision><id>3</id><text>" + source + "</text></revision></page></mediawiki>"}), exchange.Options{Label: "x"})
		_, players, _ := s.Content("user", "Weir")
		all := strings.Join(s.Listing("gm"), "\n")
		if strings.Contains(players, "HID") || strings.Count(players, "SEEN") < strings.Count(source, "SEEN") ||
			!strings.Contains(all, "HID") || strings.Contains(all, "==") {
			t.Errorf("%s: players read %s\ngame masters %s", source, players, all)
		}
	}
}
