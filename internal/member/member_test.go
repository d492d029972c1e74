package member_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/identity/identitytest"
	"loregate/internal/member"
	"loregate/internal/op"
	"loregate/internal/op/optest"
	"loregate/internal/store/memory"
)

// desk is the surface on an empty world, and its keys.
type desk struct {
	t     *testing.T
	keys  *identity.Service
	ops   *op.Local
	canon *canon.Canon
	guard *access.Guard
	world access.WorldID
}

var keeper = access.Caller{Subject: "keeper", Actor: access.Person, EveryRole: access.RoleAdmin, Operator: true}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, canon: canon.New(canon.Config{Store: memory.New(),
		Ledgers: map[string][]string{member.LedgerKind: {canon.AnySurface}}}), guard: access.NewGuard(access.Config{})}
	admitted, err := d.guard.Admit(t.Context(), keeper, access.Request{Effect: access.Write})
	if err != nil {
		t.Fatal(err)
	}
	w, err := d.canon.CreateWorld(t.Context(), admitted.Grant, canon.NewWorld{Slug: "main"})
	if err != nil {
		t.Fatal(err)
	}
	d.world = w.ID
	if d.keys, err = identity.New(identity.Config{Store: &identitytest.Store{}, Worlds: &identitytest.Worlds{},
		AllowKeyAsBearer: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.keys.Close)
	d.ops, err = op.NewLocal(op.Config{Guard: d.guard, Worlds: optest.SoleWorld(w.ID),
		Surfaces: []op.Surface{member.New(member.Config{Canon: d.canon, Identity: d.keys, Surfaces: []string{"archive"}})}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) call(who access.Caller, operation, input string) (map[string]any, error) {
	d.t.Helper()
	a, err := d.ops.Invoke(d.t.Context(), who, op.Request{Operation: operation, World: "main", Input: []byte(input)})
	if err != nil {
		return nil, err
	}
	var out map[string]any
	if err := json.Unmarshal(a.Output, &out); err != nil {
		d.t.Fatal(err)
	}
	return out, nil
}

// TestOnlyPeopleManageAWorld calls every operation as a program, and as a person who may only propose.
func TestOnlyPeopleManageAWorld(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	program, adviser := keeper, keeper
	program.Actor, adviser.Advisory = access.AI, true
	for _, o := range d.ops.All() {
		if !o.NoTool || !o.People {
			t.Errorf("%s is a tool, or open to programs", o.Name)
		}
		for _, who := range []access.Caller{program, adviser} {
			input := `{"subject": "keeper", "id": "x", "name": "x", "role": "user"}`
			if _, err := d.call(who, o.Name, input); !errors.Is(err, fault.Denied) && !errors.Is(err, fault.Invalid) {
				t.Errorf("%s as %s: %v", o.Name, who.Actor, err)
			}
		}
	}
}

func TestTheLastAdminStays(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, row := range [][2]string{{"set_member_role", `{"subject": "keeper", "role": "gm"}`},
		{"end_membership", `{"subject": "keeper"}`}} {
		if _, err := d.call(keeper, row[0], row[1]); !errors.Is(err, fault.Rule) {
			t.Errorf("%s: %v", row[0], err)
		}
	}
	if _, err := d.call(keeper, "end_membership", `{"subject": "nobody"}`); !errors.Is(err, fault.NotFound) {
		t.Errorf("a stranger: %v", err)
	}
}

// TestAKeyHasNoMoreThanItsMaker makes keys with rights that the maker lacks.
func TestAKeyHasNoMoreThanItsMaker(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	out, err := d.call(keeper, "create_key", `{"name": "Scribe of the Quay", "role": "gm", "may": "write", "days": 2}`)
	if err != nil {
		t.Fatal(err)
	}
	secret, _ := out["secret"].(string)
	c, err := d.keys.Authenticate(t.Context(), secret, "")
	if err != nil || c.Role(d.world) != access.RoleGM || c.Actor != access.AI || c.Approve || c.Operator ||
		!strings.HasPrefix(string(c.Subject), "scribe-of-the-quay-") {
		t.Errorf("%+v, %v", c, err)
	}
	k, err := d.keys.KeyOf(t.Context(), c.Key)
	if err != nil || k.Behalf != "keeper" || time.Until(k.Expires) > 48*time.Hour {
		t.Errorf("%+v, %v", k, err)
	}
	for input, field := range map[string]string{`{"name": "x", "surfaces": ["elsewhere"]}`: "surfaces",
		`{"name": "x", "days": 3651}`: "days", `{"name": ""}`: "name"} {
		if _, err := d.call(keeper, "create_key", input); !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(),
			field) {
			t.Errorf("%s: %v", input, err)
		}
	}
}

// TestARepeatedCallMakesNothingMore repeats calls with one idempotency key, as their caller and as another.
func TestARepeatedCallMakesNothingMore(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	other := keeper
	other.Subject = "warden"
	for operation, at := range map[string][2]string{"create_key": {"key", "secret"},
		"create_invitation": {"invitation", "code"}} {
		create := func(who access.Caller, role, key string) (id, secret string) {
			t.Helper()
			a, err := d.ops.Invoke(t.Context(), who, op.Request{Operation: operation, World: "main", IdempotencyKey: key,
				Input: []byte(map[string]string{"create_key": `{"name": "Scribe", "role": "` + role + `"}`,
					"create_invitation": `{"uses": 3, "role": "` + role + `"}`}[operation])})
			if err != nil {
				t.Fatal(err)
			}
			var out map[string]json.RawMessage
			var made struct{ ID string }
			if err := errors.Join(json.Unmarshal(a.Output, &out), json.Unmarshal(out[at[0]], &made),
				json.Unmarshal(out[at[1]], &secret)); err != nil {
				t.Fatal(err)
			}
			return made.ID, secret
		}
		first, secret := create(keeper, "user", "k")
		if again, shown := create(keeper, "user", "k"); again != first || shown != "" || secret == "" {
			t.Errorf("%s: a repeated call makes %s after %s and shows %q", operation, again, first, shown)
		}
		for _, call := range []struct {
			who       access.Caller
			role, key string
		}{{other, "user", "k"}, {keeper, "gm", "k"}, {keeper, "user", "l"}, {keeper, "user", ""}} {
			if id, shown := create(call.who, call.role, call.key); id == first || shown == "" || shown == secret {
				t.Errorf("%s: %s with %s and %q gets %s with %q", operation, call.who.Subject, call.role, call.key, id, shown)
			}
		}
	}
}

// TestKeysOfOtherWorldsStay tries to end and to replace keys that open more than the world, as its admin.
func TestKeysOfOtherWorldsStay(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	admin := keeper
	admin.Operator = false
	other := access.WorldID{9}
	make := func(spec identity.KeySpec) string {
		spec.Name, spec.MaxRole = "k", access.RoleAdmin
		k, _, err := d.keys.CreateKey(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		return k.ID
	}
	both := make(identity.KeySpec{Subject: "a", Worlds: map[access.WorldID]access.Role{d.world: 3, other: 3}})
	elsewhere := make(identity.KeySpec{Subject: "b", Worlds: map[access.WorldID]access.Role{other: 3}})
	person := make(identity.KeySpec{Subject: "c", Actor: access.Person,
		Worlds: map[access.WorldID]access.Role{d.world: 3}})
	for _, row := range []struct {
		id   string
		kind fault.Kind
	}{{both, fault.Denied}, {elsewhere, fault.NotFound}, {"nothing", fault.NotFound}} {
		for _, operation := range []string{"rotate_key", "end_key"} {
			if _, err := d.call(admin, operation, `{"id": "`+row.id+`"}`); !errors.Is(err, row.kind) {
				t.Errorf("%s of %s: %v", operation, row.id, err)
			}
		}
	}
	if _, err := d.call(admin, "rotate_key", `{"id": "`+person+`"}`); !errors.Is(err, fault.Denied) {
		t.Errorf("an admin gets a new secret of a person's key: %v", err)
	}
	if _, err := d.call(admin, "end_key", `{"id": "`+person+`"}`); err != nil {
		t.Error(err)
	}
}
