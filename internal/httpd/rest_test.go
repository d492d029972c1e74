package httpd_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"mime/multipart"
	"strings"
	"testing"
)

func TestInputFromRequest(t *testing.T) {
	s := newSite(t, nil)
	for _, tc := range []struct{ name, line, body, want string }{
		{"plain", "GET /api/mcp/cards/Rivers", "", `"name":"Rivers","limit":50`},
		{"plus is literal, space encoded", "GET /api/mcp/cards/Games+Butterfly%20Galaxii+Player", "",
			`"name":"Games+Butterfly Galaxii+Player","limit":50`},
		{"plus encoded", "GET /api/mcp/cards/A%2BB", "", `"name":"A+B","limit":50`},
		{"slash encoded", "GET /api/mcp/cards/A%2FB", "", `"name":"A/B","limit":50`},
		{"one dot", "GET /api/mcp/cards/.", "", `"name":".","limit":50`},
		{"two dots", "GET /api/mcp/cards/..", "", `"name":"..","limit":50`},
		{"dots encoded", "GET /api/mcp/cards/%2E%2e", "", `"name":"..","limit":50`},
		{"dots encoded twice", "GET /api/mcp/cards/%252E%252e/children", "", `"name":"..","limit":50`},
		{"percent", "GET /api/mcp/cards/100%25", "", `"name":"100%","limit":50`},
		{"a card called batch", "GET /api/mcp/cards/batch", "", `"name":"batch","limit":50`},
		{"a card called children", "GET /api/mcp/cards/children/children", "", `"name":"children","limit":50`},
		{"unicode", "GET /api/mcp/cards/Ma%C3%B1ana", "", `"name":"Mañana","limit":50`},
		{"query is typed", "GET /api/mcp/cards/A?limit=7&full&ratio=0.5", "", `"name":"A","limit":7,"full":true,"ratio":0.5`},
		{"plus stays plus in a query", "GET /api/mcp/cards/A?content=x+y%2Bz%20w", "",
			`"name":"A","limit":50,"content":"x+y+z w"`},
		{"lists repeat or have commas", "GET /api/mcp/cards/A?tag=a&tag=b,c&versions=1,2", "",
			`"name":"A","limit":50,"tag":["a","b","c"],"versions":[1,2]`},
		{"the world is not an input", "GET /api/mcp/cards/A?world=main", "", `"name":"A","limit":50`},
		{"body and path", "PATCH /api/mcp/cards/A", ` { "content" : "x" } `, `"name":"A","limit":50,"content":"x"`},
		{"empty body", "PATCH /api/mcp/cards/A", ``, `"name":"A","limit":50`},
		{"empty object", "PATCH /api/mcp/cards/A", `{ }`, `"name":"A","limit":50`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := s.ask(tc.line, tc.body)
			if want := `{"seen":{` + tc.want + `}}`; w.Code != 200 || w.Body.String() != want {
				t.Errorf("%s\ngot  %d %s\nwant %s", tc.line, w.Code, w.Body, want)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	s := newSite(t, nil)
	for _, tc := range []struct {
		name, line, body string
		headers          []string
		code             int
		want             string // part of the body
	}{
		{"no such address", "GET /api/mcp/nothing", "", nil, 404, `"code":"not_found"`},
		{"an encoded slash is no step", "GET /api/mcp%2Fcards/A", "", nil, 404, `"code":"not_found"`},
		{"no such method", "PUT /api/mcp/cards/A", "{}", nil, 405, `use DELETE, GET, HEAD, OPTIONS, PATCH`},
		{"hidden or absent", "GET /api/mcp/cards/absent", "", nil, 404, `no card \"absent\"`},
		{"in the surface's words", "GET /api/campaigns/absent", "", nil, 404, `"code":"NOT_FOUND"`},
		{"role too low", "DELETE /api/mcp/cards/A", "", nil, 403, `"required_role":"admin"`},
		{"bad number", "GET /api/mcp/cards/A?limit=many", "", nil, 400, `"field":"limit"`},
		{"unknown parameter", "GET /api/mcp/cards/A?limt=3", "", nil, 400, `did you mean \"limit\"?`},
		{"twice in the query", "GET /api/mcp/cards/A?limit=3&limit=4", "", nil, 400, `is given twice`},
		{"in path and query", "GET /api/mcp/cards/A?name=B", "", nil, 400, `is given twice`},
		{"in path and body", "PATCH /api/mcp/cards/A", `{"name":"B"}`, nil, 400, `is given twice`},
		{"an escape hides nothing", "PATCH /api/mcp/cards/A", `{"n\u0061me":"B"}`, nil, 400, `is given twice`},
		{"broken escape", "GET /api/mcp/cards/A?limit=%zz", "", nil, 400, `percent-encode`},
		{"no UTF-8 in the path", "GET /api/mcp/cards/%ff", "", nil, 400, `"field":"name"`},
		{"NUL in the path", "GET /api/mcp/cards/%00", "", nil, 400, `NUL`},
		{"not an object", "PATCH /api/mcp/cards/A", `[1]`, nil, 400, `must be a JSON object`},
		{"two values", "PATCH /api/mcp/cards/A", `{} {}`, nil, 400, `validation_error`},
		{"depth bomb", "PATCH /api/mcp/cards/A", `{"content":` + strings.Repeat("[", 100000), nil, 400,
			`nested more than 64 deep`},
		{"a name of a megabyte", "PATCH /api/mcp/cards/A", `{"` + strings.Repeat("k", 1<<20) + `":1}`, nil, 400,
			`is not known`},
		{"media type", "PATCH /api/mcp/cards/A", `a=b`, []string{"Content-Type: application/x-www-form-urlencoded"}, 415,
			`send application/json`},
		{"charset", "PATCH /api/mcp/cards/A", `{}`, []string{"Content-Type: application/json; charset=latin1"}, 415,
			`send UTF-8`},
		{"too large", "PATCH /api/mcp/cards/A", `{"content":"` + strings.Repeat("x", 4<<20) + `"}`, nil, 413,
			`"limit_bytes":4194304`},
		{"stale", "PATCH /api/mcp/cards/stale", "", nil, 412, `"code":"conflict"`},
		{"two entity tags", "PATCH /api/mcp/cards/A", "", []string{`If-Match: "1", "2"`}, 400, `one entity tag`},
		{"a condition that would be ignored", "POST /api/mcp/cards/A/file", "x",
			[]string{`If-Match: "1"`, "Content-Type: text/plain"}, 400, `If-Match`},
		{"no credentials", "GET /api/mcp/cards/A", "", []string{"Authorization: -"}, 401, `"code":"unauthorized"`},
		{"internal errors tell nothing", "GET /api/mcp/cards/broken", "", nil, 500, `"correlation_id":"id-`},
		{"panics tell nothing", "GET /api/mcp/cards/panic", "", nil, 500, `"correlation_id":"id-`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := s.ask(tc.line, tc.body, tc.headers...)
			if w.Code != tc.code || !strings.Contains(w.Body.String(), tc.want) {
				t.Errorf("got %d %.300s\nwant %d with %s", w.Code, w.Body, tc.code, tc.want)
			}
			if strings.Contains(w.Body.String(), "secret") || w.Body.Len() > 4096 {
				t.Errorf("tells too much: %.300s", w.Body)
			}
			if w.Header().Get("X-Correlation-Id") == "" || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("headers %v", w.Header())
			}
		})
	}
}

func TestReplyHeaders(t *testing.T) {
	s := newSite(t, nil)
	for _, tc := range []struct {
		name, line, body string
		headers          []string
		code             int
		header, want     string
	}{
		{"entity tag", "GET /api/mcp/cards/etagged", "", nil, 200, "ETag", `"7"`},
		{"not modified", "GET /api/mcp/cards/etagged", "", []string{`If-None-Match: "6", W/"7"`}, 304, "ETag", `"7"`},
		{"modified", "GET /api/mcp/cards/etagged", "", []string{`If-None-Match: "6"`}, 200, "ETag", `"7"`},
		{"head", "HEAD /api/mcp/cards/A", "", nil, 200, "Content-Length", "32"},
		{"created", "POST /api/mcp/cards", `{"name":"new"}`, nil, 201, "Location", "/api/mcp/cards/new"},
		{"mixed", "POST /api/mcp/cards/batch", `{"name":"mixed"}`, nil, 207, "Content-Type", "application/json"},
		{"replayed", "PATCH /api/mcp/cards/again", ``, nil, 200, "Idempotency-Replayed", "true"},
		{"what a proposal cites", "PATCH /api/mcp/cards/cited", ``, nil, 200, "X-Context-Ref", "sealed"},
		{"options", "OPTIONS /api/mcp/cards/A", "", nil, 204, "Allow", "DELETE, GET, HEAD, OPTIONS, PATCH"},
		{"correlation kept", "GET /api/mcp/cards/A", "", []string{"X-Correlation-Id: abc.DEF_1-2"}, 200, "X-Correlation-Id",
			"abc.DEF_1-2"},
		{"token's rest", "GET /api/mcp/cards/A", "", nil, 200, "X-Token-Expires-In", "90"},
		{"token's rest on a refusal", "GET /api/mcp/cards/absent", "", nil, 404, "X-Token-Expires-In", "90"},
		{"expired", "GET /api/mcp/cards/A", "", []string{"Authorization: Bearer expired"}, 401, "WWW-Authenticate",
			`Bearer error="expired"`},
		{"missing", "GET /api/mcp/cards/A", "", []string{"Authorization: -"}, 401, "WWW-Authenticate", `Bearer`},
		{"unknown", "GET /api/mcp/cards/A", "", []string{"Authorization: Bearer who"}, 401, "WWW-Authenticate",
			`Bearer error="invalid_token"`},
		{"no store", "GET /api/mcp/cards/A", "", nil, 200, "Cache-Control", "no-store"},
		{"download", "GET /api/mcp/cards/a%22b/file", "", nil, 200, "Content-Disposition", `attachment; filename="a\"b.svg"`},
		{"download is not sniffed", "GET /api/mcp/cards/A/file", "", nil, 200, "X-Content-Type-Options", "nosniff"},
		{"ranges of a download", "GET /api/mcp/cards/A/file", "", []string{"Range: bytes=0-3"}, 206, "Content-Range",
			"bytes 0-3/21"},
		{"openapi", "GET /api/openapi.json", "", []string{"Authorization: -"}, 200, "Content-Type", "application/json"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := s.ask(tc.line, tc.body, tc.headers...)
			if got := w.Header().Get(tc.header); w.Code != tc.code || got != tc.want {
				t.Errorf("got %d %s: %q, want %d %q; %.200s", w.Code, tc.header, got, tc.code, tc.want, w.Body)
			}
		})
	}
	for _, bad := range []string{"has space", strings.Repeat("x", 65), "a\tb", "é"} {
		if w := s.ask("GET /healthz", "", "X-Correlation-Id: "+bad); w.Header().Get("X-Correlation-Id") == bad {
			t.Errorf("the correlation id %q was kept", bad)
		}
	}
}

func TestHeadersIntoInput(t *testing.T) {
	s := newSite(t, nil)
	w := s.ask("PATCH /api/mcp/cards/A", `{}`, `If-Match: W/"7"`, "Idempotency-Key: k-1")
	if want := `{"seen":{"name":"A","limit":50,"if_match":"7"},"key":"k-1"}`; w.Body.String() != want {
		t.Errorf("got %s, want %s", w.Body, want)
	}
	w = s.ask("GET /api/mcp/queries/faction_cards?who=x+y&n=3", "")
	if want := `{"q":"faction_cards","args":{"n":"3","who":"x+y"}}`; w.Body.String() != want {
		t.Errorf("got %s, want %s", w.Body, want)
	}
}

func TestUploads(t *testing.T) {
	s := newSite(t, nil)
	const route = "POST /api/mcp/cards/A/file"
	form := func(file []byte) (string, string) {
		var b bytes.Buffer
		m := multipart.NewWriter(&b)
		p, _ := m.CreateFormFile("file", "/etc/map.png")
		_, _ = p.Write(file)
		_ = m.Close()
		return b.String(), "Content-Type: " + m.FormDataContentType()
	}
	small, big := bytes.Repeat([]byte{0, 0xff}, 5000), make([]byte, 1<<20+1)
	body, kind := form(small)
	bigBody, bigKind := form(big)
	encoded := func(b []byte) string {
		return fmt.Sprintf(`{"data":%q,"filename":"m.png"}`, base64.StdEncoding.EncodeToString(b))
	}
	for _, tc := range []struct {
		name, body string
		headers    []string
		code       int
		want       string
	}{
		{"raw", string(small), []string{"Content-Type: image/png", `Content-Disposition: attachment; filename="m.png"`}, 200,
			`{"size":10000,"filename":"m.png"}`},
		{"form, path of the name dropped", body, []string{kind}, 200, `{"size":10000,"filename":"map.png"}`},
		{"base64", encoded(small), []string{"Content-Type: application/json"}, 200, `{"size":10000,"filename":"m.png"}`},
		{"base64 at the cap", encoded(big[1:]), []string{"Content-Type: application/json"}, 200,
			`{"size":1048576,"filename":"m.png"}`},
		{"raw at the cap", string(big[1:]), []string{"Content-Type: image/png"}, 200, `{"size":1048576,"filename":""}`},
		{"raw over the cap", string(big), []string{"Content-Type: image/png"}, 413, `"limit_bytes":1048576`},
		{"form over the cap", bigBody, []string{bigKind}, 413, `"limit_bytes":1048576`},
		{"base64 over the cap", encoded(big), []string{"Content-Type: application/json"}, 413, `"limit_bytes":1048576`},
		{"not base64", `{"data":"%%%"}`, []string{"Content-Type: application/json"}, 400, `must be base64`},
		{"no file", `{}`, []string{"Content-Type: application/json"}, 400, `"field":"data"`},
		{"form cut short", body[:3000], []string{kind}, 400, `did not arrive completely`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := s.ask(route, tc.body, tc.headers...)
			if w.Code != tc.code || !strings.Contains(w.Body.String(), tc.want) {
				t.Errorf("got %d %.300s\nwant %d %s", w.Code, w.Body, tc.code, tc.want)
			}
		})
	}
}

// A request that never becomes an invocation is counted and recorded like one.
func TestUnreadableRequestIsRecorded(t *testing.T) {
	s := newSite(t, nil)
	s.ask("PATCH /api/mcp/cards/A", strings.Repeat("x", 4<<20+1))
	if len(*s.records) != 1 || (*s.records)[0].Outcome != "payload_too_large" ||
		(*s.records)[0].Operation != "update_card" {
		t.Errorf("records %+v", *s.records)
	}
}
