package benchtest

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/cputest"
)

// turn is one speech of a recorded game.
type turn struct {
	Ep    string
	N     int
	Names []string
	Text  string
}

// BenchmarkImport loads a campaign of 120,000 speeches, each a card below its episode. BENCH_TURNS
// names the file, gzipped JSON lines.
func BenchmarkImport(b *testing.B) {
	requireBench(b)
	path := os.Getenv("BENCH_TURNS")
	if path == "" {
		b.Skip("BENCH_TURNS names no file")
	}
	m := medians{}
	for b.Loop() {
		a := openApp(b, b.TempDir())
		w := makeWorld(b, a)
		watch := watchMemory()
		cpu, began := cputest.Used(), time.Now()
		n := 0
		eachPack(b, path, func(pack []turn) {
			change(b, a, w, func(p *canon.Plan) error {
				for _, t := range pack {
					name := fmt.Sprintf("%s+%05d", t.Ep, t.N)
					if err := create(p, name, access.LevelUser, strings.Join(t.Names, ", ")+": "+t.Text); err != nil {
						return err
					}
				}
				return nil
			})
			n += len(pack)
		})
		took := time.Since(began)
		m.add("import-s", took.Seconds())
		m.add("cards", float64(n))
		m.add("cards/s", float64(n)/took.Seconds())
		m.add("cpu-s", (cputest.Used() - cpu).Seconds())
		m.add("peak-MB", float64(watch())/1e6)
		a.Close(b.Context())
	}
	m.report(b)
}

func eachPack(b *testing.B, path string, f func([]turn)) {
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		b.Fatal(err)
	}
	in := json.NewDecoder(bufio.NewReader(plain))
	var pack []turn
	for in.More() {
		var t turn
		if err := in.Decode(&t); err != nil {
			b.Fatal(err)
		}
		if pack = append(pack, t); len(pack) == commitCards {
			f(pack)
			pack = pack[:0]
		}
	}
	if len(pack) > 0 {
		f(pack)
	}
}

// watchMemory starts to watch the memory of the process. The returned function returns the largest
// resident size since then, in bytes, or 0 if the system does not report it.
func watchMemory() func() int64 {
	// 5 resets the peak; see proc(5), clear_refs.
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	return func() int64 {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			return 0
		}
		_, rest, _ := strings.Cut(string(status), "VmHWM:")
		var kb int64
		if _, err := fmt.Sscan(rest, &kb); err != nil {
			return 0
		}
		return kb << 10
	}
}
