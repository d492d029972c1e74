package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

// assetFiles are the styles and scripts. assets/README.md names the origin and the licence of those
// that are not ours.
//
//go:embed assets/*.css assets/*.js assets/*.js.gz assets/*.svg
var assetFiles embed.FS

// asset is a file that pages load.
type asset struct{ plain, zipped func() []byte }

// assets returns the files by a name with their hash, such as app.1f2e3d4c.css, and those names by the plain ones.
// A file whose name ends with .gz is compressed already.
var assets = sync.OnceValues(func() (files map[string]asset, names map[string]string) {
	files, names = map[string]asset{}, map[string]string{}
	entries, err := fs.ReadDir(assetFiles, "assets")
	if err != nil {
		panic(err) // the files are compiled in
	}
	for _, e := range entries {
		data, err := assetFiles.ReadFile("assets/" + e.Name())
		if err != nil {
			panic(err)
		}
		same := func() []byte { return data }
		file := asset{plain: same, zipped: sync.OnceValue(func() []byte { return zippedOf(data) })}
		plainName, isZipped := strings.CutSuffix(e.Name(), ".gz")
		if isZipped {
			file = asset{plain: func() []byte { return plainOf(data) }, zipped: same}
		}
		sum := sha256.Sum256(data)
		ext := path.Ext(plainName)
		name := strings.TrimSuffix(plainName, ext) + "." + hex.EncodeToString(sum[:4]) + ext
		names[plainName] = name
		files[name] = file
	}
	return files, names
})

func zippedOf(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(data) // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
}

// plainOf is for the few clients that take nothing compressed.
func plainOf(data []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		panic(err) // the files are compiled in
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	return plain
}

// assetPath returns the address of an asset. It changes with the content.
func assetPath(name string) string {
	_, names := assets()
	return "/assets/" + names[name]
}

// StylesheetPath returns the address of the console's stylesheet, for other pages in the same dress.
func StylesheetPath() string { return assetPath("app.css") }

// serveAsset serves an asset, which browsers may keep for good.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	files, _ := assets()
	file, ok := files[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Vary", "Accept-Encoding")
	data := file.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		data = file.zipped
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data()))
}
