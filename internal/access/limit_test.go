package access_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"
	"time"

	"loregate/internal/access"
)

// clock is a clock that tests advance.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// takeAll takes tokens until it is refused, at most limit times.
func takeAll(l *access.Limits, account, profile string, class access.Class, limit int) (n int, wait time.Duration) {
	for n < limit {
		w, ok := l.Take(account, profile, class)
		if !ok {
			return n, w
		}
		n++
	}
	return n, 0
}

// The rows are the table of the contract: the calls that a rested caller may make at once, the time
// to the next one, and the calls in the second minute for a caller who never pauses.
func TestLimitsOfTheContract(t *testing.T) {
	for _, row := range []struct {
		profile string
		class   access.Class
		burst   int
		next    time.Duration
		steady  int // in a minute
	}{
		{"", access.ClassCall, 10, 100 * time.Millisecond, 60},
		{"default", access.ClassResource, 100, 600 * time.Millisecond, 100},
		{"default", access.ClassList, 300, 200 * time.Millisecond, 300},
		{"default", access.ClassPage, 600, 100 * time.Millisecond, 600},
		{"default", access.ClassTools, 300, 200 * time.Millisecond, 300},
		{"default", access.ClassWrite, 20, 3 * time.Second, 20},
		{"default", access.ClassAuth, 10, 6 * time.Second, 10},
		{"no such profile", access.ClassWrite, 20, 3 * time.Second, 20},
		{"sample", access.ClassCall, 10, 100 * time.Millisecond, 600},
		{"sample", access.ClassList, 300, 200 * time.Millisecond, 300},
		{"sample", access.ClassWrite, 20, 3 * time.Second, 20},
		{"none", access.ClassCall, 5000, 0, 5000},
		{"default", access.ClassFree, 5000, 0, 5000},
	} {
		t.Run(row.profile+"/"+string(row.class), func(t *testing.T) {
			c := newClock()
			l := access.NewLimits(access.LimitConfig{}, c.now)
			n, wait := takeAll(l, "k", row.profile, row.class, 5000)
			if n != row.burst || wait != row.next {
				t.Fatalf("a rested caller got %d, then waits %v; want %d and %v", n, wait, row.burst, row.next)
			}
			if row.next == 0 {
				return
			}
			c.add(wait - 1)
			if _, ok := l.Take("k", row.profile, row.class); ok {
				t.Errorf("it came before its time")
			}
			drain := func() (got int) {
				for range 1200 { // a minute in steps of 50 ms
					c.add(50 * time.Millisecond)
					n, _ := takeAll(l, "k", row.profile, row.class, 5000)
					got += n
				}
				return got
			}
			drain()
			if got := drain(); got < row.steady-1 || got > row.steady+1 {
				t.Errorf("who never stops got %d in a minute, want %d", got, row.steady)
			}
		})
	}
}

func TestCallsHaveBothBounds(t *testing.T) {
	c := newClock()
	l := access.NewLimits(access.LimitConfig{}, c.now)
	got := 0
	for range 6 {
		n, _ := takeAll(l, "k", "", access.ClassCall, 100)
		got += n
		c.add(time.Second)
	}
	// Six bursts of ten fit the bucket of 60 per minute; one token returns each second.
	n, wait := takeAll(l, "k", "", access.ClassCall, 100)
	if got != 60 || n != 6 || wait != time.Second {
		t.Errorf("got %d, then %d and a wait of %v; want 60, 6 and 1s", got, n, wait)
	}
}

func TestARefusedTakeSpendsNothing(t *testing.T) {
	c := newClock()
	l := access.NewLimits(access.LimitConfig{}, c.now)
	_, wait := takeAll(l, "k", "", access.ClassWrite, 100)
	for range 1000 {
		l.Take("k", "", access.ClassWrite)
	}
	c.add(wait)
	if w, ok := l.Take("k", "", access.ClassWrite); !ok {
		t.Errorf("after waiting as told, %v more", w)
	}
}

func TestAccountsAndClassesAreSeparate(t *testing.T) {
	l := access.NewLimits(access.LimitConfig{}, newClock().now)
	takeAll(l, "a", "", access.ClassWrite, 100)
	if n, _ := takeAll(l, "b", "", access.ClassWrite, 100); n != 20 {
		t.Errorf("another account got %d writes, want 20", n)
	}
	if n, _ := takeAll(l, "a", "", access.ClassAuth, 100); n != 10 {
		t.Errorf("another class gave %d, want 10", n)
	}
}

func TestConfiguredProfiles(t *testing.T) {
	c := newClock()
	l := access.NewLimits(access.LimitConfig{Profiles: map[string]access.Profile{
		"default": {access.ClassWrite: {PerMinute: 2}},
		"mine":    {access.ClassCall: {PerMinute: 6, Bucket: 3}, "moves": {PerMinute: 30}},
	}}, c.now)
	for _, row := range []struct {
		profile string
		class   access.Class
		want    int
	}{
		{"default", access.ClassWrite, 2}, {"default", access.ClassAuth, 10},
		{"mine", access.ClassWrite, 2}, {"mine", access.ClassCall, 3}, {"mine", "moves", 30},
		{"default", "moves", 500},
	} {
		account := row.profile + string(row.class)
		if n, _ := takeAll(l, account, row.profile, row.class, 500); n != row.want {
			t.Errorf("%s of %s: %d, want %d", row.class, row.profile, n, row.want)
		}
	}
}

func TestAClockSetBackDoesNotLockOut(t *testing.T) {
	c := newClock()
	l := access.NewLimits(access.LimitConfig{}, c.now)
	takeAll(l, "k", "", access.ClassWrite, 100)
	c.add(-24 * time.Hour)
	w, ok := l.Take("k", "", access.ClassWrite)
	if ok || w > 2*time.Minute {
		t.Errorf("waits %v, %v", w, ok)
	}
	c.add(w)
	if w, ok := l.Take("k", "", access.ClassWrite); !ok {
		t.Errorf("after waiting as told waits %v more", w)
	}
}

func TestLimitsForgetIdleAccounts(t *testing.T) {
	c := newClock()
	l := access.NewLimits(access.LimitConfig{}, c.now)
	for i := range 1000 {
		l.Take(fmt.Sprint("k", i), "", access.ClassCall)
	}
	c.add(time.Hour)
	for i := range 1000 {
		l.Take(fmt.Sprint("later", i), "", access.ClassCall)
	}
	if n := l.Accounts(); n > 1400 {
		t.Errorf("%d accounts are remembered; those of an hour ago should be gone", n)
	}
}

func TestAddressFloodKeepsLimitedAccounts(t *testing.T) {
	l := access.NewLimits(access.LimitConfig{Accounts: 640}, newClock().now)
	takeAll(l, "key", "", access.ClassWrite, 100)
	takeAll(l, "addr:192.0.2.1", "", access.ClassAuth, 100)
	r := rand.New(rand.NewPCG(1, 2))
	for range 50_000 {
		a := netip.AddrFrom4([4]byte{10, byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())})
		l.Take(access.AddressAccount(a), "", access.ClassAuth)
	}
	if n := l.Accounts(); n > 641 {
		t.Errorf("%d accounts are remembered, want at most 640 addresses and a key", n)
	}
	if _, ok := l.Take("key", "", access.ClassWrite); ok {
		t.Error("the flood freed a key that was held back")
	}
	if _, ok := l.Take("addr:192.0.2.1", "", access.ClassAuth); ok {
		t.Error("the flood freed an address that was held back")
	}
}

// Addresses that are all being limited push out one another, but no keys.
func TestAddressesDoNotPushOutKeys(t *testing.T) {
	l := access.NewLimits(access.LimitConfig{Accounts: 64}, newClock().now)
	l.Take("key", "", access.ClassWrite)
	for i := range 5000 {
		takeAll(l, fmt.Sprint("addr:", i), "", access.ClassAuth, 100)
	}
	if n, _ := takeAll(l, "key", "", access.ClassWrite, 100); n != 19 {
		t.Errorf("the key has %d writes left, want 19", n)
	}
}

func TestAddressAccount(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.7":             "addr:192.0.2.7",
		"::ffff:192.0.2.7":      "addr:192.0.2.7",
		"2001:db8:1:2:3:4:5:6":  "addr:2001:db8:1:2::/64",
		"fe80::1:2%eth0":        "addr:fe80::/64",
		"2001:db8:1:2:ffff::99": "addr:2001:db8:1:2::/64",
	} {
		if got := access.AddressAccount(netip.MustParseAddr(in)); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
}

func TestLimitsUnderRace(t *testing.T) {
	l := access.NewLimits(access.LimitConfig{Accounts: 64}, newClock().now)
	var wg sync.WaitGroup
	var mu sync.Mutex
	got := 0
	for range 8 {
		wg.Go(func() {
			n, _ := takeAll(l, "shared", "", access.ClassResource, 1000)
			mu.Lock()
			defer mu.Unlock()
			got += n
		})
	}
	wg.Wait()
	if got != 100 {
		t.Errorf("eight goroutines got %d together, want 100", got)
	}
}

func ExampleLimits() {
	l := access.NewLimits(access.LimitConfig{}, newClock().now)
	for range 20 {
		l.Take("key", "", access.ClassWrite)
	}
	wait, ok := l.Take("key", "", access.ClassWrite)
	fmt.Println(wait, ok)
	// Output: 3s false
}

func BenchmarkLimits(b *testing.B) {
	for _, accounts := range []int{1, 1000} {
		b.Run(fmt.Sprint(accounts, " accounts"), func(b *testing.B) {
			l := access.NewLimits(access.LimitConfig{}, nil)
			names := make([]string, accounts)
			for i := range names {
				names[i] = fmt.Sprintf("0197-key-%d", i)
			}
			b.ReportAllocs()
			b.RunParallel(func(p *testing.PB) {
				for i := 0; p.Next(); i++ {
					l.Take(names[i%accounts], "sample", access.ClassCall)
				}
			})
		})
	}
}
