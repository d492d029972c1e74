package benchtest

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	"loregate/internal/cputest"
)

// getTarget returns a target of GET requests with the stage's token.
func (s *stage) getTarget(path func(n int64) string) *target {
	addr := s.server.Listener.Addr().String()
	return &target{addr: addr, call: want(http.StatusOK, func(n int64) (string, string) {
		return head("GET "+path(n), addr, "Authorization: Bearer "+s.token), ""
	})}
}

// measureCalls makes calls one after another, and reports the 50th and 99th percentile of their
// times.
func measureCalls(b *testing.B, t *target) {
	c, err := dial(t.addr)
	if err != nil {
		b.Fatal(err)
	}
	defer c.conn.Close()
	if err := t.call(c, t.next.add()); err != nil {
		b.Fatal(err)
	}
	var took []time.Duration
	cpu := cputest.Used()
	for b.Loop() {
		start := time.Now()
		if err := t.call(c, t.next.add()); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	cpu = cputest.Used() - cpu
	slices.Sort(took)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(took[len(took)/2]), "p50-ms")
	b.ReportMetric(ms(took[len(took)*99/100]), "p99-ms")
	b.ReportMetric(ms(cpu)/float64(len(took)), "cpu-ms")
}

func eachSize(b *testing.B, f func(b *testing.B, s *stage, n int)) {
	for _, n := range sizes(b) {
		b.Run(strconv.Itoa(n), func(b *testing.B) { f(b, serve(b, worldFolder(b, n)), n) })
	}
}

// BenchmarkSearch searches content for words drawn by their frequency.
func BenchmarkSearch(b *testing.B) {
	requireBench(b)
	for _, mode := range []string{"substring", "whole_word"} {
		for words := 1; words <= 2; words++ {
			b.Run(mode+"/"+strconv.Itoa(words), func(b *testing.B) {
				eachSize(b, func(b *testing.B, s *stage, _ int) {
					measureCalls(b, s.getTarget(func(int64) string {
						q := s.p.word()
						for range words - 1 {
							q += "%20" + s.p.word() // a plus would be part of the word here
						}
						return "/api/mcp/cards?search_in=content&limit=20&match_mode=" + mode + "&q=" + q
					}))
				})
			})
		}
	}
}

// BenchmarkLookUp runs reads and lists whose results do not grow with the number of cards.
func BenchmarkLookUp(b *testing.B) {
	requireBench(b)
	for _, look := range []struct {
		name string
		path func(name string) string
	}{
		{"key", func(name string) string { return "/api/mcp/cards/" + url.PathEscape(name) }},
		{"children", func(name string) string { return "/api/mcp/cards/" + url.PathEscape(name) + "/children" }},
		{"prefix", func(name string) string { return "/api/mcp/cards?prefix=" + url.QueryEscape(name) }},
		{"name", func(name string) string { return "/api/mcp/cards?q=" + url.QueryEscape(name) }},
	} {
		b.Run(look.name, func(b *testing.B) {
			eachSize(b, func(b *testing.B, s *stage, size int) {
				measureCalls(b, s.getTarget(func(n int64) string { return look.path(cardName(s.p, int(n*7919%int64(size))/10*10)) }))
			})
		})
	}
}
