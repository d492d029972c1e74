package s3_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"loregate/internal/blob"
	"loregate/internal/blob/s3"
	"loregate/internal/fault"
)

// server is a server of the protocol within this process, with a bucket "lore". It is not Amazon's.
type server struct {
	*httptest.Server
	down  atomic.Bool
	calls atomic.Int64
}

func newServer(t *testing.T) *server {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	backend := s3mem.New()
	if err := backend.CreateBucket("lore"); err != nil {
		t.Fatal(err)
	}
	fake := gofakes3.New(backend).Server()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		if s.down.Load() {
			http.Error(w, "down", http.StatusBadRequest) // it is not repeated
			return
		}
		if !isSigned(r) {
			t.Errorf("%s %s has another signature", r.Method, r.URL)
		}
		fake.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// isSigned reports whether a request, as it was received, has the signature of the test's secret.
func isSigned(r *http.Request) bool {
	got := r.Header.Get("Authorization")
	_, rest, _ := strings.Cut(got, "SignedHeaders=")
	signed, _, _ := strings.Cut(rest, ",")
	again := &http.Request{Method: r.Method, URL: r.URL, Host: r.Host, Header: http.Header{}}
	for name := range strings.SplitSeq(signed, ";") {
		if name != "host" {
			again.Header.Set(name, r.Header.Get(name))
		}
	}
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	s3.Sign(again, "key", "secret", "", "us-east-1", r.Header.Get("X-Amz-Content-Sha256"), at)
	return err == nil && again.Header.Get("Authorization") == got
}

func (s *server) bucket(t *testing.T, url string) *s3.Bucket {
	t.Helper()
	b, err := s3.New(s3.Config{URL: url, Endpoint: s.URL, Region: "us-east-1"})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (s *server) store(t *testing.T, limit int64) (*blob.Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cache")
	store, err := blob.OpenCache(dir, s.bucket(t, "s3://lore/files"), limit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store, dir
}

func random(n int, seed uint64) []byte {
	b := make([]byte, n)
	for i, r := 0, rand.New(rand.NewPCG(seed, 0)); i < n; i++ {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestABucketHoldsBlobs(t *testing.T) {
	s := newServer(t)
	one, _ := s.store(t, 1<<30)
	two, _ := s.store(t, 1<<30)
	for i, size := range []int{0, 1, 100_000, 40 << 20} {
		want := random(size, uint64(i))
		ref, err := one.Put(t.Context(), bytes.NewReader(want), 0)
		if err != nil || ref != (blob.Ref{Sum: blob.SumOf(want), Size: int64(size)}) {
			t.Fatalf("%d bytes: %v, %v", size, ref, err)
		}
		got, err := two.Bytes(t.Context(), ref.Sum) // another process, with an empty cache
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes come back as %d: %v", size, len(got), err)
		}
		if again, err := two.Stat(t.Context(), ref.Sum); err != nil || again != ref {
			t.Errorf("%d bytes: %v, %v", size, again, err)
		}
		if path, err := two.Path(t.Context(), ref.Sum); err != nil || len(path) == 0 {
			t.Errorf("no path: %v", err)
		} else if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	before := s.calls.Load()
	if _, err := two.Bytes(t.Context(), blob.SumOf(random(100_000, 2))); err != nil || s.calls.Load() != before {
		t.Errorf("a cached blob is fetched again: %v", err)
	}
	if _, err := one.Bytes(t.Context(), blob.SumOf([]byte("no"))); !errors.Is(err, fault.NotFound) {
		t.Errorf("absent: %v", err)
	}
	n := 0
	for _, err := range one.All(t.Context()) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != 4 {
		t.Errorf("%d blobs are listed", n)
	}
	if _, err := one.Put(t.Context(), strings.NewReader("too long"), 3); !errors.Is(err, fault.TooLarge) {
		t.Errorf("more than the limit: %v", err)
	}
}

// Damaged copies are fetched again, a damaged bucket is found.
func TestDamageIsFound(t *testing.T) {
	s := newServer(t)
	store, dir := s.store(t, 1<<30)
	ref, err := store.Put(t.Context(), strings.NewReader("whole"), 0)
	if err != nil {
		t.Fatal(err)
	}
	name := ref.Sum.String()
	if err := os.WriteFile(filepath.Join(dir, name[:2], name[2:]), []byte("whose"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := store.Bytes(t.Context(), ref.Sum); err != nil || string(b) != "whole" {
		t.Errorf("a damaged copy: %q, %v", b, err)
	}
	other := blob.SumOf([]byte("other"))
	if err := s.bucket(t, "s3://lore/files").Put(t.Context(), blob.Ref{Sum: other, Size: 5},
		strings.NewReader("wrong")); err != nil {
		t.Fatal(err)
	}
	if b, err := store.Bytes(t.Context(), other); !errors.Is(err, blob.ErrDamaged) {
		t.Errorf("a damaged object: %q, %v", b, err)
	}
}

func TestABucketThatDoesNotAnswer(t *testing.T) {
	s := newServer(t)
	store, _ := s.store(t, 1<<30)
	ref, err := store.Put(t.Context(), strings.NewReader("cached"), 0)
	if err != nil {
		t.Fatal(err)
	}
	s.down.Store(true)
	if _, err := store.Put(t.Context(), strings.NewReader("new"), 0); !errors.Is(err, fault.Unavailable) {
		t.Errorf("a put: %v", err)
	}
	if b, err := store.Bytes(t.Context(), ref.Sum); err != nil || string(b) != "cached" {
		t.Errorf("a cached blob: %v", err)
	}
	if err := s.bucket(t, "s3://lore").Check(t.Context()); !errors.Is(err, fault.Unavailable) {
		t.Errorf("a check: %v", err)
	}
	s.down.Store(false)
	if _, err := store.Put(t.Context(), strings.NewReader("new"), 0); err != nil {
		t.Errorf("a put when it answers again: %v", err)
	}
	if err := s.bucket(t, "s3://nobody").Check(t.Context()); !errors.Is(err, fault.Invalid) {
		t.Errorf("a bucket that does not exist: %v", err)
	}
	for _, c := range []s3.Config{{URL: "lore"}, {URL: "s3://"}, {URL: "https://lore"}, {URL: "s3://u:p@lore"},
		{URL: "s3://lore", Endpoint: "host:9000"}, {URL: "s3://lore", Endpoint: "http://host/path"}} {
		if _, err := s3.New(c); !errors.Is(err, fault.Invalid) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestSweepAndCacheOfABucket(t *testing.T) {
	s := newServer(t)
	store, dir := s.store(t, 1<<20)
	var refs []blob.Ref
	for i := range 5 {
		ref, err := store.Put(t.Context(), bytes.NewReader(random(400<<10, uint64(i))), 0)
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
		old := time.Now().Add(time.Duration(i-100) * time.Hour)
		name := ref.Sum.String()
		if err := os.Chtimes(filepath.Join(dir, name[:2], name[2:]), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Put(t.Context(), bytes.NewReader(random(400<<10, 9)), 0); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "??", "*"))
	if err != nil || len(files) != 2 {
		t.Errorf("the cache of 1 MiB keeps %d files of 400 KiB", len(files))
	}
	for i, ref := range refs {
		if b, err := store.Bytes(t.Context(), ref.Sum); err != nil || !bytes.Equal(b, random(400<<10, uint64(i))) {
			t.Errorf("%d is lost: %v", i, err)
		}
	}
	var gone []blob.Sum
	sweep := func(before time.Time, dry bool) {
		t.Helper()
		gone = nil
		err := store.Sweep(t.Context(), before, func(sum blob.Sum) bool { return sum == refs[0].Sum },
			func(r blob.Ref) { gone = append(gone, r.Sum) }, dry)
		if err != nil {
			t.Fatal(err)
		}
	}
	if sweep(time.Now().Add(-time.Hour), false); len(gone) != 0 {
		t.Errorf("%d young blobs are swept", len(gone))
	}
	if sweep(time.Now().Add(time.Hour), true); len(gone) != 5 {
		t.Errorf("%d blobs would be swept, not 5", len(gone))
	}
	if sweep(time.Now().Add(time.Hour), false); len(gone) != 5 {
		t.Errorf("%d blobs are swept, not 5", len(gone))
	}
	if _, err := store.Bytes(t.Context(), refs[1].Sum); !errors.Is(err, fault.NotFound) {
		t.Errorf("a swept blob: %v", err)
	}
	if _, err := store.Bytes(t.Context(), refs[0].Sum); err != nil {
		t.Errorf("a blob that is kept: %v", err)
	}
}

func TestFilesMoveToABucketAndBack(t *testing.T) {
	s := newServer(t)
	bucket, _ := s.store(t, 1<<30)
	folder, err := blob.Open(filepath.Join(t.TempDir(), "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	for i := range 20 {
		if _, err := folder.Put(t.Context(), bytes.NewReader(random(1000+i, uint64(i))), 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []int{20, 0} {
		if all, copied, err := blob.CopyAll(t.Context(), folder, bucket); err != nil || all != 20 || copied != want {
			t.Errorf("%d of %d are copied, not %d: %v", copied, all, want, err)
		}
	}
	back, err := blob.Open(filepath.Join(t.TempDir(), "back"))
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close()
	empty, _ := s.store(t, 1<<30)
	if _, copied, err := blob.CopyAll(t.Context(), empty, back); err != nil || copied != 20 {
		t.Errorf("%d come back: %v", copied, err)
	}
}
