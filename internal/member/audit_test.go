package member_test

import (
	"errors"
	"fmt"
	"testing"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// auditOf returns the entries that a call lists, as subject, operation and what they are about, and the call's next.
func (d *desk) auditOf(input string) (list []string, next float64) {
	d.t.Helper()
	out, err := d.call(keeper, "audit_members", input)
	if err != nil {
		d.t.Fatal(err)
	}
	entries, _ := out["entries"].([]any)
	for _, x := range entries {
		e, _ := x.(map[string]any)
		list = append(list, fmt.Sprint(e["by"], " ", e["operation"], " ", e["about"]))
	}
	next, _ = out["next"].(float64)
	return list, next
}

// TestTheAuditNamesWhoDidWhat lists what two admins did, by pages and by filters.
func TestTheAuditNamesWhoDidWhat(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	warden := keeper
	warden.Subject = "warden"
	made, err := d.call(keeper, "create_key", `{"name": "Scribe"}`)
	if err != nil {
		t.Fatal(err)
	}
	key, _ := made["key"].(map[string]any)
	scribe := fmt.Sprint(key["subject"])
	for _, step := range []struct {
		who              access.Caller
		operation, input string
	}{{warden, "rotate_key", fmt.Sprintf(`{"id": %q}`, key["id"])}, {warden, "create_invitation", `{"uses": 2}`}} {
		if _, err := d.call(step.who, step.operation, step.input); err != nil {
			t.Fatal(err)
		}
	}
	all, next := d.auditOf(`{}`)
	if len(all) != 3 || next != 0 || all[1] != "warden rotate_key "+scribe || all[2] != "keeper create_key "+scribe {
		t.Errorf("%q, next %v", all, next)
	}
	first, next := d.auditOf(`{"limit": 2}`)
	rest, end := d.auditOf(fmt.Sprintf(`{"limit": 2, "before": %v}`, next))
	if len(first) != 2 || len(rest) != 1 || rest[0] != all[2] || end != 0 {
		t.Errorf("%q, then %q, next %v and %v", first, rest, next, end)
	}
	if of, _ := d.auditOf(fmt.Sprintf(`{"by": "warden", "about": %q}`, scribe)); len(of) != 1 || of[0] != all[1] {
		t.Errorf("by warden about the scribe: %q", of)
	}
	gm := access.Caller{Subject: "gm", Actor: access.Person, EveryRole: access.RoleGM}
	if _, err := d.call(gm, "audit_members", `{}`); !errors.Is(err, fault.Denied) {
		t.Errorf("a game master reads it: %v", err)
	}
}
