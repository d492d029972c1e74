package proposal_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/proposal"
)

var words = strings.Fields("tar smoke drift bollard tide stone gull tally board chalk boat number third step morning rent rope creak water count smell sprat iron lamp early low " +
	"paper streamer pulp pan salt lip quay told flat far evening colour light child hopscotch line coin wharf verdict awning turnip scale fishwife canvas market orange bunting gold stall pear fire log talk")

// prose returns a text that is different for each n.
func prose(n int) string {
	r := rand.New(rand.NewPCG(7, uint64(n)))
	list := make([]string, 24)
	for i := range list {
		list[i] = words[r.IntN(len(words))]
	}
	return strings.Join(list, " ") + "."
}

// BenchmarkSubmit submits ambience through all seven gates into the canon and compares it with 500
// accepted texts of its kind and scope. Rates are evaluated, with raised limits.
func BenchmarkSubmit(b *testing.B) {
	most := 1 << 30
	s := newScene(b, "", withLimits(proposal.Limits{PlayerMinute: most, PlayerHour: most, KeyMinute: most,
		WorldMinute: most, TokensDay: most}))
	ada := s.as("ada", access.RoleUser)
	submit := func(n int) {
		g := s.grant(ada.c, access.Request{Operation: "propose-ambience", Surface: "world", Effect: access.Propose,
			World: s.world})
		payload := fmt.Appendf(nil, `{"locationId":%q,"layerType":"ambient","text":%q}`, ids["@quay"], prose(n))
		r, err := s.service.Submit(b.Context(), g, proposal.Submission{Kind: "ambience", Payload: payload})
		if err != nil || r.Status != proposal.Accepted {
			b.Fatalf("%d: %+v, %v", n, r.Rejection, err)
		}
	}
	var n atomic.Int64
	for range 500 {
		submit(int(n.Add(1)))
	}
	b.SetParallelism(16)
	b.ReportAllocs()
	b.ResetTimer()
	started := time.Now()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			submit(int(n.Add(1)))
		}
	})
	b.ReportMetric(float64(b.N)/time.Since(started).Seconds(), "proposals/s")
}
