package archive

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/slicesx"
	"loregate/internal/surface"
)

func linkWrites(d *deps) []*op.Operation {
	return []*op.Operation{defineWrite(d, op.Spec{
		Name: "auto_link",
		Asked: []string{
			"turn names in a text into links", "which names should be linked", "cross-reference an article",
			"make words clickable", "plain words that name other pages",
			"connect the names in a text to their pages", "make references out of names", "insert missing links",
			"turn names in the text into links", "link mentions", "connect a page with those that it names",
			"make mentions clickable",
		},
		Title: "Link the names in a card",
		Doc: "Find the places where a card's text names other cards without a link, and suggest links. With mode apply and dry_run false, insert them. " +
			"Only the first occurrence of a name is linked; longer names win. Text inside links, nests, tags, headings and code is not changed, " +
			"and only names that all readers of the card can see are linked.",
		Route: "POST /api/mcp/auto_link", Target: "name", Idempotent: true,
		Examples: []op.Example{
			{Title: "Suggest links", Input: `{"name": "Annals of the Lease"}`},
			{Title: "Make them", Input: `{"name": "Annals of the Lease", "mode": "apply", "dry_run": false}`},
		},
	}, autoLink)}
}

type linkIn struct {
	namedCard
	Mode          string   `json:"mode,omitzero" enum:"suggest,apply" default:"suggest" jsonschema:"suggest lists the links; apply writes them, which needs the role gm."`
	DryRun        bool     `json:"dry_run,omitzero" default:"true" jsonschema:"With mode apply: only show the changes."`
	MinTermLength int      `json:"min_term_length,omitzero" default:"4" min:"2" max:"100" jsonschema:"Characters of the shortest name to link."`
	Scope         string   `json:"scope,omitzero" maxlen:"1020" jsonschema:"Link only to cards whose names begin with this."`
	IncludeTypes  []string `json:"include_types,omitzero" maxitems:"50" minlen:"1" maxlen:"255" jsonschema:"Link only to cards of these types."`
}

// targetFilter returns the filter for cards that may be linked to.
func (in linkIn) targetFilter() canon.Filter {
	starts, below := prefixOf(in.Scope)
	return canon.Filter{NameStarts: starts, Prefix: below, Types: in.IncludeTypes, Sort: canon.SortName}
}

// linkSuggestion is a link that could be inserted.
type linkSuggestion struct {
	Term    string `json:"term" jsonschema:"The words as written in the card."`
	Target  string `json:"target" jsonschema:"The card to link to."`
	Offset  int    `json:"offset" jsonschema:"Characters of content before the words."`
	Count   int    `json:"count" jsonschema:"Number of occurrences; the first is linked."`
	Context string `json:"context"`

	start, end int // byte offsets in the content
}

type linkOut struct {
	Name        string           `json:"name"`
	Mode        string           `json:"mode"`
	DryRun      bool             `json:"dry_run"`
	Suggestions []linkSuggestion `json:"suggestions" jsonschema:"In the order of the text, at most 100."`
	Total       int              `json:"total"`
	Applied     int              `json:"applied" jsonschema:"Links that were made."`
	Version     uint32           `json:"version"`
	ChangeID    string           `json:"change_id,omitzero" jsonschema:"Id of the change; undo_change reverts it."`
	Diff        string           `json:"diff,omitzero" jsonschema:"Of mode apply: the changes."`

	in      linkIn
	terms   int    // number of names that were searched for
	preview string // the content with all links inserted
}

func autoLink(ctx context.Context, d *deps, c *op.Call, in linkIn) (out linkOut, err error) {
	if in.Mode == "apply" {
		return applyLinks(ctx, d, c, in)
	}
	err = d.Canon.Read(ctx, c.Grant, func(l *canon.Snapshot) error {
		card, content, err := findContent(ctx, l, in.Name)
		if err != nil {
			return err
		}
		all, terms, err := linksFor(ctx, l, card, content, in)
		out = linkOut{Name: card.Name, Mode: in.Mode, DryRun: true, Total: len(all), Version: card.Version(l.View()),
			Suggestions: all[:min(len(all), maxListed)], in: in, terms: terms, preview: insertLinks(content, all)}
		return err
	})
	return out, err
}

func applyLinks(ctx context.Context, d *deps, c *op.Call, in linkIn) (linkOut, error) {
	out := linkOut{Mode: in.Mode, DryRun: in.DryRun, Suggestions: []linkSuggestion{}, in: in}
	return surface.Commit(ctx, d.Kit, c, surface.Change[linkOut]{
		Check: checkNames(in.Name),
		Plan: func(p *canon.Plan) error {
			if err := requireRole(p.Snapshot, access.RoleGM, "auto_link with mode apply"); err != nil {
				return err
			}
			card, err := onlyCard(ctx, p, in.Name)
			if err != nil {
				return err
			}
			p.Target(card.ID)
			before, err := p.Content(ctx, card)
			if err != nil {
				return err
			}
			all, terms, err := linksFor(ctx, p.Snapshot, card, before, in)
			if err != nil {
				return err
			}
			after := insertLinks(before, all)
			out.Total, out.Suggestions, out.Diff = len(all), all[:min(len(all), maxListed)], markup.Diff(before, after)
			out.terms, out.preview = terms, after
			if len(all) > 0 {
				_, err = p.Update(card, canon.Edit{Content: &after, Follows: true})
			}
			return err
		},
		Reply: func(l *canon.Snapshot, r canon.Receipt) (linkOut, error) {
			card, err := targetCard(ctx, l, r, 0)
			if err != nil {
				return linkOut{}, err
			}
			out.Name, out.Version, out.ChangeID = card.Name, card.Version(l.View()), changeID(r)
			if !in.DryRun {
				out.Applied = out.Total
			}
			return out, nil
		},
	})
}

// insertLinks returns content with the links inserted. The links are in text order and do not
// overlap.
func insertLinks(content string, links []linkSuggestion) string {
	var b strings.Builder
	done := 0
	for _, s := range links {
		b.WriteString(content[done:s.start])
		b.WriteString("[[" + s.Target)
		if s.Term != s.Target {
			b.WriteString("|" + s.Term)
		}
		b.WriteString("]]")
		done = s.end
	}
	return b.String() + content[done:]
}

// linksFor finds the links that could be inserted into a card's content, in text order. It also
// returns the number of names that it searched for.
func linksFor(ctx context.Context, l *canon.Snapshot, card canon.Card, content string,
	in linkIn) (found []linkSuggestion, looked int, err error) {
	kind := card.TextKind()
	if kind == canon.TextItems || kind == canon.TextData || kind == canon.TextFile {
		return nil, 0, fault.BrokenRule("name",
			"cards of type %s have no running text in which to insert links", card.Type)
	}
	// Every reader of the card must be able to see the link's target; otherwise the link would
	// reveal a name of a higher level.
	terms, err := loadLinkTerms(ctx, l.ForReaders(card.Label), card, content, in)
	if err != nil {
		return nil, 0, err
	}
	shadow := shadowOf(kind, content)
	if found, err = terms.findLinks(ctx, shadow, content); err != nil {
		return nil, 0, err
	}
	shown := content
	if kind == canon.TextHTML {
		shown = blankTags(content)
	}
	at, chars := 0, 0
	for i := range found {
		s := &found[i]
		chars += utf8.RuneCountInString(content[at:s.start])
		at = s.start
		s.Offset = chars
		s.Context = strings.TrimSpace(textBefore(shown[:s.start], 40) + " " + s.Term + " " + textAfter(shown[s.end:], 40))
	}
	return found, terms.countTerms(), nil
}

// linkTerm is a name to search for.
type linkTerm struct {
	gaps   []string // the text between its words, white space as one space
	exact  string   // the spelling that must match; "" if case does not matter
	target string
}

// termSet holds the names to search for, by their first word.
type termSet map[string]*termGroup

// countTerms returns the number of names in the set.
func (t termSet) countTerms() (n int) {
	for _, group := range t {
		for _, list := range group.terms {
			n += len(list)
		}
	}
	return n
}

// termGroup holds the names that begin with the same word, by all their words.
type termGroup struct {
	longest int // number of words of the longest name
	terms   map[string][]linkTerm
}

// maxTerms bounds the number of cards that are read as link targets.
const maxTerms = 50_000

// loadLinkTerms returns the names that a card could link to. A card below another is matched by its
// last name part, in exactly that spelling, if no other card shares that part.
func loadLinkTerms(ctx context.Context, l *canon.Snapshot, card canon.Card, content string,
	in linkIn) (termSet, error) {
	names := map[string]string{} // by key of the root name or of the last part; "" if several cards share it
	roots := map[string]bool{}
	read := 0
	for c, err := range l.AllCards(ctx, in.targetFilter()) {
		if err != nil {
			return nil, err
		}
		if read++; read > maxTerms {
			break
		}
		key := markup.PartKey(markup.Tag(c.Name))
		root := len(c.Key.Parts()) == 1
		switch _, taken := names[key]; {
		case root:
			names[key], roots[key] = c.Name, true
		case taken && !roots[key]:
			names[key] = ""
		case !taken:
			names[key] = c.Name
		}
	}
	drop := linkedKeys(card, content)
	set := termSet{}
	for key, name := range names {
		if name != "" && !drop[markup.KeyOf(name)] {
			set.add(name, roots[key], in.MinTermLength)
		}
	}
	return set, nil
}

// linkedKeys returns the keys that need no link: the card's own and those it already links to or
// nests.
func linkedKeys(card canon.Card, content string) map[markup.Key]bool {
	keys := map[markup.Key]bool{card.Key: true}
	for _, r := range canon.RefsIn(card.TextKind(), content) {
		if !r.External {
			keys[markup.KeyOf(markup.Resolve(r.Target, card.Name))] = true
		}
	}
	return keys
}

// partWords are last name parts that state a card's role for its parent and are no names.
var partWords = []string{"tag", "gm", "ai", "table_of_content"}

func (t termSet) add(name string, root bool, shortest int) {
	term := markup.Tag(name)
	if utf8.RuneCountInString(term) < shortest || strings.ContainsAny(name, "[]{}|<>&#*\n") ||
		slices.Contains(partWords, markup.PartKey(term)) {
		return
	}
	words, gaps := wordsIn(term)
	if len(words) == 0 || !strings.ContainsFunc(term, isLetter) || words[0].start != 0 ||
		words[len(words)-1].end != len(term) {
		return
	}
	lt := linkTerm{target: name, gaps: gaps[1:]}
	if !root {
		lt.exact = term
	}
	folded := foldedWords(term, words)
	group := t[folded[0]]
	if group == nil {
		group = &termGroup{terms: map[string][]linkTerm{}}
		t[folded[0]] = group
	}
	group.longest = max(group.longest, len(words))
	key := strings.Join(folded, " ")
	group.terms[key] = append(group.terms[key], lt)
}

func foldedWords(text string, words []wordSpan) []string {
	return slicesx.Map(words, func(w wordSpan) string { return markup.Fold(text[w.start:w.end]) })
}

// findLinks returns one link for each name that occurs in the shadow of a text, at its first
// occurrence. Of overlapping names the longer one wins.
func (t termSet) findLinks(ctx context.Context, shadow, content string) ([]linkSuggestion, error) {
	words, gaps := wordsIn(shadow)
	folded := foldedWords(shadow, words)
	var all []linkSuggestion
	var key []byte
	for i := range words {
		group := t[folded[i]]
		if group == nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		key = key[:0]
		for n := 1; n <= group.longest && i+n <= len(words); n++ {
			if n > 1 {
				key = append(key, ' ')
			}
			key = append(key, folded[i+n-1]...)
			for _, term := range group.terms[string(key)] {
				s := linkSuggestion{Target: term.target, start: words[i].start, end: words[i+n-1].end, Count: 1}
				s.Term = content[s.start:s.end]
				if slices.Equal(term.gaps, gaps[i+1:i+n]) && (term.exact == "" || term.exact == s.Term) {
					all = append(all, s)
				}
			}
		}
	}
	return firstOfEach(dropOverlaps(all, len(content))), nil
}

// dropOverlaps keeps the links that do not overlap, preferring longer ones, and returns them in
// text order.
func dropOverlaps(all []linkSuggestion, size int) []linkSuggestion {
	slices.SortFunc(all, func(a, b linkSuggestion) int {
		return cmp.Or(cmp.Compare(b.end-b.start, a.end-a.start), cmp.Compare(a.start, b.start),
			cmp.Compare(a.Target, b.Target))
	})
	covered := make([]bool, size)
	var kept []linkSuggestion
	for _, s := range all {
		if covered[s.start] || covered[s.end-1] { // links kept so far are at least as long, so checking both ends suffices
			continue
		}
		for i := s.start; i < s.end; i++ {
			covered[i] = true
		}
		kept = append(kept, s)
	}
	slices.SortFunc(kept, func(a, b linkSuggestion) int { return cmp.Compare(a.start, b.start) })
	return kept
}

func firstOfEach(in []linkSuggestion) []linkSuggestion {
	at := map[string]int{}
	out := []linkSuggestion{}
	for _, s := range in {
		if i, seen := at[s.Target]; seen {
			out[i].Count++
			continue
		}
		at[s.Target] = len(out)
		out = append(out, s)
	}
	return out
}
