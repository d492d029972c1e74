package native

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
)

// Options configure an export. The zero value exports all cards that the grant sees.
type Options struct {
	// As is the level of the export's audience; zero means the grant's own view.
	As access.Level
	// Overwrite lets an export replace files that were edited since the last one.
	Overwrite bool
	// Progress, if set, is called after every batch.
	Progress func(done, total int)
}

// Export writes the cards that the grant sees, or that the audience o.As sees, into a
// folder: one note per card, in our own dialect. The same canon gives the same bytes. The folder
// may hold only files whose names begin with a dot and the files of an earlier export, which are
// replaced.
func Export(ctx context.Context, c *canon.Canon, g access.Grant, dir string,
	o Options) (exchange.Summary, error) {
	sum := exchange.Summary{Export: true}
	out, err := openFolder(dir, o.Overwrite)
	if err != nil {
		return sum, err
	}
	defer out.close()
	err = c.Read(ctx, g, func(l *canon.Snapshot) error {
		view := l
		if o.As != access.LevelNone {
			view = l.As(o.As)
		}
		x := &exporter{snapshot: view, sum: &sum}
		if err := x.loadWorld(ctx); err != nil {
			return err
		}
		if err := x.countWithheld(ctx, l); err != nil {
			return err
		}
		if err := x.writePages(ctx, out, o.Progress); err != nil {
			return err
		}
		return out.finishExport()
	})
	return sum, err
}
