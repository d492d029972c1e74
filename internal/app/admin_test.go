package app

import (
	"fmt"
	"strings"
	"testing"

	"loregate/internal/canon"
)

// TestAMissingWorldIsToldWithOthers names a world that is not there, beside more worlds than an error lists.
func TestAMissingWorldIsToldWithOthers(t *testing.T) {
	a := openWith(t, Config{})
	for i := range 23 {
		if _, err := a.CreateWorld(t.Context(), canon.NewWorld{Slug: fmt.Sprintf("w-%02d", i), Title: "W"}); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"nosuch": `no world "nosuch"`, "": "several worlds"} {
		_, err := a.resolveWorld(t.Context(), name)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "w-00, w-01") ||
			!strings.Contains(err.Error(), "and the 3 others") || strings.Contains(err.Error(), "w-20") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
