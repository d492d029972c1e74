package httpd_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"loregate/internal/body"
	"loregate/internal/httpd"
)

// untouched is a body that must not be read.
type untouched struct {
	t    *testing.T
	name string
}

func (u untouched) Read([]byte) (int, error) {
	u.t.Errorf("%s: the body was read", u.name)
	return 0, io.EOF
}

// Who may not make a call is refused before its large body is read, and so is who is not known at all.
func TestRefusedBodiesAreNotRead(t *testing.T) {
	s := newSite(t, nil)
	for _, row := range []struct {
		line, bearer string
		size         int64
		want         int
	}{
		{"DELETE /api/mcp/cards/a", "user", 1 << 20, http.StatusForbidden},
		{"DELETE /api/mcp/cards/a", "user", -1, http.StatusForbidden},
		{"POST /api/mcp/cards", "nobody", 1 << 20, http.StatusUnauthorized},
		{"POST /api/mcp/cards", "operator", 1 << 20, http.StatusNotFound}, // it has no role in the world
		{"POST /api/mcp/cards", "user", 5 << 20, http.StatusRequestEntityTooLarge},
		{"POST /api/mcp/cards/a/file", "user", 2 << 20, http.StatusRequestEntityTooLarge},
		{"POST /api/mcp/auth", "", 17 << 10, http.StatusRequestEntityTooLarge},
	} {
		method, target, _ := strings.Cut(row.line, " ")
		r := httptest.NewRequest(method, target, untouched{t, row.line})
		r.Host, r.ContentLength = "localhost", row.size
		r.Header.Set("Authorization", "Bearer "+row.bearer)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != row.want {
			t.Errorf("%s as %s: %d %s", row.line, row.bearer, w.Code, w.Body)
		}
	}
}

// A file arrives whole in each form in which it can be sent, and nothing of it is held afterwards; a file that is refused
// leaves nothing either.
func TestFilesLeaveNothing(t *testing.T) {
	spool := t.TempDir()
	in, err := body.New(body.Config{Folder: spool})
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, func(c *httpd.Config) { c.Bodies = in })
	file := strings.Repeat("0123456789", 50<<10)
	form := "--b\r\nContent-Disposition: form-data; name=\"filename\"\r\n\r\nx.txt\r\n" +
		"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"y.txt\"\r\n\r\n" + file + "\r\n--b--\r\n"
	inJSON := `{"filename": "x.txt", "data": "` + base64.StdEncoding.EncodeToString([]byte(file)) + `"}`
	const whole = `{"size":512000,"filename":"x.txt"}`
	for _, row := range []struct {
		name, kind, body string
		status           int
		want             string
	}{
		{"raw", "text/plain", file, 200, `{"size":512000,"filename":""}`},
		{"a form", "multipart/form-data; boundary=b", form, 200, whole},
		{"JSON", "application/json", inJSON, 200, whole},
		{"half a form", "multipart/form-data; boundary=b", form[:300_000], 400, ""},
		{"half of JSON", "application/json", inJSON[:300_000], 400, ""},
		{"JSON without base64", "application/json", `{"data": "` + file + `!"}`, 400, "base64"},
		{"two files", "multipart/form-data; boundary=b", strings.Replace(form, "--b--\r\n", form, 1), 400, "twice"},
		{"too large", "text/plain", strings.Repeat(file, 3), 413, ""},
	} {
		w := s.ask("POST /api/mcp/cards/a/file", row.body, "Content-Type: "+row.kind)
		if w.Code != row.status || !strings.Contains(w.Body.String(), row.want) {
			t.Errorf("%s: %d %s", row.name, w.Code, w.Body)
		}
		if list, err := os.ReadDir(spool); in.InMemory() != 0 || in.OnDisk() != 0 || err != nil || len(list) > 0 {
			t.Errorf("%s: %d bytes are held in memory, %d on disk, in %v, %v", row.name, in.InMemory(), in.OnDisk(), list, err)
		}
	}
}
