package prompt

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

var update = flag.Bool("update", false, "pin the new templates of this build")

const tiny = `{"metadata":{"id":"tiny","version":"1.0.0","name":"Tiny","description":"A test."},"template":"Say [what] to [whom].","variables":[{"name":"what","description":"The word.","required":true},{"name":"whom","description":"Who.","required":false,"defaultValue":"all"}]}`

// The hash of every template of the build is pinned and unchanged.
func TestPublishedTemplatesArePinned(t *testing.T) {
	r, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	pins := map[string]string{}
	for _, p := range r.all {
		pins[p.Metadata.ID+"@"+p.Metadata.Version] = p.hash
	}
	want, _ := json.MarshalIndent(pins, "", "  ")
	if *update {
		if err := os.WriteFile("published.json", append(want, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if strings.TrimSpace(string(published)) != string(want) {
		t.Errorf("published.json does not hold\n%s\nrun the test with -update after adding a version", want)
	}
}

// The hash covers the content for the model, in one canonical form.
func TestHash(t *testing.T) {
	base, err := Parse([]byte(tiny))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		from, to string
		same     bool
	}{
		"a description is for people":   {"A test.", "Another text.", true},
		"the order of members":          {`"id":"tiny","version":"1.0.0"`, `"version":"1.0.0","id":"tiny"`, true},
		"an escape is not another text": {"Say [what]", `\u0053ay [what]`, true},
		"a word of the template":        {"Say", "Tell", false},
		"a version":                     {"1.0.0", "1.0.1", false},
		"a default":                     {`"all"`, `"some"`, false},
		"what a variable is":            {"The word.", "A word.", false},
	} {
		changed, err := Parse([]byte(strings.Replace(tiny, tc.from, tc.to, 1)))
		if err != nil {
			t.Fatal(name, err)
		}
		if (changed.Hash() == base.Hash()) != tc.same {
			t.Errorf("%s: same hash is %t", name, !tc.same)
		}
	}
	unix, _ := Parse([]byte(strings.Replace(tiny, "Say", `Say\n`, 1)))
	dos, _ := Parse([]byte(strings.Replace(tiny, "Say", `Say\r\n`, 1)))
	if unix.Hash() != dos.Hash() {
		t.Error("line ends count")
	}
}

func TestRender(t *testing.T) {
	p, err := Parse([]byte(tiny))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Render(map[string]string{"what": "[whom] a [b]"}); err != nil || got != "Say [whom] a [b] to all." {
		t.Errorf("%q, %v", got, err)
	}
	_, err = p.Render(map[string]string{"when": "now"})
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Invalid || len(f.Fields) != 2 {
		t.Errorf("missing and unknown: %v", err)
	}
}

func TestParseRefusesInvalidTemplates(t *testing.T) {
	for name, file := range map[string]string{
		"no JSON":             `{`,
		"a field misspelt":    strings.Replace(tiny, `"template"`, `"templates"`, 1),
		"an id with capitals": strings.Replace(tiny, `"tiny"`, `"Tiny"`, 1),
		"no version":          strings.Replace(tiny, `"1.0.0"`, `"one"`, 1),
		"undeclared":          strings.Replace(tiny, "[what]", "[that]", 1),
		"required, defaulted": strings.Replace(tiny, `"required":false`, `"required":true`, 1),
	} {
		if _, err := Parse([]byte(file)); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestPublishedVersionNeverChanges(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("tiny.json", tiny)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Get("tiny", ""); err != nil {
		t.Fatal(err)
	}
	write("tiny-2.json", strings.NewReplacer("1.0.0", "1.10.0", "Say", "Sing").Replace(tiny))
	write("tiny-3.json", strings.NewReplacer("1.0.0", "1.9.0", "Say", "Hum").Replace(tiny))
	if r, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	if p, err := r.Get("tiny", ""); err != nil || p.Metadata.Version != "1.10.0" {
		t.Errorf("the latest is %+v, %v", p, err)
	}
	write("tiny.json", strings.Replace(tiny, "Say", "Tell", 1))
	if _, err = Open(dir); err == nil || !strings.Contains(err.Error(), "tiny@1.0.0 was published") {
		t.Errorf("a version that changed: %v", err)
	}
	write("tiny.json", tiny)
	write("copy.json", tiny)
	if _, err = Open(dir); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a version that is there twice: %v", err)
	}
	write("copy.json", strings.NewReplacer(`"tiny"`, `"ambience"`, "Say", "Shout").Replace(tiny))
	if _, err = Open(dir); err == nil {
		t.Error("a version of the build is replaced by a folder's")
	}
}

func TestOperations(t *testing.T) {
	r, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	local, err := op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{}),
		Surfaces: []op.Surface{{Name: "world", Title: "World", Doc: "The world.", Operations: Operations(r, "world")}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range local.All() {
		for _, e := range o.Examples {
			if _, err := local.Invoke(t.Context(), access.Caller{Subject: "s"},
				op.Request{Operation: o.Name, Input: []byte(e.Input)}); err != nil {
				t.Errorf("%s, %s: %v", o.Name, e.Title, err)
			}
		}
	}
	_, err = local.Invoke(t.Context(), access.Caller{Subject: "s"},
		op.Request{Operation: "get-prompt", Input: []byte(`{"id":"ambience","version":"1.0.0","hash":"aa"}`)})
	if !errors.Is(err, fault.Invalid) {
		t.Errorf("a version and a hash: %v", err)
	}
	if _, err = local.Invoke(t.Context(), access.Caller{Subject: "s"},
		op.Request{Operation: "get-prompt", Transport: "mcp", Input: []byte(`{"id":"ambience"}`)}); !errors.Is(err,
		fault.NotFound) {
		t.Errorf("over MCP: %v", err)
	}
	a, err := local.Invoke(t.Context(), access.Caller{Subject: "s"},
		op.Request{Operation: "get-prompt", Input: []byte(`{"id":"ambience"}`)})
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Hash string }
	_ = json.Unmarshal(a.Output, &got)
	if a.Reply.ETag != got.Hash || len(got.Hash) != 64 {
		t.Errorf("ETag %q, hash %q", a.Reply.ETag, got.Hash)
	}
}
