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
	} {
		_, err := tc.c.toConfig()
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v", tc.c, err)
		}
	}
	got, _ := Lore{Types: []string{" Song = folk_song "}}.toConfig()
	if got.Types["Song"] != "folk_song" {
		t.Errorf("types %v", got.Types)
	}
}
