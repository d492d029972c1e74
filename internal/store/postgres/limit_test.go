package postgres_test

import (
	"sync"
	"testing"
	"time"

	"loregate/internal/access"
)

// Amounts spent in several processes at once add up, in any order of the accounts.
func TestSpendingAddsUp(t *testing.T) {
	here, there, _ := openTwo(t)
	now := time.Now()
	spending := func(account string, n int64) access.Spending {
		took := access.Took{From: now.UnixNano(), Took: n, Most: now.Add(time.Hour).UnixNano()}
		return access.Spending{Account: account, Class: access.ClassWrite, Minute: took, Second: took}
	}
	const rounds = 20
	var all sync.WaitGroup
	for i, s := range []access.Shared{here, there, here, there} {
		all.Go(func() {
			list := []access.Spending{spending("ann", 1), spending("b\xffb\x00", 10)}
			if i%2 > 0 {
				list[0], list[1] = list[1], list[0]
			}
			for range rounds {
				if out, err := s.Spend(t.Context(), list); err != nil || len(out) != 2 {
					t.Errorf("%v, %v", out, err)
				}
			}
		})
	}
	all.Wait()
	out, err := here.Spend(t.Context(), []access.Spending{spending("ann", 0)})
	if err != nil || len(out) != 1 || out[0].Minute != now.UnixNano()+4*rounds || out[0].Second != out[0].Minute ||
		out[0].Class != access.ClassWrite {
		t.Errorf("%+v, %v; want %d more than %d", out, err, 4*rounds, now.UnixNano())
	}
	much := spending("ann", 1<<50)
	if out, err = there.Spend(t.Context(), []access.Spending{much}); err != nil || out[0].Minute != much.Minute.Most {
		t.Errorf("%+v, %v; want no more than %d", out, err, much.Minute.Most)
	}
	if err := here.Forget(t.Context(), now.Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if out, err = there.Spend(t.Context(), []access.Spending{spending("ann", 1)}); err != nil ||
		out[0].Minute != now.UnixNano()+1 {
		t.Errorf("after it is forgotten: %+v, %v", out, err)
	}
}
