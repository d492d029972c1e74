package console

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestComponentsAreGenerated generates the components again and compares them.
func TestComponentsAreGenerated(t *testing.T) {
	dir := t.TempDir()
	sources, err := filepath.Glob("*.templ")
	if err != nil || len(sources) == 0 {
		t.Fatalf("no components: %v", err)
	}
	for _, source := range sources {
		data, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, source), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("go", "tool", "templ", "generate", "-path", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, source := range sources {
		name := strings.TrimSuffix(source, ".templ") + "_templ.go"
		made, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		held, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(withoutPaths(made), withoutPaths(held)) {
			t.Errorf("%s is out of date; run make docs", name)
		}
	}
}

// withoutPaths drops the paths of sources, which depend on the folder that was generated from.
func withoutPaths(code []byte) []byte {
	lines := strings.Split(string(code), "\n")
	kept := lines[:0]
	for _, line := range lines {
		if !strings.Contains(line, "FileName:") {
			kept = append(kept, line)
		}
	}
	return []byte(strings.Join(kept, "\n"))
}

func TestTextLinksItsReferences(t *testing.T) {
	f := frame{World: "main", As: "user"}
	missing := func(name string) bool { return name == "Nobody" }
	for _, row := range []struct{ text, want string }{
		{"<p>See [[Rent Quay]].</p>", `<p>See <a href="/w/main/Rent%20Quay?as=user">Rent Quay</a>.</p>`},
		{"[[Rent Quay|the <b>quay</b>]]", `[[Rent Quay|the <b>quay</b>]]`},
		{"[[Rent Quay|the quay]] &amp; [[Nobody]]",
			`<a href="/w/main/Rent%20Quay?as=user">the quay</a> &amp; <a href="/w/main/Nobody?as=user" class="wanted" title="No such card yet">Nobody</a>`},
		{"[[+notice]]", `<a href="/w/main/Self+notice?as=user">Self+notice</a>`},
		{"<code>[[a]]</code><pre>[[b]]</pre><a href=\"#x\">[[c]]</a>",
			"<code>[[a]]</code><pre>[[b]]</pre><a href=\"#x\">[[c]]</a>"},
		{`<p title="[[x]]">y</p>`, `<p title="[[x]]">y</p>`},
		{"[[javascript:alert(1)]]", `<a href="/w/main/javascript:alert%281%29?as=user">javascript:alert(1)</a>`},
		{"[[https://elsewhere.example/|out]]", "[[https://elsewhere.example/|out]]"},
		{"[[&lt;script&gt;]]", `<a href="/w/main/%3Cscript%3E?as=user">&lt;script&gt;</a>`},
	} {
		got, err := showText(row.text, "Self", f, missing)
		if err != nil || got != row.want {
			t.Errorf("%s\n got %s, %v\nwant %s", row.text, got, err, row.want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("<p>[[a|b]] [[c]]</p>")
	f.Add("[[x]]<script>")
	f.Fuzz(func(t *testing.T, text string) {
		shown, err := showText(text, "Self", frame{World: "main"}, func(string) bool { return false })
		if err == nil && strings.Contains(shown, `href="javascript:`) && !strings.Contains(text, "javascript:") {
			t.Errorf("%q became %q", text, shown)
		}
	})
}

func TestReturnAddressesStayHere(t *testing.T) {
	for to, want := range map[string]string{
		"/w/main/x?as=user": "/w/main/x?as=user", "": "/", "https://elsewhere.example": "/", "//elsewhere.example": "/",
		`/\elsewhere.example`: "/", "/a\nb": "/", "w/main": "/",
	} {
		if got := localPath(to); got != want {
			t.Errorf("%q: %q, want %q", to, got, want)
		}
	}
}

func TestOddNamesAreAddressedById(t *testing.T) {
	for name, want := range map[string]string{"Rent Quay": "Rent Quay", "A+B": "A+B", "..": "~1", ".": "~1", "~x": "~1",
		":x": "~1"} {
		if got := addressName(name, "1"); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestPagesHaveNoInlineCode looks for attributes that the content policy would not let run.
func TestPagesHaveNoInlineCode(t *testing.T) {
	sources, err := filepath.Glob("*.templ")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"style=", "onclick=", "hx-on", "hx-vals=\"js:", "<script>", "<style"} {
			if strings.Contains(string(text), bad) {
				t.Errorf("%s has %s", source, bad)
			}
		}
	}
}

func TestHintsShowTheModelsOpinion(t *testing.T) {
	var page bytes.Buffer
	p := proposalView{Repeats: []repeat{{"Bees", "They hum.", "same"}, {"Wax", "It drips.", ""}, {"Rain", "It falls.", "other"}}}
	if err := issuesOf(p).Render(t.Context(), &page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"They hum. (a model reads the same in it)<", "It drips.<",
		"It falls. (a model reads something else in it)<"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q: %s", want, &page)
		}
	}
}
