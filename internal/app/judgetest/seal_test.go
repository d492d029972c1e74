package judgetest

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// sealedFile holds the locked half: a zip archive, encrypted with AES-GCM, after its nonce. JUDGE_LOCKED may name
// another one.
var sealedFile = func() string {
	if file := os.Getenv("JUDGE_LOCKED"); isSealed(file) {
		return file
	}
	return filepath.Join("cases", "locked.sealed")
}()

func isSealed(file string) bool { return filepath.Ext(file) == ".sealed" }

// sealKey is the key of sealedFile. It stands here in the open, because make judge must read the
// locked half on every clone. The seal keeps an author of rules from seeing locked cases by accident,
// in a search of the sources for example. It is no protection against a reader who opens it on purpose.
var sealKey = sha256.Sum256([]byte("loregate: who writes a rule does not read the locked half"))

var (
	sealFrom = flag.String("seal", "", "write the sealed file from this folder; run with -run TestSealFlags")
	unsealTo = flag.String("unseal", "", "write the files of the seal to this folder; run with -run TestSealFlags")
)

func newSealCipher() (cipher.AEAD, error) {
	block, err := aes.NewCipher(sealKey[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// seal returns the sealed form of the files. Equal files have equal seals. Files and folders whose
// name begins with a dot are left out.
func seal(files fs.FS) ([]byte, error) {
	var plain bytes.Buffer
	archive := zip.NewWriter(&plain)
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		switch hidden := path != "." && strings.HasPrefix(entry.Name(), "."); {
		case err != nil:
			return err
		case hidden && entry.IsDir():
			return fs.SkipDir
		case hidden || entry.IsDir():
			return nil
		}
		b, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		w, err := archive.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Deflate})
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	})
	if err := errors.Join(err, archive.Close()); err != nil {
		return nil, err
	}
	box, err := newSealCipher()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(plain.Bytes())
	nonce := sum[:box.NonceSize()]
	return box.Seal(bytes.Clone(nonce), nonce, plain.Bytes(), nil), nil
}

// unseal returns the files of a sealed form.
func unseal(sealed []byte) (fs.FS, error) {
	box, err := newSealCipher()
	if err != nil {
		return nil, err
	}
	if len(sealed) < box.NonceSize() {
		return nil, fmt.Errorf("%s is cut off", sealedFile)
	}
	plain, err := box.Open(nil, sealed[:box.NonceSize()], sealed[box.NonceSize():], nil)
	if err != nil {
		return nil, fmt.Errorf("%s does not open: %w", sealedFile, err)
	}
	return zip.NewReader(bytes.NewReader(plain), int64(len(plain)))
}

// openSealed opens sealedFile once.
var openSealed = sync.OnceValues(func() (fs.FS, error) {
	sealed, err := os.ReadFile(sealedFile)
	if err != nil {
		return nil, err
	}
	return unseal(sealed)
})

// TestSealFlags makes or opens the seal if a flag asks for it.
func TestSealFlags(t *testing.T) {
	switch {
	case *sealFrom != "":
		sealed, err := seal(os.DirFS(*sealFrom))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(sealedFile, sealed, 0o644); err != nil {
			t.Fatal(err)
		}
	case *unsealTo != "":
		files, err := openSealed()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(*unsealTo, files); err != nil {
			t.Fatal(err)
		}
	default:
		t.Skip("neither -seal nor -unseal is set")
	}
}

func TestSealKeepsFilesAndShowsNone(t *testing.T) {
	files := fstest.MapFS{"commands.jsonl": {Data: []byte(strings.Repeat("take the sword\n", 9))},
		"src/a.py": {Data: []byte("print()")}, ".src/secret": {Data: []byte("x")}, ".hidden": {Data: []byte("x")}}
	sealed, err := seal(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{"commands", "sword", "print"} {
		if bytes.Contains(sealed, []byte(shown)) {
			t.Errorf("the seal shows %q", shown)
		}
	}
	opened, err := unseal(sealed)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"commands.jsonl", "src/a.py"} {
		if got, err := fs.ReadFile(opened, name); err != nil || !bytes.Equal(got, files[name].Data) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{".src/secret", ".hidden"} {
		if _, err := fs.Stat(opened, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is in the seal: %v", name, err)
		}
	}
	if again, err := seal(files); err != nil || !bytes.Equal(again, sealed) {
		t.Errorf("the same files have another seal: %v", err)
	}
	sealed[len(sealed)-1] ^= 1
	if _, err := unseal(sealed); err == nil {
		t.Error("a damaged seal opens")
	}
	if _, err := unseal(sealed[:5]); err == nil {
		t.Error("a cut seal opens")
	}
}

// TestSealedHalfOpens opens the seal that the repository holds. A change of the key without a new seal is seen here.
func TestSealedHalfOpens(t *testing.T) {
	files, err := openSealed()
	if err != nil {
		t.Fatal(err)
	}
	cases, err := fs.Glob(files, "*.jsonl")
	if err != nil || len(cases) == 0 {
		t.Errorf("the seal has %d files of cases: %v", len(cases), err)
	}
}
