package op

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/cputest"
	"loregate/internal/fault"
)

type probe struct {
	Name string         `json:"name" minlen:"1" maxlen:"8"`
	N    int            `json:"n,omitzero" min:"-3" max:"9"`
	R    float64        `json:"r,omitzero"`
	B    bool           `json:"b,omitzero"`
	Sort string         `json:"sort,omitzero" enum:"a,b"`
	List []string       `json:"list,omitzero" maxitems:"2"`
	Any  map[string]any `json:"any,omitzero"`
	Down []probe        `json:"down,omitzero"`
	One  *probeChoice   `json:"one,omitzero"`
}

type probeChoice struct {
	A int `json:"a,omitzero"`
	B int `json:"b,omitzero"`
}

func (probeChoice) Schema(s *jsonschema.Schema) {
	s.OneOf = []*jsonschema.Schema{{Required: []string{"a"}}, {Required: []string{"b"}}}
}

var seeds = []string{
	`{}`, `{"name":"A"}`, `{"name":"A","n":3,"r":1.5,"b":true,"sort":"a","list":["x"],"any":{"k":[1,{}]}}`,
	`{"name":"","n":10,"sort":"c","list":["a","b","c"]}`, `{"name":"A","name":"B"}`, `{"name":"A","any":{"x":1,"x":2}}`,
	`{"name":"A","down":[{"name":"B","down":[{"n":1}]}]}`, `{"name":"A","one":{"a":1}}`,
	`{"name":"A","one":{"a":1,"b":2}}`, `{"name":"A","one":{}}`,
	`{"name":"\ud800"}`, "{\"name\":\"\xff\"}", `{"name":"\u0000"}`, `{"name":"A","n":1e400}`, `{"name":"A","n":9.0}`,
	`{"name":"A","n":null}`,
	`[`, `{"name":"A"} x`, `nul`, ``, `{"Name":"A"}`, strings.Repeat(`{"any":`, 70), `{"name":"A","n":-0}`,
}

// The walk agrees with jsonschema-go, the reference: both accept the same inputs. The walk may
// accept more where Define says that it completes an input, so inputs with nulls and with whole
// numbers written as fractions are left out. Strict decoding comes first.
func FuzzCheckAgreesWithReference(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	schema, err := inferInput(reflect.TypeFor[probe]())
	if err != nil {
		f.Fatal(err)
	}
	shape, err := compileSchema(schema)
	if err != nil {
		f.Fatal(err)
	}
	reference, err := schema.CloneSchemas().Resolve(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := parseJSON(data)
		if err != nil {
			checkFaults(t, err)
			return
		}
		if lenient(&n) {
			return
		}
		var v any
		if err := stdjson.Unmarshal(data, &v); err != nil {
			if strings.Contains(err.Error(), "cannot unmarshal number") {
				return // beyond float64: kept as text here, and refused where a number is needed
			}
			t.Fatalf("strict decoding took what encoding/json refuses: %v\n%s", err, data)
		}
		want := reference.Validate(v)
		var faults faults
		shape.checkValue(&n, nil, &faults)
		if got := faults.err(); (got == nil) != (want == nil) {
			t.Fatalf("%s\nwalk: %v\nreference: %v", data, got, want)
		} else if got != nil {
			checkFaults(t, got)
		}
	})
}

func lenient(n *node) bool {
	if n.kind == 'n' || n.kind == '0' && strings.ContainsAny(n.text, ".eE") {
		return true
	}
	for i := range n.kids {
		if lenient(&n.kids[i].node) {
			return true
		}
	}
	return false
}

func checkFaults(t *testing.T, err error) {
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != fault.Invalid || len(e.Fields) == 0 || len(e.Fields) > maxFaults ||
		len(e.Message) > 4096 {
		t.Fatalf("not a fault that can be shown: %+v", err)
	}
}

// The canonical form is stable, strict, and has the same value.
func FuzzCanonical(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		once, err := Canonical(data)
		if err != nil {
			return
		}
		if !utf8.Valid(once) {
			t.Fatalf("not UTF-8: %q", once)
		}
		twice, err := Canonical(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%s\n%s\n%v", once, twice, err)
		}
		var a, b any
		if stdjson.Unmarshal(data, &a) == nil && (stdjson.Unmarshal(once, &b) != nil || !reflect.DeepEqual(a, b)) {
			t.Fatalf("%s became %s", data, once)
		}
	})
}

// A client that escapes a value gets the same value back.
func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"A+B", "a/b", "..", "100%", "Mañana", "{x}", "a?b#c", "entities"} {
		f.Add(s, "x")
	}
	two, err := parseTemplate("lore://worlds/{world}/entities/{id}")
	if err != nil {
		f.Fatal(err)
	}
	if vars, ok := two.match("lore://worlds/a/b/entities/c"); ok {
		f.Fatalf("a variable took in a slash: %v", vars)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		two.match(a)
		vars, ok := two.match("lore://worlds/" + url.PathEscape(a) + "/entities/" + url.PathEscape(b))
		if want := a != "" && b != ""; ok != want || ok && (vars["world"] != a || vars["id"] != b) {
			t.Fatalf("%q %q: %v %v", a, b, vars, ok)
		}
	})
}

// Hostile JSON is refused quickly and with a short error.
func TestHostileJSON(t *testing.T) {
	for name, data := range map[string]string{
		"depth of arrays":          strings.Repeat("[", 1<<20),
		"depth of objects":         strings.Repeat(`{"a":`, 1<<20),
		"many small values":        "[" + strings.Repeat("0,", 1<<20) + "0]",
		"a name of a megabyte":     `{"` + strings.Repeat("k", 1<<20) + `":1,"` + strings.Repeat("k", 1<<20) + `":1}`,
		"many duplicates":          "{" + strings.Repeat(`"a":1,`, 50000) + `"a":1}`,
		"invalid UTF-8":            "{\"a\":\"\xc0\xaf\"}",
		"half a surrogate":         `{"a":"\udc00"}`,
		"NUL in a name":            `{"a\u0000":1}`,
		"NUL in a text":            `{"a":"\u0000"}`,
		"a control character":      "{\"a\":\"\x01\"}",
		"a byte order mark":        "\xef\xbb\xbf{}",
		"a comment":                `{/**/}`,
		"a trailing comma":         `{"a":1,}`,
		"single quotes":            `{'a':1}`,
		"not a number":             `{"a":NaN}`,
		"a leading zero":           `{"a":01}`,
		"two values":               `{}{}`,
		"a mismatched bracket":     `{"a":[1}`,
		"nothing":                  ` `,
		"a number of many digits?": `{"a":1` + strings.Repeat("0", 1<<20) + `,}`,
	} {
		var err error
		used := cputest.Of(func() { err = checkJSON([]byte(data)) })
		if err == nil {
			t.Errorf("%s was taken", name)
			continue
		}
		checkFaults(t, err)
		if used > 2*time.Second {
			t.Errorf("%s used the processor for %s", name, used)
		}
	}
	ok := strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)
	if err := checkJSON([]byte(ok)); err != nil {
		t.Errorf("64 deep: %v", err)
	}
	if checkJSON([]byte("["+ok+"]")) == nil {
		t.Error("65 deep was taken")
	}
	var keys strings.Builder
	for i := range 20000 {
		keys.WriteString(`,"k` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + time.Duration(i).String() + `":1`)
	}
	if err := checkJSON([]byte(`{"a":1` + keys.String() + `}`)); err != nil {
		t.Errorf("many names: %v", err)
	}
}

func checkJSON(data []byte) error {
	_, err := parseJSON(data)
	return err
}
