package benchtest

import "loregate/internal/loadtest"

// prose generates the same text as loregate bench.
type prose struct {
	*loadtest.Prose
	words []string // by rank
}

func newProse(seed uint64) *prose {
	p := loadtest.NewProse(seed)
	return &prose{p, p.Words}
}

func (p *prose) word() string { return p.Word() }

func (p *prose) text(size int) string { return p.Text(size) }
