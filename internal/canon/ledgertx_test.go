package canon_test

import (
	"errors"
	"sync"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// Fifty callers each try to be the first: each one must see the events of the earlier ones before
// it decides.
func TestUpdateLedgerSeesEarlierEvents(t *testing.T) {
	s := newScene(t)
	ledger := canon.LedgerStream("proposals", s.world.String())
	host := s.on("world", access.Propose, "one key for all")
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			_, err := s.canon.UpdateLedger(t.Context(), host.grant, ledger, func(tail *canon.LedgerTx) ([]canon.Event, error) {
				for _, err := range tail.Since(canon.Head{}) {
					return nil, err // another caller was first
				}
				return []canon.Event{{Type: "first"}, {Type: "and only"}}, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, err := host.records(ledger, 1); err != nil || got != " 1:first 2:and only" {
		t.Errorf("the ledger tells %q, %v", got, err)
	}
	if _, err := s.canon.UpdateLedger(t.Context(), s.on("world", access.Read, "").grant, ledger, nil); !errors.Is(err,
		fault.Internal) {
		t.Errorf("deciding with a grant that reads: %v", err)
	}
}

func TestSinceContinuesFromAHead(t *testing.T) {
	s := newScene(t)
	ledger := canon.LedgerStream("proposals", s.world.String())
	host := s.on("world", access.Write, "")
	if _, err := host.append(ledger, 0, "a", "b", "c"); err != nil {
		t.Fatal(err)
	}
	var at canon.Head
	since := func(h canon.Head) (got string, err error) {
		err = s.canon.Follow(t.Context(), host.grant, ledger, func(tail *canon.LedgerTx) error {
			at = tail.Head
			for rec, err := range tail.Since(h) {
				if err != nil {
					return err
				}
				got += rec.Event.Type
			}
			return nil
		})
		return got, err
	}
	if got, err := since(canon.Head{}); got != "abc" || err != nil {
		t.Errorf("from the beginning: %q, %v", got, err)
	}
	middle := at
	if _, err := host.append(ledger, 3, "d"); err != nil {
		t.Fatal(err)
	}
	if got, err := since(middle); got != "d" || err != nil {
		t.Errorf("from a head: %q, %v", got, err)
	}
	err := s.canon.Follow(t.Context(), host.grant, ledger, func(tail *canon.LedgerTx) error {
		for rec, err := range tail.From(2) {
			if rec.Event.Type != "b" || err != nil {
				t.Errorf("record 2 is %+v, %v", rec, err)
			}
			break
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	lost := middle
	lost.Hash[0]++
	if _, err := since(lost); !canon.Moved(err) {
		t.Errorf("from a head that the ledger never had: %v", err)
	}
	if _, err := since(canon.Head{Seq: 9}); !canon.Moved(err) {
		t.Errorf("from a head that is not there yet: %v", err)
	}
}
