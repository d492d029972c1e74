package app

import (
	"strings"
	"testing"
)

func TestEmbeddingSettings(t *testing.T) {
	for _, tc := range []struct {
		c    Embedding
		want string // text in the error; "" for no error
	}{
		{Embedding{}, ""},
		{Embedding{URL: "http://127.0.0.1:11434/v1", Model: "small"}, ""},
		{Embedding{URL: "127.0.0.1", Model: "small"}, "embedding.url"},
		{Embedding{URL: "http://127.0.0.1"}, "embedding.model"},
		{Embedding{Model: "small"}, "embedding.model"},
		{Embedding{Key: "sesame"}, "embedding.url"},
	} {
		got, _, err := tc.c.newEmbedder(t.TempDir())
		if err == nil {
			err = tc.c.validate()
		}
		if (err == nil) != (tc.want == "") || err != nil &&
			(!strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "sesame")) {
			t.Errorf("%+v: %v", tc.c, err)
		}
		if (got != nil) != (tc.want == "" && tc.c.URL != "") {
			t.Errorf("%+v: embedder %v", tc.c, got)
		}
	}
}
