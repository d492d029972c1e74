package unpack

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
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
	s, err := Open(t.Context(), write(t, name, data), l)
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
	small := Limits{Files: 3, Bytes: 1000}
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
		{"half a file of 7-Zip", "w.7z", []byte("7z\xbc\xaf\x27\x1c0000"), Limits{}, "complete 7-Zip"},
		{"an encrypted file of 7-Zip", "w.7z", sampleOf(t, "encrypted.7z"), Limits{}, "encrypted"},
		{"another method of 7-Zip", "w.7z", sampleOf(t, "ppmd.7z"), Limits{}, "method that cannot be read"},
		{"a link in a file of 7-Zip", "w.7z", sevenOf([]byte{idHeader, idFiles, 1, idEmptyStream, 1, 0x80, idEmptyFile,
			1, 0x80, idNames, 5, 0, 'a', 0, 0, 0, idAttributes, 6, 1, 0, 0, 0x80, 0xff, 0xa1, idEnd, idEnd}), Limits{},
			"link or a device"},
		{"a dictionary of 4 GiB", "w.7z", sevenOf([]byte{idHeader, idMainStreams, idPackInfo, 0, 1, idSize, 0, idEnd,
			idUnpackInfo, idFolder, 1, 0, 1, 0x21, 0x21, 1, 40, idUnpackSize, 0xf0, 0, 0, 0, 0x40, idEnd, idEnd, idFiles, 1,
			idNames, 5, 0, 'a', 0,
			0, 0, idEnd, idEnd}), Limits{}, "dictionary of more than 64 MiB"},
		{"a bomb of 7-Zip", "w.7z", sampleOf(t, "bomb.7z"), Limits{}, "100 times larger"},
		{"a file of 7-Zip over the limit", "w.7z", sampleOf(t, "bomb.7z"), small, "MiB"},
		{"four billion files of 7-Zip", "w.7z", sevenOf([]byte{idHeader, idFiles, 0xf0, 0xff, 0xff, 0xff, 0xff}), Limits{},
			"MiB"},
		{"a folder of 7-Zip beyond its end", "w.7z", sevenOf([]byte{idHeader, idMainStreams, idPackInfo, 0, 1, idSize, 99,
			idEnd, idUnpackInfo, idFolder, 1, 0, 1, 1, 0, idUnpackSize, 99, idEnd, idEnd, idEnd}), Limits{}, "complete 7-Zip"},
		{"a file of xz", "w.xz", []byte("\xfd7zXZ\x00"), Limits{}, "unpack it"},
		{"half a bzip2", "w.xml.bz2", []byte("BZh91AY&SY"), Limits{}, "complete gzip or bzip2"},
		{"half a gzip", "w.json.gz", gzipOf(make([]byte, 2000))[:20], Limits{}, "complete gzip or"},
	} {
		s, _, err := openAll(t, tc.file, tc.data, tc.limit)
		if s != nil || err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// sampleOf returns a file of testdata. They were made with 7za 16.02.
func sampleOf(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// sevenOf returns a 7-Zip file that is nothing but a header.
func sevenOf(header []byte) []byte {
	start := binary.LittleEndian.AppendUint64(nil, 0)
	start = binary.LittleEndian.AppendUint64(start, uint64(len(header)))
	start = binary.LittleEndian.AppendUint32(start, crc32.ChecksumIEEE(header))
	out := binary.LittleEndian.AppendUint32([]byte(sevenSignature+"\x00\x04"), crc32.ChecksumIEEE(start))
	return append(append(out, start...), header...)
}

func TestFilesOf7ZipAreFolders(t *testing.T) {
	for _, name := range []string{"lzma2.7z", "lzma.7z", "copy.7z", "deflate.7z", "bzip2.7z"} {
		data := sampleOf(t, name)
		s, paths, err := openAll(t, name, data, Limits{})
		if err != nil || strings.Join(paths, " ") != "Mill.md empty.md notes/Weir.md" || s.Label != "vault" {
			t.Errorf("%s: %v %v %v", name, paths, s, err)
			continue
		}
		if text, _ := fs.ReadFile(s.Files, "notes/Weir.md"); string(text) != "The weir.\n" {
			t.Errorf("%s: %q", name, text)
		}
		if name == "lzma.7z" { // bytes of its header are found by the header's sum
			continue
		}
		data[40] ^= 1
		if _, _, err := openAll(t, name, data, Limits{}); err == nil {
			t.Errorf("%s: changed content came in", name)
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

// fuzzMemory is the most that a small archive may allocate: the buffers of its methods, and the header of a 7-Zip file.
const fuzzMemory = 40 << 20

// FuzzDecode checks that no file causes a panic or takes more memory than its limit allows.
func FuzzDecode(f *testing.F) {
	f.Add(gzipOf([]byte("x")))
	f.Add([]byte(base64.StdEncoding.EncodeToString(gzipOf(make([]byte, 1<<20)))))
	f.Fuzz(func(t *testing.T, data []byte) {
		var err error
		if n := allocated(func() { _, err = Decode(data, 1<<20) }); n > 8<<20+4*int64(len(data)) {
			t.Errorf("%d bytes are decoded with %d bytes of the heap, %v", len(data), n, err)
		}
	})
}

// FuzzOpen checks that no archive causes a panic or takes more memory than its limits allow, and that every name that is let through is safe.
func FuzzOpen(f *testing.F) {
	f.Add(zipOf(f, "a.md", "b/c.md"))
	f.Add(tarOf(f, tar.Header{Name: "a", Size: 3}))
	f.Add(gzipOf([]byte("x")))
	for _, name := range []string{"lzma2.7z", "lzma.7z", "copy.7z", "deflate.7z", "bzip2.7z"} {
		f.Add(sampleOf(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		space := NewSpace(t.TempDir(), 1<<30)
		var z *tree
		var closeAll func() error
		var err error
		if n := allocated(func() {
			z, closeAll, err = openArchive(t.Context(), bytes.NewReader(data), int64(len(data)), "w.charx",
				Limits{Files: 100, Bytes: 1 << 20, Ratio: 100, Space: space})
		}); n > fuzzMemory {
			t.Errorf("%d bytes are unpacked with %d bytes of the heap", len(data), n)
		}
		if err != nil || z == nil {
			return
		}
		defer closeAll()
		for _, e := range z.entries {
			if strings.HasPrefix(e.name, "/") || strings.Contains(e.name, "..") && nameProblem(e.name) != "" {
				t.Errorf("%q was let through", e.name)
			}
		}
	})
}
