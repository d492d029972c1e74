package prompt

import (
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"loregate/internal/disk"
	"loregate/internal/fault"
)

//go:embed templates/*.json
var embedded embed.FS

//go:embed published.json
var published []byte

// pinFile is the file in a folder of templates that pins the published versions: {"id@version":
// hash}.
const pinFile = ".published.json"

// Registry holds templates. It is immutable.
type Registry struct {
	all    []*Template // by id, then version, latest first
	byHash map[string]*Template
}

// Open returns a registry of the templates of this build and those in a folder ("" for none). It
// refuses a version whose hash has changed since it was first loaded, and two files of one version.
// It pins new versions of the folder in its pinFile.
func Open(folder string) (*Registry, error) {
	var pins map[string]string
	if err := json.Unmarshal(published, &pins); err != nil {
		return nil, fmt.Errorf("prompt: published.json: %w", err)
	}
	own, err := fs.Sub(embedded, "templates")
	if err != nil {
		return nil, err
	}
	r := &Registry{byHash: map[string]*Template{}}
	if err := r.loadTemplates(own, pins); err != nil {
		return nil, err
	}
	if folder != "" {
		if err := r.loadFolder(folder); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(r.all, func(a, b *Template) int {
		return cmp.Or(cmp.Compare(a.Metadata.ID, b.Metadata.ID),
			slices.Compare(versionNumbers(b.Metadata.Version), versionNumbers(a.Metadata.Version)))
	})
	return r, nil
}

func (r *Registry) loadFolder(folder string) error {
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	pins := map[string]string{}
	file := filepath.Join(folder, pinFile)
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &pins)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("prompt: %s: %w", file, err)
	}
	before := maps.Clone(pins)
	if err := r.loadTemplates(os.DirFS(folder), pins); err != nil || maps.Equal(before, pins) {
		return err
	}
	b, err = json.MarshalIndent(pins, "", "  ")
	if err != nil {
		return err
	}
	if err := disk.WriteBytes(file, append(b, '\n')); err != nil {
		return fmt.Errorf("prompt: %w", err)
	}
	return nil
}

// loadTemplates adds the templates of a folder and pins those that are new.
func (r *Registry) loadTemplates(dir fs.FS, pins map[string]string) error {
	names, err := fs.Glob(dir, "*.json")
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, ".") {
			continue
		}
		b, err := fs.ReadFile(dir, name)
		if err != nil {
			return fmt.Errorf("prompt: %w", err)
		}
		t, err := Parse(b)
		if err != nil {
			return fmt.Errorf("%s: %w", path.Base(name), err)
		}
		if err := r.addTemplate(t, pins); err != nil {
			return fmt.Errorf("%s: %w", path.Base(name), err)
		}
	}
	return nil
}

func (r *Registry) addTemplate(t *Template, pins map[string]string) error {
	id := t.Metadata.ID + "@" + t.Metadata.Version
	if was, ok := pins[id]; ok && was != t.hash {
		return fmt.Errorf("prompt: %s was published with hash %s and has %s now; publish a new version instead", id,
			was, t.hash)
	}
	if _, ok := r.findVersion(t.Metadata.ID, t.Metadata.Version); ok {
		return fmt.Errorf("prompt: %s occurs twice", id)
	}
	pins[id] = t.hash
	r.all, r.byHash[t.hash] = append(r.all, t), t
	return nil
}

func (r *Registry) findVersion(id, version string) (*Template, bool) {
	var best *Template
	for _, t := range r.all {
		if t.Metadata.ID != id || version != "" && t.Metadata.Version != version {
			continue
		}
		if best == nil || isLater(t.Metadata.Version, best.Metadata.Version) {
			best = t
		}
	}
	return best, best != nil
}

// Get returns a template by its id and version; "" is the latest. Its error is fault.NotFound.
func (r *Registry) Get(id, version string) (*Template, error) {
	if t, ok := r.findVersion(id, version); ok {
		return t, nil
	}
	if version != "" {
		return nil, fault.New(fault.NotFound, "there is no prompt %q with the version %q; list the prompts to find one",
			id, version)
	}
	return nil, fault.New(fault.NotFound, "there is no prompt %q; list the prompts to find one", id)
}

// ByHash returns the template with an id and a hash. Its error is fault.NotFound.
func (r *Registry) ByHash(id, hash string) (*Template, error) {
	if t := r.byHash[strings.ToLower(hash)]; t != nil && t.Metadata.ID == id {
		return t, nil
	}
	return nil, fault.New(fault.NotFound,
		"there is no prompt %q with this hash; list the prompts to find one", id)
}

// List returns the latest version of each template with a tag ("" for all), by id.
func (r *Registry) List(tag string) []*Template {
	var list []*Template
	for i, t := range r.all {
		if i > 0 && r.all[i-1].Metadata.ID == t.Metadata.ID {
			continue
		}
		if tag == "" || slices.Contains(t.Metadata.Tags, tag) {
			list = append(list, t)
		}
	}
	return list
}

// Versions returns all versions of a template, latest first.
func (r *Registry) Versions(id string) []string {
	var list []string
	for _, t := range r.all {
		if t.Metadata.ID == id {
			list = append(list, t.Metadata.Version)
		}
	}
	return list
}
