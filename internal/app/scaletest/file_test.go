package scaletest

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"image"
	"image/png"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/op"
	"loregate/internal/store/postgres/pgtest"
)

// chart is a PNG that says more than it shows.
func chart(t *testing.T, says string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 6))); err != nil {
		t.Fatal(err)
	}
	body := []byte("tEXtComment\x00" + says)
	out := binary.BigEndian.AppendUint32(bytes.Clone(b.Bytes()[:33]), uint32(len(body)-4))
	out = binary.BigEndian.AppendUint32(append(out, body...), crc32.ChecksumIEEE(body))
	return append(append(out, b.Bytes()[33:]...), says...)
}

// TestPlayersGetPicturesWithoutTheirPast stores a picture with a comment and a telling file name, and looks for both in
// everything that a player gets, on both stores.
func TestPlayersGetPicturesWithoutTheirPast(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"SQLite", "PostgreSQL"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := apptest.Config(t, t.TempDir())
			if name == "PostgreSQL" {
				c.Database = pgtest.Empty(t)
			}
			a, shut := apptest.Open(t, c, apptest.Quiet())
			t.Cleanup(shut)
			if err := a.EnsureWorld(t.Context()); err != nil {
				t.Fatal(err)
			}
			lookForThePast(t, a)
		})
	}
}

func lookForThePast(t *testing.T, a *app.App) {
	t.Helper()
	raw := map[string][]byte{"Chart": chart(t, "xyzzy"), "Plan": chart(t, "xyzzy, which is longer")}
	for card, data := range raw {
		invoke(t, a, access.RoleGM, "mcp", "upload_attachment", map[string]any{"name": card, "filename": "xyzzy tomb.png",
			"data": data})
	}
	invoke(t, a, access.RoleGM, "mcp", "upload_attachment", map[string]any{"name": "Photo", "filename": "xyzzy.heic",
		"type": "File", "data": []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00xyzzy")})
	if got := invoke(t, a, access.RoleGM, "rest", "get_attachment", map[string]any{"name": "Chart"}); !bytes.Equal(
		got.Reply.File.Data, raw["Chart"]) || got.Reply.File.Name != "xyzzy tomb.png" {
		t.Errorf("the game master gets %q", got.Reply.File.Name)
	}
	seen := map[string]string{}
	for card := range raw {
		for _, transport := range []string{"rest", "mcp", "console"} {
			got := invoke(t, a, access.RoleUser, transport, "get_attachment", map[string]any{"name": card})
			text := string(got.Output)
			if f := got.Reply.File; f != nil {
				text += f.Name + string(f.Data)
				if _, err := png.Decode(bytes.NewReader(f.Data)); err != nil || f.Name != card+".png" {
					t.Errorf("%s: %q: %v", transport, f.Name, err)
				}
			}
			var out struct {
				SHA256 string `json:"sha256"`
				Data   []byte `json:"content_base64"`
			}
			if err := json.Unmarshal(got.Output, &out); err != nil || out.SHA256 != got.Reply.ETag {
				t.Errorf("%s: the tag is %s, the hash %s: %v", transport, got.Reply.ETag, out.SHA256, err)
			}
			if strings.Contains(text+string(out.Data), "xyzzy") {
				t.Errorf("over %s a player gets what the file says", transport)
			}
			seen[card] = got.Reply.ETag
		}
		for operation, in := range map[string]map[string]any{"get_card": {"name": card}, "get_card_history": {"name": card},
			"get_revision": {"name": card, "version": 1}, "get_file_url": {"name": card}, "search_cards": {"q": card}} {
			if got := invoke(t, a, access.RoleUser, "rest", operation, in); strings.Contains(string(got.Output), "xyzzy") {
				t.Errorf("%s tells the file's name: %s", operation, got.Output)
			}
		}
	}
	list := string(invoke(t, a, access.RoleUser, "rest", "search_cards", map[string]any{"type": "Image"}).Output)
	if n := strings.Count(list, `"content_length":0`); n < len(raw) || n != strings.Count(list, `"content_length":`) {
		t.Errorf("a list tells the sizes of files: %s", list)
	}
	if seen["Chart"] != seen["Plan"] {
		t.Error("two pictures that look alike have two tags for a player")
	}
	_, err := a.Ops.Invoke(t.Context(), app.Local(access.RoleUser), op.Request{Operation: "get_attachment",
		World: app.FirstWorld, Transport: "rest", Input: []byte(`{"name": "Photo"}`)})
	if err == nil || strings.Contains(err.Error(), "xyzzy") {
		t.Errorf("a picture that cannot be cleaned: %v", err)
	}
	exportThePast(t, a)
}

// exportThePast looks into exports as a player, and for all data in those of a game master.
func exportThePast(t *testing.T, a *app.App) {
	t.Helper()
	for _, format := range []string{"markdown", "lore", "site"} {
		for role, wants := range map[access.Role]bool{access.RoleUser: false, access.RoleGM: format != "site"} {
			path := filepath.Join(t.TempDir(), "out")
			if _, err := a.Export(t.Context(), format, app.FirstWorld, path, role, nil); err != nil {
				t.Fatal(format, err)
			}
			if format == "site" && role == access.RoleGM {
				path = filepath.Join(path, "files") // its pages show game masters the fields of cards
			}
			text := everythingIn(t, path)
			if has := strings.Contains(text, "xyzzy"); has != wants {
				t.Errorf("%s as %s: has what a file says: %t", format, role, has)
			}
			if strings.Count(text, "IHDR") == 0 {
				t.Errorf("%s as %s has no picture", format, role)
			}
		}
	}
}

// everythingIn returns the names and bytes of a file or of a folder's files; archives are opened.
func everythingIn(t *testing.T, path string) string {
	t.Helper()
	var text strings.Builder
	read := func(files fs.FS) error {
		return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			f, err := files.Open(name)
			if err != nil {
				return err
			}
			defer f.Close()
			text.WriteString(name + "\n")
			_, err = io.Copy(&text, f)
			return err
		})
	}
	z, err := zip.OpenReader(path)
	if err == nil {
		defer z.Close()
		err = read(z)
	} else {
		err = read(os.DirFS(path))
	}
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func invoke(t *testing.T, a *app.App, role access.Role, transport, operation string, in any) *op.Answer {
	t.Helper()
	input, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Ops.Invoke(t.Context(), app.Local(role), op.Request{Operation: operation, World: app.FirstWorld,
		Transport: transport, Input: input})
	if err != nil {
		t.Fatalf("%s %s: %v", operation, input, err)
	}
	return got
}

// siteName is the form of all names of files in a site: no server reads one of them as settings, runs it, or serves it as
// a page of a folder.
var siteName = regexp.MustCompile(
	`^(index\.html|assets/(app\.css|site\.js|cards\.js|icon\.svg)|cards/[\p{L}\p{N}-]+\.html|` +
		`files/[\p{L}\p{N}-]+-[0-9a-f]{12}\.(png|jpg|gif|webp|svg|bmp|mp3|wav|pdf|txt))$`)

// TestSiteRunsNothing exports files that servers and browsers run, under names that they read.
func TestSiteRunsNothing(t *testing.T) {
	t.Parallel()
	a, shut := apptest.Open(t, apptest.Config(t, t.TempDir()), apptest.Quiet())
	t.Cleanup(shut)
	if err := a.EnsureWorld(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone := map[string]string{"evil.html": "<html><script>xyzzy</script>", "page.php": "<?php xyzzy ?>",
		"shell.sh": "#!/bin/sh\nxyzzy", "x.xhtml": `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">xyzzy</html>`,
		"picture.png": "<svg-no>xyzzy", "feed.xml": "<rss>xyzzy</rss>", "x.swf": "CWS\x01\x00xyzzy",
		"x.zip":      "PK\x03\x04xyzzy",
		"broken.png": "\x89PNG\r\n\x1a\nxyzzy", "x.wasm": "\x00asmxyzzy", "x.jpg": "\xff\xd8\xff\xe0<script>xyzzy</script>"}
	kept := map[string]string{"sw.js": "self.addEventListener('fetch', f)", ".htaccess": "AddType text/html .txt",
		".user.ini": "auto_prepend_file=x", "web.config": "plain words", "CNAME": "example.org", "_headers": "/*\n  X: y",
		"_redirects": "/* http://example.org", "robots.txt": "User-agent: *", "index.html": "words", "INDEX.HTML": "words",
		"Index": "words", "CON": "words", "nul.txt": "words", "com1": "words", "a": "one", "b-": "two", "..": "words",
		"drawing.svg": `<svg xmlns="http://www.w3.org/2000/svg" onload="xyzzy()"><script>xyzzy</script><rect/></svg>`}
	for _, files := range []map[string]string{gone, kept} {
		for name, text := range files {
			invoke(t, a, access.RoleUser, "mcp", "upload_attachment", map[string]any{"name": "File " + name,
				"filename": name, "type": "File", "data": []byte(text)})
		}
	}
	for _, name := range []string{"Index", "CON", "nul", "Com1", "Robots"} {
		invoke(t, a, access.RoleUser, "rest", "create_card", map[string]any{"name": name, "content": "words"})
	}
	dir := filepath.Join(t.TempDir(), "site")
	sum, err := a.Export(t.Context(), "site", app.FirstWorld, dir, access.RoleUser, nil)
	if err != nil || len(sum.Problems) != len(gone) {
		t.Fatalf("%d of %d are said: %v %v", len(sum.Problems), len(gone), sum.Problems, err)
	}
	names := map[string]bool{}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if fold := strings.ToLower(name); names[fold] || !siteName.MatchString(name) || strings.HasSuffix(fold,
			"/index.html") ||
			regexp.MustCompile(`/(con|nul|com1)\.`).MatchString(fold) {
			t.Errorf("a file has the name %s", name)
		} else {
			names[fold] = true
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if strings.HasPrefix(name, "files/") && strings.Contains(string(text), "xyzzy") {
			t.Errorf("%s has a script", name)
		}
		if strings.HasSuffix(name, ".txt") && !strings.HasPrefix(http.DetectContentType(text), "text/plain") {
			t.Errorf("%s is taken for %s", name, http.DetectContentType(text))
		}
		return err
	})
	if err != nil || !strings.Contains(everythingIn(t, dir), "<rect>") {
		t.Errorf("the drawing is lost: %v", err)
	}
}
