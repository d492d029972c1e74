package archive

import (
	"context"
	"fmt"
	"html"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
)

// finding is a term in a card.
type finding struct {
	card    string
	place   string // part of the card; "" for its text
	count   int
	snippet string // HTML
}

// findings is the result of a scan.
type findings struct {
	termList
	source  string // name of the card with the terms
	exposed bool   // players or their AIs can read that card
	byTerm  map[string][]finding
	listed  int
	left    int // number of findings beyond the limit
	matches int
	cards   int          // number of cards read
	level   access.Level // highest level of all sources, at least gm
}

// scanForTerms searches the cards of the scope for the terms.
func scanForTerms(ctx context.Context, l *canon.Snapshot, in spoilerIn) (findings, error) {
	source, err := l.Find(ctx, in.TermsCard)
	if err != nil {
		return findings{}, err
	}
	content, err := contentOf(ctx, l, source)
	if err != nil {
		return findings{}, err
	}
	f := findings{termList: readTerms(source, content), source: source.Name, byTerm: map[string][]finding{},
		level: max(access.LevelGM, source.Label.Level)}
	if len(f.terms) == 0 || len(f.terms) > maxScanTerms {
		return findings{},
			fault.BrokenRule("terms_card", "%q lists %d terms; a scan takes 1 to %d", source.Name, len(f.terms),
				maxScanTerms)
	}
	folded := slicesx.Map(f.terms, markup.Fold)
	results, _, err := l.Exists(ctx, in.ResultsCard)
	if err != nil {
		return findings{}, err
	}
	err = visitAudience(ctx, l, in.Scope, func(seen *canon.Snapshot, c canon.Card) error {
		if c.ID == source.ID {
			f.exposed = true
		}
		if c.ID == source.ID || c.ID == results.ID {
			return nil
		}
		return f.scanCard(ctx, seen, c, folded, in.Limit)
	})
	return f, err
}

// scanCard searches one card for the terms: its text, the parts of its source that the text does
// not show, its fields, its codename and the last part of its name. The other parts of the name
// belong to cards that are scanned themselves.
func (f *findings) scanCard(ctx context.Context, l *canon.Snapshot, c canon.Card, folded []string, limit int) error {
	content, err := contentOf(ctx, l, c)
	if err != nil {
		return err
	}
	f.cards++
	for _, in := range []struct{ place, text string }{
		{"", canon.PlainText(c.TextKind(), content)}, {"its source", sourceText(c.TextKind(), content)}, {"its name", c.Part},
		{"its codename", c.Codename}, {"its fields", fieldText(c.Fields)},
	} {
		if err := f.scanText(ctx, c, in.place, in.text, folded, limit); err != nil {
			return err
		}
	}
	return nil
}

// sourceText returns the parts of a card's source that are not in its plain text.
func sourceText(kind canon.TextKind, content string) string {
	switch kind {
	case canon.TextHTML, canon.TextItems:
		return markup.Unshown(content)
	case canon.TextMarkdown:
		return content
	}
	return ""
}

// scanText searches one text of a card for the terms.
func (f *findings) scanText(ctx context.Context, c canon.Card, place, text string, folded []string, limit int) error {
	if text == "" {
		return nil
	}
	whole := markup.Fold(text)
	o := markup.FindOptions{Mode: markup.WholeWord, FoldAccents: true, Limit: 10_000}
	for i, term := range f.terms {
		if err := ctx.Err(); err != nil {
			return stoppedFault(err)
		}
		if !strings.Contains(whole, folded[i]) {
			continue
		}
		n := len(markup.FindAll(text, term, o))
		if n == 0 {
			continue
		}
		f.matches += n
		f.level = max(f.level, c.Label.Level)
		if f.listed == limit {
			f.left++
			continue
		}
		f.listed++
		snippet := markup.Snippet(text, []string{term}, markup.SnippetOptions{Max: 160, Mark: true, Find: o})
		f.byTerm[term] = append(f.byTerm[term], finding{c.Name, place, n, escapeWikiSyntax(snippet)})
	}
	return nil
}

// stoppedFault is the fault of a scan whose context was cancelled.
func stoppedFault(err error) error {
	return fault.New(fault.Unavailable, "the scan was stopped; start it again").Because(err)
}

// visitAudience visits the cards that players can see and, in the scope ai, the AI's cards below
// them.
func visitAudience(ctx context.Context, l *canon.Snapshot, scope string,
	visit func(*canon.Snapshot, canon.Card) error) error {
	level := access.LevelUser
	if scope == "ai" {
		level = access.LevelGM
	}
	seen := l.As(level)
	in := aiScope{l: seen, known: map[canon.CardID]bool{}}
	for c, err := range seen.AllCards(ctx, canon.Filter{Sort: canon.SortName, TagLists: true}) {
		if ctx.Err() != nil {
			return stoppedFault(ctx.Err())
		}
		if err != nil {
			return err
		}
		ok, err := in.isInScope(ctx, c)
		if err == nil && ok {
			err = visit(seen, c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// aiScope decides which cards belong to the scope ai.
type aiScope struct {
	l     *canon.Snapshot
	known map[canon.CardID]bool
}

// isInScope reports whether a card is visible to players, or would be if no part of its name were
// ai.
func (s aiScope) isInScope(ctx context.Context, c canon.Card) (ok bool, err error) {
	if c.Label.Level == access.LevelUser {
		return true, nil
	}
	if known, seen := s.known[c.ID]; seen {
		return known, nil
	}
	defer func() { s.known[c.ID] = ok }()
	if c.Own.Level > access.LevelUser || !onlyAI(s.l, c.Part) {
		return false, nil
	}
	if c.Parent.IsZero() {
		return true, nil
	}
	parent, there, err := s.l.ByID(ctx, c.Parent)
	if err != nil || !there {
		return false, err
	}
	return s.isInScope(ctx, parent)
}

// onlyAI reports whether no part of a name other than ai raises its level.
func onlyAI(l *canon.Snapshot, name string) bool {
	return !slices.ContainsFunc(markup.Parts(name), func(part string) bool {
		return markup.PartKey(part) != "ai" && l.NameLevel(part) > access.LevelUser
	})
}

// resultsPage returns the content of the results card.
func (f findings) resultsPage(in spoilerIn) string {
	who := "players see"
	if in.Scope == "ai" {
		who = "players and their AIs see"
	}
	var b strings.Builder
	switch {
	case f.matches > 0:
		fmt.Fprintf(&b, "<p>%d matches for the %d terms of %s in the %d cards that %s.</p>", f.matches, len(f.terms),
			linkTo(f.source), f.cards, who)
	case f.isClear():
		fmt.Fprintf(&b, "<p>All clear: none of the %d terms of %s stands in the %d cards that %s.</p>", len(f.terms),
			linkTo(f.source), f.cards, who)
	default:
		fmt.Fprintf(&b, "<p>None of the %d terms of %s stands in the %d cards that %s, but that does not clear them:</p>",
			len(f.terms), linkTo(f.source), f.cards, who)
	}
	f.writeWarnings(&b)
	for _, term := range f.terms {
		if len(f.byTerm[term]) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n<h2>%s</h2>\n<ul>", escapeWikiSyntax(html.EscapeString(term)))
		for _, x := range f.byTerm[term] {
			in := ""
			if x.place != "" {
				in = ", in " + x.place
			}
			fmt.Fprintf(&b, "\n<li>%s%s (%d): %s</li>", linkTo(x.card), in, x.count, x.snippet)
		}
		b.WriteString("\n</ul>")
	}
	if f.left > 0 {
		fmt.Fprintf(&b, "\n<p>%d further findings are not listed; scan with a higher limit or fewer terms.</p>", f.left)
	}
	return b.String()
}

// isClear reports whether nothing was found, every line of the terms card was understood, and the
// terms card is hidden from the audience.
func (f findings) isClear() bool { return f.matches == 0 && len(f.unread) == 0 && !f.exposed }

// maxUnread is the number of unclear lines that a results card quotes at most.
const maxUnread = 20

// writeWarnings writes the reasons why a scan is not certain.
func (f findings) writeWarnings(b *strings.Builder) {
	if f.exposed {
		fmt.Fprintf(b, "\n<p>%s, which lists the terms, can be read by them itself: raise its level.</p>", linkTo(f.source))
	}
	if len(f.unread) == 0 {
		return
	}
	fmt.Fprintf(b, "\n<p>%d lines of %s may not be the terms that they were meant to be. "+
		"Put each term on a line of its own, all in one list or all without, with at most %d characters; make other lines headings, or take them out:</p>\n<ul>", len(f.unread), linkTo(f.source), maxScanTerm)
	for _, line := range f.unread[:min(len(f.unread), maxUnread)] {
		fmt.Fprintf(b, "\n<li>%s</li>", escapeWikiSyntax(html.EscapeString(markup.Clip(line, maxScanTerm))))
	}
	b.WriteString("\n</ul>")
}

// linkTo returns a link to a card, or the bare name if the name cannot be part of a link.
func linkTo(name string) string {
	if strings.ContainsAny(name, "[]{}|<>&") {
		return escapeWikiSyntax(html.EscapeString(name))
	}
	return "[[" + name + "]]"
}

// escapeWikiSyntax escapes text that would be parsed as wiki syntax.
func escapeWikiSyntax(s string) string {
	return strings.NewReplacer("[[", `\[[`, "{{", `\{{`).Replace(s)
}
