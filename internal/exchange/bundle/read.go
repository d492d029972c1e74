package bundle

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/fault"
)

// Limits of a bundle. They bound memory; package unpack bounds the archive.
const (
	maxManifest = 64 << 10
	maxCommit   = 64 << 20 // bytes of one record
	maxCommits  = 100_000_000
)

// Format returns the description of the format. Import needs a Sealer and is called by package app.
func Format() exchange.Format {
	return exchange.Format{Name: "lore", Title: "Bundles of Loregate (.lore)", Whole: true,
		Recognize: func(p *exchange.Peek) string {
			if p.Has(manifestFile) && p.Has(commitsFile) && p.JSON(manifestFile).Has("lore", "head") {
				return manifestFile + " names the version of a bundle"
			}
			return ""
		},
		Page: exchange.Page{
			Get:     "`loregate export lore ./mine.lore --world mine --as admin` writes one.",
			Example: "./mine.lore",
			Maps: "The world comes in as it was exported, with the same ids, history and hashes, and is compared with the " +
				"hashes in the bundle. The manifest is signed with the key of the store that wrote it: the import names the " +
				"key, and whether it is a key of this store. `export lore --as user` or `--as gm` writes a new world with the parts that the role " +
				"sees, without history and members.",
			Lost:  "Proposals, games, studio runs, access records, keys and idempotency keys stay behind.",
			Sight: "Labels are part of the world. A bundle for a role holds nothing that the role does not see.",
			Tried: "worlds of tests, between SQLite, PostgreSQL and memory"}}
}

// Import adds the world of a bundle to the store, with a grant of the operator. A bundle that is not as it was
// exported changes nothing.
func Import(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS,
	o ImportOptions) (exchange.Summary, error) {
	sum := exchange.Summary{DryRun: g.Request().DryRun, Files: 1}
	if o.Level > access.LevelUser {
		return sum, fault.New(fault.Invalid, "import: the cards of a bundle keep their levels; leave out --level")
	}
	m, text, err := readManifest(files)
	if err != nil {
		return sum, err
	}
	signed, err := o.checkSeal(ctx, files, text)
	if err != nil {
		return sum, err
	}
	d := canon.WorldStreamData{World: canon.World{ID: m.World, Slug: m.Slug, Title: m.Title},
		Commits: readEntry(files, commitsFile, readCommit), Contents: readEntry(files, contentsFile, readContent),
		Manifest: canon.StreamManifest{Commits: m.Commits, Head: m.Head, Contents: m.Contents, Tables: m.Tables}}
	got, err := c.ImportStream(ctx, g, d, o.Progress)
	if err != nil {
		return sum, err
	}
	sum.Result = fmt.Sprintf("The world %s as seen by %s: %d of %d commits added, last commit %s, as the bundle names it",
		got.World.Slug, m.Sees, got.Commits, m.Commits, m.Head)
	sum.Said = append(sum.Said, signed)
	for _, member := range got.Members {
		sum.Said = append(sum.Said, fmt.Sprintf("Member: %s as %s.", member.Subject, member.Role))
	}
	return sum, nil
}

// ImportOptions are the options of Import. Without a Sealer no signature is verified.
type ImportOptions struct {
	exchange.Options
	Sealer Sealer
}

// checkSeal returns a sentence about the signature of a manifest. A signature that is wrong refuses the bundle.
func (o ImportOptions) checkSeal(ctx context.Context, files fs.FS, manifest []byte) (string, error) {
	f, err := files.Open(sealFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "The bundle is not signed: nothing proves who wrote it.", nil
	}
	if err != nil || o.Sealer == nil {
		return "The signature was not verified.", err
	}
	defer f.Close()
	seal, err := io.ReadAll(io.LimitReader(f, maxManifest))
	if err != nil {
		return "", refuse("%s cannot be read", sealFile)
	}
	key, own, err := o.Sealer.VerifySeal(ctx, purpose, manifest, seal)
	switch {
	case fault.KindOf(err) == fault.Invalid:
		return "", refuse("its signature does not belong to its manifest")
	case err != nil:
		return "", err
	case own:
		return fmt.Sprintf("Signed with the key %s, which is a key of this store.", key), nil
	}
	return fmt.Sprintf("Signed with the key %s, which is not a key of this store: compare it with the key that the export "+
		"printed there.", key), nil
}

// refuse returns the error for a bundle that cannot be read.
func refuse(format string, args ...any) error {
	return fault.New(fault.Invalid, "import: the bundle is damaged and was not imported: %s; export it again",
		fmt.Sprintf(format, args...))
}

func readManifest(files fs.FS) (m Manifest, text []byte, err error) {
	f, err := files.Open(manifestFile)
	if err != nil {
		return m, nil, refuse("it has no %s", manifestFile)
	}
	defer f.Close()
	text, err = io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err != nil || len(text) > maxManifest || json.Unmarshal(text, &m) != nil {
		return m, nil, refuse("%s cannot be read", manifestFile)
	}
	switch {
	case m.Lore > Version:
		return m, nil, fault.New(fault.Invalid, "import: the bundle has version %d; this program reads up to %d: update it",
			m.Lore, Version)
	case m.Lore < 1 || m.World.IsZero() || m.Commits < 1 || m.Commits > maxCommits || m.Contents < 0 ||
		m.Contents > maxCommits || m.Head == (canon.Hash{}):
		return m, nil, refuse("%s names no world, commits or head", manifestFile)
	}
	return m, text, nil
}

// readEntry yields the items of an entry.
func readEntry(files fs.FS, name string, read func(*bufio.Reader) ([]byte, error)) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		f, err := files.Open(name)
		if err != nil {
			yield(nil, refuse("it has no %s", name))
			return
		}
		defer f.Close()
		r := bufio.NewReaderSize(f, 1<<16)
		for n := 1; ; n++ {
			item, err := read(r)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				err = refuse("item %d of %s cannot be read (%v)", n, name, err)
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// readLine reads a line of at most limit bytes. At the end of the entry it returns io.EOF.
func readLine(r *bufio.Reader, limit int) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if line = append(line, part...); len(line) > limit {
			return nil, fmt.Errorf("it is longer than %d bytes", limit)
		}
		switch {
		case err == nil:
			return bytes.TrimSuffix(line, []byte("\n")), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}

func readCommit(r *bufio.Reader) ([]byte, error) { return readLine(r, maxCommit) }

// readContent reads a content and checks its hash.
func readContent(r *bufio.Reader) ([]byte, error) {
	line, err := readLine(r, 128)
	if err != nil {
		return nil, err
	}
	var hash canon.Hash
	var size int
	text, digits, _ := bytes.Cut(line, []byte(" "))
	if hash.UnmarshalText(text) != nil || json.Unmarshal(digits, &size) != nil || size < 1 || size > canon.MaxFile {
		return nil, errors.New("its first line is no hash and size")
	}
	b := make([]byte, size+1)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	if b[size] != '\n' {
		return nil, errors.New("it is longer than its size")
	}
	if canon.Hash(sha256.Sum256(b[:size])) != hash {
		return nil, errors.New("its bytes do not match its hash")
	}
	return b[:size], nil
}
