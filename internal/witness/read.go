package witness

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// Stated is the content of a folder of statements.
type Stated struct {
	Statements int
	Last       time.Time // time of the latest statement
	Keys       []string  // thumbprints of the keys that signed, in the order of their first statements
	// Streams are the stated heads by stream, in the order of their numbers.
	Streams map[canon.StreamID][]canon.Head
	// Records are the stated heads of access records by process, in the order of their numbers.
	Records map[string][]access.LogHead
}

// Verifier returns the thumbprint of the key that signed a statement, or an error.
type Verifier func(ctx context.Context, statement, signature []byte) (key string, err error)

// Read reads a file of statements, or all files of a folder. A file that was changed, or from which a statement is
// missing, is refused with fault.Invalid.
func Read(ctx context.Context, path string, verify Verifier) (*Stated, error) {
	names := []string{path}
	if info, err := os.Stat(path); err != nil {
		return nil, fault.New(fault.Invalid, "%v; name the folder that the setting witness.folder names", err)
	} else if info.IsDir() {
		if names, err = filepath.Glob(filepath.Join(path, Files)); err != nil {
			return nil, fmt.Errorf("witness: %w", err)
		}
	}
	r := reader{verify: verify, Stated: &Stated{Streams: map[canon.StreamID][]canon.Head{},
		Records: map[string][]access.LogHead{}}}
	for _, name := range names {
		if err := r.readStatements(ctx, name); err != nil {
			return nil, err
		}
	}
	if r.Statements == 0 {
		return nil, fault.New(fault.Invalid, "%s holds no statements; name the folder that the setting witness.folder names",
			path)
	}
	for _, heads := range r.Streams {
		slices.SortFunc(heads, func(a, b canon.Head) int { return cmp.Compare(a.Seq, b.Seq) })
	}
	for _, heads := range r.Records {
		slices.SortFunc(heads, func(a, b access.LogHead) int { return cmp.Compare(a.Seq, b.Seq) })
	}
	return r.Stated, nil
}

type reader struct {
	*Stated
	verify Verifier
}

func (r *reader) readStatements(ctx context.Context, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("witness: %w", err)
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 64<<10)
	previous := ""
	for number := 1; ; number++ {
		text, err := readTextLine(in)
		if errors.Is(err, io.EOF) {
			return nil // what stands behind the last line's end is half a line, which a killed process left
		}
		if err == nil {
			previous, err = r.readStatement(ctx, text, number, previous)
		}
		if err != nil {
			return fault.New(fault.Invalid, "%s, statement %d: %v; the file was changed", name, number, err)
		}
	}
}

// readTextLine reads a line of at most maxLine bytes. Without an end of line the error is io.EOF.
func readTextLine(in *bufio.Reader) (text []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > maxLine:
			return nil, fmt.Errorf("it is longer than %d bytes", maxLine)
		case err == nil:
			return bytes.TrimSuffix(text, []byte("\n")), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// readStatement takes in a statement and returns its hash.
func (r *reader) readStatement(ctx context.Context, text []byte, number int, previous string) (hash string, err error) {
	var l line
	var s Statement
	if err := json.Unmarshal(text, &l); err != nil {
		return "", err
	}
	if err := json.Unmarshal(l.Statement, &s); err != nil {
		return "", err
	}
	if s.Number != number || s.Previous != previous {
		return "", errors.New("it does not follow the statement before it")
	}
	key, err := r.verify(ctx, l.Statement, []byte(l.Signature))
	if err != nil {
		return "", err
	}
	if !slices.Contains(r.Keys, key) {
		r.Keys = append(r.Keys, key)
	}
	for _, h := range s.Streams {
		r.Streams[h.Stream] = append(r.Streams[h.Stream], canon.Head{Seq: h.Seq, Hash: h.Hash})
	}
	if s.Records != nil {
		r.Records[s.Process] = append(r.Records[s.Process], *s.Records)
	}
	r.Statements++
	if s.At.After(r.Last) {
		r.Last = s.At
	}
	return hashText(l.Statement), nil
}
