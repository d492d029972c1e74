package bundle

import (
	"archive/zip"
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
)

// Version is the version of the form of bundles.
const Version = 1

// The entries.
const (
	manifestFile = "manifest.json"
	commitsFile  = "commits.jsonl"
	contentsFile = "contents.bin"
	sealFile     = "signature.jws"
)

// purpose is the type of the signature, which is valid for nothing else.
const purpose = "loregate-bundle"

// Sealer signs manifests and verifies their signatures. Its key is a short text that people can compare.
type Sealer interface {
	Seal(ctx context.Context, purpose string, text []byte) (seal []byte, key string, err error)
	VerifySeal(ctx context.Context, purpose string, text, seal []byte) (key string, own bool, err error)
}

// ExportOptions are the options of Export. Zero values sign nothing and report nothing.
type ExportOptions struct {
	Sealer   Sealer
	Progress func(done, total int)
}

// Manifest describes a bundle.
type Manifest struct {
	Lore     int                        `json:"lore"` // Version
	World    access.WorldID             `json:"world"`
	Slug     string                     `json:"slug"`
	Title    string                     `json:"title,omitempty"`
	Sees     string                     `json:"sees"` // the role whose view it holds; "everything" for a whole world
	Commits  int                        `json:"commits"`
	Head     canon.Hash                 `json:"head"` // hash of the last commit
	Contents int                        `json:"contents"`
	Tables   map[canon.Table]canon.Hash `json:"tables,omitempty"`
}

// everything is the value of Manifest.Sees of a whole world.
const everything = "everything"

// Export writes a bundle to a new file. For an admin it holds the whole world with its history, its trash
// and its members; for a lower role it is a new world with the parts that the role sees.
func Export(ctx context.Context, c *canon.Canon, g access.Grant, path string,
	o ExportOptions) (sum exchange.Summary, err error) {
	write := func(sees string) func(canon.WorldStreamData) error {
		return func(d canon.WorldStreamData) error {
			return exchange.WriteNewFile(path, func(f io.Writer) (err error) {
				sum, err = writeBundle(ctx, f, d, sees, o)
				return err
			})
		}
	}
	if g.View().Level >= access.LevelAdmin {
		err = c.ExportStream(ctx, g, g.World(), write(everything))
	} else {
		err = c.ExportView(ctx, g, write(g.View().Level.String()))
	}
	return sum, err
}

func writeBundle(ctx context.Context, w io.Writer, d canon.WorldStreamData, sees string,
	o ExportOptions) (exchange.Summary, error) {
	sum := exchange.Summary{Export: true, Files: 1}
	z := zip.NewWriter(w)
	m := Manifest{Lore: Version, World: d.World.ID, Slug: d.World.Slug, Title: d.World.Title, Sees: sees,
		Commits: d.Manifest.Commits, Head: d.Manifest.Head, Contents: d.Manifest.Contents, Tables: d.Manifest.Tables}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return sum, fmt.Errorf("bundle: encode manifest: %w", err)
	}
	text = append(text, '\n')
	if err := writeBytes(z, manifestFile, text); err != nil {
		return sum, err
	}
	if o.Sealer != nil {
		seal, key, err := o.Sealer.Seal(ctx, purpose, text)
		if err != nil {
			return sum, err
		}
		if err := writeBytes(z, sealFile, seal); err != nil {
			return sum, err
		}
		sum.Said = append(sum.Said, fmt.Sprintf("Signed with the key %s.", key))
	}
	done, total := 0, m.Commits+m.Contents
	step := func() {
		if done++; o.Progress != nil {
			o.Progress(done, total)
		}
	}
	if err := writeEntry(z, commitsFile, func(w *bufio.Writer) error {
		for body, err := range d.Commits {
			if err != nil {
				return err
			}
			_, _ = w.Write(body)
			if err := w.WriteByte('\n'); err != nil {
				return err
			}
			step()
		}
		return nil
	}); err != nil {
		return sum, err
	}
	if err := writeEntry(z, contentsFile, func(w *bufio.Writer) error {
		for b, err := range d.Contents {
			if err != nil {
				return err
			}
			writeContent(w, b)
			step()
		}
		return nil
	}); err != nil {
		return sum, err
	}
	sum.Result = fmt.Sprintf("The world %s as seen by %s: %d commits, %d contents, last commit %s", m.Slug, m.Sees,
		m.Commits, m.Contents, m.Head)
	return sum, z.Close()
}

func writeBytes(z *zip.Writer, name string, b []byte) error {
	return writeEntry(z, name, func(w *bufio.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// writeEntry writes an entry whose header depends on nothing but its name.
func writeEntry(z *zip.Writer, name string, write func(*bufio.Writer) error) error {
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 1<<16)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}

// writeContent writes a content with the line before it. The writer keeps an error for Flush.
func writeContent(w *bufio.Writer, b []byte) {
	fmt.Fprintf(w, "%x %d\n", sha256.Sum256(b), len(b))
	_, _ = w.Write(b)
	_ = w.WriteByte('\n')
}
