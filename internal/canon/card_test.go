package canon_test

import (
	"strings"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/fault"
)

func TestHashTextHasOneLength(t *testing.T) {
	var h canon.Hash
	for _, text := range []string{"ab", strings.Repeat("ab", 31), strings.Repeat("ab", 33), strings.Repeat("a", 63)} {
		if err := h.UnmarshalText([]byte(text)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%d digits: %v", len(text), err)
		}
	}
	if err := h.UnmarshalText([]byte(strings.Repeat("zz", 32))); err == nil {
		t.Error("other letters are accepted")
	}
	want := strings.Repeat("0f", 32)
	if err := h.UnmarshalText([]byte(want)); err != nil || h.String() != want {
		t.Errorf("%s %v", h, err)
	}
	if err := h.UnmarshalText(nil); err != nil || h != (canon.Hash{}) {
		t.Errorf("no digits: %v", err)
	}
}
