package native

import (
	"cmp"
	"context"
	"path"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/markup"
)

// Export writes the cards that the grant sees into a folder. Cards that came from a vault are written
// as the vault's notes and files, at their paths; all others as one note per card, in our own dialect.
// The same canon gives the same bytes. The folder may hold only files whose names begin with a dot,
// the files of an earlier export and those of the vault, which are replaced unless they were edited
// since. If the world has cards from a vault, other files stay too. progress, if it is not nil, is
// called after every batch.
func Export(ctx context.Context, c *canon.Canon, g access.Grant, dir string,
	progress func(done, total int)) (exchange.Summary, error) {
	sum := exchange.Summary{Export: true}
	err := c.Read(ctx, g, func(l *canon.Snapshot) error {
		x := &exporter{snapshot: l, sum: &sum}
		if err := x.loadWorld(ctx); err != nil {
			return err
		}
		if err := x.loadSources(ctx); err != nil {
			return err
		}
		out, err := openFolder(dir, x.hashes)
		if err != nil {
			return err
		}
		defer out.close()
		x.placeVault(out.strange)
		if err := x.writePages(ctx, out, progress); err != nil {
			return err
		}
		return out.finishExport()
	})
	return sum, err
}

// loadWorld reads all cards, links and layers of the snapshot, but no contents.
func (x *exporter) loadWorld(ctx context.Context) error {
	x.byID, x.byKey, x.children = map[canon.CardID]canon.Card{}, map[markup.Key][]canon.Card{},
		map[canon.CardID][]canon.Card{}
	x.links, x.layers = map[canon.CardID][]canon.Link{}, map[canon.CardID][]canon.Layer{}
	x.folded, x.places = map[canon.CardID]bool{}, pathAllocator{map[string]bool{}}
	for c, err := range x.snapshot.AllCards(ctx, canon.Filter{}) {
		if err != nil {
			return err
		}
		x.cards = append(x.cards, c)
		x.byID[c.ID] = c
		x.byKey[c.Key] = append(x.byKey[c.Key], c)
		x.children[c.Parent] = append(x.children[c.Parent], c)
	}
	slices.SortFunc(x.cards, func(a, b canon.Card) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Label.Level, b.Label.Level), slices.Compare(a.ID[:], b.ID[:]))
	})
	for l, err := range x.snapshot.AllLinks(ctx, canon.LinkQuery{}) {
		if err != nil {
			return err
		}
		x.links[l.From] = append(x.links[l.From], l)
	}
	for _, c := range x.cards {
		layers, err := x.snapshot.Layers(ctx, canon.LayerQuery{Card: c.ID})
		if err != nil {
			return err
		}
		if len(layers) > 0 {
			x.layers[c.ID] = layers
		}
	}
	return nil
}

// writePages writes all pages and attachments.
func (x *exporter) writePages(ctx context.Context, out *folder, tell func(done, total int)) error {
	x.sum.Cards = len(x.cards)
	for i, c := range x.cards {
		if tell != nil && (i+1)%100 == 0 {
			tell(i+1, len(x.cards))
		}
		if x.folded[c.ID] {
			continue
		}
		if at := x.paths[c.ID]; at != "" {
			if err := x.writeVaultFile(ctx, out, at, c); err != nil {
				return err
			}
			continue
		}
		p, file, err := x.buildPage(ctx, c)
		if err != nil {
			return err
		}
		text, ok := p.renderNote(ctx)
		if err := ctx.Err(); err != nil {
			return err
		}
		if !ok {
			x.reportPage(p.path+".md", "cannot be imported again without changes")
		}
		if err := out.writeFile(p.path+".md", text); err != nil {
			return err
		}
		x.sum.Files++
		if p.file != "" {
			x.sum.Files++
			if err := out.writeFile(path.Join(path.Dir(p.path), p.file), file); err != nil {
				return err
			}
		}
	}
	if tell != nil {
		tell(len(x.cards), len(x.cards))
	}
	return nil
}
