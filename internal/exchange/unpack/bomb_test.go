package unpack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"loregate/internal/bound"
	"loregate/internal/fault"
)

// zeros reads as many zeros as are asked for.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// bombs returns small files that become far larger, by name.
func bombs(t testing.TB) map[string][]byte {
	packed := func(wrap func(w io.Writer)) []byte {
		var b bytes.Buffer
		w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
		wrap(w)
		w.Close()
		return b.Bytes()
	}
	plain := packed(func(w io.Writer) { io.CopyN(w, zeros{}, 40<<20) })
	tarred := packed(func(w io.Writer) {
		a := tar.NewWriter(w)
		a.WriteHeader(&tar.Header{Name: "a.md", Size: 300 << 20, Mode: 0o644})
		io.CopyN(a, zeros{}, 40<<20)
		a.Close()
	})
	return map[string][]byte{"w.json.bz2": sampleOf(t, "bomb.bz2"), "w.jsonl.gz": plain, "w.lk": plain, "w.map": plain,
		"w.tar.gz": tarred, "w.7z": sampleOf(t, "bomb.7z")}
}

// allocated returns the bytes that f allocates.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// An archive that grows too much is refused when it has grown, not when it is unpacked: it uses little memory and
// disk, and leaves nothing behind.
func TestBombsCostLittle(t *testing.T) {
	for name, data := range bombs(t) {
		space := NewSpace(t.TempDir(), 64<<20)
		file := write(t, name, data)
		var err error
		if n := allocated(func() { _, err = Open(t.Context(), file, Limits{Space: space}) }); n > 20<<20 {
			t.Errorf("%s: %d bytes of the heap were allocated", name, n)
		}
		if fault.KindOf(err) != fault.TooLarge || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(space.folder); len(left) > 0 || space.Used() != 0 {
			t.Errorf("%s: %v and %d bytes are left", name, left, space.Used())
		}
	}
}

// A file within a source may be packed again. It has the same limits.
func TestDecodeIsJudgedWhileItStreams(t *testing.T) {
	bomb := bombs(t)["w.lk"]
	for name, data := range map[string][]byte{"gzip": bomb, "base64 of gzip": []byte(base64.StdEncoding.EncodeToString(bomb))} {
		var err error
		if n := allocated(func() { _, err = Decode(data, 512<<20) }); n > 4<<20 || fault.KindOf(err) != fault.TooLarge {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
	}
	plain := strings.Repeat("a map, ", 1<<17)
	packed := gzipOf([]byte(plain))
	var got []byte
	if n := allocated(func() { got, _ = Decode(packed, 8<<20) }); n > 2*int64(len(plain)) || string(got) != plain {
		t.Errorf("%d bytes are decoded with %d", len(got), n)
	}
}

// A large archive lies on the disk while it is open, and is gone when it is closed.
func TestUnpackedFilesLieOnDisk(t *testing.T) {
	content := make([]byte, 8<<20)
	rand.NewChaCha8([32]byte{}).Read(content)
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	w.WriteHeader(&tar.Header{Name: "x/a.bin", Size: int64(len(content)), Mode: 0o644})
	w.Write(content)
	w.Close()
	file := write(t, "w.tar.gz", gzipOf(b.Bytes()))
	b.Reset()
	folder := filepath.Join(t.TempDir(), "unpacked")
	space := NewSpace(folder, 1<<30)
	var s *Source
	var err error
	if n := allocated(func() { s, err = Open(t.Context(), file, Limits{Space: space}) }); err != nil || n > 8<<20 {
		t.Fatalf("%d bytes of the heap, %v", n, err)
	}
	if s.Size != (bound.Size{Files: 1, Largest: int64(len(content)), Total: int64(len(content))}) ||
		space.Used() < s.Size.Total {
		t.Errorf("%+v, %d used", s.Size, space.Used())
	}
	if got, err := fs.ReadFile(s.Files, "a.bin"); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if list, _ := os.ReadDir(folder); len(list) > 0 && runtime.GOOS != "windows" {
		t.Errorf("%v has a name: a crash would leave it", list)
	}
	if err := s.Close(); err != nil || space.Used() != 0 {
		t.Errorf("%d bytes are left, %v", space.Used(), err)
	}
}

// The next start removes the files that a crash left on a system that keeps the names of open files. Other files stay.
func TestTheNextStartRemovesUnpackedFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{spoolPrefix + "1", "other"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	NewSpace(dir, 1)
	if list, _ := os.ReadDir(dir); len(list) != 1 || list[0].Name() != "other" {
		t.Errorf("%v", list)
	}
}

func TestUnpackingNeedsSpace(t *testing.T) {
	file := write(t, "w.tar", tarOf(t, tar.Header{Name: "a.md", Size: 3, Mode: 0o644}))
	_, err := Open(t.Context(), file, Limits{Space: NewSpace(t.TempDir(), 1<<20)})
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "try again later") {
		t.Errorf("a space that is taken: %v", err)
	}
	full := NewSpace(t.TempDir(), 1<<62)
	if err := full.take(1 << 61); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(),
		"disk is full") {
		t.Errorf("a disk that is full: %v", err)
	}
	if got := full.Used(); got != 0 {
		t.Errorf("%d bytes are taken from it", got)
	}
	var known *fault.Error
	if err := full.take(1 << 61); errors.As(err, &known) && strings.Contains(known.Message, full.folder) {
		t.Errorf("the message has a path of the server: %s", known.Message)
	}
	if errors.Is(err, syscall.ENOSPC) {
		t.Error("the disk of the test is full")
	}
}

// A cancelled import stops unpacking and reading.
func TestCancelledImportsStopReading(t *testing.T) {
	file := write(t, "w.tar", tarOf(t, tar.Header{Name: "x/a.md", Size: 3, Mode: 0o644}))
	ctx, cancel := context.WithCancelCause(t.Context())
	s, err := Open(ctx, file, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Guard(ctx)
	f, err := s.Files.Open("a.md")
	if err != nil {
		t.Fatal(err)
	}
	spent := fault.New(fault.TooLarge, "spent")
	cancel(spent)
	for name, got := range map[string]error{"read": second(f.Read(make([]byte, 1))), "open": second(s.Files.Open("a.md")),
		"list": second(fs.ReadDir(s.Files, ".")), "read as a whole": second(fs.ReadFile(s.Files, "a.md"))} {
		if !errors.Is(got, spent) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if _, err := Open(ctx, file, Limits{}); err == nil {
		t.Error("a cancelled import was unpacked")
	}
}

func second[T any](_ T, err error) error { return err }

// A file of a folder that is larger than may be held in memory is refused by its name, before it is read.
func TestWholeFilesHaveALimit(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "large.json")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, bound.MaxWhole+1); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), dir, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Guard(t.Context())
	n := allocated(func() { _, err = fs.ReadFile(s.Files, "large.json") })
	if fault.KindOf(err) != fault.TooLarge || !strings.Contains(err.Error(), "large.json") || n > 1<<20 {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestTreesAreFileSystems(t *testing.T) {
	for name, data := range map[string][]byte{
		"w.zip": zipOf(t, "a.md", "a-b/c.md", "a/d/e.md", "a.b/x", "empty/"),
		"w.tar": tarOf(t, tar.Header{Name: "a.md", Size: 3, Mode: 0o644}, tar.Header{Name: "a-b/c.md", Size: 3, Mode: 0o644},
			tar.Header{Name: "a/d/e.md", Size: 3, Mode: 0o644}, tar.Header{Name: "a.b/x", Mode: 0o644},
			tar.Header{Name: "empty/", Typeflag: tar.TypeDir, Mode: 0o755}),
	} {
		s, err := Open(t.Context(), write(t, name, data), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		s.Guard(t.Context())
		if err := fstest.TestFS(s.Files, "a.md", "a-b/c.md", "a/d/e.md", "a.b/x", "empty"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
