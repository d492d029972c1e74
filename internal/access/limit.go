package access

import (
	"hash/maphash"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"loregate/internal/fault"
)

// Rate is the rate at which an account may make calls of one class. If both PerMinute and PerSecond
// are set, both apply.
type Rate struct {
	PerMinute int // sustained rate; 0 means the default profile's, negative means no limit
	Bucket    int // calls that may come at once after a rest; 0 means PerMinute
	PerSecond int // calls in a burst of one second; 0 means no such limit
}

// Profile is a rate for each class. A class that is missing has the default profile's rate; if it
// is missing there too, it is not limited.
type Profile map[Class]Rate

// The names of the built-in profiles. An unknown name means the default profile.
const (
	ProfileDefault = "default"
	ProfileSample  = "sample"  // for a person who plays with the sample world
	ProfilePlay    = "play"    // for play tokens: a stream, reads and commands at a person's pace
	ProfileConsole = "console" // for people on the pages, each of which makes several calls
	ProfileNone    = "none"    // no limits: stdio
)

// DefaultProfiles returns the rates of the section Limits of the mcp-and-rest contract.
func DefaultProfiles() map[string]Profile {
	return map[string]Profile{
		ProfileDefault: {
			ClassCall:     {PerMinute: 60, PerSecond: 10},
			ClassResource: {PerMinute: 100},
			ClassList:     {PerMinute: 300},
			ClassPage:     {PerMinute: 600},
			ClassTools:    {PerMinute: 300},
			ClassWrite:    {PerMinute: 20},
			ClassAuth:     {PerMinute: 10},
			ClassCommand:  {PerMinute: 120, PerSecond: 10},
			ClassPlayers:  {PerMinute: 6000, PerSecond: 100}, // 200 players who act every five seconds, and what their narrator reads
			// In any minute a player's calls take at most half a core, and a GM's one.
			ClassWork:   WorkRate(20),
			ClassGMWork: WorkRate(40),
		},
		ProfileSample: {
			ClassCall: {PerMinute: 600, PerSecond: 10},
		},
		ProfilePlay: {
			ClassCall: {PerMinute: 120, PerSecond: 10},
		},
		ProfileConsole: {
			ClassCall: {PerMinute: 600, PerSecond: 40}, ClassWrite: {PerMinute: 60},
		},
		ProfileNone: {
			ClassCall: {PerMinute: -1}, ClassResource: {PerMinute: -1}, ClassList: {PerMinute: -1},
			ClassPage: {PerMinute: -1}, ClassTools: {PerMinute: -1},
			ClassWrite: {PerMinute: -1}, ClassAuth: {PerMinute: -1}, ClassCommand: {PerMinute: -1},
			ClassPlayers: {PerMinute: -1}, ClassWork: {PerMinute: -1}, ClassGMWork: {PerMinute: -1},
		},
	}
}

// WorkRate returns the rate for that many seconds of processor time in a minute, of which half may come at once after a
// rest. 0 means the default profile's rate, a negative number no limit.
func WorkRate(seconds int) Rate {
	return Rate{PerMinute: seconds * millisecondsPerSecond, Bucket: seconds * millisecondsPerSecond / 2}
}

const millisecondsPerSecond = 1000

// AddressAccount returns the account for limits of a network address: the address, or for IPv6 its
// /64, within which one host can change its address at will.
func AddressAccount(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return addressPrefix + p.String()
		}
	}
	return addressPrefix + a.String()
}

const addressPrefix = "addr:"

// CountAttempt counts an attempt to get in, or something else that costs as much, for an account. The error
// is fault.RateLimited if the account has made too many. A nil Limiter counts nothing.
func CountAttempt(l Limiter, account string) error {
	if l == nil {
		return nil
	}
	wait, ok := l.Take(account, "", ClassAuth)
	if ok {
		return nil
	}
	e := fault.New(fault.RateLimited, "too many attempts; wait %d s and try again", fault.RetrySeconds(wait))
	e.RetryAfter = wait
	return e.With("limit", string(ClassAuth))
}

// LimitConfig configures Limits.
type LimitConfig struct {
	// Profiles replace or extend DefaultProfiles, class by class.
	Profiles map[string]Profile
	// Accounts bounds the accounts that are remembered, separately for addresses and for others;
	// 0 means 65,536, about 16 MiB. Beyond it, the accounts that spent least are dropped.
	Accounts int
}

// Limits is a Limiter with a token bucket for each account and class. It is safe for concurrent
// use. Its memory is bounded: accounts whose buckets are full are dropped, since they are no
// different from new ones.
type Limits struct {
	now      func() time.Time
	seed     maphash.Seed
	classes  []Class // the index of a class here is its index in every account's buckets
	profiles map[string][]pace
	per      int // accounts per shard
	keys     [limitShards]limitShard
	addrs    [limitShards]limitShard
	sharing  atomic.Bool // spending is shared with other processes
}

const limitShards = 32

type limitShard struct {
	mu       sync.Mutex
	accounts map[string][]bucket             // guarded by mu; buckets by index of the class
	unshared map[accountClass]unsharedTokens // guarded by mu; tokens taken since the last exchange with other processes
}

// bucket is a pair of token buckets in the form of the generic cell rate algorithm (ITU-T I.371):
// each is stored as the time, in nanoseconds, at which it is full again.
type bucket struct{ minute, second int64 }

// pace is a Rate in the form of that algorithm: the step is the time in which one token returns,
// the depth the time in which an empty bucket fills, in nanoseconds. A zero step means no limit.
type pace struct{ minuteStep, minuteDepth, secondStep, secondDepth int64 }

// NewLimits returns Limits. now defaults to time.Now.
func NewLimits(c LimitConfig, now func() time.Time) *Limits {
	if now == nil {
		now = time.Now
	}
	if c.Accounts <= 0 {
		c.Accounts = 1 << 16
	}
	l := &Limits{now: now, seed: maphash.MakeSeed(), per: max(1, c.Accounts/limitShards)}
	l.compileProfiles(mergeProfiles(DefaultProfiles(), c.Profiles))
	for i := range limitShards {
		for _, s := range []*limitShard{&l.keys[i], &l.addrs[i]} {
			s.accounts, s.unshared = map[string][]bucket{}, map[accountClass]unsharedTokens{}
		}
	}
	return l
}

func mergeProfiles(into, from map[string]Profile) map[string]Profile {
	for name, p := range from {
		if into[name] == nil {
			into[name] = Profile{}
		}
		maps.Copy(into[name], p)
	}
	return into
}

// compileProfiles fixes the index of each class and computes the pace of each profile and class.
func (l *Limits) compileProfiles(profiles map[string]Profile) {
	for _, p := range profiles {
		for class := range p {
			if !slices.Contains(l.classes, class) {
				l.classes = append(l.classes, class)
			}
		}
	}
	slices.Sort(l.classes)
	l.profiles = map[string][]pace{}
	for name, p := range profiles {
		paces := make([]pace, len(l.classes))
		for i, class := range l.classes {
			r := p[class]
			if r.PerMinute == 0 {
				r = profiles[ProfileDefault][class]
			}
			paces[i] = r.toPace()
		}
		l.profiles[name] = paces
	}
}

// toPace converts a rate for the algorithm.
func (r Rate) toPace() pace {
	if r.PerMinute <= 0 {
		return pace{}
	}
	if r.Bucket <= 0 {
		r.Bucket = r.PerMinute
	}
	p := pace{minuteStep: int64(time.Minute) / int64(r.PerMinute)}
	p.minuteDepth = p.minuteStep * int64(r.Bucket)
	if r.PerSecond > 0 {
		p.secondStep = int64(time.Second) / int64(r.PerSecond)
		p.secondDepth = p.secondStep * int64(r.PerSecond)
	}
	return p
}

// Take takes one token from the account's allowance in a class. If there is none, it returns the
// time until the next one, provided that no other call takes it. A refused Take takes nothing.
func (l *Limits) Take(account, profile string, class Class) (wait time.Duration, ok bool) {
	return l.TakeSeveral(account, profile, class, 1)
}

// TakeSeveral is Take for n tokens: it takes all of them or none.
func (l *Limits) TakeSeveral(account, profile string, class Class, n int64) (wait time.Duration, ok bool) {
	place, p := l.paceOf(profile, class)
	if p.minuteStep == 0 {
		return 0, true
	}
	now := l.now().UnixNano()
	s := l.shardOf(account)
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &s.bucketsOf(account, len(l.classes), l.per, now)[place]
	wait, ok = b.takeTokens(p, n, now)
	if ok && l.sharing.Load() {
		s.noteTaken(accountClass{account, place}, *b, p, n)
	}
	return wait, ok
}

// Settle spends n more tokens, also if there are none, or gives back -n that were taken.
func (l *Limits) Settle(account, profile string, class Class, n int64) {
	place, p := l.paceOf(profile, class)
	if p.minuteStep == 0 || n == 0 {
		return
	}
	now := l.now().UnixNano()
	s := l.shardOf(account)
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &s.bucketsOf(account, len(l.classes), l.per, now)[place]
	if n > 0 {
		b.minute, b.second = max(b.minute, now), max(b.second, now)
	}
	b.minute = capFullAt(b.minute+n*p.minuteStep, p.minuteDepth, now)
	b.second = capFullAt(b.second+n*p.secondStep, p.secondDepth, now)
	if l.sharing.Load() {
		s.noteTaken(accountClass{account, place}, *b, p, n)
	}
}

// Peek implements Peeker.
func (l *Limits) Peek(account, profile string, class Class) (wait time.Duration, ok bool) {
	place, p := l.paceOf(profile, class)
	if p.minuteStep == 0 {
		return 0, true
	}
	s := l.shardOf(account)
	s.mu.Lock()
	defer s.mu.Unlock()
	buckets, known := s.accounts[account]
	if !known {
		return 0, true
	}
	b := buckets[place]
	return b.takeTokens(p, 1, l.now().UnixNano())
}

// paceOf returns the index of a class and its pace in a profile; a zero pace is no limit.
func (l *Limits) paceOf(profile string, class Class) (place int, p pace) {
	if place = slices.Index(l.classes, class); place < 0 {
		return place, pace{}
	}
	paces, known := l.profiles[profile]
	if !known {
		paces = l.profiles[ProfileDefault]
	}
	return place, paces[place]
}

func (l *Limits) shardOf(account string) *limitShard {
	i := maphash.String(l.seed, account) % limitShards
	if strings.HasPrefix(account, addressPrefix) {
		return &l.addrs[i]
	}
	return &l.keys[i]
}

// takeTokens takes n tokens from both buckets, or none and returns the time to wait.
func (b *bucket) takeTokens(p pace, n, now int64) (time.Duration, bool) {
	minute, wait := spendTokens(b.minute, n*p.minuteStep, p.minuteDepth, now)
	second, brief := spendTokens(b.second, n*p.secondStep, p.secondDepth, now)
	if wait = max(wait, brief); wait > 0 {
		b.minute, b.second = capFullAt(b.minute, p.minuteDepth, now), capFullAt(b.second, p.secondDepth, now)
		return time.Duration(wait), false
	}
	b.minute, b.second = minute, second
	return 0, true
}

// capFullAt caps the time at which a bucket is full again at twice the time that an empty one
// takes. Several processes together may overspend up to that. A larger value, from a clock that was
// set back or a profile that got stricter, is cut.
func capFullAt(full, depth, now int64) int64 { return min(full, now+2*depth) }

// spendTokens returns the time at which a bucket is full again after tokens are taken that return in the time step, and the
// time to wait until they are available.
func spendTokens(full, step, depth, now int64) (then, wait int64) {
	then = max(capFullAt(full, depth, now), now) + step
	return then, max(0, then-depth-now)
}

// bucketsOf returns the account's buckets and creates them if they are missing. The caller holds
// mu.
func (s *limitShard) bucketsOf(account string, classes, limit int, now int64) []bucket {
	if b, ok := s.accounts[account]; ok {
		return b
	}
	s.evictAccounts(limit, now)
	b := make([]bucket, classes)
	s.accounts[strings.Clone(account)] = b
	return b
}

// evictAccounts examines a few accounts, in the random order of the map, and drops those whose
// buckets are full. At the limit it also drops the examined account that spent least: a flood of
// new accounts thus pushes out its own accounts, not the ones that are being held back. The caller
// holds mu.
func (s *limitShard) evictAccounts(limit int, now int64) {
	const look = 16
	least, leastDebt, seen := "", int64(0), 0
	for account, b := range s.accounts {
		debt := debtOf(b, now)
		if debt == 0 {
			delete(s.accounts, account)
		} else if seen == 0 || least == "" || debt < leastDebt {
			least, leastDebt = account, debt
		}
		if seen++; seen == look {
			break
		}
	}
	if len(s.accounts) >= limit {
		delete(s.accounts, least)
	}
}

// debtOf returns the sum of the times until the buckets are full again.
func debtOf(b []bucket, now int64) (debt int64) {
	for _, one := range b {
		debt += max(0, one.minute-now) + max(0, one.second-now)
	}
	return debt
}
