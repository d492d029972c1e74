package proposal

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"time"

	"loregate/internal/access"
)

// checkRate is the sixth gate. It compares the number of proposals that passed lately, and the
// tokens of the day, with the limits.
func (s *Service) checkRate(_ context.Context, c *candidate) (outcome, error) {
	a, l, level := c.ledger, s.cfg.Limits, c.rec.Author.Level
	account := rateAccountOf(&c.rec)
	player := levelKeys(level, "player:%d:%s:%s", account, c.rec.Purpose)
	type limit struct {
		name   string
		keys   []string
		within time.Duration
		most   int
	}
	limits := []limit{
		{"player_minute", player, time.Minute, l.PlayerMinute},
		{"player_hour", player, time.Hour, l.PlayerHour},
		{"key_minute", []string{"key:" + c.rec.Author.Account}, time.Minute, l.KeyMinute},
		{"world_minute", levelKeys(level, "world:%d"), time.Minute, l.WorldMinute},
	}
	if most := c.kind.PlayerHour; most > 0 {
		limits = append(limits, limit{"kind_hour", levelKeys(level, "kind:%d:%s:%s", account, c.rec.Kind), time.Hour, most})
	}
	for _, limit := range limits {
		if n, wait := a.countWindow(limit.keys, limit.within, limit.most, c.now); n >= limit.most {
			return rateRefusal(limit.name, limit.most, wait), nil
		}
	}
	spent := 0
	for i := access.LevelUser; i <= level; i++ {
		spent += a.tokens[tokenKey(i, c.rec.Purpose, c.now)]
	}
	if spent+c.rec.Tokens > l.TokensDay {
		tomorrow := c.now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
		return rateRefusal("tokens_day", l.TokensDay, tomorrow.Sub(c.now)), nil
	}
	return outcome{input: hashOf([]byte(account), []byte(c.rec.Purpose))}, nil
}

func rateRefusal(limit string, most int, wait time.Duration) outcome {
	seconds := max(1, int((wait+time.Second-1)/time.Second))
	return outcome{input: hashOf([]byte(limit)), refused: &Rejection{
		Message: fmt.Sprintf("the limit %s of %d is reached; propose again in %d s", limit, most, seconds),
		Details: map[string]any{"limit": limit, "most": most}, Retryable: true, RetryAfterSeconds: seconds,
	}}
}

// rateKeys returns the keys that a proposal counts under. Keys are separated by level, so that
// hidden proposals do not use up anyone's limit.
func rateKeys(j *judgedEvent) []string {
	return []string{
		fmt.Sprintf("player:%d:%s:%s", j.Author.Level, rateAccountOf(j), j.Purpose),
		"key:" + j.Author.Account,
		fmt.Sprintf("world:%d", j.Author.Level),
		fmt.Sprintf("kind:%d:%s:%s", j.Author.Level, rateAccountOf(j), j.Kind),
	}
}

// levelKeys returns one key for each level up to upTo.
func levelKeys(upTo access.Level, format string, args ...any) []string {
	var keys []string
	for l := access.LevelUser; l <= upTo; l++ {
		keys = append(keys, fmt.Sprintf(format, append([]any{l}, args...)...))
	}
	return keys
}

// rateAccountOf returns the account whose budget a proposal counts against: its player, or its
// author if it has no player.
func rateAccountOf(j *judgedEvent) string {
	return cmp.Or(j.Player, j.Author.Account)
}

func tokenKey(l access.Level, p Purpose, at time.Time) string {
	return fmt.Sprintf("%d:%s:%s", l, p, at.UTC().Format(time.DateOnly))
}

// tokensOf estimates the tokens of texts: one per four bytes of a text, rounded up, as is usual for
// English with the common vocabularies.
func tokensOf(texts []Text) int {
	n := 0
	for _, t := range texts {
		n += (len(t.Text) + 3) / 4
	}
	return n
}

// countWindow counts the proposals that passed under keys within a time. If there are n or more, it
// also returns the time until the n-th last of them leaves the window.
func (a *admission) countWindow(keys []string, within time.Duration, n int,
	now time.Time) (count int, wait time.Duration) {
	recent := make([][]time.Time, len(keys))
	for i, key := range keys {
		recent[i] = a.timesSince(key, now.Add(-within), now)
		count += len(recent[i])
	}
	if count < n {
		return count, 0
	}
	all := slices.Concat(recent...)
	slices.SortFunc(all, func(x, y time.Time) int { return y.Compare(x) })
	return count, all[n-1].Add(within).Sub(now)
}

// timesSince returns the times under a key after a time. It removes times that are out of reach of
// every window.
func (a *admission) timesSince(key string, after, now time.Time) []time.Time {
	list := a.times[key]
	first := func(t time.Time) int {
		return sort.Search(len(list), func(i int) bool { return list[i].After(t) })
	}
	if old := first(now.Add(-time.Hour)); old > len(list)/2 {
		list = slices.Clone(list[old:])
		if a.times[key] = list; len(list) == 0 {
			delete(a.times, key)
		}
	}
	return list[first(after):]
}
