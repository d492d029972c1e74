package benchtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"loregate/internal/cputest"
)

// texts returns contents of 1 KB, which writes use in turn.
func texts(p *prose) []string {
	list := make([]string, 2048)
	for i := range list {
		list[i] = p.text(1000)
	}
	return list
}

func (s *stage) writeTarget(path string, status int, body func(n int64) any) *target {
	addr := s.server.Listener.Addr().String()
	h := head("POST "+path, addr, "Content-Type: application/json", "Authorization: Bearer "+s.token)
	return &target{addr: addr, call: want(status, func(n int64) (string, string) {
		b, err := json.Marshal(body(n))
		if err != nil {
			panic(err)
		}
		return h, string(b)
	})}
}

// BenchmarkCreate creates single cards with many clients at once; each card is durable when its
// call is answered.
func BenchmarkCreate(b *testing.B) {
	requireBench(b)
	s := serve(b, b.TempDir())
	text := texts(s.p)
	t := s.writeTarget("/api/mcp/cards", http.StatusCreated, func(n int64) any {
		return map[string]any{"name": fmt.Sprintf("Card %d", n), "content": text[n%int64(len(text))]}
	})
	m := medians{}
	for b.Loop() {
		o := t.closedLoop(b, clients, round)
		m.add("commits/s", o.rate())
		m.add("cpu-us", float64(o.cpu.Microseconds())/float64(o.calls))
		m.add("p50-ms", ms(o.at(50)))
		m.add("p99-ms", ms(o.at(99)))
	}
	m.report(b)
}

// BenchmarkBatch creates cards in batches of 100.
func BenchmarkBatch(b *testing.B) {
	requireBench(b)
	for _, mode := range []string{"transactional", "per_item"} {
		for _, clients := range []int{1, 8} {
			b.Run(fmt.Sprintf("%s/%d", mode, clients), func(b *testing.B) {
				s := serve(b, b.TempDir())
				text := texts(s.p)
				t := s.writeTarget("/api/mcp/cards/batch", http.StatusOK, func(n int64) any {
					ops := make([]any, 100)
					for i := range ops {
						at := n*100 + int64(i)
						ops[i] = map[string]any{"action": "create", "name": fmt.Sprintf("Card %d", at),
							"content": text[at%int64(len(text))]}
					}
					return map[string]any{"mode": mode, "ops": ops}
				})
				m := medians{}
				for b.Loop() {
					o := t.closedLoop(b, clients, round)
					m.add("cards/s", 100*o.rate())
					m.add("cpu-us", float64(o.cpu.Microseconds())/float64(100*o.calls))
					m.add("p50-ms", ms(o.at(50)))
				}
				m.report(b)
			})
		}
	}
}

// BenchmarkBulk loads cards of 1 KB in large commits.
func BenchmarkBulk(b *testing.B) {
	requireBench(b)
	m := medians{}
	for b.Loop() {
		a := openApp(b, b.TempDir())
		w := makeWorld(b, a)
		p := newProse(3)
		const n = 20_000
		cpu, began := cputest.Used(), time.Now()
		fill(b, a, w, p, n)
		m.add("cards/s", n/time.Since(began).Seconds())
		m.add("cpu-us", float64((cputest.Used()-cpu).Microseconds())/n)
		a.Close(b.Context())
	}
	m.report(b)
}
