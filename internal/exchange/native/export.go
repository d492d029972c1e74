package native

import (
	"cmp"
	"context"
	"path"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
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
		out, err := openFolder(dir, exchange.ModesFor(g.View().Level), x.hashes)
		if err != nil {
			return err
		}
		defer out.close()
		if err := x.foldHolders(ctx); err != nil {
			return err
		}
		x.placeVault(out.strange)
		if err := x.writePages(ctx, out, progress); err != nil {
			return err
		}
		if err := out.writeVaults(x.vaultNames()); err != nil {
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
	for c, err := range x.snapshot.AllCards(ctx, canon.Filter{TagLists: true}) {
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

// Limits of a chunk, whose pages are rendered at a time. Rendering takes most of the time of an export,
// because it reads each page again to check it.
const (
	chunkCards = 64
	chunkBytes = 8 << 20
)

// rendered is a page with its bytes, or a file of a vault, which has no page.
type rendered struct {
	path string // of the file of a vault
	text []byte
	page *page
	file []byte // the page's attachment
	ok   bool   // the page can be imported again without changes
}

// writePages writes all pages and attachments.
func (x *exporter) writePages(ctx context.Context, out *folder, tell func(done, total int)) error {
	x.sum.Cards = len(slicesx.Filter(x.cards, func(c canon.Card) bool { return !c.IsTagList() }))
	for at := 0; at < len(x.cards); {
		n, size := 0, 0
		for at+n < len(x.cards) && n < chunkCards && size < chunkBytes {
			size += x.cards[at+n].Size
			n++
		}
		if err := x.writeChunk(ctx, out, x.cards[at:at+n]); err != nil {
			return err
		}
		if at += n; tell != nil {
			tell(at, len(x.cards))
		}
	}
	return nil
}

// writeChunk builds the pages of cards, renders them on all cores, and writes them in order.
func (x *exporter) writeChunk(ctx context.Context, out *folder, cards []canon.Card) error {
	var all []*rendered
	for _, c := range cards {
		if x.folded[c.ID] {
			continue
		}
		r := &rendered{path: x.paths[c.ID]}
		var err error
		if r.path != "" {
			r.text, err = x.vaultFile(ctx, c)
		} else {
			r.page, r.file, err = x.buildPage(ctx, c)
		}
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for _, r := range all {
		if r.page != nil {
			workers.Go(func() error {
				r.text, r.ok = r.page.renderNote(ctx)
				return ctx.Err()
			})
		}
	}
	if err := workers.Wait(); err != nil {
		return err
	}
	for _, r := range all {
		if err := x.writeRendered(out, r); err != nil {
			return err
		}
	}
	return nil
}

func (x *exporter) writeRendered(out *folder, r *rendered) error {
	x.sum.Files++
	p := r.page
	if p == nil {
		return out.writeFile(r.path, r.text)
	}
	if !r.ok {
		x.reportPage(p.path+".md", "cannot be imported again without changes")
	}
	if err := out.writeFile(p.path+".md", r.text); err != nil || p.file == "" {
		return err
	}
	x.sum.Files++
	return out.writeFile(path.Join(path.Dir(p.path), p.file), r.file)
}
