package patronitest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"loregate/internal/app/apptest"
	"loregate/internal/programtest"
)

// KeepArchive makes the cluster keep base backups and its log in a repository of pgBackRest, by the commands of
// docs/operations.md, and makes the first backup.
func (c *Cluster) KeepArchive() {
	c.t.Helper()
	programtest.Find(c.t, "pgbackrest")
	programtest.Find(c.t, "patronictl")
	text, err := os.ReadFile("../../../deploy/pgbackrest.conf")
	if err != nil {
		c.t.Fatal(err)
	}
	repository := c.makeDir("repository")
	for _, n := range c.nodes {
		_, port, _ := net.SplitHostPort(n.server) // an address
		config := strings.NewReplacer("repo1-path=/var/lib/pgbackrest", fmt.Sprintf(`repo1-path=%s
log-path=%s/pgbackrest
lock-path=%[2]s/pgbackrest
spool-path=%[2]s/pgbackrest`, repository, n.dir), "pg1-path=/var/lib/postgresql/15/loregate",
			fmt.Sprintf("pg1-path=%s\npg1-port=%s", n.dataDir(), port)).Replace(string(text))
		path := filepath.Join(n.dir, "pgbackrest.conf")
		if err := os.WriteFile(path, []byte(config), 0o644); err != nil { //nolint:gosec // read by the servers' user
			c.t.Fatal(err)
		}
	}
	p := c.Primary()
	ctl := []string{"-c", filepath.Join(p.dir, "patroni.yml")}
	p.Run("patronictl", append(ctl, "edit-config", "loregate", "--force", "--pg", "archive_mode=on",
		"--pg", "archive_timeout=60", "--pg", `archive_command=pgbackrest --stanza=loregate archive-push "%p"`)...)
	p.Run("patronictl", append(ctl, "restart", "loregate", "--force")...)
	c.AwaitReplication()
	p = c.Primary()
	p.Run("pgbackrest", "--stanza=loregate", "stanza-create")
	p.Run("pgbackrest", "--stanza=loregate", "--type=full", "backup")
	p.Run("pgbackrest", "--stanza=loregate", "check")
}

// Restore starts a server of its own on the database as of a time, and returns its address.
func (c *Cluster) Restore(asOf time.Time) string {
	c.t.Helper()
	p, at := c.Primary(), FreeAddress(c.t)
	_, port, _ := net.SplitHostPort(at) // an address
	dir := c.makeDir("restored" + port)
	data := filepath.Join(dir, "data")
	p.Run("pgbackrest", "--stanza=loregate", "--pg1-path="+data, "--archive-mode=off", "--type=time",
		"--target="+asOf.UTC().Format(time.DateTime)+"+00", "--target-action=promote", "restore")
	server := c.run(dir, p.env, filepath.Join(c.bin, "postgres"), "-D", data, "-p", port, "-k", dir,
		"-c", "listen_addresses=127.0.0.1", "-c", "synchronous_standby_names=",
		"-c", "hba_file="+filepath.Join(data, "pg_hba.conf"), "-c", "ident_file="+filepath.Join(data, "pg_ident.conf"))
	c.t.Cleanup(server.Kill)
	address := "postgres://loregate:" + password + "@" + at + "/loregate?sslmode=disable"
	apptest.Eventually(c.t, "the log was read up to the time", Patience, func() bool {
		db, err := pgx.Connect(c.t.Context(), address)
		if err != nil {
			return false
		}
		defer db.Close(c.t.Context())
		reads := true
		err = db.QueryRow(c.t.Context(), "SELECT pg_is_in_recovery()").Scan(&reads)
		return err == nil && !reads
	})
	return address
}
