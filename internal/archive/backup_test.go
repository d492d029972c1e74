package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/store/sqlite"
)

func TestABackupReplacesTheStore(t *testing.T) {
	s := newDesk(t)
	s.wrote("Well", "deep")
	made := s.operator().Call("create_backup", `{}`).Want("status", "completed")
	s.wrote("Later", "not in it")

	path := filepath.Join(s.data, "backups", made.Text("file"))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != made.Text("sha256") {
		t.Error("the checksum is another file's")
	}
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	copied := canon.New(canon.Config{Store: store})
	err = copied.Read(t.Context(), s.admin, func(l *canon.Snapshot) error {
		c, err := l.Find(t.Context(), "Well")
		if err != nil {
			return err
		}
		if content, err := l.Content(t.Context(), c); content != "deep" || err != nil {
			t.Errorf("reads %q: %v", content, err)
		}
		if _, there, _ := l.Exists(t.Context(), "Later"); there {
			t.Error("it holds what was written later")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	id := made.Text("id")
	s.operator().Call("get_backup", `{"id": "`+id+`"}`, overREST).Want("sha256", made.Text("sha256")).Want("size",
		len(data))
	down := s.operator().Call("get_backup", `{"id": "`+id+`", "download": true}`, overREST)
	if down.Reply.File == nil {
		t.Fatal("no copy is sent")
	}
	if data, err = os.ReadFile(path); err != nil { // the store has opened it
		t.Fatal(err)
	}
	if sent, err := io.ReadAll(down.Reply.File.Open()); err != nil || !bytes.Equal(sent, data) {
		t.Errorf("%d bytes are sent of a copy of %d: %v", len(sent), len(data), err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.data, "backups", ".making-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	for _, who := range []string{"user", "gm", "admin"} {
		if f := s.As(who).asked("get_backup", `{"id": "`+id+`"}`, overREST); f.Kind != fault.Denied {
			t.Errorf("%s: %v", who, f)
		}
	}
	if f := s.operator().asked("get_backup", `{"id": "01900000-0000-7000-8000-000000000000"}`,
		overREST); f.Kind != fault.NotFound {
		t.Errorf("an unknown backup: %v", f)
	}
}

func TestWithoutJobsThereIsNoBackup(t *testing.T) {
	s := newScene(t)
	who := actor{s, newDesk(t).operator().caller}
	if f := who.asked("create_backup", `{}`, overREST); f.Kind != fault.Unavailable {
		t.Errorf("%v", f)
	}
	s.wrote("P+GM", "x")
	if f := s.As("gm").asked("spoiler_scan",
		`{"terms_card": "P+GM", "results_card": "R", "scope": "ai"}`); f.Kind != fault.Unavailable {
		t.Errorf("%v", f)
	}
}
