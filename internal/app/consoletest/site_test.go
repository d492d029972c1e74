package consoletest

import (
	"bytes"
	"image"
	"image/png"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
)

// TestAWorldAsASite exports the sample world as players see it, clicks through it, and searches it for what is
// hidden.
func TestAWorldAsASite(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 40, 30))); err != nil {
		t.Fatal(err)
	}
	s.upload("Chart%20%25", "user", picture.Bytes())
	for _, c := range []string{
		`{"name": "Atlas", "type": "RichText", "content": "<p>{{Chart %}} [[Rent Quay]] [[xyzzy vault]] [[Nowhere]]</p>"}`,
		`{"name": "xyzzy vault", "type": "RichText", "content": "<p>xyzzysecret</p>", "level": "gm"}`,
	} {
		s.rest(access.RoleGM, "POST", "/api/mcp/cards", c)
	}
	dir := filepath.Join(t.TempDir(), "site")
	sum, err := s.app.Export(t.Context(), "site", app.SampleWorld, dir, access.RoleUser, nil)
	if err != nil || sum.Cards < 100 {
		t.Fatal(sum, err)
	}
	if _, err := s.app.Export(t.Context(), "site", app.SampleWorld, dir, access.RoleUser, nil); err == nil {
		t.Error("a folder with files is written to")
	}
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if strings.Contains(string(text), "xyzzysecret") || strings.Contains(string(text), "GM only") ||
			strings.Contains(string(text), "xyzzy-vault") {
			t.Errorf("%s tells what is hidden", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	served := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer served.Close()
	p := newTab(t, served.URL, 390)
	script := loadAxe(t)
	p.checkAxe(script, "/index.html")
	p.look("site-index")
	p.click("Atlas")
	p.waits(`document.querySelector(".text img")?.naturalWidth === 40`, "the picture is shown")
	if n := p.eval(`document.querySelectorAll(".text a").length`); n != "1" {
		t.Errorf("%s links, want that to the quay alone", n)
	}
	p.click("Rent Quay")
	p.wants("three hundred yards of black stone")
	p.look("site-card")
	p.checkAxe(script, "/cards/rent-quay.html")
	p.fill("#find", "ledger crab")
	p.wants("Ledger Crab")
	p.look("site-found")
	p.fill("#find", "xyzzysecret")
	p.wants("Nothing was found.")
}
