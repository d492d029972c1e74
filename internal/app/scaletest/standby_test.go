package scaletest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app/apptest"
	"loregate/internal/programtest"
	"loregate/internal/store/postgres/pgtest"
)

// standbyScene is an instance on a primary and a standby, which makes exports at the standby.
type standbyScene struct {
	served
	primary, standby *pgtest.Server
	key              string
}

func newStandbyScene(t *testing.T) standbyScene {
	t.Helper()
	n := standbyScene{primary: pgtest.Start(t)}
	at := n.primary.Empty()
	n.standby = n.primary.Standby()
	c := apptest.Config(t, t.TempDir())
	c.Database, c.Standbys = pgtest.Join(t, at, n.standby.At(at)), true
	a, _ := apptest.Open(t, c, apptest.Quiet())
	n.served = serve(t, a)
	n.create("west")
	n.key, _ = n.served.key("keeper", access.RoleAdmin)
	apptest.Eventually(t, "exports are made at the standby", time.Minute, func() bool {
		n.export("table")
		return n.readAt("standby") > 0
	})
	return n
}

// readAt returns the number of long reads at the standby, or at the primary in its place.
func (n standbyScene) readAt(which string) (count int) {
	n.t.Helper()
	for line := range strings.Lines(n.want(http.StatusOK, n.key, "GET", "/metrics", nil)) {
		_, _ = fmt.Sscanf(line, `loregate_long_reads_total{at="`+which+`"} %d`, &count) // other lines do not match
	}
	return count
}

// export returns the text of an export for players.
func (n standbyScene) export(format string) string {
	n.t.Helper()
	body := n.want(http.StatusOK, n.key, "GET", "/api/export?role=user&world=west&format="+format, nil)
	z, err := zip.NewReader(strings.NewReader(body), int64(len(body)))
	if err != nil {
		return body
	}
	var all bytes.Buffer
	for _, f := range z.File {
		all.WriteString(f.Name)
		r, err := f.Open()
		if err == nil {
			_, err = io.Copy(&all, r)
		}
		if err != nil {
			n.t.Fatal(err)
		}
	}
	return all.String()
}

// writeAndHide creates a card that players see and one that is hidden at once. The next export of each format has
// the first and not the second.
func (n standbyScene) writeAndHide(i int) {
	n.t.Helper()
	for _, name := range []string{"Shown", "Hidden"} {
		n.want(http.StatusCreated, n.key, "POST", "/api/mcp/cards?world=west",
			map[string]any{"name": fmt.Sprint(name, i, "x"), "content": fmt.Sprintf("<p>%s text %d.</p>", name, i)})
	}
	for _, format := range []string{"table", "markdown", "memory"} {
		level := "gm"
		n.want(http.StatusOK, n.key, "PUT", fmt.Sprintf("/api/mcp/cards/Hidden%dx/level?world=west", i), map[string]any{"level": level})
		text := n.export(format)
		if !strings.Contains(text, fmt.Sprint("Shown", i, "x")) {
			n.t.Errorf("export %d as %s lacks a card that was written before it", i, format)
		}
		if strings.Contains(text, fmt.Sprint("Hidden", i, "x")) || strings.Contains(text, fmt.Sprint("Hidden text ", i)) {
			n.t.Errorf("export %d as %s has a card that was hidden before it", i, format)
		}
		n.want(http.StatusOK, n.key, "PUT", fmt.Sprintf("/api/mcp/cards/Hidden%dx/level?world=west", i), map[string]any{"level": "user"})
	}
}

// TestExportsAtTheStandbyAreThoseOfNow exports after each write and each hiding: at the standby, at the primary
// while the standby does not replay, and after the standby was killed.
func TestExportsAtTheStandbyAreThoseOfNow(t *testing.T) {
	programtest.Long(t)
	n := newStandbyScene(t)
	before := n.readAt("standby")
	for i := range 10 {
		n.writeAndHide(i)
	}
	if at := n.readAt("standby") - before; at < 20 {
		t.Errorf("%d of 30 exports were made at the standby", at)
	}
	n.standby.Exec("SELECT pg_wal_replay_pause()")
	before = n.readAt("primary")
	n.writeAndHide(10)
	if n.readAt("primary") == before {
		t.Error("the primary made no export while the standby did not replay")
	}
	n.standby.Exec("SELECT pg_wal_replay_resume()")
	n.standby.Drop()
	n.primary.Exec("ALTER SYSTEM SET synchronous_standby_names = ''")
	n.primary.Exec("SELECT pg_reload_conf()")
	n.writeAndHide(11)
}

// TestAnExportOutlivesItsStandby kills the standby in the middle of an export, which has all cards.
func TestAnExportOutlivesItsStandby(t *testing.T) {
	programtest.Long(t)
	n := newStandbyScene(t)
	const cards = 600
	for i := 0; i < cards; i += 100 {
		var list []map[string]any
		for k := range 100 {
			list = append(list, map[string]any{"action": "create", "name": fmt.Sprint("Card ", i+k), "content": "<p>Text.</p>"})
		}
		n.want(http.StatusOK, n.key, "POST", "/api/mcp/cards/batch?world=west", map[string]any{"ops": list})
	}
	killed := false
	summary, err := n.app.Export(t.Context(), "markdown", "west", filepath.Join(t.TempDir(), "out"), access.RoleUser,
		func(int, int) {
			if !killed {
				killed = true
				n.standby.Drop()
			}
		})
	if err != nil || summary.Cards < cards || !killed {
		t.Errorf("an export of %d cards has %d, and ends with %v", cards, summary.Cards, err)
	}
}
