package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeModel writes word vectors, and returns their file.
func writeModel(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const twoWords = "lamp 1 0 0\ngleam 1 0 1\n"

func TestInstalledModels(t *testing.T) {
	c := Config{Data: t.TempDir()}
	if e, _, err := c.Embedding.newEmbedder(c.modelFolder()); e != nil || err != nil {
		t.Errorf("without a model: %v, %v", e, err)
	}
	m, err := InstallModel(c, writeModel(t, "Small.txt", twoWords), "")
	if err != nil || m.Name != "small" || !m.InUse || m.Rows != 2 || m.Length != 3 {
		t.Fatalf("%+v, %v", m, err)
	}
	e, first, err := c.Embedding.newEmbedder(c.modelFolder())
	if err != nil {
		t.Fatal(err)
	}
	if v, err := e.Embed(t.Context(), []string{"a lamp", "nothing"}); err != nil || v[0][2] >= 0 || v[1][0] != 0 {
		t.Errorf("%v, %v", v, err)
	}
	if _, err := InstallModel(c, writeModel(t, "small.vec", "2 3\nboat 0 1 0\nship 0 1 1\n"), ""); err != nil {
		t.Fatal(err)
	}
	if _, second, err := c.Embedding.newEmbedder(c.modelFolder()); err != nil || second == first {
		t.Errorf("another model of the same name is %q as well, %v", second, err)
	}
	if _, err := InstallModel(c, writeModel(t, "x.txt", twoWords), "other"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Embedding.newEmbedder(c.modelFolder()); err == nil ||
		!strings.Contains(err.Error(), "other, small") {
		t.Errorf("two models, and none is named: %v", err)
	}
	c.Embedding.Model = "other"
	if all, err := ListModels(c); err != nil || len(all) != 2 || !all[0].InUse || all[1].InUse {
		t.Errorf("%+v, %v", all, err)
	}
	for _, name := range []string{"", "../models/other", "none"} {
		if err := RemoveModel(c, name); err == nil || !strings.Contains(err.Error(), "model list") {
			t.Errorf("removing %q: %v", name, err)
		}
	}
	if err := RemoveModel(c, "other"); err != nil {
		t.Error(err)
	}
	if _, _, err := c.Embedding.newEmbedder(c.modelFolder()); err == nil ||
		!strings.Contains(err.Error(), "model install") {
		t.Errorf("the named model is gone: %v", err)
	}
}

func TestWrongModelsAreNotInstalled(t *testing.T) {
	c := Config{Data: t.TempDir()}
	lone := writeModel(t, "model.safetensors", "x")
	for _, tc := range []struct{ path, name, want string }{
		{writeModel(t, "mini.onnx", "x"), "", "embedding.url"},
		{writeModel(t, "mini.zip", "x"), "", "unpack it"},
		{writeModel(t, "mini.txt", "no numbers"), "", "no word vectors"},
		{lone, "mini", "no tokenizer.json"},
		{t.TempDir(), "mini", "no model.safetensors"},
		{filepath.Join(t.TempDir(), "none.txt"), "", "no such file"},
		{"/dev/zero", "mini", "is no file"},
		{writeModel(t, "x.txt", twoWords), "../x", "--name"},
		{writeModel(t, "Großer Wald.txt", twoWords), "", "--name"},
	} {
		if m, err := InstallModel(c, tc.path, tc.name); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s as %q: %+v, %v", tc.path, tc.name, m, err)
		}
	}
	if all, err := ListModels(c); err != nil || len(all) > 0 {
		t.Errorf("installed: %+v, %v", all, err)
	}
}
