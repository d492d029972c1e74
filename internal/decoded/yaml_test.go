package decoded_test

import (
	"errors"
	"fmt"
	"testing"

	"go.yaml.in/yaml/v4"

	"loregate/internal/decoded"
)

func TestFaultsOfYAMLHaveTheirLines(t *testing.T) {
	var into struct{ A, B int }
	for text, want := range map[string]string{
		"a: x\nb: y\n":   "[line 1: cannot construct !!str `x` into int line 2: cannot construct !!str `y` into int]",
		"a: 1\n\tb: 2\n": "[line 2: found a tab character that violates indentation]",
	} {
		err := yaml.Unmarshal([]byte(text), &into)
		if err == nil {
			t.Fatalf("%q is taken", text)
		}
		if got := fmt.Sprint(decoded.YAMLFaults(fmt.Errorf("a file: %w", err))); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	if got := fmt.Sprint(decoded.YAMLFaults(errors.New("no file"))); got != "[no file]" {
		t.Error(got)
	}
}
