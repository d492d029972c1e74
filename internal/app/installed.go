package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"loregate/internal/disk"
	"loregate/internal/embed"
	"loregate/internal/lazyregexp"
	"loregate/internal/vector"
)

// InstalledModel is an embedding model in the data folder.
type InstalledModel struct {
	Name  string
	Bytes int64
	InUse bool // by the settings
	embed.Info
}

const modelEnding = ".static"

func (c Config) modelFolder() string { return filepath.Join(c.Data, "models") }

// modelNameForm is the form of a model's name.
var modelNameForm = lazyregexp.New(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// InstallModel reads an embedding model from a file or folder of the user's, and keeps it in the data folder. It
// replaces an installed one of the same name. name is "" for that of the file.
func InstallModel(c Config, path, name string) (m InstalledModel, err error) {
	name = cmp.Or(name, nameOfModel(path))
	if !modelNameForm.MatchString(name) {
		return m, fmt.Errorf("a model cannot have the name %q; give another with --name: small "+
			"letters, digits, and . _ - between them", name)
	}
	model, err := readModel(path)
	if err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	if err := os.MkdirAll(c.modelFolder(), 0o700); err != nil {
		return m, disk.Explain(c.Data, err)
	}
	if err := disk.WriteFile(filepath.Join(c.modelFolder(), name+modelEnding), model.Write); err != nil {
		return m, disk.Explain(c.Data, err)
	}
	all, err := ListModels(c)
	i := slices.IndexFunc(all, func(m InstalledModel) bool { return m.Name == name })
	if err != nil || i < 0 {
		return m, err
	}
	return all[i], nil
}

// nameOfModel returns the name of a model by its path: that of the folder for the files of model2vec.
func nameOfModel(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	base := filepath.Base(path)
	if base == tensorsFile {
		base = filepath.Base(filepath.Dir(path))
	}
	return strings.ToLower(strings.TrimSuffix(base, filepath.Ext(base)))
}

// The files of a model of model2vec.
const (
	tensorsFile   = "model.safetensors"
	tokenizerFile = "tokenizer.json"
)

// readModel reads a model from the folder of model2vec, from its model.safetensors, or from word vectors as text.
func readModel(path string) (*embed.Model, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	if info.IsDir() {
		path = filepath.Join(path, tensorsFile)
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".onnx", ".gguf", ".bin", ".pt":
		return nil, errors.New("models with layers are run by another program, such as Ollama or llama.cpp: start one, and " +
			"set embedding.url and embedding.model to it; models of model2vec and word vectors as text can be installed")
	case ".gz", ".zip", ".tgz":
		return nil, errors.New("is packed; unpack it, and install the folder or file in it")
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the folder has no %s", tensorsFile)
	}
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("is no file with a model")
	}
	if filepath.Ext(path) != ".safetensors" {
		return embed.ReadWords(f)
	}
	tokens, err := os.Open(filepath.Join(filepath.Dir(path), tokenizerFile))
	if err != nil {
		return nil, fmt.Errorf("there is no %s beside it", tokenizerFile)
	}
	defer tokens.Close()
	return embed.ReadPieces(f, info.Size(), tokens)
}

// ListModels lists the installed models by name.
func ListModels(c Config) (all []InstalledModel, err error) {
	files, err := filepath.Glob(filepath.Join(c.modelFolder(), "*"+modelEnding))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		m := InstalledModel{Name: strings.TrimSuffix(filepath.Base(f), modelEnding)}
		m.InUse = c.Embedding.URL == "" && (c.Embedding.Model == m.Name || c.Embedding.Model == "" && len(files) == 1)
		if info, err := os.Stat(f); err == nil {
			m.Bytes = info.Size()
		}
		if m.Info, err = embed.ReadInfo(f); err != nil {
			m.Kind = "broken"
		}
		all = append(all, m)
	}
	return all, nil
}

// RemoveModel removes an installed model.
func RemoveModel(c Config, name string) error {
	all, err := ListModels(c)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(m InstalledModel) bool { return m.Name == name }) {
		return fmt.Errorf("there is no model %q; loregate model list shows those that are installed", name)
	}
	return os.Remove(filepath.Join(c.modelFolder(), name+modelEnding))
}

// findInstalled returns the installed model of a name, or the only one for "", and what identifies its content. It is
// nil if none is installed and none is named.
func findInstalled(folder, name string) (vector.Embedder, string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*"+modelEnding))
	if err != nil {
		return nil, "", err
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), modelEnding))
	}
	switch {
	case name == "" && len(names) == 0:
		return nil, "", nil
	case name == "" && len(names) > 1:
		return nil, "", fmt.Errorf("embedding.model: %d models are installed; name one of %s", len(names),
			strings.Join(names, ", "))
	case name == "":
		name = names[0]
	case !slices.Contains(names, name):
		return nil, "", fmt.Errorf("embedding.model: no model %q is installed; install it with loregate model install FILE, "+
			"or set embedding.url to the endpoint that has it", name)
	}
	path := filepath.Join(folder, name+modelEnding)
	info, err := embed.ReadInfo(path)
	sum := ""
	if err == nil {
		sum, err = embed.ReadSum(path)
	}
	if err != nil {
		return nil, "", fmt.Errorf("embedding.model: %s: %w", name, err)
	}
	read := sync.OnceValues(func() (*embed.Model, error) { return embed.ReadModel(path) })
	return &lazyModel{read, modelWeights[info.Kind]}, "static " + sum, nil
}

// modelWeights are the influences of vectors beside words, by the kind of their model. Of the judged queries of the
// development half, word vectors of GloVe give the best result at a fifth of the weight of a model with layers.
// A table distilled from all-MiniLM-L6-v2 does at a third.
var modelWeights = map[string]float64{embed.Words: 0.2, embed.WordPieces: 0.33}

// lazyModel is an installed model that is read when the first text is embedded, so that nothing starts later for it.
type lazyModel struct {
	read   func() (*embed.Model, error)
	weight float64
}

func (m *lazyModel) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	model, err := m.read()
	if err != nil {
		return nil, err
	}
	return model.Embed(ctx, texts)
}
