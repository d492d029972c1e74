package vault

import (
	"context"
	"fmt"
	"os"
	"testing"
	"testing/synctest"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/fault"
	"loregate/internal/store/memory"
)

// outageStore is a store of which every third write fails: before it has its effect, and after it, in turn.
type outageStore struct {
	canon.Store
	writes, failed int
	on             bool
}

var errOutage = fault.New(fault.Unavailable, "another server takes over; try again")

func (s *outageStore) Write(ctx context.Context, f func(canon.Tx) error) error {
	s.writes++
	if !s.on || s.writes%3 != 0 {
		return s.Store.Write(ctx, f)
	}
	if s.failed++; s.failed%2 == 0 {
		return errOutage
	}
	if err := s.Store.Write(ctx, f); err != nil {
		return err
	}
	return errOutage
}

// TestAnImportOutlivesAnOutage imports while writes are refused, or take effect without an answer. Each note is one
// card.
func TestAnImportOutlivesAnOutage(t *testing.T) {
	const notes = 1000
	files := map[string]string{}
	for i := range notes {
		files[fmt.Sprintf("Note %d.md", i)] = fmt.Sprintf("Note %d of [[Note %d]].\n", i, (i+1)%notes)
	}
	dir := writeVault(t, files)
	synctest.Test(t, func(t *testing.T) { // without waiting
		store := &outageStore{Store: memory.New()}
		s := exchangetest.NewOn(t, store)
		admin := access.Caller{Subject: "admin", EveryRole: access.RoleAdmin}
		a, err := s.Guard.Admit(t.Context(), admin, access.Request{Operation: "test", Effect: access.Write, World: s.World,
			IdempotencyKey: "import"})
		if err != nil {
			t.Fatal(err)
		}
		store.on = true
		sum, err := Import(t.Context(), s.Canon, a.Grant, os.DirFS(dir), Options{Options: exchange.Options{Label: "v"}})
		if err != nil || store.failed < 3 {
			t.Fatalf("after %d failures the import ends with %v", store.failed, err)
		}
		if cards := len(s.Listing("user")); cards != notes || sum.Created != notes || sum.Unchanged != 0 || len(sum.Problems) > 0 {
			t.Errorf("%d notes became %d cards: %v", notes, cards, sum)
		}
	})
}
