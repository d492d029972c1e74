package mediawiki

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"html"
	"io/fs"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
	"loregate/internal/fault"
)

// The namespaces that become cards.
const (
	spaceMain     = 0
	spaceCategory = 14
	spaceTemplate = 10
)

// wiki is the import of one dump.
type wiki struct {
	s       *record.Source
	file    string
	pages   []*article
	byTitle map[string]*article
	aliases map[string][]string // titles of redirects, by the title of their page
	skipped map[int]int         // pages by namespace
	older   int                 // revisions that are left out
	words   words
}

// article is a page that becomes a card.
type article struct {
	page   // with the older revisions, if they are imported
	newest revision
	text   text
	secret string // the hidden parts of the newest revision, as written
	line   int
	sheet  *exchange.Sheet
}

// Import imports dumps of MediaWiki: pages become cards, redirects aliases, categories tags, and the values
// of an infobox fields. Talk, users and files are counted.
func Import(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS, o exchange.Options) (exchange.Summary,
	error) {
	return record.Walk{Format: "mediawiki", Suffixes: []string{".xml"}, Open: (*record.Source).ReadWhole,
		Empty: "no file is a dump with pages",
		Add: func(ctx context.Context, s *record.Source, name string, data []byte) error {
			x := &wiki{s: s, file: name, byTitle: map[string]*article{}, aliases: map[string][]string{},
				skipped: map[int]int{}}
			x.words = words{category: []string{"category", "kategorie", "categoría", "catégorie"}, file: []string{"file",
				"image", "datei", "fichier", "archivo"}}
			x.readNames(data)
			if err := x.read(data); err != nil {
				return err
			}
			return x.addArticles(ctx)
		}}.Import(ctx, c, g, files, o)
}

// readNames reads the names of the namespaces in the wiki's language from the head of the dump.
func (x *wiki) readNames(data []byte) {
	head := string(data[:min(len(data), 16<<10)])
	for _, n := range []struct {
		key  string
		into *[]string
	}{{`key="14"`, &x.words.category}, {`key="6"`, &x.words.file}} {
		if _, rest, ok := strings.Cut(head, n.key); ok {
			if _, rest, ok = strings.Cut(rest, ">"); ok {
				name, _, _ := strings.Cut(rest, "<")
				*n.into = append(*n.into, html.UnescapeString(strings.TrimSpace(name)))
			}
		}
	}
}

func (x *wiki) read(data []byte) error {
	before := 0
	line, err := readDump(bytes.NewReader(data), func(p page, line int) {
		before++
		x.addPage(p, line)
	})
	switch {
	case err == nil:
	case before == 0:
		return fault.New(fault.Invalid, "%s is not a dump of MediaWiki: it cannot be read beyond line %d", x.file,
			line).Because(err)
	default:
		x.s.AddProblem(x.file, line, "cannot be read further: the rest is left out")
	}
	return nil
}

func (x *wiki) addPage(p page, line int) {
	p.Title = strings.TrimSpace(strings.ReplaceAll(p.Title, "_", " "))
	newest := p.newest()
	if !x.s.Options.History {
		x.older += len(p.Revisions)
		p.Revisions = nil
	}
	a := &article{page: p, newest: newest, line: line}
	a.text, a.secret = x.splitSource(line, newest.Text)
	if p.Redirect != nil && a.text.redirect == "" {
		a.text.redirect = p.Redirect.Title
	}
	isText := newest.Model == "" || newest.Model == "wikitext"
	switch {
	case p.Title == "":
		x.s.AddProblem(x.file, line, "the page has no title; left out")
	case p.Space != spaceMain && p.Space != spaceCategory && p.Space != spaceTemplate || !isText:
		x.skipped[p.Space]++
	case a.text.redirect != "":
		target, _, _ := strings.Cut(a.text.redirect, "#")
		if p.Space == spaceMain {
			x.aliases[titleKey(target)] = append(x.aliases[titleKey(target)], p.Title)
		}
	case p.Space == spaceTemplate || p.Space == spaceCategory && strings.TrimSpace(a.text.body) == "":
		x.skipped[p.Space]++
	default:
		if x.byTitle[titleKey(p.Title)] != nil {
			x.s.AddProblem(x.file, line, "a second page is called %q", p.Title)
		} else {
			x.byTitle[titleKey(p.Title)] = a
		}
		x.pages = append(x.pages, a)
	}
}

// titleKey returns the form in which titles are compared: the first letter does not count, and underscores
// are spaces.
func titleKey(title string) string {
	title = strings.Join(strings.Fields(strings.ReplaceAll(title, "_", " ")), " ")
	if title == "" {
		return ""
	}
	r := []rune(title)
	return strings.ToUpper(string(r[0])) + string(r[1:])
}

func (x *wiki) addArticles(ctx context.Context) error {
	targets := map[string]*article{}
	for key, a := range x.byTitle {
		targets[key] = a
	}
	for key, titles := range x.aliases {
		for _, t := range titles {
			if x.byTitle[key] != nil && targets[titleKey(t)] == nil {
				targets[titleKey(t)] = x.byTitle[key]
			}
		}
	}
	for _, a := range x.pages {
		fields := a.text.newFields()
		if list := x.aliases[titleKey(a.Title)]; len(list) > 0 && x.byTitle[titleKey(a.Title)] == a {
			fields["aliases"] = list
		}
		var past []record.Past
		for _, r := range a.Revisions {
			was, secret := x.splitSource(a.line, r.Text)
			past = append(past, record.Past{Revision: r.origin(), Fields: was.newFields(), Text: blocksOf(was, secret)})
		}
		if x.s.Options.History {
			fields["revision"] = a.newest.origin()
		}
		var tags []string
		for _, c := range a.text.categories {
			tags = append(tags, record.CardName(c))
		}
		var err error
		a.sheet, err = x.s.Add(ctx, record.Card{Key: []string{cmp.Or(a.ID, a.Title), a.Title}, File: fmt.Sprintf("%s:%d",
			x.file, a.line),
			Name: a.Title, Suffixes: []string{"page " + a.ID}, Type: typeFor(a.text.fields), Fields: fields, Tags: tags,
			Past: past, Text: blocksOf(a.text, a.secret), Render: x.render(targets)})
		if err != nil {
			return err
		}
	}
	x.reportSkipped(targets)
	return nil
}

// splitSource takes the hidden parts out of the wikitext of a page, and divides the rest. Hidden parts may stand in
// the values of an infobox too. Headings are read as those of HTML, which hide their sections.
func (x *wiki) splitSource(line int, source string) (t text, secret string) {
	source, secret = x.s.Hide(fmt.Sprintf("%s:%d", x.file, line), record.Plain, tagHeadings(source))
	return splitText(wikiHeadings(source), x.words), wikiHeadings(secret)
}

// tagHeadings returns a wikitext with its headings in HTML. Comments and references beside one stand below it.
func tagHeadings(source string) string {
	if !strings.Contains(source, "=") {
		return source
	}
	var b strings.Builder
	for line := range strings.Lines(source) {
		m := headingForm.FindStringSubmatch(strings.TrimSpace(besideForm.ReplaceAllString(line, "")))
		if m == nil {
			b.WriteString(line)
			continue
		}
		fmt.Fprintf(&b, "<h%d>%s</h%[1]d>\n", len(m[1]), m[2])
		for _, beside := range besideForm.FindAllString(line, -1) {
			b.WriteString(beside + "\n")
		}
	}
	return b.String()
}

// wikiHeadings returns a text with its headings in the form of a wiki again.
func wikiHeadings(source string) string {
	return htmlHeading.ReplaceAllStringFunc(source, func(line string) string {
		m := htmlHeading.FindStringSubmatch(line)
		signs := strings.Repeat("=", int(m[1][0]-'0'))
		return signs + " " + m[2] + " " + signs
	})
}

func blocksOf(t text, secret string) []record.Block {
	return []record.Block{{Text: t.body, Open: true}, {Text: secret, GM: true}}
}

// render returns a function that turns wikitext into HTML, once all names are known.
func (x *wiki) render(targets map[string]*article) func(*exchange.Sheet, string) string {
	return func(from *exchange.Sheet, source string) string {
		return toHTML(source, func(target, label string) string { return x.link(from, targets, target, label) })
	}
}

// newFields returns the fields of a card with the values of the infobox.
func (t text) newFields() map[string]any {
	if len(t.fields) == 0 {
		return map[string]any{}
	}
	return map[string]any{"infobox": t.fields}
}

// typeFor returns the type of card that the name of an infobox names.
func typeFor(fields map[string]any) string {
	name, _ := fields["infobox"].(string)
	for _, word := range strings.Fields(strings.ToLower(strings.ReplaceAll(name, "_", " "))) {
		if typ, _ := record.TypeFor(word); word != "infobox" && typ != "Lore" {
			return typ
		}
	}
	return "Lore"
}

// link returns the link to another page. Links to files, other wikis and missing pages become their label.
func (x *wiki) link(from *exchange.Sheet, targets map[string]*article, target, label string) string {
	page, _, _ := strings.Cut(strings.TrimPrefix(target, ":"), "#")
	if to := targets[titleKey(page)]; to != nil {
		if label == "" {
			label = strings.TrimPrefix(target, ":")
		}
		return x.s.LinkText(from, to.sheet, label)
	}
	if space, _, ok := strings.Cut(target, ":"); ok && hasWord(x.words.file, space) {
		return ""
	}
	return html.EscapeString(cmp.Or(label[strings.LastIndexByte(label, '|')+1:], target))
}

// spaceNames are the names of the namespaces that are left out.
var spaceNames = map[int]string{1: "talk pages", 2: "pages of users", 3: "talk pages of users",
	4: "pages about the wiki",
	6: "pages of files", 8: "messages of the program", 10: "templates", 14: "empty categories", 828: "modules"}

func (x *wiki) reportSkipped(targets map[string]*article) {
	for _, ns := range slices.Sorted(func(yield func(int) bool) {
		for n := range x.skipped {
			if !yield(n) {
				return
			}
		}
	}) {
		x.s.AddProblem(x.file, 0, "%d %s are left out", x.skipped[ns], cmp.Or(spaceNames[ns],
			fmt.Sprintf("pages of the namespace %d", ns)))
	}
	if x.older > 0 {
		x.s.AddProblem(x.file, 0, "%d older revisions are left out; --history imports them", x.older)
	}
	var lost []string
	for _, key := range decoded.SortedKeys(x.aliases) {
		if targets[key] == nil {
			lost = append(lost, x.aliases[key]...)
		}
	}
	if len(lost) > 0 {
		x.s.AddProblem(x.file, 0, "%d redirects lead to no page; left out: %s", len(lost), exchange.FirstNames(lost))
	}
}

// Format returns the description of this format.
func Format() exchange.Format {
	return exchange.Format{Name: "mediawiki", Title: "MediaWiki and Fandom dumps (XML, plain, gz, bz2 or 7z)",
		Import: Import, Past: true,
		Recognize: func(p *exchange.Peek) string {
			for _, name := range p.WithSuffix(".xml") {
				if bytes.Contains(p.Head(name), []byte("<mediawiki")) {
					return name + " is a dump"
				}
			}
			return ""
		},
		Page: exchange.Page{
			Get:     "Take a dump of the wiki, or save pages from its page `Special:Export`.",
			Example: "./wiki.xml.gz",
			Maps: "Pages become cards, redirects aliases, categories tags, values of an infobox fields; " +
				"headings, lists, emphasis and links are converted.",
			Lost: "Older revisions without `--history`; with it they become versions whose field revision names time, author " +
				"and comment. Talk, users, files and templates; templates in a text and tables stay as they are written; " +
				"references.",
			Sight: "A wiki has no secrets of its own: the import's level, and the marks below in its texts.",
			Tried: "the dump of two pages of spencermountain/dumpster-dive"}}
}
