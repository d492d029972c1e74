package consoletest

import (
	"archive/zip"
	"bytes"
	"html"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
)

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

// TestAnImportIsCancelledOnItsPage cancels the check of many notes, which waits or runs.
func TestAnImportIsCancelledOnItsPage(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	gm, player := s.visitor(), s.visitor()
	gm.signIn(s.code(access.RoleGM))
	player.signIn(s.code(access.RoleUser))
	var notes bytes.Buffer
	z := zip.NewWriter(&notes)
	for i := range 40_000 {
		w, err := z.Create("note " + strconv.Itoa(i) + ".md")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte("# Note\n\nThe mill stands by [[note " + strconv.Itoa(i+1) + "]].\n"))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	_, body, answer := gm.sendFiles("/import/lendwater", map[string]string{"notes.zip": notes.String()})
	at := answer.Request.URL.Path
	if !strings.Contains(body, `action="`+at+`/cancel"`) {
		t.Fatalf("the page of the check has no button to cancel it: %.3000s", body)
	}
	if _, body, _ := gm.send("GET", "/import/lendwater", nil); !strings.Contains(body, "Under way") ||
		!strings.Contains(body, `action="`+at+`/cancel"`) {
		t.Errorf("the page of imports does not list the check: %.3000s", body)
	}
	if status, _, _ := player.send("POST", at+"/cancel", nil); status != 404 && status != 403 {
		t.Errorf("a player cancels it: %d", status)
	}
	if status, body, _ := gm.send("POST", at+"/cancel", nil); status != 200 || !strings.Contains(body, "it was cancelled") {
		t.Errorf("%d %.3000s", status, body)
	}
	if _, body, _ := gm.send("GET", "/import/lendwater", nil); strings.Contains(body, "Under way") {
		t.Errorf("the page of imports lists a cancelled check: %.3000s", body)
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

// oddMarks is a vault whose marks have colons, quotes, signs and other letters in their texts.
var oddMarks = map[string]string{
	"A.md":                     "<details><summary>The secret door</summary>ONE</details>\n",
	"B.md":                     "---\nstatus: \"Secret: the <b>'plan'</b>, \\\"two\\\" & more #1\"\n---\nTWO\n",
	"C.md":                     "**GM notes about x:** THREE\n\n# Société secrète :: #4, \"x\"\n\nFOUR\n",
	"Geheime Orte/D.md":        "x\n",
	"#hidden, a & 'b'; c/E.md": "FIVE\n",
	"F.md":                     "A text. #secrets-of/the-sea\n",
	"G.md":                     "---\naccess: gm\n\"my secret: \\\"key\\\"\": SIX\n---\nx\n",
	"I.md":                     "![[A & 'b' #1.canvas]] ![[Folder, x/T.csv]]\n",
	"A & 'b' #1.canvas":        `{"nodes":[{"type":"text","text":"%%EIGHT%%"}]}`,
	"Folder, x/T.csv":          "name,gm notes\nx,NINE\n",
	"H.md":                     "# " + strings.Repeat("Secrets of the long, long way ", 60) + "\n\nSEVEN\n",
}

// TestEveryQuestionIsAnsweredOnThePage answers each question of a check in both ways, and takes an answer back.
func TestEveryQuestionIsAnsweredOnThePage(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	gm := s.visitor()
	gm.signIn(s.code(access.RoleGM))
	for _, answer := range []string{"open", "confirm"} {
		_, body, res := gm.sendFiles("/import/lendwater", map[string]string{"odd.zip": zipOf(t, oddMarks)})
		marks := questionsOf(body)
		if len(marks) < 8 || !strings.Contains(body, "HTML element: details") {
			t.Fatalf("%d questions: %q %s", len(marks), marks, body[strings.Index(body, "<main"):])
		}
		form := url.Values{"level": {"user"}, "mark": marks}
		for i := range marks {
			form.Set("decide-"+strconv.Itoa(i), answer)
		}
		status, body, res := gm.send("POST", res.Request.URL.Path+"/check", form)
		if left := questionsOf(body); status != 200 || len(left) > 0 || strings.Contains(body, `role="alert"`) {
			t.Errorf("%s: %d, these questions stay: %q\n%.2000s", answer, status, left, body)
		}
		form = url.Values{"level": {"user"}, answer: marks[1:]}
		if _, body, _ = gm.send("POST", res.Request.URL.Path+"/check", form); len(questionsOf(body)) != 1 {
			t.Errorf("%s: one answer is taken back, and %q are asked", answer, questionsOf(body))
		}
	}
}

// TestAmbiguousLinksAreAnsweredOnThePage decides which note a link means, in each way.
func TestAmbiguousLinksAreAnsweredOnThePage(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	gm := s.visitor()
	gm.signIn(s.code(access.RoleGM))
	_, body, res := gm.sendFiles("/import/lendwater", map[string]string{"v.zip": zipOf(t, map[string]string{
		"A/Tavern & co.md": "one", "B/Tavern & co.md": "two", "C/Road.md": "[[Tavern & co]]"})})
	for _, note := range []string{"B/Tavern & co.md", "A/Tavern & co.md"} {
		answer := "Tavern & co=" + note
		if option := `name="link-0" value="` + html.EscapeString(answer) + `"`; !strings.Contains(body, option) {
			t.Fatalf("%s is no answer on the page: %s", answer, body[strings.Index(body, "<main"):])
		}
		_, body, res = gm.send("POST", res.Request.URL.Path+"/check", url.Values{"level": {"user"}, "link": {"Tavern & co"},
			"link-0": {answer}})
		if !strings.Contains(body, `value="`+html.EscapeString(answer)+`" checked`) || strings.Contains(body, `role="alert"`) {
			t.Errorf("the answer %s is not taken: %.3000s", answer, body)
		}
	}
}

// TestARefusedAnswerLosesNoOther sends an answer that fits no question with others that do.
func TestARefusedAnswerLosesNoOther(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	gm := s.visitor()
	gm.signIn(s.code(access.RoleGM))
	_, body, res := gm.sendFiles("/import/lendwater", map[string]string{"odd.zip": zipOf(t, oddMarks)})
	marks := questionsOf(body)
	form := url.Values{"level": {"user"}, "mark": marks, "open": {"no such mark"}, "hide_links": {"on"}}
	for i := range marks {
		form.Set("decide-"+strconv.Itoa(i), []string{"open", "confirm"}[i%2])
	}
	answered := func(what, body string) {
		t.Helper()
		for i := range marks {
			want := `name="decide-` + strconv.Itoa(i) + `" value="` + []string{"open", "confirm"}[i%2] + `" checked`
			if !strings.Contains(body, want) {
				t.Errorf("%s: the answer to %q is lost", what, marks[i])
			}
		}
	}
	_, body, res = gm.send("POST", res.Request.URL.Path+"/check", form)
	if !strings.Contains(body, "odd.zip: open: there is no suspicion called") || strings.Contains(body, "/carry-out") {
		t.Errorf("the problem is not shown with its file: %s", body[strings.Index(body, "<main"):])
	}
	answered("a refused choice", body)
	form.Set("open", strings.Repeat("long ", 400))
	status, body, res := gm.send("POST", res.Request.URL.Path+"/check", form)
	if status != 400 {
		t.Errorf("a choice that is too long: %d", status)
	}
	answered("a refused form", body)
	form.Del("open")
	if _, body, _ = gm.send("POST", res.Request.URL.Path, form); strings.Contains(body, `role="alert"`) ||
		len(questionsOf(body)) > 0 {
		t.Errorf("the answers are not taken: %.3000s", body)
	}
}

var questionForm = regexp.MustCompile(`<input type="hidden" name="mark" value="([^"]*)"`)

// questionsOf returns the marks that a page asks about.
func questionsOf(body string) (marks []string) {
	for _, m := range questionForm.FindAllStringSubmatch(body, -1) {
		marks = append(marks, html.UnescapeString(m[1]))
	}
	return marks
}

// zipOf returns an archive of files.
func zipOf(t *testing.T, files map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, text := range files {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
