package consoletest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"mime"
	"net/http"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app/apptest"
)

// upload attaches a file to a card by REST.
func (s *stage) upload(name, level string, data []byte) {
	s.t.Helper()
	s.rest(access.RoleGM, "POST", "/api/mcp/cards/"+name+"/file", `{"level": "`+level+`", "data": "`+
		base64.StdEncoding.EncodeToString(data)+`"}`)
}

// TestPicturesAreShown shows attached pictures in a card's text, to those who may see them, and runs no file.
func TestPicturesAreShown(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 40, 30))); err != nil {
		t.Fatal(err)
	}
	s.upload("Chart", "user", picture.Bytes())
	s.upload("Secret%20Chart", "gm", picture.Bytes())
	s.upload("Trap", "user", []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`))
	s.rest(access.RoleGM, "POST", "/api/mcp/cards", `{"name": "Atlas", "type": "RichText", "content": "<p>{{Chart}}</p>"}`)
	p := newTab(t, s.base, 390)
	p.signIn(s.link(access.RoleUser))
	p.open("/w/lendwater/Atlas")
	p.waits(`document.querySelector(".text img")?.naturalWidth === 40`, "the picture is shown")
	player, gm := s.visitor(), s.visitor()
	player.signIn(s.code(access.RoleUser))
	gm.signIn(s.code(access.RoleGM))
	if status, _, _ := player.send("GET", "/file/lendwater/Secret%20Chart", nil); status != 404 {
		t.Errorf("a player gets a hidden picture: %d", status)
	}
	if status, _, _ := gm.send("GET", "/file/lendwater/Secret%20Chart?as=user", nil); status != 404 {
		t.Errorf("the view of a player shows a hidden picture: %d", status)
	}
	status, body, answer := gm.send("GET", "/file/lendwater/Secret%20Chart", nil)
	if status != 200 || body != picture.String() || answer.Header.Get("Content-Type") != "image/png" {
		t.Errorf("the game master gets %d, %s", status, answer.Header.Get("Content-Type"))
	}
	_, _, answer = player.send("GET", "/file/lendwater/Trap", nil)
	if h := answer.Header; h.Get("Content-Type") != "image/svg+xml" || // which is saved, not opened
		!strings.HasPrefix(h.Get("Content-Disposition"), "attachment") ||
		!strings.Contains(h.Get("Content-Security-Policy"), "sandbox") || h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("a file with a script may run: %v", h)
	}
}

// TestHostileFileNames attaches files whose names try to run scripts, to end headers, to leave a folder and to show
// another ending, and reads every page and header that has the name.
func TestHostileFileNames(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	gm := s.visitor()
	gm.signIn(s.code(access.RoleGM))
	at := s.base + "/api/mcp/cards/Weed%20Trap"
	for _, name := range []string{"a\r\nSet-Cookie: x=1.txt", "a\nb.txt", "a\x00.txt", "a\x7f.txt"} {
		body, err := json.Marshal(map[string]string{"filename": name, "data": "eA=="})
		if err != nil {
			t.Fatal(err)
		}
		status, answer := apptest.Send(t, "POST", at+"/file", s.keys[access.RoleGM], string(body))
		if status != 400 && status != 422 || !strings.Contains(string(answer), `"filename"`) {
			t.Errorf("%q: %d %s", name, status, answer)
		}
	}
	for _, name := range []string{`"><script>alert(1)</script>.txt`, `'"onmouseover=alert(1) x="`, `kelp"; filename="evil.exe`,
		"../../etc/passwd", `..\..\evil.exe`, "C:\\evil.exe", "/etc/passwd", "...", "kelp\u202etxt.exe", "kelp\u2066gpj.exe",
		"kelp\u2028Set-Cookie: x=1", "%0d%0aSet-Cookie: x=1", "<img src=x onerror=alert(1)>.svg", "[[Rent Quay]]{{Chart}}.md",
		strings.Repeat("ü", 120) + ".txt"} {
		body, err := json.Marshal(map[string]any{"filename": name, "data": []byte("x <script>alert(1)</script>")})
		if err != nil {
			t.Fatal(err)
		}
		if status, answer := apptest.Send(t, "POST", at+"/file", s.keys[access.RoleGM], string(body)); status >= 300 {
			t.Errorf("%q: %d %s", name, status, answer)
			continue
		}
		for _, page := range []string{"/w/lendwater/Weed%20Trap", "/edit/lendwater/Weed%20Trap", "/history/lendwater/Weed%20Trap",
			"/w/lendwater?q=weed", "/changes/lendwater", "/hovercard/lendwater/Weed%20Trap", "/tree/lendwater"} {
			_, html, _ := gm.send("GET", page, nil)
			if strings.Contains(html, "<script>alert") || strings.Contains(html, "<img src=x") ||
				strings.Contains(html, `"onmouseover`) || strings.ContainsAny(html, "\u202e\u2066\u2028") {
				t.Errorf("%q on %s:\n%s", name, page, html)
			}
		}
		_, _, console := gm.send("GET", "/file/lendwater/Weed%20Trap", nil)
		_, _, rest := s.visitor().send("GET", "/api/mcp/cards/Weed%20Trap/file", nil,
			"Authorization: Bearer "+s.keys[access.RoleGM])
		for where, h := range map[string]http.Header{"console": console.Header, "REST": rest.Header} {
			kind, params, err := mime.ParseMediaType(h.Get("Content-Disposition"))
			got := params["filename"]
			if err != nil || kind != "attachment" || len(h.Values("Content-Disposition")) != 1 || len(params) > 1 ||
				h.Get("Set-Cookie") != "" || h.Get("X-Content-Type-Options") != "nosniff" || strings.HasPrefix(got, ".") ||
				strings.ContainsAny(got, "/\\:\"\r\n\u202e\u2066\u2028") {
				t.Errorf("%q, %s: %v", name, where, h)
			}
		}
	}
}
