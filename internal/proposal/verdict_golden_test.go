package proposal_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/proposal"
	"loregate/internal/store/memory"
)

// The verdicts of the labelled proposals, with the hashes of the gates' inputs, are those that
// earlier versions recorded, and a replay reproduces each. testdata/verdicts.txt was written before
// the gates became one table: it changes only with a gate's version.
func TestVerdictsAreAsRecorded(t *testing.T) {
	want, err := os.ReadFile(filepath.Join("testdata", "verdicts.txt"))
	if err != nil {
		t.Fatal(err)
	}
	s := newSceneOn(t, memory.New())
	var got strings.Builder
	for _, row := range labelledSet(t) {
		s.settle(fmt.Sprintf("row-%d", row.N), row.World.Profile)
		row.judge(t, s)
		g := s.grant(access.Caller{Subject: "reader", EveryRole: access.RoleAdmin, Approve: true},
			access.Request{Operation: "read", Effect: access.Read, World: s.world})
		for rec, err := range s.canon.Records(t.Context(), g, canon.LedgerStream(proposal.LedgerKind, s.world.String()), 1) {
			if err != nil {
				t.Fatal(err)
			}
			var j struct {
				ID, Status string
				Prompt     string `json:"prompt_hash"`
				Verdicts   []proposal.Verdict
			}
			if err := json.Unmarshal(rec.Event.Payload, &j); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "%d.%d %s prompt %.8s:", row.N, rec.Seq, j.Status, j.Prompt)
			for _, v := range j.Verdicts {
				fmt.Fprintf(&got, " %s %x %s", v.Version, v.Input[:4], v.Code)
			}
			again, err := s.service.Replay(t.Context(), g, j.ID)
			fmt.Fprintf(&got, " replayed %t %t\n", again.Identical, err == nil)
		}
	}
	if got.String() == string(want) {
		return
	}
	is, was := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(is), len(was)) {
		if is[i] != was[i] {
			t.Errorf("got  %s\nwant %s", is[i], was[i])
		}
	}
	t.Errorf("there are %d lines, want %d", len(is), len(was))
}
