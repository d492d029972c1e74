package exchange_test

import (
	"encoding/json"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"loregate/internal/bound"
	"loregate/internal/exchange"
	"loregate/internal/fault"
)

// A decoded file is the value that the standard library decodes, and text after it is refused.
func TestDecodedFilesAreTheirValues(t *testing.T) {
	for _, text := range []string{`{"a": [1, 1.50, "x", "x", true, null, {}, []], "b": {"a": -0}, "a": 2}`, `[]`, `"x"`, `7`,
		" {\n} ", `{"a": "` + strings.Repeat("long ", 20) + `"}`} {
		var want any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if got, err := exchange.DecodeValue("x", []byte(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "{", `{"a"}`, `{"a": 1}}`, "1 2", "[1,]", "nonsense"} {
		if _, err := exchange.DecodeValue("x", []byte(text)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// However dense the values of a file are, they take no more memory than its size allows.
func TestDecodedFilesKeepTheirBudget(t *testing.T) {
	const size = 4 << 20
	limit := bound.BudgetOf(bound.Size{Largest: size}).Memory
	for name, part := range map[string]string{"objects": `{},`, "lists": `[],`, "numbers": `1,`, "texts": `"a",`,
		"members": `{"a":1},`, "nests": `[[[[]]]],`, "long texts": `"` + strings.Repeat("a", 200) + `",`} {
		data := []byte("[" + strings.Repeat(part, size/len(part)) + "1]")
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		v, err := exchange.DecodeValue("dense.json", data)
		runtime.GC()
		runtime.ReadMemStats(&after)
		held := int64(after.HeapAlloc) - int64(before.HeapAlloc)
		if held > limit || err != nil && (fault.KindOf(err) != fault.TooLarge || !strings.Contains(err.Error(),
			"dense.json")) {
			t.Errorf("%s: %d MiB are held of %d; %v", name, held>>20, limit>>20, err)
		}
		runtime.KeepAlive(v)
		runtime.KeepAlive(data)
	}
	if _, err := exchange.DecodeValue("x", []byte(strings.Repeat("[", 1<<20))); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("a deep nest: %v", err)
	}
}
