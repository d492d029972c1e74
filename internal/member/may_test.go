package member_test

import (
	"errors"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// TestInvitationsGiveRights lists invitations by their input and the rights of those who accept them.
func TestInvitationsGiveRights(t *testing.T) {
	t.Parallel()
	gm := access.Caller{Subject: "gita", Actor: access.Person, EveryRole: access.RoleGM}
	for input, want := range map[string]string{`{}`: "propose", `{"role": "user"}`: "propose",
		`{"role": "user", "may": "read"}`: "read", `{"may": "own"}`: "own", `{"may": "write"}`: "write",
		`{"role": "gm"}`: "write", `{"role": "gm", "may": "write"}`: "write",
		`{"role": "gm", "may": "read"}`: "", `{"may": "rule"}`: "", `{"role": "admin"}`: ""} {
		d := newDesk(t)
		out, err := d.call(gm, "create_invitation", input)
		if want == "" {
			if !errors.Is(err, fault.Invalid) {
				t.Errorf("%s: %v", input, err)
			}
			continue
		}
		if err != nil || out["invitation"].(map[string]any)["may"] != want {
			t.Errorf("%s: %v, %v", input, out, err)
		}
	}
}

// TestAMembersRights changes the rights of a member, in order.
func TestAMembersRights(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.add(canon.MemberImage{Subject: "ada", Role: access.RoleUser, May: access.MayPropose})
	for _, row := range []struct{ input, may string }{
		{`{"subject": "ada", "role": "user"}`, "propose"}, // as it is
		{`{"subject": "ada", "role": "user", "may": "own"}`, "own"},
		{`{"subject": "ada", "role": "gm"}`, "write"},
		{`{"subject": "ada", "role": "gm", "may": "read"}`, ""},
		{`{"subject": "ada", "role": "user", "may": "read"}`, "read"},
	} {
		out, err := d.call(keeper, "set_member_role", row.input)
		if row.may == "" {
			if !errors.Is(err, fault.Invalid) {
				t.Errorf("%s: %v", row.input, err)
			}
			continue
		}
		list, bad := d.canon.Memberships(t.Context(), "ada")
		if err != nil || bad != nil || out["may"] != row.may || list[0].May.String() != row.may {
			t.Errorf("%s: %v, %+v, %v, %v", row.input, out, list, err, bad)
		}
	}
	out, err := d.call(keeper, "list_members", "")
	if err != nil || out["members"].([]any)[0].(map[string]any)["may"] != "read" {
		t.Errorf("%v, %v", out, err)
	}
}

// add makes somebody a member of the world.
func (d *desk) add(m canon.MemberImage) {
	d.t.Helper()
	a, err := d.guard.Admit(d.t.Context(), keeper, access.Request{Effect: access.Write, World: d.world})
	if err == nil {
		_, err = d.canon.Update(d.t.Context(), a.Grant, func(p *canon.Plan) error { return p.SetMember(m) })
	}
	if err != nil {
		d.t.Fatal(err)
	}
}
