package failovertest

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"loregate/internal/app/patronitest"
	"loregate/internal/wait"
)

// TestArchiveOfACluster writes before and after a failover and a switch-over of a cluster whose log is kept, and
// restores three seconds of its past: each has the writes that were acknowledged by then, whole, and no later one.
func TestArchiveOfACluster(t *testing.T) {
	if os.Getenv("FAILOVER_ARCHIVE") == "" {
		t.Skip("FAILOVER_ARCHIVE is not set: no cluster is started (make proof does)")
	}
	c := patronitest.Start(t)
	c.CreateDatabase()
	c.KeepArchive()
	s := newService(t, c)
	s.openWorld("main")
	var seconds []time.Time
	r := rand.New(rand.NewPCG(seed(), 0))
	for _, fail := range []func(){func() { c.Kill(); c.Again() }, c.SwitchOver, func() {}} {
		for range 50 {
			s.createCard(r, s.next.Add(1))
		}
		second := time.Now().Truncate(time.Second).Add(time.Second)
		wait.For(t.Context(), time.Until(second.Add(100*time.Millisecond)))
		seconds = append(seconds, second)
		fail()
	}
	s.createCard(r, s.next.Add(1)) // after the last second
	if err := c.Query(c.Primary(), "SELECT pg_switch_wal()"); err != nil {
		t.Fatal(err)
	}
	for i, second := range seconds {
		s.wantRestored(c.Restore(second), 50*(i+1))
	}
	t.Logf("a cluster was restored to %d seconds, before and after a failover and a switch-over", len(seconds))
}

// wantRestored checks a restored database with the commands of docs/operations.md, and counts its cards.
func (s *service) wantRestored(address string, cards int) {
	s.t.Helper()
	back := &service{t: s.t, program: s.program,
		env: append(os.Environ(), "LOREGATE_DATABASE="+address, "LOREGATE_DATA="+s.t.TempDir())}
	back.wantWhole()
	db, err := pgx.Connect(s.t.Context(), address)
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close(s.t.Context())
	found := 0
	row := db.QueryRow(s.t.Context(), "SELECT count(*) FROM cards WHERE name LIKE 'Entry %'")
	if err := row.Scan(&found); err != nil {
		s.t.Fatal(err)
	}
	if found != cards {
		s.t.Errorf("%d cards were restored, want %d", found, cards)
	}
}
