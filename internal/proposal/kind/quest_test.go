package kind

import (
	"testing"
)

func TestCircular(t *testing.T) {
	list := map[string]objective{"a": {Requires: []string{"b"}}, "b": {Requires: []string{"c"}},
		"c": {Requires: []string{"b"}}}
	for id, want := range map[string]bool{"a": false, "b": true, "c": true} {
		if isCircular(list, id) != want {
			t.Errorf("%s leads back to itself: %t", id, !want)
		}
	}
}
