package access

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
