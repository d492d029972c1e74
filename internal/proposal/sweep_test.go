package proposal

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
)

// A long-running process does not keep keys, accounts or days that no gate uses.
func TestSweepRemovesUnusedState(t *testing.T) {
	s := &Service{cfg: Config{Limits: Limits{}.orDefaults()}}
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	var a admission
	a.reset()
	propose := func(account string, at time.Time) {
		j := &judgedEvent{ID: uuid.New(), Author: author{Account: account, Level: access.LevelUser}, Purpose: ForAmbience,
			Status: Accepted, Tokens: 7, Idempotency: "k"}
		a.foldEntry(s, ledgerEntry{judged: j, at: at}, at)
	}
	propose("old", noon)
	a.sweep(noon)
	if len(a.used) != 1 || len(a.times) != 4 || len(a.tokens) != 1 {
		t.Fatalf("%d keys, %d rates and %d days are kept of one proposal", len(a.used), len(a.times), len(a.tokens))
	}
	later := noon.Add(23 * time.Hour)
	propose("new", later)
	a.sweep(later)
	if len(a.used) != 2 || len(a.times) != 4 || len(a.tokens) != 1 {
		t.Errorf("after 23 hours %d keys, %d rates and %d days are kept; want both keys, and the latter's rates and day",
			len(a.used), len(a.times), len(a.tokens))
	}
	a.sweep(noon.Add(25 * time.Hour))
	if len(a.used) != 1 || a.used["new\x00k"] == nil || len(a.byID) != 2 {
		t.Errorf("after 25 hours %d keys and %d proposals are kept; want the latter's key, and both proposals", len(a.used),
			len(a.byID))
	}
	a.sweep(noon.Add(25*time.Hour + time.Minute)) // within an hour of the last sweep: does nothing
	if !a.swept.Equal(noon.Add(25 * time.Hour)) {
		t.Errorf("it was swept at %v", a.swept)
	}
}
