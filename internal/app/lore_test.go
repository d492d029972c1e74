package app

import (
	"strings"
	"testing"
)

func TestLoreSettings(t *testing.T) {
	for _, tc := range []struct {
		c    Lore
		want string // text in the error; "" for no error
	}{
		{Lore{}, ""},
		{Lore{Types: []string{"Recipe=recipe", " Song = folk_song "}}, ""},
		{Lore{Types: []string{"Recipe"}}, "lore.types"},
		{Lore{Types: []string{"=recipe"}}, "lore.types"},
		{Lore{Types: []string{"Recipe=My Recipe"}}, "lore.types"},
		{Lore{EmbeddingURL: "http://127.0.0.1:11434/v1", EmbeddingModel: "small"}, ""},
		{Lore{EmbeddingURL: "127.0.0.1", EmbeddingModel: "small"}, "lore.embedding_url"},
		{Lore{EmbeddingURL: "http://127.0.0.1"}, "lore.embedding_model"},
		{Lore{EmbeddingModel: "small"}, "lore.embedding_url"},
		{Lore{EmbeddingKey: "sesame"}, "lore.embedding_url"},
	} {
		got, err := tc.c.toConfig()
		if (err == nil) != (tc.want == "") || err != nil &&
			(!strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "sesame")) {
			t.Errorf("%+v: %v", tc.c, err)
		}
		if (got.Embedder != nil) != (tc.want == "" && tc.c.EmbeddingURL != "") {
			t.Errorf("%+v: embedder %v", tc.c, got.Embedder)
		}
	}
	got, _ := Lore{Types: []string{" Song = folk_song "}}.toConfig()
	if got.Types["Song"] != "folk_song" {
		t.Errorf("types %v", got.Types)
	}
}
