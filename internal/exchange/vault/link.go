package vault

import (
	"context"
	"fmt"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// link is a reference in the text of a note.
type link struct {
	from   *exchange.Sheet
	path   string     // as it is written; see markup.Ref
	key    markup.Key // of the name by which the canon would follow it
	to     *note      // nil: no note
	file   string     // the attachment that it shows; "" if it shows none
	hidden bool       // it stands only in hidden parts
}

// collectLinks notes the references in the text of a note, each target once.
func (f *reader) collectLinks(n *note, s *exchange.Sheet) {
	at := map[string]int{}
	for _, r := range markup.MarkdownRefs(n.Body) {
		if r.External || r.Path == "" {
			continue
		}
		hidden := slices.ContainsFunc(s.Hide, func(h secrecy.Range) bool { return h.From <= r.Start && r.Start < h.To })
		if i, ok := at[r.Path]; ok {
			f.links[i].hidden = f.links[i].hidden && hidden
			continue
		}
		l := link{from: s, path: r.Path, key: markup.KeyOf(markup.Resolve(r.Target, s.Name)), hidden: hidden,
			to: f.v.findNote(n, r.Path)}
		if l.to == nil {
			l.file = f.v.findAttachment(n, r.Path)
		}
		at[r.Path] = len(f.links)
		f.links = append(f.links, l)
	}
}

// cardsByName are sheets that were written, by the keys of the names and aliases of their cards. Of several the one
// that most readers see counts, as for a reference.
type cardsByName struct {
	named, aliases map[markup.Key]*exchange.Sheet
}

func (f *reader) indexCards() cardsByName {
	all := cardsByName{map[markup.Key]*exchange.Sheet{}, map[markup.Key]*exchange.Sheet{}}
	put := func(in map[markup.Key]*exchange.Sheet, key markup.Key, s *exchange.Sheet) {
		if was := in[key]; was == nil || s.EffectiveLevel() < was.EffectiveLevel() {
			in[key] = s
		}
	}
	for _, s := range f.c.Sheets {
		c, ok := s.Card()
		if !ok {
			continue
		}
		put(all.named, markup.KeyOf(c.Name), s)
		c.Fields = s.Fields
		for _, alias := range c.Aliases() {
			put(all.aliases, markup.KeyOf(alias), s)
		}
	}
	return all
}

// sheetOf returns the sheet that the canon finds by a key, or nil.
func (c cardsByName) sheetOf(key markup.Key) *exchange.Sheet {
	if s := c.named[key]; s != nil {
		return s
	}
	return c.aliases[key]
}

// edgesOfLinks returns a link of the kind canon.LinkRefers for each reference that the names of cards alone would not
// lead to its note or file. said counts them, and those that lead nowhere. It is called when the cards are written.
func (f *reader) edgesOfLinks() (edges []*exchange.Edge, said string) {
	cards := f.indexCards()
	before, after := 0, 0
	for _, l := range f.links {
		from, ok := l.from.Card()
		if !ok {
			continue
		}
		to := f.sheetOf[l.to]
		if l.file != "" {
			to = f.sheetOfFile[l.file]
		}
		if l.to == nil && l.file == "" {
			before++
		}
		found := cards.sheetOf(l.key)
		attrs := map[string]any{canon.WrittenAttr: l.path}
		if to == nil && found != nil && found.Folder { // the card of a folder is no note
			to, attrs[canon.NothingAttr] = l.from, true
			after++
		} else if to == nil || !isWritten(to) {
			if found == nil {
				after++
			}
			continue
		}
		if found == to {
			continue
		}
		label := access.NewLabel(access.LevelUser)
		if l.hidden {
			label = access.NewLabel(access.LevelGM)
		}
		edges = append(edges, &exchange.Edge{File: l.from.File, ID: f.linkID(from.ID, l.path), Kind: canon.LinkRefers,
			From: exchange.End{Sheet: l.from}, To: exchange.End{Sheet: to},
			Attrs: attrs, Label: &label})
	}
	if len(f.links) > 0 {
		said = fmt.Sprintf("Links in texts: %d. %d of them reach no note in the vault, %d no card here.", len(f.links), before,
			after)
	}
	return edges, said
}

func isWritten(s *exchange.Sheet) bool {
	_, ok := s.Card()
	return ok
}

func (f *reader) linkID(from canon.CardID, path string) canon.LinkID {
	return canon.LinkIDOf(canon.LinkRefers, from.String(), path)
}

// dropLinks removes the links of the kind canon.LinkRefers that former imports made and that the notes no longer have.
func (f *reader) dropLinks(ctx context.Context, w *exchange.Writer, wanted []*exchange.Edge) error {
	if w.Grant.Request().DryRun {
		return nil
	}
	want, from := map[canon.LinkID]bool{}, map[canon.CardID]bool{}
	for _, e := range wanted {
		want[e.ID] = true
	}
	for s := range f.notes {
		if c, ok := s.Card(); ok && !w.Conflicts[s] {
			from[c.ID] = true
		}
	}
	var gone []canon.Link
	err := w.Canon.Read(ctx, w.Grant, func(l *canon.Snapshot) error {
		for k, err := range l.AllLinks(ctx, canon.LinkQuery{Kinds: []string{canon.LinkRefers}}) {
			if err != nil {
				return err
			}
			path := decoded.TextOf(decoded.ParseObject(string(k.Attrs))[canon.WrittenAttr])
			if from[k.From] && !want[k.ID] && k.ID == f.linkID(k.From, path) {
				gone = append(gone, k)
			}
		}
		return nil
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	_, err = w.Canon.Update(ctx, w.Grant.Part("links", w.Grant.Request().InputHash), func(p *canon.Plan) error {
		for _, k := range gone {
			p.Unlink(k)
		}
		return nil
	})
	return err
}
