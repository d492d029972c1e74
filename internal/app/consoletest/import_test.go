package consoletest

import (
	"archive/zip"
	"bytes"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"loregate/internal/access"
	"loregate/internal/app"
)

// vaultFiles are the notes of a small vault, by path.
var vaultFiles = map[string]string{
	"Kelp House.md":          "The house of weed. [[The Cellar]] and [[Old Feud]].\n",
	"GM Notes/The Cellar.md": "Under the house.\n",
	"Secrets/Old Feud.md":    "They hate each other.\n",
}

// newVault writes a small vault to a folder.
func newVault(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "kelp")
	for name, text := range vaultFiles {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestAFolderIsImported chooses a folder, reads what would change, opens a suspicion, and imports it.
func TestAFolderIsImported(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	script := loadAxe(t)
	for _, width := range []int64{390, 1920} {
		p := newTab(t, s.base, width)
		if width > 1000 {
			p.dark()
		}
		p.signIn(s.link(access.RoleGM))
		p.checkAxe(script, "/import/lendwater")
		p.look("import-" + p.eval("innerWidth"))
		p.do(chromedp.SetUploadFiles(chromedp.CSS("#folder"), []string{newVault(t)}))
		p.waits(`document.querySelector("#folder").files.length === 3`, "the browser lists the folder")
		p.click("Check")
		p.wants("What would change")
		p.wants("3 files")
		p.checkAxe(script, p.eval("location.pathname"))
		p.look("import-check-" + p.eval("innerWidth"))
		if width > 1000 {
			continue
		}
		for _, name := range []string{"Kelp House", "The Cellar"} {
			v := s.visitor()
			v.signIn(s.keys[access.RoleAdmin])
			if status, _, _ := v.send("GET", "/w/lendwater/"+strings.ReplaceAll(name, " ", "%20"), nil); status != 404 {
				t.Errorf("a check makes %s", name)
			}
		}
		p.eval(`for (const f of document.querySelectorAll("fieldset"))
			f.querySelector(f.innerText.includes("GM Notes") ? "[value=confirm]" : "[value=open]").click()`)
		p.click("Check again with these choices")
		p.waits(`document.querySelectorAll("fieldset").length === 0`, "nothing is left to decide")
		p.click("Import exactly this")
		p.wants("Imported")
		p.checkAxe(script, p.eval("location.pathname"))
		p.look("import-done")
		p.click("To the cards")
		for name, seen := range map[string]int{"Kelp%20House": 200, "The%20Cellar": 404, "Old%20Feud": 200} {
			player := s.visitor()
			player.signIn(s.keys[access.RoleUser])
			if status, _, _ := player.send("GET", "/w/lendwater/"+name, nil); status != seen {
				t.Errorf("%s is %d for a player, want %d", name, status, seen)
			}
		}
	}
}

// TestFilesAreSentWithoutScripts sends a form with files, and downloads the world.
func TestFilesAreSentWithoutScripts(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	gm, player := s.visitor(), s.visitor()
	gm.signIn(s.code(access.RoleGM))
	player.signIn(s.code(access.RoleUser))
	status, body, answer := gm.sendFiles(
		"/import/lendwater",
		map[string]string{"inns.csv": "name,text\nThe Float,An inn on a barge.\n"},
	)
	if status != 200 || !strings.Contains(body, "1 card created") {
		t.Fatalf("%d %.3000s", status, body)
	}
	at := answer.Request.URL.Path
	if status, _, _ := player.send("GET", at, nil); status != 403 {
		t.Errorf("a player reads the check of a game master: %d", status)
	}
	if status, body, _ := gm.send("POST", at+"/carry-out", nil); status != 200 || !strings.Contains(body, "Imported") {
		t.Errorf("%d %.2000s", status, body)
	}
	gm.wants("/w/lendwater/The%20Float", "An inn on a barge.")
	if _, body, _ := gm.send("POST", at+"/carry-out", nil); !strings.Contains(body, "send them again") {
		t.Errorf("an import is carried out twice: %d %.2000s", status, body)
	}
	if status, _, _ := player.sendFiles("/import/lendwater", map[string]string{"a.csv": "name\nx\n"}); status != 403 {
		t.Errorf("a player imports: %d", status)
	}
	if status, _, _ := gm.sendFiles("/import/lendwater", nil); status != 400 {
		t.Errorf("a form without files: %d", status)
	}
	path := filepath.Join(t.TempDir(), "world.lore")
	if _, err := s.app.Export(t.Context(), "lore", app.SampleWorld, path, access.RoleUser, nil); err != nil {
		t.Fatal(err)
	}
	bundle, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	status, body, _ = gm.sendFiles("/import/lendwater", map[string]string{"world.lore": string(bundle)})
	if !strings.Contains(body, "the operator imports it") {
		t.Errorf("a bundle: %d %.2000s", status, body)
	}

	status, body, _ = gm.send("GET", "/export/lendwater?role=user&format=markdown", nil)
	z, err := zip.NewReader(strings.NewReader(body), int64(len(body)))
	if status != 200 || err != nil || len(z.File) < 100 {
		t.Fatalf("the download: %d %v", status, err)
	}
	if status, _, _ := gm.send("GET", "/export/lendwater?role=admin", nil); status != 400 {
		t.Errorf("a game master downloads as an admin: %d", status)
	}
	if status, _, _ := player.send("GET", "/export/lendwater?role=user", nil); status != 403 {
		t.Errorf("a player downloads: %d", status)
	}
}

// sendFiles posts a form with files, by name.
func (v *visitor) sendFiles(path string, files map[string]string) (status int, body string, res *http.Response) {
	v.t.Helper()
	var form bytes.Buffer
	m := multipart.NewWriter(&form)
	for name, text := range files {
		w, err := m.CreateFormFile("file", name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			v.t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		v.t.Fatal(err)
	}
	return v.sendBody("POST", path, &form, "Content-Type: "+m.FormDataContentType())
}
