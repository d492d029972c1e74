package consoletest

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"strings"
	"testing"

	"loregate/internal/access"
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
