package op_test

import (
	"context"
	"encoding/json"
	"testing"

	"loregate/internal/access"
	"loregate/internal/op"
)

type anyIn struct{}

type campaignIn struct {
	CampaignID string `json:"campaign_id" jsonschema:"Campaign."`
	Provenance any    `json:"provenance,omitzero" jsonschema:"Sources."`
}

// smallSet declares operations for tests of lists and campaigns.
func smallSet() op.Surface {
	gm := op.Define(op.Spec{Name: "judge", Title: "Judge", Doc: "Judge.", Surfaces: []string{"set"}, Effect: access.Read,
		MinRole: access.RoleUser, ListRole: access.RoleGM},
		func(context.Context, *op.Call, anyIn) (anyIn, error) { return anyIn{}, nil })
	tell := op.Define(op.Spec{Name: "tell", Title: "Tell", Doc: "Tell.", Surfaces: []string{"set"}, Effect: access.Write,
		MinRole: access.RoleUser},
		func(_ context.Context, _ *op.Call, in campaignIn) (campaignIn, error) { return in, nil })
	return op.Surface{Name: "set", Title: "Set", Doc: "A set.", Operations: []*op.Operation{gm, tell}}
}

func TestOperationsThatOnlyRefuseAreNotListed(t *testing.T) {
	l, err := op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{}), Surfaces: []op.Surface{smallSet()},
		Worlds: &twoWorlds{}})
	if err != nil {
		t.Fatal(err)
	}
	in := func(role access.Role) access.Caller {
		return access.Caller{Subject: "ann", Roles: map[access.WorldID]access.Role{worldA: role}}
	}
	reader := in(access.RoleGM)
	reader.ReadOnly = true
	for name, row := range map[string]struct {
		caller access.Caller
		want   string
	}{
		"a player": {in(access.RoleUser), "tell "}, "a gm": {in(access.RoleGM), "judge tell "},
		"a gm who only reads": {reader, "judge "}, "nobody": {access.Caller{}, ""},
	} {
		got := ""
		for _, o := range l.Operations(row.caller, "set") {
			got += o.Name + " "
		}
		if got != row.want {
			t.Errorf("%s is shown %q, want %q", name, got, row.want)
		}
	}
	if !l.Exists(in(access.RoleUser), "", "judge") || l.Exists(access.Caller{}, "", "judge") ||
		l.Exists(in(access.RoleGM), "elsewhere", "judge") {
		t.Error("an operation exists for callers who may call it")
	}
}

// An input may leave out the campaign if the caller opens only one world, and the provenance may
// come beside it.
func TestInputsAreFilledIn(t *testing.T) {
	l, err := op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{}), Surfaces: []op.Surface{smallSet()},
		Worlds: &twoWorlds{}})
	if err != nil {
		t.Fatal(err)
	}
	one := access.Caller{Subject: "ann", Roles: map[access.WorldID]access.Role{worldA: access.RoleUser}}
	two := access.Caller{Subject: "ann", Roles: map[access.WorldID]access.Role{worldA: access.RoleUser,
		worldB: access.RoleUser}}
	sole := worldA.String()
	for name, row := range map[string]struct {
		caller     access.Caller
		input      string
		provenance string
		want       string // "" for an error
	}{
		"one world":      {one, `{}`, "", `{"campaign_id":"` + sole + `"}`},
		"several worlds": {two, `{}`, "", ""},
		"provenance beside": {one, `{}`, `{"model":"m"}`,
			`{"campaign_id":"` + sole + `","provenance":{"model":"m"}}`},
		"provenance in both, the input": {one, `{"provenance":"p"}`, `{"model":"m"}`,
			`{"campaign_id":"` + sole + `","provenance":"p"}`},
		"a key on any call": {one, `{"idempotency_key":"k"}`, "", `{"campaign_id":"` + sole + `"}`},
	} {
		a, err := l.Invoke(t.Context(), row.caller, op.Request{Operation: "tell", Input: json.RawMessage(row.input),
			Provenance: json.RawMessage(row.provenance)})
		switch {
		case (err != nil) != (row.want == ""):
			t.Errorf("%s: %v", name, err)
		case err == nil && string(a.Output) != row.want:
			t.Errorf("%s: %s, want %s", name, a.Output, row.want)
		}
	}
	if a, err := l.Invoke(t.Context(), one, op.Request{Operation: "judge",
		Input: json.RawMessage(`{"idempotency_key":"k","provenance":{}}`)}); err != nil {
		t.Errorf("envelope fields on a read: %v, %v", a, err)
	}
}

// A part of a call has the world of the call, unless it names a campaign of its own, which the caller must have.
func TestAPartMayNameACampaign(t *testing.T) {
	var l *op.Local
	set := smallSet()
	set.Operations = append(set.Operations, op.Define(op.Spec{Name: "whole", Title: "Whole", Doc: "Whole.",
		Surfaces: []string{"set"}, Effect: access.Write, MinRole: access.RoleUser},
		func(ctx context.Context, c *op.Call, in struct {
			Part string `json:"part" jsonschema:"Campaign of the part."`
		}) (out campaignIn, err error) {
			a, err := l.Invoke(ctx, c.Grant.Caller(), c.PartOf("tell", []byte(`{"campaign_id":"`+in.Part+`"}`)))
			if err == nil {
				err = json.Unmarshal(a.Output, &out)
			}
			return out, err
		}))
	var err error
	l, err = op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{}), Surfaces: []op.Surface{set},
		Worlds: &twoWorlds{}})
	if err != nil {
		t.Fatal(err)
	}
	one := access.Caller{Subject: "ann", Roles: map[access.WorldID]access.Role{worldA: access.RoleUser}}
	two := access.Caller{Subject: "ann",
		Roles: map[access.WorldID]access.Role{worldA: access.RoleUser, worldB: access.RoleUser}}
	for name, row := range map[string]struct {
		caller access.Caller
		part   string
		works  bool
	}{"its own": {two, "a", true}, "another": {two, "b", true}, "one of others": {one, "b", false}} {
		_, err := l.Invoke(t.Context(), row.caller, op.Request{Operation: "whole", World: "a",
			Input: json.RawMessage(`{"part":"` + row.part + `"}`)})
		if (err == nil) != row.works {
			t.Errorf("%s: %v", name, err)
		}
	}
}
