package loadtest

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Latencies are stored in microseconds, up to a minute, to two digits.
const (
	longest = int64(time.Minute / time.Microsecond)
	digits  = 2
)

// slots is the number of time slots in the picture of a run.
const slots = 60

// measure collects the outcomes of calls.
type measure struct {
	began time.Time
	slot  time.Duration

	mu    sync.Mutex // guards all fields below
	kinds map[Kind]*tally
	over  [slots]*hdrhistogram.Histogram // of all calls answered in a slot of time
	bad   [slots]int                     // failures in a slot of time

	moved   int
	limited int
	waited  time.Duration
	undone  int // calls cut off by the end of the run
}

// tally counts the outcomes of calls of one kind.
type tally struct {
	h       *hdrhistogram.Histogram
	failed  map[string]int // calls that failed in the end, by code
	retried map[string]int // lost tries of calls that succeeded later, by code
}

func newMeasure(d time.Duration) *measure {
	return &measure{began: time.Now(), slot: max(d/slots, time.Millisecond), kinds: map[Kind]*tally{}}
}

func (m *measure) tallyOf(k Kind) *tally {
	t := m.kinds[k]
	if t == nil {
		t = &tally{h: hdrhistogram.New(1, longest, digits), failed: map[string]int{}, retried: map[string]int{}}
		m.kinds[k] = t
	}
	return t
}

// add counts a call. Its latency is that of the answered try plus late, the delay of its start.
func (m *measure) add(k Kind, o outcome, late time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := min(max(int(time.Since(m.began)/m.slot), 0), slots-1)
	m.moved, m.limited, m.waited = m.moved+o.moved, m.limited+o.limited, m.waited+o.waited
	t := m.tallyOf(k)
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
	_ = m.over[at].RecordValue(micros) // it is within the bounds
}

// addCut counts a call that the end of the run cut off.
func (m *measure) addCut(o outcome) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.undone++
	m.moved, m.limited, m.waited = m.moved+o.moved, m.limited+o.limited, m.waited+o.waited
}
