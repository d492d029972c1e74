package loadtest

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Latencies are kept in microseconds, up to a minute, to two digits.
const (
	longest = int64(time.Minute / time.Microsecond)
	digits  = 2
)

// slices of a run's time that the picture shows.
const slots = 60

// measure gathers what calls came to.
type measure struct {
	began time.Time
	slot  time.Duration

	mu    sync.Mutex // guards all below
	kinds map[Kind]*tally
	over  [slots]*hdrhistogram.Histogram // of all calls answered in a slot of time
	bad   [slots]int                     // failures in it

	moved   int
	limited int
	waited  time.Duration
	undone  int // calls that the end of the run cut off
}

// tally is what calls of one kind came to.
type tally struct {
	h       *hdrhistogram.Histogram
	failed  map[string]int // by code, for good
	retried map[string]int // by code, and then answered
}

func newMeasure(d time.Duration) *measure {
	return &measure{began: time.Now(), slot: max(d/slots, time.Millisecond), kinds: map[Kind]*tally{}}
}

func (m *measure) tally(k Kind) *tally {
	t := m.kinds[k]
	if t == nil {
		t = &tally{h: hdrhistogram.New(1, longest, digits), failed: map[string]int{}, retried: map[string]int{}}
		m.kinds[k] = t
	}
	return t
}

// add counts a call. Its latency is that of the asking that was answered, and how late it
// was asked.
func (m *measure) add(k Kind, o outcome, late time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := min(max(int(time.Since(m.began)/m.slot), 0), slots-1)
	m.moved, m.limited, m.waited = m.moved+o.moved, m.limited+o.limited, m.waited+o.waited
	t := m.tally(k)
	if o.code != "" {
		t.failed[o.code]++
		m.bad[at]++
		return
	}
	for _, code := range o.lost {
		t.retried[code]++
		m.bad[at]++
	}
	micros := min(max((o.took+max(late, 0)).Microseconds(), 1), longest)
	_ = t.h.RecordValue(micros) // it is within the bounds
	if k == Notice {
		return
	}
	if m.over[at] == nil {
		m.over[at] = hdrhistogram.New(1, longest, digits)
	}
	_ = m.over[at].RecordValue(micros) // as above
}

// cut counts a call that the end of the run cut off.
func (m *measure) cut(o outcome) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.undone++
	m.moved, m.limited, m.waited = m.moved+o.moved, m.limited+o.limited, m.waited+o.waited
}
