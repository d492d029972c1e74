package bundle

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"loregate/internal/canon"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/fault"
	"loregate/internal/store/memory"
)

// parts returns the entries of a bundle by name.
func parts(t testing.TB, name string) map[string]string {
	t.Helper()
	z, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	out := map[string]string{}
	for _, e := range z.File {
		r, err := e.Open()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(r); err != nil {
			t.Fatal(err)
		}
		out[e.Name] = b.String()
	}
	return out
}

// rechain sets the numbers and the head of the manifest to those of the commits, as an attacker would.
func rechain(t testing.TB, p map[string]string) {
	t.Helper()
	var m Manifest
	if err := json.Unmarshal([]byte(p[manifestFile]), &m); err != nil {
		t.Fatal(err)
	}
	m.Commits, m.Head, m.Tables = 0, canon.Hash{}, nil
	for line := range strings.Lines(p[commitsFile]) {
		m.Head = canon.Chain(m.Head, []byte(strings.TrimSuffix(line, "\n")))
		m.Commits++
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	p[manifestFile] = string(text)
}

func TestHostileBundles(t *testing.T) {
	s := exchangetest.NewOn(t, memory.New())
	fillWorld(t, s)
	whole := parts(t, export(t, s, "operator"))
	// each edit replaces a text of an entry; rechain tells whether the hashes are made right again
	for _, tc := range []struct {
		file, old, new string
		rechained      bool
		why            string
	}{
		{manifestFile, `"lore": 1`, `"lore": 2`, false, "version 2"},
		{manifestFile, `"lore": 1`, `"lore": -1`, false, "names no world"},
		{manifestFile, `"lore": 1`, `"lore": "x"`, false, "manifest.json cannot be read"},
		{manifestFile, `"lore": 1`, `"lore": 1, "x": "` + strings.Repeat("x", maxManifest) + `"`, false, "cannot be read"},
		{manifestFile, `"commits": 14`, `"commits": 13`, false, "has 14 commits and names 13"},
		{manifestFile, `"commits": 14`, `"commits": 99999999999`, false, "names no world"},
		{manifestFile, `"contents": `, `"contents": 1`, false, "contents and names"},
		{manifestFile, `"head": "`, `"head": "00`, false, "manifest.json cannot be read"},
		{manifestFile, `"cards": "`, `"cards": "` + strings.Repeat("0", 64) + `", "x": "`, false, "the table cards does not follow"},
		{commitsFile, `"Weir"`, `"Weit"`, false, "do not match the hash"},
		{commitsFile, "\n", "", false, "cannot be read"},
		{commitsFile, `"seq":2`, `"seq":3`, true, "commit 2 is one of another place"},
		{commitsFile, `"stream":"world:`, `"stream":"games:`, true, "commit 1 is one of another place"},
		{commitsFile, `"part":"Weir"`, `"part":"a/\u0000b"`, true, "commit 2, change 1"},
		{commitsFile, `"part":"Weir"`, `"part":""`, true, "no id or no name"},
		{commitsFile, `"label":"user"`, `"labels":"user"`, true, "it has no level"},
		{commitsFile, `"size":`, `"size":9`, true, "is not that of its content"},
		{commitsFile, `"size":`, `"size":-9`, true, "is impossible"},
		{commitsFile, `"act":"trash"`, `"act":"create"`, true, "which exists"},
		{commitsFile, `"act":"label"`, `"act":"fly"`, true, "no kind of change"},
		{commitsFile, `"parent":"`, `"parent":"00000000-0000-0000-0000-0000000000ff","x":"`, true, "was not imported"},
		{commitsFile, `"codename":"weir"`, `"codename":"WEIR / x"`, true, "codename"},
		{commitsFile, `"subject":"ann"`, `"subject":"a b"`, true, "subject"},
		{commitsFile, `"slug":"main"`, `"slug":"~main"`, true, "unfinished"},
		{commitsFile, `"slug":"main"`, `"slug":"other"`, true, "is taken"},
		{commitsFile, `{"world":`, `{"universe":`, true, "it is empty"},
		{contentsFile, "The bell.", "The Bell.", false, "its bytes do not match"},
		{contentsFile, "The bell.\n", "The bell.", false, "cannot be read"},
		{contentsFile, " 9\n", " 99999999999\n", false, "no hash and size"},
		{contentsFile, " 9\n", " -1\n", false, "no hash and size"},
		{contentsFile, "\n", "", false, "cannot be read"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			p := maps.Clone(whole)
			if !strings.Contains(p[tc.file], tc.old) {
				t.Fatalf("%s has no %q", tc.file, tc.old)
			}
			p[tc.file] = strings.Replace(p[tc.file], tc.old, tc.new, 1)
			if tc.rechained {
				rechain(t, p)
			}
			wantRefused(t, exchangetest.Files(p), tc.why)
		})
	}
	for _, missing := range []string{manifestFile, commitsFile, contentsFile} {
		p := maps.Clone(whole)
		delete(p, missing)
		wantRefused(t, exchangetest.Files(p), "it has no "+missing)
	}
	for why, content := range map[string]string{
		"is there twice":        regexp.MustCompile(`\w+ 9\nThe bell\.\n`).FindString(whole[contentsFile]),
		"that no commit names":  "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881 1\nx\n",
		"do not match its hash": "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881 1\ny\n",
	} {
		p := maps.Clone(whole)
		p[contentsFile] += content
		p[manifestFile] = strings.Replace(p[manifestFile], `"contents": 10`, `"contents": 11`, 1)
		wantRefused(t, exchangetest.Files(p), why)
	}
}

// wantRefused imports files and checks that one error says why, and that the store is as it was.
func wantRefused(t *testing.T, files fstest.MapFS, why string) {
	t.Helper()
	store := memory.New()
	r := emptyScene(t, store)
	_, err := Import(t.Context(), r.Canon, r.As("operator"), files, ImportOptions{})
	if kind := fault.KindOf(err); kind != fault.Invalid && kind != fault.Conflict || !strings.Contains(err.Error(), why) {
		t.Errorf("the error is %v, and not about %q", err, why)
	}
	list, err := r.Canon.Worlds(t.Context())
	if err != nil || len(list) != 1 {
		t.Errorf("the store holds %d worlds (%v)", len(list), err)
	}
	err = store.Read(t.Context(), func(rd canon.Reader) error {
		heads, err := rd.Streams(t.Context(), "")
		if len(heads) != 1 {
			t.Errorf("the store holds %d streams", len(heads))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestDamagedFiles cuts a bundle short and changes its bytes in turn.
func TestDamagedFiles(t *testing.T) {
	s := exchangetest.NewOn(t, memory.New())
	s.Create(canon.NewCard{Name: "Weir", Content: "Deep."})
	whole := readFile(t, export(t, s, "operator"))
	r := emptyScene(t, memory.New())
	name := filepath.Join(t.TempDir(), "x.lore")
	try := func(data []byte) error {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := importFile(t, r, name)
		return err
	}
	for n := 0; n < len(whole); n += 13 {
		if err := try(whole[:n]); err == nil {
			t.Errorf("%d of %d bytes are imported", n, len(whole))
		}
	}
	accepted := 0
	for n := 0; n < len(whole); n += 5 {
		b := bytes.Clone(whole)
		b[n] ^= 0x11
		if try(b) == nil {
			accepted++ // for example a time in a header of the zip file
			enter(t, r, name)
			r.WantSees(map[string]string{"user Weir": "RichText user Deep."})
		}
	}
	t.Logf("%d of %d bytes, when changed, are without meaning", accepted, len(whole)/5)
}

func TestBombIsRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.lore")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for _, entry := range []string{manifestFile, commitsFile, contentsFile} {
		w, err := z.Create(entry)
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := importFile(t, emptyScene(t, memory.New()), name); fault.KindOf(err) != fault.TooLarge {
		t.Error(err)
	}
}

// FuzzImport checks that no commits cause a panic, or a world that is there in part.
func FuzzImport(f *testing.F) {
	s := exchangetest.NewOn(f, memory.New())
	s.Create(canon.NewCard{Name: "Weir", Content: "Deep."})
	s.Create(canon.NewCard{Name: "Weir+GM", Content: "Deep."})
	s.Edit("Weir", func(p *canon.Plan, c canon.Card) error {
		_, err := p.Rename(c, "Dam")
		return err
	})
	name := filepath.Join(f.TempDir(), "w.lore")
	if _, err := Export(f.Context(), s.Canon, s.As("operator"), name, ExportOptions{}); err != nil {
		f.Fatal(err)
	}
	whole := parts(f, name)
	f.Add(whole[commitsFile], whole[contentsFile])
	f.Add(strings.Replace(whole[commitsFile], `"parent":"`, `"id":"`, 1), whole[contentsFile])
	f.Fuzz(func(t *testing.T, commits, contents string) {
		p := maps.Clone(whole)
		p[commitsFile], p[contentsFile] = commits, contents
		rechain(t, p)
		r := emptyScene(t, memory.New())
		_, err := Import(t.Context(), r.Canon, r.As("operator"), exchangetest.Files(p), ImportOptions{})
		list, werr := r.Canon.Worlds(t.Context())
		if werr != nil || (err == nil) != (len(list) == 2) {
			t.Errorf("%v leaves %d worlds (%v)", err, len(list), werr)
		}
	})
}
