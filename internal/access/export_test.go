package access

import "context"

// Accounts returns the number of remembered accounts.
func (l *Limits) Accounts() (n int) {
	for i := range limitShards {
		for _, s := range []*limitShard{&l.keys[i], &l.addrs[i]} {
			s.mu.Lock()
			n += len(s.accounts)
			s.mu.Unlock()
		}
	}
	return n
}

// StopSeen makes a log count no more of its records, as if its process had been killed.
func (l *Log) StopSeen() { l.seen.store = noSeen{l.seen.store} }

type noSeen struct{ SeenStore }

func (noSeen) AddSeen(context.Context, SeenStep) (bool, error) { return false, nil }
