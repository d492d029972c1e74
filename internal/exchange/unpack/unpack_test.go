package unpack

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/fault"
)

// zipOf returns a zip file with the given entries; each has its name as its content.
func zipOf(t testing.TB, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "/") {
			w.Write([]byte(name))
		}
	}
	z.Close()
	return b.Bytes()
}

func tarOf(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		w.Write(make([]byte, h.Size))
	}
	w.Close()
	return b.Bytes()
}

func gzipOf(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func write(t testing.TB, name string, data []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// openAll opens a file and returns the paths of its files.
func openAll(t testing.TB, name string, data []byte, l Limits) (*Source, []string, error) {
	t.Helper()
	s, err := Open(write(t, name, data), l)
	if err != nil {
		return nil, nil, err
	}
	t.Cleanup(func() { s.Close() })
	var paths []string
	err = fs.WalkDir(s.Files, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, p)
			_, err = fs.ReadFile(s.Files, p)
		}
		return err
	})
	return s, paths, err
}

func TestArchivesAreFolders(t *testing.T) {
	for _, tc := range []struct {
		name  string
		data  []byte
		label string
		paths string
	}{
		{"world.zip", zipOf(t, "a.md", "b/c.md"), "world", "a.md b/c.md"},
		{"w.zip", zipOf(t, "vault/", "vault/a.md", "vault/b/c.md", "__MACOSX/vault/._a.md", "vault/.DS_Store"), "vault",
			"a.md b/c.md"},
		{"w.tar.gz", gzipOf(tarOf(t, tar.Header{Name: "./", Typeflag: tar.TypeDir, Mode: 0o755},
			tar.Header{Name: "./a.md", Size: 3, Mode: 0o644})), "w", "a.md"},
		{"w.tgz", gzipOf(tarOf(t, tar.Header{Name: "x/a.md", Size: 3, Mode: 0o644})), "x", "a.md"},
		{"map.json.gz", gzipOf([]byte("{}")), "map.json", "map.json"},
		{"mira.charx", append([]byte{0xff, 0xd8, 0xff, 0xe0, 1, 2, 3}, zipOf(t, "card.json")...), "mira", "card.json"},
	} {
		s, paths, err := openAll(t, tc.name, tc.data, Limits{})
		if err != nil || s.Label != tc.label || strings.Join(paths, " ") != tc.paths {
			t.Errorf("%s: %v %v, %v", tc.name, paths, s, err)
		}
	}
	s, paths, err := openAll(t, "plain.json", []byte("{}"), Limits{})
	if err != nil || s.File != "plain.json" || len(paths) != 1 {
		t.Errorf("a plain file: %v %v %v", s, paths, err)
	}
}

func TestHostileArchivesAreRefusedByName(t *testing.T) {
	small := Limits{Files: 3, Bytes: 1000, Memory: 1000}
	bomb := zipOf(t, "a")
	for _, tc := range []struct {
		name  string
		file  string
		data  []byte
		limit Limits
		says  string
	}{
		{"a name that leaves the folder", "w.zip", zipOf(t, "../../etc/passwd"), Limits{}, "../../etc/passwd"},
		{"an absolute name", "w.zip", zipOf(t, "/etc/passwd"), Limits{}, "absolute"},
		{"a Windows path", "w.zip", zipOf(t, `..\evil.md`), Limits{}, "backslash"},
		{"a drive", "w.zip", zipOf(t, "C:/evil.md"), Limits{}, "Windows"},
		{"a device", "w.zip", zipOf(t, "notes/NUL.md"), Limits{}, "device"},
		{"a port, written wide", "w.zip", zipOf(t, "ｃｏｍ1.txt"), Limits{}, "device"},
		{"a dot at the end", "w.zip", zipOf(t, "a./b.md"), Limits{}, "dot or a space"},
		{"control characters", "w.zip", zipOf(t, "a\x1b[2J.md"), Limits{}, "control"},
		{"two names by case", "w.zip", zipOf(t, "Mill.md", "mill.md"), Limits{}, "same name as Mill.md"},
		{"two names by accents", "w.zip", zipOf(t, "é.md", "e\u0301.md"), Limits{}, "same name"},
		{"two folders by case", "w.zip", zipOf(t, "A/x.md", "a/y.md"), Limits{}, "its folder"},
		{"a file and a folder", "w.zip", zipOf(t, "a", "A/b"), Limits{}, "folder"},
		{"too deep", "w.zip", zipOf(t, strings.Repeat("d/", 33)+"a"), Limits{}, "32 folders"},
		{"too many", "w.zip", zipOf(t, "a", "b", "c", "d"), small, "3 entries"},
		{"too large", "w.zip", zipOf(t, strings.Repeat("a", 900), strings.Repeat("b", 900)), small, "MiB"},
		{"cut off", "w.zip", bomb[:len(bomb)-5], Limits{}, "complete zip"},
		{"a symbolic link", "w.tar", tarOf(t, tar.Header{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "/etc"}),
			Limits{}, "link or a device"},
		{"a hard link", "w.tar", tarOf(t, tar.Header{Name: "a", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}),
			Limits{}, "link or a device"},
		{"a device node", "w.tar", tarOf(t, tar.Header{Name: "a", Typeflag: tar.TypeBlock}), Limits{}, "link or a device"},
		{"a large tar", "w.tar", tarOf(t, tar.Header{Name: "a", Size: 2000}), small, "MiB"},
		{"a bomb", "w.json.gz", gzipOf(make([]byte, 64<<20)), Limits{}, "100 times larger"},
		{"a gzip over the limit", "w.json.gz", gzipOf(make([]byte, 2000)), small, "MiB"},
		{"a file of 7-Zip", "w.7z", []byte("7z\xbc\xaf\x27\x1c0000"), Limits{}, "unpack it"},
		{"half a bzip2", "w.xml.bz2", []byte("BZh91AY&SY"), Limits{}, "complete gzip or bzip2"},
		{"half a gzip", "w.json.gz", gzipOf(make([]byte, 2000))[:20], Limits{}, "complete gzip or"},
	} {
		s, _, err := openAll(t, tc.file, tc.data, tc.limit)
		if s != nil || err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

func TestDecodeIsBounded(t *testing.T) {
	text := strings.Repeat("1.99|a map with many cells\r\n", 20)
	coded := base64.StdEncoding.EncodeToString(gzipOf([]byte(strings.Repeat("cells, ", 40) + text + string(make([]byte,
		9)))))
	if got, err := Decode([]byte(coded), 1<<20); err != nil || !strings.Contains(string(got), "1.99|a map") {
		t.Errorf("base64 of gzip: %q %v", got, err)
	}
	if _, err := Decode(gzipOf(make([]byte, 1<<20)), 1000); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("a file over the limit: %v", err)
	}
	if got, err := Decode([]byte(text), 10); err != nil || string(got) != text {
		t.Errorf("plain text is not unchanged: %q %v", got, err)
	}
}

// FuzzOpen checks that no archive causes a panic, and that every name that is let through is safe.
func FuzzOpen(f *testing.F) {
	f.Add(zipOf(f, "a.md", "b/c.md"))
	f.Add(tarOf(f, tar.Header{Name: "a", Size: 3}))
	f.Add(gzipOf([]byte("x")))
	f.Fuzz(func(t *testing.T, data []byte) {
		z, err := openArchive(bytes.NewReader(data), int64(len(data)), "w.charx",
			Limits{Files: 100, Bytes: 1 << 20, Memory: 1 << 20, Ratio: 100})
		if err != nil || z == nil {
			return
		}
		for _, e := range z.File {
			if strings.HasPrefix(e.Name, "/") || strings.Contains(e.Name, "..") && nameProblem(e.Name) != "" {
				t.Errorf("%q was let through", e.Name)
			}
		}
	})
}
