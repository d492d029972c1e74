package httpd_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// discard is a ResponseWriter that keeps nothing.
type discard struct{ h http.Header }

func (d discard) Header() http.Header         { return d.h }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

// A small read over REST, from the request to the answer, without the network.
func BenchmarkGet(b *testing.B) {
	s := newSite(b, nil)
	r := httptest.NewRequest("GET", "/api/mcp/cards/Games+Butterfly%20Galaxii+Player?limit=7", nil)
	r.Host, r.RemoteAddr = "localhost:8420", "127.0.0.1:5000"
	r.Header.Set("Authorization", "Bearer user")
	b.ReportAllocs()
	for b.Loop() {
		*s.records = (*s.records)[:0]
		s.ServeHTTP(discard{http.Header{}}, r)
	}
}
