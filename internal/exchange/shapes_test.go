package exchange_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/cputest"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/exchange/foundry"
	"loregate/internal/exchange/graph"
	"loregate/internal/exchange/light"
	"loregate/internal/exchange/lorebook"
	"loregate/internal/exchange/mapgen"
	"loregate/internal/exchange/mediawiki"
	"loregate/internal/exchange/planner"
	"loregate/internal/exchange/ranvier"
	"loregate/internal/exchange/srd"
	"loregate/internal/exchange/table"
	"loregate/internal/exchange/textworld"
	"loregate/internal/exchange/turns"
	"loregate/internal/exchange/vault"
	"loregate/internal/store/memory"
)

// importers are the importers of all formats that bring cards, by the name of the format.
func importers() map[string]exchangetest.Importer {
	all := map[string]exchangetest.Importer{
		"turns": func(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS,
			o exchange.Options) (exchange.Summary, error) {
			data, err := fs.ReadFile(files, "t.jsonl")
			if err != nil {
				return exchange.Summary{}, err
			}
			return turns.Import(ctx, c, g, bytes.NewReader(data), o)
		},
		"markdown": func(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS,
			o exchange.Options) (exchange.Summary, error) {
			return vault.Import(ctx, c, g, files, vault.Options{Options: o})
		},
	}
	for _, f := range slices.Concat([]exchange.Format{light.Format(), ranvier.Format(), foundry.Format(), graph.Format(),
		mediawiki.Format(), table.Format()}, srd.Formats(), planner.Formats(), lorebook.Formats(), mapgen.Formats(),
		textworld.Formats()) {
		all[f.Name] = f.Import
	}
	return all
}

// cost is the work of one import.
type cost struct {
	bytes, allocated int64
	cpu              time.Duration
	err              error
}

// planned is a store that plans commits and leaves them out.
type planned struct {
	canon.Store
	full bool
}

func (p *planned) Write(ctx context.Context, f func(canon.Tx) error) error {
	if p.full {
		return nil
	}
	return p.Store.Write(ctx, f)
}

// packed returns files as those of an archive, in which a folder is found without a walk through all names.
func packed(t testing.TB, files fstest.MapFS) fs.FS {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range decoded.SortedKeys(files) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(files[name].Data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sizeOf returns the size of a source: its files and their names.
func sizeOf(files fstest.MapFS) (n int64) {
	for name, f := range files {
		n += int64(len(name) + len(f.Data))
	}
	return n
}

// sortedShapes returns the hostile sources, by format and name.
func sortedShapes() []exchangetest.Shape {
	all := exchangetest.Shapes()
	slices.SortFunc(all, func(a, b exchangetest.Shape) int {
		return cmp.Or(strings.Compare(a.Format, b.Format), strings.Compare(a.Name, b.Name))
	})
	return all
}

// measure imports a source in a dry run whose commits are planned and left out.
func measure(t testing.TB, shape exchangetest.Shape, n int) (c cost) {
	t.Helper()
	files := shape.Files(n)
	store := &planned{Store: memory.New()}
	s := exchangetest.NewOn(t, store)
	store.full = true
	grant, archive := s.As("admin").DryRun(), packed(t, files)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := cputest.Used()
	_, c.err = importers()[shape.Format](t.Context(), s.Canon, grant, archive, exchange.Options{Label: "x"})
	c.cpu = cputest.Used() - began
	runtime.ReadMemStats(&after)
	c.bytes, c.allocated = sizeOf(files), int64(after.TotalAlloc-before.TotalAlloc)
	return c
}

// Every importer allocates in proportion to its source: allocated bytes stand in for the number of steps, because
// they do not depend on how busy the machine is.
func TestImportsAllocateInProportion(t *testing.T) {
	tried := map[string]bool{}
	for _, shape := range sortedShapes() {
		tried[shape.Format] = true
		small, large := measure(t, shape, 30), measure(t, shape, 240)
		times := float64(large.allocated) / float64(max(small.allocated, 32<<10))
		if grown := float64(large.bytes) / float64(small.bytes); times > 1.6*max(grown, 8) {
			t.Errorf("%s, %s: a source %.1f times as large allocates %.1f times as much: %d bytes for %d", shape.Format,
				shape.Name, grown, times, large.allocated, large.bytes)
		}
	}
	for format := range importers() {
		if !tried[format] {
			t.Errorf("no hostile source of the format %s is tried", format)
		}
	}
}

// Every importer takes processor time in proportion to its source: at most 12 times for 10 times as much.
// IMPORT_SHAPES is the number of items of the smaller source.
func TestImportsTakeTimeInProportion(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("IMPORT_SHAPES"))
	if err != nil {
		t.Skip("make proof measures processor time; set IMPORT_SHAPES=2000 to do so here")
	}
	shapes, worst, of := sortedShapes(), 0.0, ""
	for _, shape := range shapes {
		if only := os.Getenv("IMPORT_SHAPE"); !strings.Contains(shape.Format+" "+shape.Name, only) {
			continue
		}
		times, small, large := 0.0, cost{}, cost{}
		for range 3 { // another program, or the collector, may disturb one measurement
			small, large = measure(t, shape, n), measure(t, shape, 10*n)
			times = large.cpu.Seconds() / max(small.cpu, 20*time.Millisecond).Seconds()
			if grown := float64(large.bytes) / float64(small.bytes); times <= 1.2*max(grown, 10) {
				break
			}
		}
		t.Logf("%s, %s: %d bytes in %v, %d in %v: %.1f times; %v", shape.Format, shape.Name, small.bytes, small.cpu,
			large.bytes, large.cpu, times, large.err)
		if grown := float64(large.bytes) / float64(small.bytes); times > 1.2*max(grown, 10) {
			t.Errorf("%s, %s: a source %.1f times as large takes %.1f times as long", shape.Format, shape.Name, grown, times)
		}
		if times > worst {
			worst, of = times, shape.Format+", "+shape.Name
		}
	}
	t.Logf("%d shapes: at most %.1f times the processor time for 10 times the size (%s)", len(shapes), worst, of)
}

// Limits of what an import of a few bytes may allocate in total, garbage included.
const (
	fuzzAllocated        = 64 << 20
	fuzzAllocatedPerByte = 16 << 10
)

// FuzzImports imports a file in any format for the GM. Errors are welcome: a panic fails the test, a card that
// players see, or more memory than the size of the file allows.
func FuzzImports(f *testing.F) {
	for _, shape := range sortedShapes() {
		if files := shape.Files(3); len(files) == 1 {
			for name, file := range files {
				f.Add(shape.Format, name, file.Data)
			}
		}
	}
	all := importers()
	f.Fuzz(func(t *testing.T, format, name string, data []byte) {
		read := all[format]
		if read == nil || !fs.ValidPath(name) || name == "." || len(data) > 64<<10 {
			t.Skip("no source of a format")
		}
		s := exchangetest.NewOn(t, memory.New())
		files, grant := fstest.MapFS{name: &fstest.MapFile{Data: data}}, s.As("admin")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = read(t.Context(), s.Canon, grant, files, exchange.Options{Label: "x", Level: access.LevelGM})
		runtime.ReadMemStats(&after)
		used := int64(after.TotalAlloc - before.TotalAlloc)
		if used > fuzzAllocated+fuzzAllocatedPerByte*int64(len(data)) {
			t.Errorf("%d bytes of %s allocate %d MiB", len(data), format, used>>20)
		}
		if got := s.Listing("user"); len(got) > 0 {
			t.Errorf("a user sees %v", got)
		}
	})
}
