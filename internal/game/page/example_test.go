package page_test

import (
	"fmt"
	"net/http/httptest"

	"loregate/internal/access"
	"loregate/internal/game/page"
)

// The page needs the console's stylesheet, and may load no other file.
func ExampleNew() {
	w := httptest.NewRecorder()
	page.New("/assets/app.css")(w, httptest.NewRequest("GET", "/play", nil), access.Caller{}, nil)
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	// Output: 200 text/html; charset=utf-8
}
