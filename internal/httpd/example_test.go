package httpd_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"loregate/internal/access"
	"loregate/internal/httpd"
	"loregate/internal/op"
)

// A route belongs to an operation: path, query and body become its input.
func Example() {
	engine, err := op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{}), Surfaces: declared(), Worlds: worlds{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := httpd.New(httpd.Config{Engine: engine, Auth: people{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := httptest.NewRequest(http.MethodGet, "http://localhost/api/mcp/cards/Games+Butterfly%20Galaxii?tag=a,b", nil)
	r.Header.Set("Authorization", "Bearer user")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Println(w.Code, w.Body)
	// Output:
	// 200 {"seen":{"name":"Games+Butterfly Galaxii","limit":50,"tag":["a","b"]}}
}
