package prooftest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"reflect"
	"regexp"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app/apptest"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/waittest"
)

// TestALostDatabaseIsNoAnswer cuts all connections to the database while calls and pages are answered: those
// that read, and repeated ones that write, which only read. Each is refused as unavailable, or answers as it
// does without a cut. What could not be read is never left out of an answer, or said to be absent.
func TestALostDatabaseIsNoAnswer(t *testing.T) {
	skipWithRace(t)
	t.Parallel()
	s := &story{stage: newStage(t, "postgres"), mint: newMint(11), whole: true, who: keeper, ids: map[string]string{}}
	s.tellAll()
	s.giveKeys("user", "alice", "gm", "admin")
	p := newCutProof(s)
	for _, o := range s.app.Ops.All() {
		for i, e := range s.goodInputs(o) {
			p.cutGoodCall(o, i, e)
		}
	}
	for i, r := range otherCalls(s.known, 0) {
		if !isLong() && i%5 > 0 || r.operation == "server-discover" { // which greets without the worlds' names then
			continue
		}
		p.cutCall(r.String(), func() (string, fault.Kind) {
			got := p.far.send("admin", r)
			kind := fault.Invalid
			if got.status >= 500 {
				kind = fault.Unavailable
			}
			return maskRandom(got.String()), kind
		})
	}
	t.Logf("%d calls were cut: %d were refused, %d answered; %d calls answer anew each time", p.proxy.Cuts(), p.refused,
		p.answered, p.unsteady)
	if p.refused < 100 {
		t.Error("too few calls were refused")
	}
}

// saysUnavailable matches an answer that says itself that a part of it could not be had: an item of a batch, a finding
// about the store, a proposal that could not be recorded.
var saysUnavailable = regexp.MustCompile(
	`(?i)"code":"(AUDIT_UNAVAILABLE|unavailable)"|the connection to the database was lost`)

// cutProof is a story on a database whose connections are cut.
type cutProof struct {
	*story
	proxy  *pgtest.Proxy
	far    *stage // the same, and reaches the database through proxy
	chance *rand.Rand

	refused, answered, unsteady int
}

func newCutProof(s *story) *cutProof {
	s.t.Helper()
	p := &cutProof{story: s, proxy: pgtest.NewProxy(s.t, s.app.Config.Database), chance: rand.New(rand.NewPCG(7, 7))}
	c, far := s.app.Config, *s.stage
	c.Database = p.proxy.URL
	far.app = s.openWith(c, true)
	h, stop, err := far.app.Handler(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	server := httptest.NewServer(h)
	s.t.Cleanup(func() {
		stop()
		server.Close()
	})
	far.url, p.far = server.URL, &far
	return p
}

// cutGoodCall makes a good call of an operation, and then repeats it with cuts.
func (p *cutProof) cutGoodCall(o *op.Operation, n int, e example) {
	p.t.Helper()
	input, err := json.Marshal(p.inputs(e))
	if err != nil {
		p.t.Fatal(err)
	}
	r := p.request(o, input)
	if o.Effect != access.Read {
		r.IdempotencyKey = fmt.Sprintf("cut %s %d", o.Name, n)
	}
	call := func() (string, fault.Kind) {
		a, err := p.far.app.Ops.Invoke(p.t.Context(), callerFor(o), r)
		if err == nil {
			return maskRandom(answerText(a, nil)), fault.Invalid
		}
		return err.Error(), fault.KindOf(err)
	}
	first, _ := call() // a write writes here
	if again, _ := call(); o.Effect == access.Propose && !isSameJSON(first, again) {
		p.t.Errorf("%s %s\nanswers at first %s\nand then        %s", o.Name, input, clip(first, 2000), clip(again, 2000))
	}
	p.cutCall(o.Name+" "+string(input), call)
}

// cutCall makes a call that changes nothing, and then repeats it with cuts. The call returns its answer, and the kind
// of its error.
func (p *cutProof) cutCall(name string, call func() (string, fault.Kind)) {
	p.t.Helper()
	want, _ := call()
	before := p.proxy.Bytes()
	if again, _ := call(); again != want {
		p.unsteady++
		return
	}
	size, cuts := p.proxy.Bytes()-before, rounds(1)
	if size == 0 { // it asks the database nothing
		cuts = 0
	}
	for i := range cuts {
		p.proxy.CutAfter((i*size + p.chance.IntN(size)) / cuts)
		got, kind := call()
		p.proxy.CutAfter(-1)
		switch {
		case got == want:
			p.answered++
		case kind == fault.RateLimited: // by the clock, which stands still
			p.src.advance(time.Minute)
			return
		case kind == fault.Unavailable, saysUnavailable.MatchString(got):
			p.refused++
		default:
			at := firstDifference(got, want)
			p.t.Errorf("%s\ngot  %s\nwant %s", name, excerptAt(got, at), excerptAt(want, at))
			return
		}
		apptest.Eventually(p.t, name+" is answered as before", waittest.Patience, func() bool {
			got, kind := call()
			return got == want || kind == fault.RateLimited
		})
	}
}

// isSameJSON reports whether two texts are the same value, or the same text.
func isSameJSON(x, y string) bool {
	var a, b any
	if json.Unmarshal([]byte(x), &a) != nil || json.Unmarshal([]byte(y), &b) != nil {
		return x == y
	}
	return reflect.DeepEqual(a, b)
}
