package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
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
//go:embed assets/*.css assets/*.js assets/*.svg
var assetFiles embed.FS

// assets maps a name with its hash, such as app.1f2e3d4c.css, to the file; assetNames maps the plain
// name to that name.
var assets, assetNames = hashAssets()

func hashAssets() (files map[string][]byte, names map[string]string) {
	files, names = map[string][]byte{}, map[string]string{}
	entries, err := fs.ReadDir(assetFiles, "assets")
	if err != nil {
		panic(err) // the files are compiled in
	}
	for _, e := range entries {
		data, err := assetFiles.ReadFile("assets/" + e.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(data)
		ext := path.Ext(e.Name())
		name := strings.TrimSuffix(e.Name(), ext) + "." + hex.EncodeToString(sum[:4]) + ext
		files[name], names[e.Name()] = data, name
	}
	return files, names
}

// zipped has the assets as gzip, each compressed when it is first asked for.
var zipped = zipAssets()

func zipAssets() map[string]func() []byte {
	list := map[string]func() []byte{}
	for name, data := range assets {
		list[name] = sync.OnceValue(func() []byte {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = z.Write(data) // a buffer takes everything
			_ = z.Close()
			return b.Bytes()
		})
	}
	return list
}

// assetPath returns the address of an asset. It changes with the content.
func assetPath(name string) string { return "/assets/" + assetNames[name] }

// StylesheetPath returns the address of the console's stylesheet, for other pages in the same dress.
func StylesheetPath() string { return assetPath("app.css") }

// serveAsset serves an asset, which browsers may keep for good.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	data, ok := assets[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		data = zipped[name]()
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}
