package rollingtest

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loregate/internal/programtest"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/wait"
)

// archive is a repository of pgBackRest, configured by the file in deploy.
type archive struct {
	s      *pgtest.Server
	config string
}

// newArchive makes a server keep its log in a repository.
func newArchive(t *testing.T, s *pgtest.Server) *archive {
	t.Helper()
	programtest.Find(t, "pgbackrest")
	text, err := os.ReadFile("../../../deploy/pgbackrest.conf")
	if err != nil {
		t.Fatal(err)
	}
	a := &archive{s, filepath.Join(s.Dir(), "pgbackrest.conf")}
	config := strings.NewReplacer("repo1-path=/var/lib/pgbackrest", fmt.Sprintf(`repo1-path=%s/repository
log-path=%[1]s/logs
lock-path=%[1]s/locks
spool-path=%[1]s/spool`, s.Dir()),
		"pg1-path=/var/lib/postgresql/15/loregate", fmt.Sprintf("pg1-path=%s/data\npg1-socket-path=%[1]s\npg1-user=postgres",
			s.Dir())).Replace(string(text))
	if err := os.WriteFile(a.config, []byte(config), 0o644); err != nil { //nolint:gosec // read by the server's user
		t.Fatal(err)
	}
	s.Exec("ALTER SYSTEM SET archive_mode = on")
	s.Exec(fmt.Sprintf("ALTER SYSTEM SET archive_command = 'pgbackrest --config=%s --stanza=loregate archive-push %%p'",
		a.config))
	s.Exec("ALTER SYSTEM SET archive_timeout = 60")
	s.Drop()
	s.Again()
	a.run("stanza-create")
	return a
}

func (a *archive) run(args ...string) {
	a.s.Run("pgbackrest", append([]string{"--config=" + a.config, "--stanza=loregate"}, args...)...)
}

// restore starts a server on the data as of a time.
func (a *archive) restore(asOf time.Time) *pgtest.Server {
	back := a.s.Clone(func(data string) {
		a.run("--pg1-path="+data, "--archive-mode=off", "--type=time",
			"--target="+asOf.UTC().Format(time.DateTime)+"+00", "--target-action=promote", "restore")
	})
	back.Exec("DO 'BEGIN WHILE pg_is_in_recovery() LOOP PERFORM pg_sleep(0.05); END LOOP; END'")
	return back
}

// TestADatabaseComesBackAsOfASecond runs the commands of docs/operations.md while the server runs,
// and restores two seconds of its past into servers of their own.
func TestADatabaseComesBackAsOfASecond(t *testing.T) {
	programtest.Long(t)
	server := pgtest.Start(t)
	archive := newArchive(t, server)
	here := server.Empty()
	i := newInstance(t, here)
	p, key, _ := i.newUsedStore()
	archive.run("--type=full", "backup")
	archive.run("check")
	var seconds []time.Time
	for n := range 3 {
		body := fmt.Sprintf(`{"name":"Entry %d","content":"written after the backup"}`, n)
		status, answer, err := call(t.Context(), probes, key, "POST", "http://"+p.addr+"/api/mcp/cards", body)
		if err != nil || status != http.StatusCreated {
			t.Fatalf("%d %s %v", status, answer, err)
		}
		second := time.Now().Truncate(time.Second).Add(time.Second)
		seconds = append(seconds, second)
		wait.For(t.Context(), time.Until(second.Add(100*time.Millisecond)))
	}
	p.stop()
	server.Exec("SELECT pg_switch_wal()")
	for n, second := range seconds[:2] {
		back := newInstance(t, archive.restore(second).At(here))
		i.copyFiles(back)
		back.wantRestored(key, "") // a token is good there, since the signing keys come back too
		back.wantEntries(key, n+1)
	}
}

// wantEntries checks that the first n entries are there, and no others.
func (i *instance) wantEntries(key string, n int) {
	i.t.Helper()
	p := i.serve(freeAddr(i.t))
	defer p.stop()
	for entry := range 3 {
		want := http.StatusNotFound
		if entry < n {
			want = http.StatusOK
		}
		status, _, err := call(i.t.Context(), probes, key, "GET", fmt.Sprintf("http://%s/api/mcp/cards/Entry%%20%d", p.addr,
			entry), "")
		if err != nil || status != want {
			i.t.Errorf("Entry %d: %d %v, want %d", entry, status, err, want)
		}
	}
}
