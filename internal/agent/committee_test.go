package agent

import (
	"reflect"
	"testing"
)

func TestTheBestDraftIsValidThenShortThenSafe(t *testing.T) {
	draft := func(valid bool, steps, risk int, hash byte) Deliberated {
		return Deliberated{valid: valid, Steps: steps, risk: risk, hash: [32]byte{hash}}
	}
	for name, c := range map[string]struct {
		drafts []Deliberated
		want   int
	}{
		"none":          {nil, 0},
		"none is valid": {[]Deliberated{draft(false, 1, 0, 1)}, 0},
		"valid first":   {[]Deliberated{draft(false, 1, 0, 1), draft(true, 9, 9, 9)}, 2},
		"then shortest": {[]Deliberated{draft(true, 3, 0, 1), draft(true, 2, 5, 9)}, 2},
		"then risk":     {[]Deliberated{draft(true, 2, 1, 1), draft(true, 2, 0, 9)}, 2},
		"then hash":     {[]Deliberated{draft(true, 2, 1, 2), draft(true, 2, 1, 1)}, 2},
	} {
		if got := chooseDraft(c.drafts); got != c.want {
			t.Errorf("%s: draft %d; want %d", name, got, c.want)
		}
	}
}

func TestArcsFollowTheirSeed(t *testing.T) {
	c := cast{Here: named{"1", "Quay"}, There: named{"2", "Market"}, Giver: named{"3", "Oda"}, Wants: "rope.",
		Other: named{"4", "Nan"}, Thing: named{"5", "Key"}, Faction: named{"6", "The Club"}}
	all := composeArcs(c, 7, 5)
	if len(all) != len(productions) || !reflect.DeepEqual(all, composeArcs(c, 7, 5)) {
		t.Fatalf("%d arcs, or others for the same seed", len(all))
	}
	if reflect.DeepEqual(all, composeArcs(c, 8, 5)) {
		t.Error("another seed gives the same arcs")
	}
	for _, a := range all {
		named := map[string]bool{}
		for _, s := range a.Objectives {
			named[s.LocationID] = true
		}
		if !named[c.Here.ID] && !named[c.There.ID] {
			t.Errorf("%s names a place that no step refers to", a.Title)
		}
	}
	if alone := composeArcs(cast{Here: c.Here, Giver: c.Giver}, 7, 5); len(alone) != 1 {
		t.Errorf("%d arcs without a place beside; want 1", len(alone))
	}
}

func TestArcsOfAModelKeepGiverAndReward(t *testing.T) {
	c := cast{Giver: named{"3", "Oda"}, Reward: "1 Penny"}
	a, err := readArc(c, `{"title":"T","hook":"H","giverId":"9","rewards":["1000 Penny"],"objectives":[{"id":"a","text":"A",`+
		`"locationId":"1"}]}`)
	if err != nil || a.GiverID != "3" || !reflect.DeepEqual(a.Rewards, []string{"1 Penny"}) {
		t.Errorf("%+v %v", a, err)
	}
	for _, bad := range []string{``, `[]`, `{"title":"T","hook":"H","objectives":[]}`} {
		if _, err := readArc(c, bad); err == nil {
			t.Errorf("%q is an arc", bad)
		}
	}
}
