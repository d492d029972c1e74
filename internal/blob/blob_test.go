package blob_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"loregate/internal/blob"
	"loregate/internal/fault"
)

func open(t testing.TB) (*blob.Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "blobs")
	s, err := blob.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, dir
}

func put(t testing.TB, s *blob.Store, text string) blob.Ref {
	t.Helper()
	ref, err := s.Put(t.Context(), strings.NewReader(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func Example() {
	dir, _ := os.MkdirTemp("", "blob")
	defer os.RemoveAll(dir)
	s, _ := blob.Open(dir)
	defer s.Close()
	ref, _ := s.Put(context.Background(), strings.NewReader("Rent Quay"), 0)
	b, _ := s.Bytes(context.Background(), ref.Sum)
	fmt.Println(ref.Size, string(b))
	// Output: 9 Rent Quay
}

func TestPutAndOpen(t *testing.T) {
	s, _ := open(t)
	for _, text := range []string{"", "a", strings.Repeat("sea", 100_000)} {
		ref := put(t, s, text)
		if again := put(t, s, text); again != ref {
			t.Errorf("the same bytes are %v and %v", ref, again)
		}
		b, err := s.Bytes(t.Context(), ref.Sum)
		if err != nil || string(b) != text || ref.Size != int64(len(text)) || ref.Sum != blob.SumOf(b) {
			t.Errorf("%d bytes came back as %d, %v", len(text), len(b), err)
		}
	}
	n := 0
	for range s.All(t.Context()) {
		n++
	}
	if n != 3 {
		t.Errorf("%d blobs are listed, not 3", n)
	}
}

func TestAbsentAndDamagedBlobs(t *testing.T) {
	s, dir := open(t)
	if _, err := s.Bytes(t.Context(), blob.SumOf([]byte("no"))); !errors.Is(err, fault.NotFound) {
		t.Errorf("absent: %v", err)
	}
	ref := put(t, s, "whole")
	name := ref.Sum.String()
	if err := os.WriteFile(filepath.Join(dir, name[:2], name[2:]), []byte("whose"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Bytes(t.Context(), ref.Sum); !errors.Is(err, blob.ErrDamaged) {
		t.Errorf("damaged: %v", err)
	}
}

// A reader that fails, is too long or is cancelled leaves no file behind.
func TestFailedPutsLeaveNothing(t *testing.T) {
	s, dir := open(t)
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	for what, put := range map[string]func() error{
		"failing": func() error {
			_, err := s.Put(t.Context(), iotest.TimeoutReader(strings.NewReader(strings.Repeat("x", 4096))), 0)
			return err
		},
		"too long": func() error {
			_, err := s.Put(t.Context(), strings.NewReader("12345"), 4)
			if !errors.Is(err, fault.TooLarge) {
				t.Errorf("too long: %v", err)
			}
			return err
		},
		"called off": func() error { _, err := s.Put(stopped, strings.NewReader("x"), 0); return err },
	} {
		if put() == nil {
			t.Errorf("%s: no error", what)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	s, dir := open(t)
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := blob.SumOf([]byte("secret"))
	name := sum.String()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, name[:2]), 0o700),
		os.Symlink(outside, filepath.Join(dir, name[:2], name[2:]))); err != nil {
		t.Skip("no links here:", err)
	}
	if b, err := s.Bytes(t.Context(), sum); err == nil {
		t.Errorf("read %q through a link", b)
	}
	if _, err := s.Stat(t.Context(), sum); !errors.Is(err, fault.NotFound) {
		t.Errorf("stat through a link: %v", err)
	}
}

func TestManyPutTheSameAtOnce(t *testing.T) {
	s, _ := open(t)
	var wait sync.WaitGroup
	for range 32 {
		wait.Go(func() { put(t, s, strings.Repeat("together", 1000)) })
	}
	wait.Wait()
	if _, err := s.Bytes(t.Context(), blob.SumOf([]byte(strings.Repeat("together", 1000)))); err != nil {
		t.Error(err)
	}
}

func FuzzParseSum(f *testing.F) {
	f.Add("00")
	f.Add(blob.SumOf(nil).String())
	f.Fuzz(func(t *testing.T, text string) {
		s, err := blob.ParseSum(text)
		if err == nil && !strings.EqualFold(s.String(), text) {
			t.Errorf("%q reads as %s", text, s)
		}
	})
}

func BenchmarkPut(b *testing.B) {
	s, _ := open(b)
	for i := 0; b.Loop(); i++ {
		put(b, s, fmt.Sprint(i))
	}
}
