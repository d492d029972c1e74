package prooftest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/cputest"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/programtest"
	"loregate/internal/raceenabled"
	"loregate/internal/waittest"
)

// Limits of one call.
const (
	boundMemory = 256 << 20 // bytes above the use before the call
	// processor time until the call ends after its caller has left, and of a call whose caller stays
	boundLeave  = 2 * time.Second
	boundTime   = 20 * time.Second
	boundAnswer = 32 << 10 // bytes of text over MCP
	leaveAfter  = 20 * time.Millisecond
)

// inBoundPart reports whether an attack is in this run: all are with BOUND_ALL=1, those of a
// part with BOUND_ALL=2/8, and a few otherwise.
func inBoundPart(name string, fewer uint64) bool {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	all := os.Getenv("BOUND_ALL")
	if k, n, parted := strings.Cut(all, "/"); parted {
		part, _ := strconv.ParseUint(k, 10, 64)
		of, _ := strconv.ParseUint(n, 10, 64)
		return h.Sum64()%max(of, 1) == part-1
	}
	return all != "" || h.Sum64()%fewer == 0
}

// callCost is the cost of one call.
type callCost struct {
	call   string
	memory uint64
	left   time.Duration // processor time from the leaving of the caller to the end; 0 if the call ended before
	used   time.Duration // processor time, if nobody left
}

// costMeter measures the costs of calls.
type costMeter struct {
	*story
	base  uint64
	peak  atomic.Uint64
	all   []callCost
	calls int
}

func newCostMeter(t *testing.T) *costMeter {
	t.Helper()
	if raceenabled.Detected {
		t.Skip("the race detector takes memory and time of its own")
	}
	was := debug.SetGCPercent(30)
	t.Cleanup(func() { debug.SetGCPercent(was) })
	s := &costMeter{story: &story{stage: newStage(t, "embedded"), mint: newMint(7),
		who: newAuthor("user", access.RoleUser), ids: map[string]string{}}}
	s.tellAll()
	s.giveKeys("user", "alice", "gm", "admin")
	s.giveOperatorKey()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				s.peak.Store(max(s.peak.Load(), heapInUse()))
			}
		}
	}()
	t.Cleanup(func() { close(done); <-ended })
	return s
}

// heapInUse returns the bytes of objects that are live or not yet collected.
func heapInUse() uint64 {
	m := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(m)
	return m[0].Value.Uint64()
}

// startMeasuring begins a measurement.
func (s *costMeter) startMeasuring() {
	if heapInUse() > s.base+16<<20 || s.base == 0 {
		runtime.GC()
		s.base = heapInUse()
	}
	s.peak.Store(0)
}

// measureCall makes a call whose caller leaves after leaveAfter. If the call was cut off by
// that, it makes the call again to its end.
func (s *costMeter) measureCall(o *op.Operation, what string, in map[string]any) {
	s.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		s.t.Fatal(err)
	}
	b := callCost{call: o.Name + " " + what}
	for _, leaves := range []bool{true, false} {
		s.startMeasuring()
		hung := waittest.Context(s.t)
		ctx, cancel := context.WithCancel(hung)
		var left atomic.Int64 // processor time at the leaving
		timer := time.AfterFunc(leaveAfter, func() {
			if leaves {
				left.Store(int64(cputest.Used()))
				cancel()
			}
		})
		began := cputest.Used()
		r := op.Request{Operation: o.Name, Input: body, World: s.world.String(), Transport: "rest", Correlation: "bound"}
		if in["campaign_id"] != nil {
			r.World = ""
		}
		_, err = s.app.Ops.Invoke(ctx, callerFor(o), r) // every answer is allowed
		now := cputest.Used()
		timer.Stop()
		cancel()
		if hung.Err() != nil {
			s.t.Errorf("%s: waits for something", b.call)
		}
		b.memory = max(b.memory, max(s.peak.Load(), s.base)-s.base, max(heapInUse(), s.base)-s.base)
		if !leaves {
			b.used = now - began
		} else if at := time.Duration(left.Load()); at > 0 {
			b.left = max(now-at, 1)
			continue
		}
		break
	}
	s.calls++
	if b.memory > boundMemory {
		s.t.Errorf("%s: %d MB over the base", b.call, b.memory>>20)
	}
	if b.left > boundLeave {
		s.t.Errorf("%s: used the processor for %v after its caller left", b.call, b.left)
	}
	if b.used > boundTime {
		s.t.Errorf("%s: used the processor for %v", b.call, b.used)
	}
	s.all = append(s.all, b)
	slices.SortFunc(s.all, func(a, b callCost) int { return cmp.Compare(b.left, a.left) })
	if os.Getenv("BOUND_LOUD") != "" && (b.left > 100*time.Millisecond || b.memory > 64<<20) {
		fmt.Fprintf(os.Stderr, "%s: left %v, used %v, %d MB (%v)\n", b.call, b.left, b.used, b.memory>>20, err)
	}
}

// callerFor returns a caller who may make an operation's calls. It has the name of the story's
// player, so that the player's things are its own.
func callerFor(o *op.Operation) access.Caller {
	if o.Operator || o.Approver {
		return app.Operator()
	}
	return newAuthor("user", access.RoleAdmin)
}

// logWorst logs the most expensive calls, for a person to read.
func (s *costMeter) logWorst() {
	worst := func(by string, cost func(callCost) int64) {
		list := slices.Clone(s.all)
		slices.SortFunc(list, func(a, b callCost) int { return cmp.Compare(cost(b), cost(a)) })
		for _, b := range list[:min(10, len(list))] {
			s.t.Logf("worst by %s: %s: %v of processor time after its caller left, %v in all, %d MB", by, b.call,
				b.left.Round(time.Millisecond), b.used.Round(time.Millisecond), b.memory>>20)
		}
	}
	worst("leaving", func(b callCost) int64 { return int64(b.left) })
	worst("memory", func(b callCost) int64 { return int64(b.memory) })
	worst("time", func(b callCost) int64 { return int64(b.used) })
	s.t.Logf("%d calls weighed", s.calls)
}

// TestEveryOperationIsBounded gives every operation hostile input in every place of its input.
func TestEveryOperationIsBounded(t *testing.T) {
	s := newCostMeter(t)
	defer s.logWorst()
	for _, o := range s.operations() {
		for i, e := range s.examples(o) {
			if i > 0 && os.Getenv("BOUND_ALL") == "" {
				break
			}
			base, _ := toJSONValue(s.tryInputs(e)).(map[string]any) // the input is an object
			for _, a := range attacksOn(o, base) {
				if inBoundPart(fmt.Sprint(o.Name, i, a.what), 150) {
					s.measureCall(o, a.what, a.input())
				}
			}
		}
	}
}

// operations returns all declared operations, or the one that BOUND_ONLY names.
func (s *costMeter) operations() []*op.Operation {
	only := os.Getenv("BOUND_ONLY")
	return slices.DeleteFunc(slices.Clone(s.app.Ops.All()),
		func(o *op.Operation) bool { return only != "" && o.Name != only })
}

// examples returns the good inputs of an operation, those by hand first: a short test takes the
// first, and they are made for this story's cards.
func (s *costMeter) examples(o *op.Operation) []example {
	list := s.goodInputs(o)
	declared := min(len(o.Examples), len(list))
	return slices.Concat(list[declared:], list[:declared])
}

// toJSONValue converts a value to the types of decoded JSON.
func toJSONValue(v any) (out any) {
	b, _ := json.Marshal(v)     // made of plain values
	_ = json.Unmarshal(b, &out) // just encoded
	return out
}

// storedSize is the length of each hostile card. All of them together must fit on a small disk.
const storedSize = 90_000

// TestStoredHostileCardsCostReadersNothing fills the cards of the story with hostile texts,
// past the checks of operations, and makes every good call, in process and as a tool.
func TestStoredHostileCardsCostReadersNothing(t *testing.T) {
	programtest.Long(t)
	s := newCostMeter(t)
	defer s.logWorst()
	for _, kind := range slices.Sorted(maps.Keys(hostileTexts)) {
		if !inBoundPart(kind, 10) {
			continue
		}
		s.overwriteCards(hostileTexts[kind](storedSize))
		for _, o := range s.operations() {
			fewer := uint64(3)
			if o.Writes() {
				fewer = 12
			}
			for i, e := range s.examples(o) {
				if all := os.Getenv("BOUND_ALL") != ""; !all && (i > 0 || !inBoundPart(kind+o.Name, fewer)) {
					continue
				}
				in := s.tryInputs(e)
				s.measureCall(o, "on stored "+kind, in)
				if !o.Writes() && !o.NoTool {
					s.wantShort(o, kind, in)
				}
			}
		}
	}
}

// tryInputs returns the inputs of an example without its prepare call, which may fail now: the
// values that prepare would give are a null id.
func (s *costMeter) tryInputs(e example) map[string]any {
	s.t.Helper()
	if e.prepare != nil {
		const none = "00000000-0000-0000-0000-000000000000"
		s.ids["fresh"] = none
		in, _ := s.fillIDs(e.input, none).(map[string]any) // the input is an object
		return in
	}
	return s.inputs(e)
}

// overwriteCards gives every card that has text another one.
func (s *costMeter) overwriteCards(text string) {
	s.t.Helper()
	var names []string
	err := s.app.WithGrant(s.t.Context(), keeper, access.Request{Operation: "story", Effect: access.Read, World: s.world},
		func(g access.Grant) error {
			return s.app.Canon.Read(s.t.Context(), g, func(l *canon.Snapshot) error {
				cards, _, err := l.Cards(s.t.Context(), canon.Filter{Sort: canon.SortName}, canon.Page{Limit: 1000})
				for _, c := range cards {
					if k := canon.TextOf(c.Type); k != canon.TextData && k != canon.TextFile {
						names = append(names, "~"+c.ID.String())
					}
				}
				return err
			})
		})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, name := range names {
		s.commitPlan(func(p *canon.Plan) error {
			c, err := p.Card(name)
			if err != nil {
				return err
			}
			if _, err = p.Update(c, canon.Edit{Content: &text, Undivided: true}); fault.KindOf(err) == fault.Invalid {
				// The text has more references than a card may have.
				less := clip(text, 8000)
				_, err = p.Update(c, canon.Edit{Content: &less})
			}
			return err
		})
	}
	s.settleApp()
}

// wantShort makes a call as a tool. The answer must be short and, if it was cut, tell how to go
// on.
func (s *costMeter) wantShort(o *op.Operation, kind string, in map[string]any) {
	s.t.Helper()
	who := "admin"
	if o.Operator || o.Approver {
		who = "operator"
	}
	got := s.send(who, toolRequest(o, in))
	var m struct {
		Result struct {
			Content []struct{ Type, Text string }
		}
	}
	body := got.body
	if i := strings.Index(body, "data: "); i >= 0 {
		body = body[i+len("data: "):]
	}
	if err := json.NewDecoder(strings.NewReader(body)).Decode(&m); err != nil {
		s.t.Errorf("%s on stored %s: no JSON: %s", o.Name, kind, clip(got.body, 300))
		return
	}
	size := 0
	for _, part := range m.Result.Content {
		size += len(part.Text)
		if strings.Contains(part.Text, `"truncated":true`) && !strings.Contains(part.Text, `"next"`) {
			s.t.Errorf("%s on stored %s was cut and says nothing of the next call: %s", o.Name, kind, clip(part.Text, 300))
		}
	}
	if size > boundAnswer+2048 {
		s.t.Errorf("%s on stored %s gave %d bytes of text", o.Name, kind, size)
	}
	if whole := len(got.body); whole > 4*boundAnswer {
		s.t.Errorf("%s on stored %s gave %d bytes in all", o.Name, kind, whole)
	}
}
