package httpd

import (
	"net/url"
	"strings"
	"testing"
)

// A client that escapes a name gets the route of that name.
func FuzzSegments(f *testing.F) {
	for _, s := range []string{"A+B", "..", "a/b", "100%", "%2E", "Mañana", "", "a b", "%252e", "\x00", "children"} {
		f.Add(s)
	}
	t0 := newRouter()
	_ = t0.add("GET /api/mcp/cards/{name}", nil)
	_ = t0.add("GET /api/mcp/cards/{name}/children", nil)
	_ = t0.add("POST /api/mcp/cards/batch", nil)
	f.Fuzz(func(t *testing.T, name string) {
		splitPath(name)
		t0.findRoute("GET", name)
		for _, suffix := range []string{"", "/children"} {
			l, values, _ := t0.findRoute("GET", "/api/mcp/cards/"+url.PathEscape(name)+suffix)
			if name == "" {
				continue
			}
			want := twiceEncodedDots.Replace(name)
			if l == nil || values[0] != want || strings.HasSuffix(l.pattern, "children") != (suffix != "") {
				t.Fatalf("%q%s: found %v %q", name, suffix, l, values)
			}
		}
	})
}
