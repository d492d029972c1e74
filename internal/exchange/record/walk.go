package record

import (
	"context"
	"io/fs"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
)

// Walk describes the import of a format whose files are read one after the other.
type Walk struct {
	Format   string
	Suffixes []string // of the files to read
	// Open reads a file, reports one that it cannot read and then returns false; nil means
	// (*Source).ReadFile.
	Open func(s *Source, files fs.FS, name string) ([]byte, bool)
	// Add adds the cards of a file.
	Add func(ctx context.Context, s *Source, name string, data []byte) error
	// Finish is called after the last file; nil means that nothing is left to do.
	Finish func(ctx context.Context, s *Source) error
	Empty  string // the reason in the error for a source without any card
}

// Import imports the files, or the one file that the options name.
func (w Walk) Import(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS,
	o exchange.Options) (exchange.Summary, error) {
	return Import(ctx, c, g, w.Format, o, func(s *Source) error {
		open := w.Open
		if open == nil {
			open = (*Source).ReadFile
		}
		for _, name := range exchange.NewPeek(files, o.File).WithSuffix(w.Suffixes...) {
			data, ok := open(s, files, name)
			if !ok {
				continue
			}
			if err := w.Add(ctx, s, name, data); err != nil {
				return err
			}
		}
		if w.Finish != nil {
			if err := w.Finish(ctx, s); err != nil {
				return err
			}
		}
		if !s.HasCards() {
			return s.EmptyError(w.Empty)
		}
		return nil
	})
}
