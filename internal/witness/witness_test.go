package witness_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/witness"
)

// source is a store with heads that a test sets.
type source struct {
	heads   []canon.StreamHead
	records access.LogHead
	now     time.Time
	failing error
}

func (s *source) set(stream string, seq int) {
	head := canon.Head{Seq: canon.Seq(seq), Hash: canon.Hash{byte(seq), byte(seq >> 8), byte(len(stream))}}
	for i := range s.heads {
		if s.heads[i].Stream == canon.StreamID(stream) {
			s.heads[i].Head = head
			return
		}
	}
	s.heads = append(s.heads, canon.StreamHead{Stream: canon.StreamID(stream), Head: head})
}

func (s *source) writer(t *testing.T, folder, process string) *witness.Writer {
	t.Helper()
	w, err := witness.NewWriter(witness.Config{Folder: folder, Process: process, Now: func() time.Time { return s.now },
		Heads: func(context.Context) ([]canon.StreamHead, access.LogHead, error) {
			return append([]canon.StreamHead(nil), s.heads...), s.records, s.failing
		},
		Sign: func(_ context.Context, text []byte) ([]byte, error) {
			return fmt.Appendf(nil, "signed %d", len(text)), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func verify(_ context.Context, text, signature []byte) (string, error) {
	if string(signature) != fmt.Sprintf("signed %d", len(text)) {
		return "", errors.New("the signature is not one of this text")
	}
	return "key", nil
}

func write(t *testing.T, w *witness.Writer) {
	t.Helper()
	if err := w.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func files(t *testing.T, folder string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, witness.Files))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestWhatWasStatedIsRead(t *testing.T) {
	folder := t.TempDir()
	s := &source{now: time.Date(2026, 11, 26, 23, 58, 0, 0, time.UTC), records: access.LogHead{Seq: 1, Hash: "aa"}}
	for i := range 25_000 { // three statements
		s.set(fmt.Sprintf("world:%05d", i), 1)
	}
	one := s.writer(t, folder, "one")
	write(t, one)
	write(t, one) // nothing has changed
	s.set("world:00007", 300)
	s.records = access.LogHead{Seq: 2, Hash: "bb"}
	write(t, one)
	s.records = access.LogHead{Seq: 3, Hash: "cc"}
	write(t, one) // records alone
	s.now = s.now.Add(3 * time.Minute)
	write(t, one) // another day: all heads
	write(t, s.writer(t, folder, "two"))
	got, err := witness.Read(t.Context(), folder, verify)
	if err != nil {
		t.Fatal(err)
	}
	if got.Statements != 3+1+1+3+3 || len(got.Streams) != 25_000 || !got.Last.Equal(s.now) || len(files(t, folder)) != 3 ||
		len(got.Keys) != 1 {
		t.Errorf("%d statements about %d streams until %s in %d files", got.Statements, len(got.Streams), got.Last,
			len(files(t, folder)))
	}
	if seven := got.Streams["world:00007"]; len(seven) != 4 || seven[0].Seq != 1 || seven[3].Seq != 300 {
		t.Errorf("a stream: %v", seven)
	}
	if r := got.Records["one"]; len(r) < 3 || r[0].Hash != "aa" || r[len(r)-1].Hash != "cc" {
		t.Errorf("access records: %v", r)
	}
}

func TestAChangedFileIsRefused(t *testing.T) {
	folder := t.TempDir()
	s := &source{now: time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)}
	w := s.writer(t, folder, "one")
	for i := 1; i <= 3; i++ {
		s.set("world:a", i)
		write(t, w)
	}
	name := files(t, folder)[0]
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for what, text := range map[string][]byte{
		"a statement less":   append(bytes.Clone(lines[0]), lines[2]...),
		"the first one less": append(bytes.Clone(lines[1]), lines[2]...),
		"another order":      bytes.Join([][]byte{lines[1], lines[0], lines[2]}, nil),
		"another number":     bytes.Replace(whole, []byte(`"seq":2`), []byte(`"seq":22`), 1),
		"another hash":       bytes.Replace(whole, []byte(`"hash":"02`), []byte(`"hash":"03`), 1),
		"no statement":       append(bytes.Clone(whole), "{}\n"...),
		"no JSON":            append(bytes.Clone(whole), "\x00\n"...),
		"a line without end": append(bytes.Clone(whole), bytes.Repeat([]byte("x"), 5<<20)...),
		"another signature":  bytes.Replace(whole, []byte("signed"), []byte("sealed"), 1),
		"nothing but an end": nil,
	} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := witness.Read(t.Context(), folder, verify); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := os.WriteFile(name, whole[:len(whole)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := witness.Read(t.Context(), folder, verify)
	if err != nil || got.Statements != 2 {
		t.Errorf("half a line at the end, left by a killed process: %v", err)
	}
	if _, err := witness.Read(t.Context(), filepath.Join(folder, "none"), verify); fault.KindOf(err) != fault.Invalid {
		t.Errorf("no folder: %v", err)
	}
}

func TestAWriterGoesOnAfterAnError(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "statements")
	s := &source{now: time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)}
	w := s.writer(t, folder, "one")
	s.set("world:a", 1)
	s.failing = errors.New("no store")
	if err := w.Write(t.Context()); err == nil {
		t.Fatal("a store that does not answer goes unnoticed")
	}
	s.failing = nil
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(t.Context()); err == nil {
		t.Fatal("a folder that is gone goes unnoticed")
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, w)
	if got, err := witness.Read(t.Context(), folder, verify); err != nil || len(got.Streams) != 1 {
		t.Errorf("after the errors: %v", err)
	}
	if _, err := witness.NewWriter(witness.Config{Folder: "/dev/null/x"}); err == nil ||
		!strings.Contains(err.Error(), "witness.folder") {
		t.Errorf("a folder that cannot be made: %v", err)
	}
}
