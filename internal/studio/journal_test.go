package studio_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"loregate/internal/studio"
)

func TestJournal(t *testing.T) {
	j := &studio.Journal[line]{File: filepath.Join(t.TempDir(), "journal.ndjson")}
	all := func(string) bool { return true }
	for _, e := range []line{{Run: "1", Names: []string{"a"}}, {Run: "2"}, {Run: "3", Undoes: "2"}, {Run: "4"}} {
		if err := j.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	names := func() string {
		text := ""
		for _, e := range j.Active() {
			text += e.Run
		}
		return text
	}
	if names() != "14" {
		t.Errorf("in force: %s", names())
	}
	f, err := os.OpenFile(j.File, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = f.WriteString(`{"run":"5","n`); err == nil {
		err = f.Close()
	}
	if err = errors.Join(err, j.Load(all)); err != nil || names() != "14" {
		t.Errorf("with a torn line: %s, %v", names(), err)
	}
	if err := j.Load(func(run string) bool { return run < "3" }); err != nil || names() != "12" {
		t.Errorf("without unrecorded runs: %s, %v", names(), err)
	}
	var e line
	b, _ := os.ReadFile(j.File)
	if n := bytes.Count(b, []byte("\n")); n != 2 || json.Unmarshal(bytes.SplitN(b, []byte("\n"), 2)[0], &e) != nil {
		t.Errorf("the file holds %d entries", n)
	}
}
