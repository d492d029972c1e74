package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
)

func TestArchivesDoNotDependOnTheOrderOfFiles(t *testing.T) {
	a := []entry{{"b", []byte("two"), 0o644}, {"a", []byte("one"), 0o755}}
	b := []entry{a[1], a[0]}
	at := time.Unix(1_700_000_001, 0).UTC()
	for name, write := range map[string]func(io.Writer, []entry, time.Time) error{
		"zip": writeZip, "tar": writeTar, "tar.gz": writeTarGz} {
		var first, second bytes.Buffer
		if err := write(&first, a, at); err != nil {
			t.Fatal(err)
		}
		if err := write(&second, b, at); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s: the order of the files shows", name)
		}
	}
}

func TestZipKeepsTheProgramExecutable(t *testing.T) {
	var b bytes.Buffer
	if err := writeZip(&b, []entry{{"server/loregate", []byte("x"), 0o755}}, time.Unix(1_700_000_000, 0)); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if mode := z.File[0].Mode(); mode != 0o755 {
		t.Errorf("mode %v", mode)
	}
}

func TestFlagsAreChecked(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	for args, want := range map[string]string{
		"-version 1.2.0": "",
		"-version 1.2.0-rc.1 -targets linux/amd64": "",
		"-version 1.2":                                 "semantic version",
		"-version 1.2.0 -targets plan9/mips":           "no target",
		"-version 1.2.0 -url http://example.org/":      "https://",
		"-version 1.2.0 -url https://example.org/file": "slash",
	} {
		_, err := parseFlags(strings.Fields(args))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
	t.Setenv("SOURCE_DATE_EPOCH", "")
	if _, err := parseFlags([]string{"-version", "1.2.0"}); err == nil {
		t.Error("a release without a time was accepted")
	}
}

func TestRegistryTakesTheSummary(t *testing.T) {
	if len(summary) > 100 {
		t.Errorf("the registry refuses descriptions of more than 100 characters; this one has %d", len(summary))
	}
}

func TestEachExtensionHasTheSkills(t *testing.T) {
	for _, x := range (release{version: "1.2.0"}).extensions() {
		entries, err := x.entries()
		if err != nil {
			t.Fatal(err)
		}
		skills := 0
		for _, e := range entries {
			if strings.HasSuffix(e.name, "/SKILL.md") {
				skills++
			} else if !json.Valid(e.data) {
				t.Errorf("%s: %s is not JSON", x.client, e.name)
			}
		}
		if skills != 3 {
			t.Errorf("%s has %d skills, want 3", x.client, skills)
		}
	}
}
