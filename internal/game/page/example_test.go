package page_test

import (
	"fmt"
	"net/http/httptest"

	"loregate/internal/access"
	"loregate/internal/game/page"
)

// The page needs no other file, and may load none.
func ExampleServe() {
	w := httptest.NewRecorder()
	page.Serve(w, httptest.NewRequest("GET", "/play", nil), access.Caller{}, nil)
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	// Output: 200 text/html; charset=utf-8
}
