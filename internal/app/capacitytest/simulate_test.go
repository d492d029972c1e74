package capacitytest

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"

	"loregate/internal/loadtest"
)

// setup is a service, and the players that use it. Each player makes a call, thinks when it is
// answered, and makes the next.
type setup struct {
	Processes     int
	Cores         int // of each process
	DatabaseCores int
	Players       int
	Think         float64 // mean seconds
	Hot           float64 // share of the writes that rely on the same card
	Pause         float64 // seconds without a primary; 0 for no failure
	Speed         float64 // of the machines; 1 is that of the one measured
}

const (
	seconds   = 40  // that are simulated
	warmUp    = 10  // seconds that are not counted
	failsAt   = 15  // second from which there is no primary
	roundTrip = 0.2 // milliseconds between two machines, beyond that of one machine
	trips     = 4   // round trips of a transaction: three of statements, and one to the standby
	batchMost = 64  // writes that share a transaction: package group
	planTries = 2   // plans of a change beside others, before it is planned under the lock: package canon
	indexed   = 0.25
	// indexed is the part of a write's processor time that is the index, which each process
	// repeats: docs/benchmarks.md.
)

// outcome is the result of a simulation. Times are in milliseconds.
type outcome struct {
	PerSecond                 float64
	Calls                     map[loadtest.Kind][]float64 // times of the calls
	Process, Database, Writer float64                     // share of the time that they are used
	Refused                   int
	Longest                   float64 // seconds from a refused call to its answer
	Settled                   float64 // seconds after a pause until calls take at most twice as long as before
	Plans, Written, UnderLock int     // plans of hot writes, hot writes, and those planned under the lock
}

// sim is a simulation of discrete events.
type sim struct {
	setup
	f      figures
	rnd    *rand.Rand
	now    float64 // milliseconds
	events queue
	made   int // events made, which orders those of the same time
	down   bool
	epoch  int // number of primaries lost
	cpu    []*station
	db     *station
	w      writer
	shape  map[loadtest.Kind]sampler
	out    outcome
	latest map[int][]float64 // times of reads by the second of their answers
}

type event struct {
	at float64
	n  int
	do func()
}

type queue []event

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].n < q[j].n
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(e any)   { *q = append(*q, e.(event)) }
func (q *queue) Pop() any {
	e := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return e
}

func (s *sim) after(ms float64, do func()) {
	s.made++
	heap.Push(&s.events, event{s.now + ms, s.made, do})
}

// station is a machine whose cores serve tasks in the order of their arrival.
type station struct {
	s       *sim
	cores   int
	busy    int
	waiting []task
	used    float64 // milliseconds
}

type task struct {
	takes float64
	then  func()
}

func (c *station) serve(takes float64, then func()) {
	if c.busy == c.cores {
		c.waiting = append(c.waiting, task{takes, then})
		return
	}
	c.busy++
	c.used += takes
	c.s.after(takes, func() {
		c.busy--
		if len(c.waiting) > 0 {
			next := c.waiting[0]
			c.waiting = c.waiting[1:]
			c.serve(next.takes, next.then)
		}
		then()
	})
}

// sampler draws from a distribution with the mean 1 that has the shape of measured latencies.
type sampler struct{ at, ms [5]float64 }

func newSampler(l loadtest.Latency) sampler {
	s := sampler{[5]float64{0, 0.5, 0.9, 0.99, 1}, [5]float64{l.P50 / 2, l.P50, l.P90, l.P99, l.Max}}
	mean := 0.0
	for i := range 4 {
		mean += (s.at[i+1] - s.at[i]) * (s.ms[i] + s.ms[i+1]) / 2
	}
	for i := range s.ms {
		s.ms[i] /= mean
	}
	return s
}

func (s sampler) draw(u float64) float64 {
	i := 0
	for i < 3 && u > s.at[i+1] {
		i++
	}
	return s.ms[i] + (s.ms[i+1]-s.ms[i])*(u-s.at[i])/(s.at[i+1]-s.at[i])
}

// call is a call of a player.
type call struct {
	kind    loadtest.Kind
	process int
	began   float64
	refused float64 // time of the first refusal; 0 for none
	epoch   int
	hot     bool
	plans   int
	relied  int  // version of the hot card that the plan relied on
	locked  bool // planned under the lock
}

// writer is the writer lock of a database. Processes hold it in turn, each for a transaction of the
// writes that wait there. A transaction takes fixed, and each for each write.
type writer struct {
	waiting     [][]*call
	turn        []int
	held        bool
	fixed, each float64
	version     int // of the hot card
	used        float64
}

func simulate(f figures, in setup) *outcome {
	s := &sim{setup: in, f: f, rnd: rand.New(rand.NewPCG(1, 2)), shape: map[loadtest.Kind]sampler{}, latest: map[int][]float64{}}
	s.out.Calls = map[loadtest.Kind][]float64{}
	for kind, c := range f.Kinds {
		s.shape[kind] = newSampler(c.Latency)
	}
	for range in.Processes {
		s.cpu = append(s.cpu, &station{s: s, cores: in.Cores})
	}
	s.db = &station{s: s, cores: in.DatabaseCores}
	s.w.waiting = make([][]*call, in.Processes)
	s.w.fixed, s.w.each = f.transaction()
	s.w.fixed, s.w.each = s.w.fixed/in.Speed+trips*roundTrip, s.w.each/in.Speed
	for range in.Players {
		s.after(s.rnd.ExpFloat64()*in.Think*1000, s.play)
	}
	if in.Pause > 0 {
		s.after(failsAt*1000, func() { s.down = true; s.epoch++ })
		s.after((failsAt+in.Pause)*1000, func() { s.down = false })
	}
	for len(s.events) > 0 && s.events[0].at < seconds*1000 {
		e := heap.Pop(&s.events).(event)
		s.now = e.at
		e.do()
	}
	s.sumUp()
	return &s.out
}

// transaction returns the milliseconds that a transaction holds the writer lock, apart from its
// writes, and those of each write: two measured points determine the line.
func (f figures) transaction() (fixed, each float64) {
	each = max((f.Full.Held-f.Alone.Held)/(f.Full.Batch-f.Alone.Batch), 0)
	return f.Alone.Held - each*f.Alone.Batch, each
}

// play makes a player's next call.
func (s *sim) play() {
	c := &call{process: s.rnd.IntN(s.Processes), began: s.now, kind: loadtest.Propose}
	for n, kind := s.rnd.IntN(100), 0; kind < 3; kind++ {
		k := []loadtest.Kind{loadtest.Read, loadtest.Search, loadtest.Write}[kind]
		if n -= loadtest.DefaultMix[k]; n < 0 {
			c.kind = k
			break
		}
	}
	c.hot = c.kind == loadtest.Write && s.rnd.Float64() < s.Hot
	s.try(c)
}

// try has a call served by its process and then by the database.
func (s *sim) try(c *call) {
	if s.down {
		s.refuse(c)
		return
	}
	c.epoch, c.relied = s.epoch, s.w.version
	c.plans++
	factor, inDatabase := s.shape[c.kind].draw(s.rnd.Float64()), s.f.Kinds[c.kind].Database/s.Speed
	if c.writes() {
		inDatabase = max(inDatabase-s.w.each, 0) // the rest is under the lock
	}
	s.cpu[c.process].serve(s.f.Kinds[c.kind].Process/s.Speed*factor, func() {
		s.db.serve(inDatabase*factor, func() {
			switch {
			case s.epoch != c.epoch:
				s.refuse(c)
			case c.writes():
				s.w.waiting[c.process] = append(s.w.waiting[c.process], c)
				if len(s.w.waiting[c.process]) == 1 {
					s.w.turn = append(s.w.turn, c.process)
				}
				s.takeTurn()
			default:
				s.after(roundTrip, func() { s.answer(c) })
			}
		})
	})
}

func (c *call) writes() bool { return c.kind == loadtest.Write || c.kind == loadtest.Propose }

// refuse answers 503. The player's client repeats the call after a second, as Retry-After says, and
// up to half of one more.
func (s *sim) refuse(c *call) {
	if c.refused == 0 {
		c.refused = s.now
		s.out.Refused++
	}
	c.plans = 0
	s.after(1000+s.rnd.Float64()*500, func() { s.try(c) })
}

// takeTurn gives the writer lock to the process that has waited longest, for a transaction.
func (s *sim) takeTurn() {
	if s.w.held || len(s.w.turn) == 0 {
		return
	}
	p := s.w.turn[0]
	s.w.turn, s.w.held = s.w.turn[1:], true
	n := min(len(s.w.waiting[p]), batchMost)
	batch, rest := s.w.waiting[p][:n], s.w.waiting[p][n:]
	if s.w.waiting[p] = rest; len(rest) > 0 {
		s.w.turn = append(s.w.turn, p)
	}
	takes, version := s.w.fixed, s.w.version
	var done, again []*call
	for _, c := range batch {
		takes += s.w.each
		if c.hot && c.relied != version {
			if c.plans < planTries {
				again = append(again, c)
				continue
			}
			takes += (s.f.Kinds[c.kind].Process + s.f.Kinds[c.kind].Database) / s.Speed
			c.plans, c.locked = c.plans+1, true
		}
		if c.hot {
			version++
		}
		done = append(done, c)
	}
	s.w.used += takes
	s.after(takes, func() {
		s.w.held = false
		if len(batch) > 0 && batch[0].epoch != s.epoch {
			for _, c := range batch {
				s.refuse(c)
			}
		} else {
			s.w.version = version
			for _, c := range done {
				s.answer(c)
			}
			for _, c := range again {
				s.try(c)
			}
		}
		s.takeTurn()
	})
}

// answer ends a call. The other processes index a write.
func (s *sim) answer(c *call) {
	if c.writes() {
		for i, other := range s.cpu {
			if i != c.process {
				other.serve(s.f.Kinds[c.kind].Process*indexed/s.Speed, func() {})
			}
		}
	}
	if s.now > warmUp*1000 {
		s.out.Calls[c.kind] = append(s.out.Calls[c.kind], s.now-c.began)
		if c.hot {
			s.out.Plans, s.out.Written = s.out.Plans+c.plans, s.out.Written+1
			if c.locked {
				s.out.UnderLock++
			}
		}
		if c.refused > 0 {
			s.out.Longest = max(s.out.Longest, (s.now-c.refused)/1000)
		} else {
			s.latest[int(s.now/1000)] = append(s.latest[int(s.now/1000)], s.now-c.began)
		}
	}
	s.after(s.rnd.ExpFloat64()*s.Think*1000, s.play)
}

func (s *sim) sumUp() {
	total, n := s.now, 0
	for _, list := range s.out.Calls {
		n += len(list)
	}
	s.out.PerSecond = float64(n) / (seconds - warmUp)
	for _, c := range s.cpu {
		s.out.Process += c.used / total / float64(c.cores*len(s.cpu))
	}
	s.out.Database, s.out.Writer = s.db.used/total/float64(s.db.cores), s.w.used/total
	if s.Pause > 0 {
		end := int(failsAt + s.Pause)
		before := quantile(s.latest[failsAt-1], 0.99)
		for second := end; second < seconds; second++ {
			if quantile(s.latest[second], 0.99) > 2*before {
				s.out.Settled = float64(second + 1 - end)
			}
		}
	}
}

// quantile returns a quantile of times; 0 for none.
func quantile(list []float64, q float64) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[min(int(math.Ceil(q*float64(len(list)))), len(list))-1]
}
