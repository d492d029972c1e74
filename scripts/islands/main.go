// Islands bundles the scripts of internal/console/islands, with the packages that they import, into one file
// each, and records the hashes of sources and bundles:
//
//	go run . SOURCES ASSETS
//
// SOURCES holds the scripts and the packages that npm has installed beside them.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: go run . SOURCES ASSETS")
	}
	if err := buildIslands(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func buildIslands(sources, assets string) error {
	scripts, err := filepath.Glob(filepath.Join(sources, "*.js"))
	if err != nil {
		return err
	}
	sums := []string{}
	for _, name := range append(scripts, filepath.Join(sources, "package-lock.json")) {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		sums = append(sums, sumLine(data, "islands/"+filepath.Base(name)))
	}
	for _, script := range scripts {
		data, err := bundle(script)
		if err != nil {
			return err
		}
		name := filepath.Base(script) + ".gz"
		var packed bytes.Buffer
		z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err == nil {
			_, err = z.Write(data)
		}
		if err = errors.Join(err, z.Close()); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(assets, name), packed.Bytes(), 0o644); err != nil {
			return err
		}
		sums = append(sums, sumLine(packed.Bytes(), "assets/"+name))
	}
	return os.WriteFile(filepath.Join(assets, "islands.sum"), []byte(strings.Join(sums, "")), 0o644)
}

// sumLine returns a line as sha256sum reads it.
func sumLine(data []byte, name string) string {
	return fmt.Sprintf("%x  %s\n", sha256.Sum256(data), name)
}

// bundle returns a script with all that it imports, below the licences of the packages.
func bundle(script string) ([]byte, error) {
	dir, err := filepath.Abs(filepath.Dir(script))
	if err != nil {
		return nil, err
	}
	made := api.Build(api.BuildOptions{
		EntryPoints: []string{filepath.Base(script)}, AbsWorkingDir: dir, Bundle: true, Format: api.FormatESModule,
		Target: api.ES2022, MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		LegalComments: api.LegalCommentsNone, Metafile: true, LogLevel: api.LogLevelWarning,
	})
	if len(made.Errors) > 0 {
		return nil, errors.New("the script was not bundled")
	}
	licences, err := collectLicences(dir, made.Metafile)
	if err != nil {
		return nil, err
	}
	return append([]byte("/*!\n"+licences+"*/\n"), made.OutputFiles[0].Contents...), nil
}

// collectLicences returns the notices of the bundled packages. Packages of the MIT licence share its text.
func collectLicences(dir, metafile string) (string, error) {
	var meta struct{ Inputs map[string]any }
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return "", err
	}
	texts := map[string][]string{} // by the licence's text without its copyright
	for input := range meta.Inputs {
		folder, name, inside := strings.Cut(input, "node_modules/")
		if !inside {
			continue
		}
		parts := strings.Split(name, "/")
		name = parts[0]
		if strings.HasPrefix(name, "@") {
			name += "/" + parts[1]
		}
		line, text, err := readLicence(filepath.Join(dir, folder, "node_modules", name), name)
		if err != nil {
			return "", err
		}
		if !slices.Contains(texts[text], line) {
			texts[text] = append(texts[text], line)
		}
	}
	var b strings.Builder
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		slices.Sort(texts[text])
		b.WriteString(strings.Join(texts[text], "\n") + "\n\n" + text + "\n")
	}
	return b.String(), nil
}

// readLicence returns a package's name, version and copyright as one line, and the text of its licence.
func readLicence(dir, name string) (line, text string, err error) {
	var p struct{ Version, License string }
	data, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil {
		return "", "", err
	}
	if p.License != "MIT" {
		return "", "", fmt.Errorf("%s has the licence %s; only MIT was considered", name, p.License)
	}
	if data, err = os.ReadFile(filepath.Join(dir, "LICENSE")); err != nil {
		return "", "", err
	}
	copyright, rest, found := strings.Cut(string(data[strings.Index(string(data), "Copyright"):]), "\n")
	if !found {
		return "", "", fmt.Errorf("the licence of %s has no copyright", name)
	}
	return name + " " + p.Version + ": " + copyright, strings.TrimSpace(rest), nil
}
