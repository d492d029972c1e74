package planner

import (
	"context"
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
	"loregate/internal/lazyregexp"
	"loregate/internal/secrecy"
)

// ruleSecret is the rule of Scabard and World Anvil that hides what they mark as secret.
const ruleSecret = "marked as secret"

// ImportScabard imports exports of Scabard: a JSON file of pages and connections.
func ImportScabard(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS,
	o exchange.Options) (exchange.Summary, error) {
	return record.Walk{Format: "scabard", Suffixes: []string{".json"}, Empty: "no file is an export of Scabard",
		Add: func(ctx context.Context, s *record.Source, name string, data []byte) error {
			m, err := exchange.DecodeObject(name, data)
			if err != nil {
				return err
			}
			b := newBook(s)
			for _, outer := range decoded.ObjectsOf(m["pages"]) {
				b.add(scabardPage(name, outer))
			}
			if err := b.write(ctx); err != nil {
				return err
			}
			for _, conn := range decoded.ObjectsOf(m["conns"]) {
				r, _ := conn["r"].(map[string]any)
				b.link(name, "relationship", decoded.TextOf(conn["fromid"]), decoded.TextOf(conn["toid"]),
					map[string]any{"type": decoded.TextOf(conn["relationship"])}, isTrue(r["isSecret"]))
			}
			return nil
		}}.Import(ctx, c, g, files, o)
}

// scabardPage returns a page. The id that connections use is the outer one.
func scabardPage(file string, outer map[string]any) *page {
	m, _ := outer["page"].(map[string]any)
	text := func(k string) string { s, _ := m[k].(string); return s }
	p := &page{id: decoded.TextOf(outer["id"]), file: file + "/" + decoded.TextOf(outer["id"]),
		name: decoded.TextOf(first(m["name"], outer["name"])), word: decoded.TextOf(outer["concept"]),
		form: asHTML, aliases: decoded.TrimAll(strings.Split(decoded.TextOf(m["aliases"]), ","))}
	p.write("", text("description"))
	p.writeGM("", strings.Join(decoded.NonEmpty(text("secrets"), text("gmSecrets")), "\n\n"))
	if isTrue(m["isSecret"]) {
		p.marks = []secrecy.Mark{{Rule: ruleSecret}}
	}
	return p
}

// asHTML returns a text that is HTML or plain as HTML.
func asHTML(text string) string {
	if strings.Contains(text, "</") || strings.Contains(text, "<br") {
		return text
	}
	return record.PlainHTML(text)
}

// ImportWorldAnvil imports articles of World Anvil as its interface gives them: JSON files of one article
// or a list.
func ImportWorldAnvil(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS,
	o exchange.Options) (exchange.Summary, error) {
	b := newBook(nil)
	return record.Walk{Format: "worldanvil", Suffixes: []string{".json"}, Empty: "no file holds an article of World Anvil",
		Add: func(_ context.Context, s *record.Source, name string, data []byte) error {
			b.s = s
			s.Relabel("") // the ids of articles are random
			outer, err := exchange.DecodeValue(name, data)
			if fault.KindOf(err) == fault.TooLarge {
				return err
			}
			if m, _ := outer.(map[string]any); m != nil {
				outer = []any{m}
				if list := first(m["articles"], m["entities"]); list != nil {
					outer = list
				}
			}
			for _, m := range decoded.ObjectsOf(outer) {
				if decoded.TextOf(m["title"]) != "" {
					b.add(anvilArticle(s, name, m))
				}
			}
			return nil
		},
		Finish: func(ctx context.Context, _ *record.Source) error { return b.write(ctx) },
	}.Import(ctx, c, g, files, o)
}

// anvilArticle returns the page of an article.
func anvilArticle(s *record.Source, file string, m map[string]any) *page {
	id := decoded.TextOf(m["id"])
	p := &page{id: id, file: file + "/" + id, name: decoded.TextOf(m["title"]),
		word: decoded.TextOf(first(m["templateType"], m["entityClass"])), fields: map[string]any{}, form: bbHTML}
	p.tags = decoded.TrimAll(strings.Split(decoded.TextOf(m["tags"]), ","))
	groups, _ := m["subscribergroups"].([]any)
	switch {
	case isGMKind(m):
		p.marks = []secrecy.Mark{{Rule: ruleSecret, What: "secrets and notebooks"}}
	case m["state"] == "private" || isTrue(m["isDraft"]) || len(groups) > 0:
		p.marks = []secrecy.Mark{{Rule: ruleSecret, What: "private, draft or for subscribers"}}
	case m["state"] != "public":
		p.marks = []secrecy.Mark{{Rule: ruleVisibility, What: "unknown state", Doubt: true}}
	}
	content, _ := m["content"].(string)
	p.write("", bbPair.ReplaceAllString(content, "<$1$2>")) // whose headings hide as those of HTML do
	for _, k := range decoded.SortedKeys(m) {
		v, _ := m[k].(string)
		if strings.TrimSpace(v) == "" || !isGMField(k) {
			continue
		}
		s.Choices.Decide(secrecy.Mark{Rule: ruleSecret, What: "fields for the GM"}, p.file, true)
		p.writeGM("<h2>"+html.EscapeString(k)+"</h2>\n", v)
	}
	return p
}

// gmKinds are the kinds of entities of World Anvil that their author alone reads, whatever their state says.
var gmKinds = []string{"secret", "notebook", "note book", "note", "note section", "notebook section", "notebook note"}

func isGMKind(m map[string]any) bool {
	for _, member := range []string{"entityClass", "templateType", "type"} {
		parted, joined, _ := secrecy.Spellings(decoded.TextOf(m[member]))
		if slices.Contains(gmKinds, strings.TrimSpace(parted)) || slices.Contains(gmKinds, strings.TrimSpace(joined)) {
			return true
		}
	}
	return false
}

// isGMField reports whether a field of World Anvil is for the GM.
func isGMField(k string) bool { return k == "seeded" || strings.HasPrefix(k, "ggm") }

// bbNames are the codes of World Anvil that are elements of HTML.
const bbNames = "b|i|u|s|h1|h2|h3|h4|p|ul|ol|li|quote|sub|sup|table|tr|td|th"

var (
	anvilMention = lazyregexp.New(`@\[([^\]\n]+)\]\(([a-z]+):([^)\n]+)\)`)
	anvilSecret  = lazyregexp.New(`(?i)\[/?(?:secret|subcontainer)(?::[^\]\n]*)?\]`) // around a text for the GM
	bbPair       = lazyregexp.New(`(?i)\[(/?)(` + bbNames + `)\]`)
	tagPair      = lazyregexp.New(`(?i)<(/?)(` + bbNames + `)>`)
	bbBreak      = lazyregexp.New(`(?i)\[(?:br|hr)\]`)
	bbURL        = lazyregexp.New(`(?is)\[url[:=](https?://[^\]\s]+)\](.*?)\[/url\]`)
)

// bbHTML converts the markup of World Anvil to HTML. Codes that are not known stay as text.
func bbHTML(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	text = tagPair.ReplaceAllString(text, "[$1$2]")
	text = html.EscapeString(strings.ReplaceAll(anvilSecret.ReplaceAllString(text, ""), "\r\n", "\n"))
	text = anvilMention.ReplaceAllStringFunc(text, func(m string) string {
		parts := anvilMention.FindStringSubmatch(m)
		return mark(parts[3], parts[1])
	})
	text = bbURL.ReplaceAllString(text, `<a href="$1">$2</a>`)
	text = bbPair.ReplaceAllStringFunc(text, func(m string) string {
		parts := bbPair.FindStringSubmatch(m)
		tag := strings.ToLower(parts[2])
		if tag == "quote" {
			tag = "blockquote"
		}
		return "<" + parts[1] + tag + ">"
	})
	text = bbBreak.ReplaceAllString(text, "<br/>")
	return "<p>" + strings.ReplaceAll(text, "\n\n", "</p>\n<p>") + "</p>\n"
}

// ImportDecko imports cards that were exported from a Decko wiki as JSON lines: name, type and content.
func ImportDecko(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS,
	o exchange.Options) (exchange.Summary, error) {
	return record.Walk{Format: "decko", Suffixes: []string{".ndjson", ".jsonl", ".json"}, Open: (*record.Source).ReadWhole,
		Empty: "no line is a card with a name and a type",
		Add: func(ctx context.Context, s *record.Source, name string, data []byte) error {
			s.Relabel("")
			x, n := newDeck(s, name), 0
			for line := range strings.Lines(string(data)) {
				if n++; strings.TrimSpace(line) != "" {
					x.readLine(line, n)
				}
			}
			return x.writeCards(ctx)
		}}.Import(ctx, c, g, files, o)
}
