package rollingtest

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/programtest"
	"loregate/internal/store/postgres/pgtest"
)

// newUsedStore creates a card with several versions, a file, and a token. The server keeps
// running, since backups are made while it does.
func (i *instance) newUsedStore() (p *process, key, token string) {
	i.t.Helper()
	p = i.serve(freeAddr(i.t))
	key = i.key()
	want := func(status int, method, path, body string, headers ...string) string {
		i.t.Helper()
		got, answer, err := call(i.t.Context(), probes, key, method, "http://"+p.addr+path, body, headers...)
		if err != nil || got != status {
			i.t.Fatalf("%s %s: %d %s %v", method, path, got, answer, err)
		}
		return answer
	}
	want(http.StatusCreated, "POST", "/api/mcp/cards", `{"name":"Żółw","content":"first"}`)
	want(http.StatusOK, "PATCH", "/api/mcp/cards/"+url.PathEscape("Żółw"), `{"content":"second"}`)
	want(http.StatusOK, "POST", "/api/mcp/cards/Map/file", string(picture), "Content-Type", "application/octet-stream")
	answer := want(http.StatusCreated, "POST", "/api/mcp/auth", fmt.Sprintf(`{"api_key":%q,"role":"gm"}`, key))
	_, token, _ = strings.Cut(answer, `"token":"`)
	token, _, _ = strings.Cut(token, `"`)
	return p, key, token
}

var picture = []byte("\x89PNG\r\n\x1a\n" + strings.Repeat("not much of a picture ", 5000))

// wantRestored checks a restored store: chains, tables, cards, files and keys. The token must
// be refused, since signing keys are not part of a backup.
func (i *instance) wantRestored(key, token string) {
	i.t.Helper()
	if out := i.run("audit", "verify"); !strings.Contains(out, "chains intact") {
		i.t.Error(out)
	}
	if out := i.run("rebuild"); !strings.Contains(out, "identical") || strings.Contains(out, "different") {
		i.t.Error(out)
	}
	p := i.serve(freeAddr(i.t))
	for _, row := range []struct {
		bearer, path string
		status       int
		holds        string
	}{
		{key, "/api/mcp/cards/" + url.PathEscape("Żółw"), http.StatusOK, "second"},
		{key, "/api/mcp/cards/" + url.PathEscape("Żółw") + "/history", http.StatusOK, `"version":1`},
		{key, "/api/mcp/cards/Map/file", http.StatusOK, string(picture)},
		{token, "/api/mcp/types", http.StatusUnauthorized, ""},
	} {
		status, body, err := call(i.t.Context(), probes, row.bearer, "GET", "http://"+p.addr+row.path, "")
		if err != nil || status != row.status || !strings.Contains(body, row.holds) {
			i.t.Errorf("GET %s: %d %.200s %v", row.path, status, body, err)
		}
	}
	status, body, err := call(i.t.Context(), probes, key, "POST", "http://"+p.addr+"/api/mcp/cards",
		`{"name":"After","content":"goes on"}`)
	if err != nil || status != http.StatusCreated {
		i.t.Errorf("a write after it: %d %s %v", status, body, err)
	}
	p.stop()
}

func TestABackupOfAFolderComesBack(t *testing.T) {
	i := newInstance(t, "")
	p, key, token := i.newUsedStore()
	file := filepath.Join(t.TempDir(), "lore.db")
	if out := i.run("backup", file); !strings.Contains(out, file) {
		t.Error(out)
	}
	if _, err := i.try("backup", file); err == nil {
		t.Error("a backup is written over")
	}
	p.stop()
	back := newInstance(t, "")
	if err := os.Rename(file, filepath.Join(back.data, "loregate.db")); err != nil {
		t.Fatal(err)
	}
	i.copyFiles(back)
	back.wantRestored(key, token)
}

// copyFiles copies the folders beside the store.
func (i *instance) copyFiles(to *instance) {
	i.t.Helper()
	entries, err := os.ReadDir(i.data)
	if err != nil {
		i.t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := os.CopyFS(filepath.Join(to.data, e.Name()), os.DirFS(filepath.Join(i.data, e.Name()))); err != nil {
				i.t.Fatal(err)
			}
		}
	}
}

// tool runs one of PostgreSQL's programs.
func tool(t *testing.T, name string, args ...string) {
	t.Helper()
	path := programtest.Find(t, name, name, "/usr/lib/postgresql/*/bin/"+name)
	var said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v: %s", name, err, said.String())
	}
}

// TestABackupOfADatabaseComesBack runs the commands of docs/operations.md while the server
// runs.
func TestABackupOfADatabaseComesBack(t *testing.T) {
	programtest.Long(t)
	here, there := pgtest.Empty(t), pgtest.Empty(t)
	i := newInstance(t, here)
	p, key, token := i.newUsedStore()
	file := filepath.Join(t.TempDir(), "lore.dump")
	tool(t, "pg_dump", "--format=custom", "--exclude-table-data=signing_keys", "--file="+file, "--dbname="+here)
	p.stop()
	back := newInstance(t, there)
	tool(t, "pg_restore", "--exit-on-error", "--no-owner", "--single-transaction", "--dbname="+there, file)
	i.copyFiles(back)
	back.wantRestored(key, token)
}

// TestACopyIsABackupToo copies a database into a folder: the copy is a backup that any machine
// can read.
func TestACopyIsABackupToo(t *testing.T) {
	i := newInstance(t, pgtest.Empty(t))
	p, key, token := i.newUsedStore()
	p.stop()
	back := newInstance(t, "")
	if out := i.run("copy", "--from", lastValue(i, "LOREGATE_DATABASE"), "--to", back.data); !strings.Contains(out,
		"verified as equal") {
		t.Error(out)
	}
	i.copyFiles(back)
	back.wantRestored(key, token)
}

// lastValue returns the last value of an environment variable.
func lastValue(i *instance, name string) (value string) {
	for _, e := range i.environ {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}

func TestDoctorLooksAtTheDatabase(t *testing.T) {
	at := pgtest.Empty(t)
	i := newInstance(t, at)
	i.serve(freeAddr(t)).stop()
	out, err := i.try("doctor")
	// The tests' server does not wait for its disk, and doctor must report that.
	if err == nil || !strings.Contains(out, "BAD  durability") || !strings.Contains(out, "fsync") ||
		strings.Count(out, "BAD") != 1 {
		t.Errorf("%v: %s", err, out)
	}
	for _, line := range []string{"ok   server ", "ok   migrations", "ok   connections", "ok   locks", "ok   clock",
		"ok   disk of the data", "ok   timeouts", "ok   chains"} {
		if !strings.Contains(out, line) {
			t.Errorf("no line %q in %s", line, out)
		}
	}
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	for path, remedy := range map[string]string{"/nosuch": "createdb"} {
		u.Path = path
		if out, err := newInstance(t, u.String()).try("doctor"); err == nil || !strings.Contains(out, remedy) {
			t.Errorf("%s: %v %s", path, err, out)
		}
	}
	u.RawQuery = url.Values{"host": {t.TempDir()}}.Encode()
	if out, err := newInstance(t, u.String()).try("doctor"); err == nil || !strings.Contains(out, "start PostgreSQL") {
		t.Errorf("no server: %v %s", err, out)
	}
}
