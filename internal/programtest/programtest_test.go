package programtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"loregate/internal/programtest"
)

func TestFind(t *testing.T) {
	t.Setenv("REQUIRE_ENGINES", "")
	t.Setenv("NO_ENGINES", "")
	dir := t.TempDir()
	for _, name := range []string{"tool", "9-tool", "15-tool"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	for _, c := range []struct {
		places []string
		want   string
	}{
		{nil, "tool"},
		{[]string{"absent", "tool"}, "tool"},
		{[]string{filepath.Join(dir, "9-*"), "tool"}, "9-tool"},
		{[]string{filepath.Join(dir, "absent-*"), "tool"}, "tool"},
	} {
		if got := programtest.Find(t, "tool", c.places...); got != filepath.Join(dir, c.want) {
			t.Errorf("places %q: got %s, want %s", c.places, got, c.want)
		}
	}
}

func TestAbsentProgramsSkip(t *testing.T) {
	t.Setenv("REQUIRE_ENGINES", "")
	t.Setenv("SKIPPED_TESTS", "")
	for _, c := range []struct{ path, none string }{{"", ""}, {os.Getenv("PATH"), "1"}} {
		ran := t.Run("skipped", func(t *testing.T) {
			t.Setenv("PATH", c.path)
			t.Setenv("NO_ENGINES", c.none)
			defer func() {
				if !t.Skipped() {
					t.Error("the test was not skipped")
				}
			}()
			programtest.Find(t, "go")
		})
		if !ran {
			t.Error("an absent program fails a test")
		}
	}
}

func TestSkippedTestsAreListed(t *testing.T) {
	t.Setenv("REQUIRE_ENGINES", "")
	t.Setenv("NO_ENGINES", "1")
	list := filepath.Join(t.TempDir(), "list")
	t.Setenv("SKIPPED_TESTS", list)
	t.Run("on two (or more) stores", func(t *testing.T) { programtest.Find(t, "go") })
	t.Run("in part", func(t *testing.T) {
		if programtest.Lacks(t, "go is absent") || t.Skipped() {
			t.Error("the test does not go on")
		}
	})
	t.Run("whole", func(t *testing.T) {})
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	want := dir + "\t" + `^TestSkippedTestsAreListed$/^on_two_\(or_more\)_stores$` + "\tgo is not installed\n" +
		dir + "\t^TestSkippedTestsAreListed$/^in_part$\tgo is absent\n"
	if got, err := os.ReadFile(list); err != nil || string(got) != want {
		t.Errorf("the list has %s, want %s (%v)", got, want, err)
	}
}
