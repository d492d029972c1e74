package prooftest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/raceenabled"
	"loregate/internal/store/postgres/pgtest"
)

// TestALostDatabaseIsNoAnswer cuts all connections to the database while calls are answered: those that
// read, and repeated ones that write, which only read. Each is refused as unavailable, or answers as it does
// without a cut. What could not be read is never left out of an answer, or said to be absent.
func TestALostDatabaseIsNoAnswer(t *testing.T) {
	if raceenabled.Detected && !isLong() {
		t.Skip("only without the race detector, as make test does too, or with PROOF_ROUNDS")
	}
	t.Parallel()
	s := &story{stage: newStage(t, "postgres"), mint: newMint(11), whole: true, who: keeper, ids: map[string]string{}}
	s.tellAll()
	s.giveKeys("user", "alice", "gm", "admin")
	p := &cutProof{story: s, proxy: pgtest.NewProxy(t, s.app.Config.Database), chance: rand.New(rand.NewPCG(7, 7))}
	c := s.app.Config
	c.Database = p.proxy.URL
	p.far = s.openWith(c, true)
	for _, o := range s.app.Ops.All() {
		for i, e := range s.goodInputs(o) {
			p.cutCall(o, i, e)
		}
	}
	t.Logf("%d calls were cut: %d were refused, %d answered; %d calls answer anew each time", p.proxy.Cuts(), p.refused,
		p.answered, p.unsteady)
	if p.refused < 100 {
		t.Error("too few calls were refused")
	}
}

// saysUnavailable matches an answer that says itself that a part of it could not be had: an item of a batch, a finding
// about the store, a proposal that could not be recorded.
var saysUnavailable = regexp.MustCompile(`"code":"(AUDIT_UNAVAILABLE|unavailable)"|the connection to the database was lost`)

// cutProof is a story on a database whose connections are cut.
type cutProof struct {
	*story
	proxy  *pgtest.Proxy
	far    *app.App // reaches the database through proxy
	chance *rand.Rand

	refused, answered, unsteady int
}

// cutCall makes a good call, and then repeats it with cuts.
func (p *cutProof) cutCall(o *op.Operation, n int, e example) {
	p.t.Helper()
	input, err := json.Marshal(p.inputs(e))
	if err != nil {
		p.t.Fatal(err)
	}
	r := op.Request{Operation: o.Name, Input: input, World: p.world.String(), Transport: "rest"}
	if o.Effect != access.Read {
		r.IdempotencyKey = fmt.Sprintf("cut %s %d", o.Name, n)
	}
	call := func() (string, error) {
		a, err := p.far.Ops.Invoke(p.t.Context(), callerFor(o), r)
		return answerText(a, err), err
	}
	first, _ := call() // a write writes here
	want, _ := call()
	if o.Effect == access.Propose && !isSameJSON(first, want) {
		p.t.Errorf("%s %s\nanswers at first %s\nand then        %s", o.Name, input, clip(first, 2000), clip(want, 2000))
	}
	before := p.proxy.Bytes()
	if again, _ := call(); again != want {
		p.unsteady++
		return
	}
	size := p.proxy.Bytes() - before
	cuts := rounds(1)
	if size == 0 { // it asks the database nothing
		cuts = 0
	}
	for i := range cuts {
		p.proxy.CutAfter((i*size + p.chance.IntN(size)) / cuts)
		got, err := call()
		p.proxy.CutAfter(-1)
		switch {
		case got == want:
			p.answered++
		case fault.KindOf(err) == fault.RateLimited: // by the clock, which stands still
			p.src.advance(time.Minute)
			return
		case fault.KindOf(err) == fault.Unavailable, saysUnavailable.MatchString(got):
			p.refused++
		default:
			p.t.Errorf("%s %s\ngot  %s\nwant %s", o.Name, input, clip(got, 2000), clip(want, 2000))
			return
		}
		apptest.Eventually(p.t, o.Name+" is answered as before", 10*time.Second, func() bool {
			got, err := call()
			return got == want || fault.KindOf(err) == fault.RateLimited
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
