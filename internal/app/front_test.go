package app

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestWhoOpensTheAddressFindsAPage(t *testing.T) {
	h, stop, err := declared(t).Handler(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for path, want := range map[string]int{"/": 200, "//": 404, "/index.html": 404} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", path, nil)
		r.Host = "localhost"
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("GET %s: %d", path, w.Code)
		}
		html := strings.HasPrefix(w.Header().Get("Content-Type"), "text/html")
		if html != (want == 200) || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("GET %s: %v", path, w.Header())
		}
	}
}
