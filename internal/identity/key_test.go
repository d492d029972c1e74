package identity_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/identity/identitytest"
)

func TestMemoryStore(t *testing.T) {
	identitytest.TestStore(t, func(*testing.T) identity.Store { return &identitytest.Store{} })
}

func TestAKeyIsShownOnceAndKeptAsAHash(t *testing.T) {
	f := newFixture(t)
	k, secret := f.key(identity.KeySpec{})
	if !regexp.MustCompile(`^lg_[a-z2-7]{32}$`).MatchString(secret) {
		t.Errorf("the key is %q", secret)
	}
	stored, ok, err := f.store.KeyByID(context.Background(), k.ID)
	if err != nil || !ok || stored.Hash == (identity.Hash{}) {
		t.Fatalf("%+v, %v, %v", stored, ok, err)
	}
	all, err := f.Keys(context.Background())
	if err != nil || len(all) != 1 || all[0].Hash != (identity.Hash{}) || all[0].ID != k.ID {
		t.Errorf("the list shows %+v, %v", all, err)
	}
	_, second := f.key(identity.KeySpec{})
	if second == secret {
		t.Error("two keys are alike")
	}
}

func TestKeyFieldsAreChecked(t *testing.T) {
	good := func() identity.KeySpec {
		return identity.KeySpec{Name: "n", Subject: "anna", Actor: access.Person, MaxRole: access.RoleGM}
	}
	many := map[access.WorldID]access.Role{}
	for i := range 1001 {
		many[access.WorldID{1, byte(i), byte(i >> 8)}] = access.RoleUser
	}
	for name, row := range map[string]struct {
		change func(*identity.KeySpec)
		field  string // the invalid field; "" for none
		kind   fault.Kind
	}{
		"good":                 {func(*identity.KeySpec) {}, "", 0},
		"a person's approve":   {func(k *identity.KeySpec) { k.Approve, k.Operator = true, true }, "", 0},
		"an AI's approve":      {func(k *identity.KeySpec) { k.Actor, k.Approve = access.AI, true }, "", fault.Rule},
		"an AI's operator":     {func(k *identity.KeySpec) { k.Actor, k.Operator = access.AI, true }, "", fault.Rule},
		"nobody's approve":     {func(k *identity.KeySpec) { k.Actor, k.Approve = "", true }, "", fault.Rule},
		"no name":              {func(k *identity.KeySpec) { k.Name = "" }, "name", fault.Invalid},
		"a long name":          {func(k *identity.KeySpec) { k.Name = strings.Repeat("ä", 101) }, "name", fault.Invalid},
		"a name of 100":        {func(k *identity.KeySpec) { k.Name = strings.Repeat("ä", 100) }, "", 0},
		"a name with controls": {func(k *identity.KeySpec) { k.Name = "a\u202eb" }, "name", fault.Invalid},
		"no subject":           {func(k *identity.KeySpec) { k.Subject = "" }, "subject", fault.Invalid},
		"a subject with comma": {func(k *identity.KeySpec) { k.Subject = "a,b" }, "subject", fault.Invalid},
		"another actor":        {func(k *identity.KeySpec) { k.Actor = "cat" }, "actor", fault.Invalid},
		"no role":              {func(k *identity.KeySpec) { k.MaxRole = 0 }, "max_role", fault.Invalid},
		"a role above admin":   {func(k *identity.KeySpec) { k.MaxRole = 4 }, "max_role", fault.Invalid},
		"a world above max": {func(k *identity.KeySpec) { k.Worlds = map[access.WorldID]access.Role{{1}: 3} }, "worlds",
			fault.Invalid},
		"a world without role": {func(k *identity.KeySpec) { k.Worlds = map[access.WorldID]access.Role{{1}: 0} }, "worlds",
			fault.Invalid},
		"the zero world": {func(k *identity.KeySpec) { k.Worlds = map[access.WorldID]access.Role{{}: 1} }, "worlds",
			fault.Invalid},
		"too many worlds":     {func(k *identity.KeySpec) { k.Worlds = many }, "worlds", fault.Invalid},
		"too many surfaces":   {func(k *identity.KeySpec) { k.Surfaces = words(33) }, "surfaces", fault.Invalid},
		"a strange surface":   {func(k *identity.KeySpec) { k.Surfaces = []string{"Archive"} }, "surfaces", fault.Invalid},
		"too many operations": {func(k *identity.KeySpec) { k.Operations = words(257) }, "operations", fault.Invalid},
		"a long operation": {func(k *identity.KeySpec) { k.Operations = []string{strings.Repeat("a", 65)} }, "operations",
			fault.Invalid},
		"a strange rate class": {func(k *identity.KeySpec) { k.RateClass = "a b" }, "rate_class", fault.Invalid},
		"expired":              {func(k *identity.KeySpec) { k.Expires = start }, "expires", fault.Invalid},
		"a seat":               {func(k *identity.KeySpec) { k.Seat = "g/p" }, "", 0},
		"a seat and more": {func(k *identity.KeySpec) { k.Seat, k.Surfaces = "g/p", []string{"archive"} }, "surfaces",
			fault.Invalid},
		"a seat's approve": {func(k *identity.KeySpec) { k.Seat, k.Approve = "g/p", true }, "seat", fault.Invalid},
		"a strange seat":   {func(k *identity.KeySpec) { k.Seat = "g p" }, "seat", fault.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			spec := good()
			row.change(&spec)
			_, secret, err := newFixture(t).CreateKey(context.Background(), spec)
			if row.kind == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var e *fault.Error
			if !errors.As(err, &e) || e.Kind != row.kind || secret != "" {
				t.Fatalf("%v, want %v", err, row.kind)
			}
			if row.field != "" && !slices.ContainsFunc(e.Fields, func(f fault.Field) bool { return f.Field == row.field }) {
				t.Errorf("faults %v, want one of %s", e.Fields, row.field)
			}
		})
	}
}

func words(n int) []string {
	w := make([]string, n)
	for i := range w {
		w[i] = "w" + strings.Repeat("x", i%60) + string(rune('a'+i/60))
	}
	return w
}

func TestEveryFaultOfAKeyIsListed(t *testing.T) {
	_, _, err := newFixture(t).CreateKey(context.Background(), identity.KeySpec{Actor: "cat", Surfaces: []string{"?"}})
	var e *fault.Error
	if !errors.As(err, &e) || len(e.Fields) != 5 {
		t.Errorf("%+v; want five faults: name, subject, actor, max_role, surfaces", e)
	}
}

func TestAKeyAsBearer(t *testing.T) {
	f := newFixture(t)
	k, secret := f.key(identity.KeySpec{Surfaces: []string{"world", "archive"}, Operations: []string{"get_card"},
		RateClass: "sample", Advisory: true, Approve: true})
	for range 2 {
		c, err := f.caller(secret)
		if err != nil {
			t.Fatal(err)
		}
		if c.Key != k.ID || c.Subject != "anna" || c.Actor != access.Person || c.Role(mainWorld) != access.RoleGM ||
			c.Role(otherWorld) != access.RoleNone || !c.Advisory || !c.Approve || c.Operator || c.RateClass != "sample" ||
			!slices.Equal(c.Surfaces, []string{"archive", "world"}) || !slices.Equal(c.Operations, []string{"get_card"}) ||
			!c.TokenExpires.IsZero() || c.Unlimited {
			t.Errorf("%+v", c)
		}
	}
	strict := f.another(func(c *identity.Config) { c.AllowKeyAsBearer = false })
	_, err := strict.Authenticate(context.Background(), secret, "")
	wantRefused(t, err, identity.ErrInvalid)
}

func TestMalformedAndUnknownKeysAreAlike(t *testing.T) {
	f := newFixture(t)
	_, secret := f.key(identity.KeySpec{})
	revokedKey, revoked := f.key(identity.KeySpec{})
	if err := f.RevokeKey(context.Background(), revokedKey.ID); err != nil {
		t.Fatal(err)
	}
	_, expired := f.key(identity.KeySpec{Expires: start.Add(time.Minute)})
	f.add(time.Minute)
	answers := map[string]bool{}
	for _, s := range []string{
		"lg_" + strings.Repeat("a", 32), revoked, expired, secret[:34], secret + "a", strings.ToUpper(secret), "LG_" +
			secret[3:],
		"lg_", "lg_" + strings.Repeat("1", 32), "lg_" + strings.Repeat("=", 32), " " + secret, secret + "\n", "lgi_" +
			secret[3:],
		"", "ä", strings.Repeat("lg_", 5000),
	} {
		_, err := f.Exchange(context.Background(), s, access.RoleUser, "")
		wantRefused(t, err, identity.ErrInvalid)
		answers[shown(err)+identity.Challenge(err, identity.Style{})] = true
	}
	if len(answers) != 1 {
		t.Errorf("the answers differ: %v", answers)
	}
}

func shown(err error) string {
	return fault.Show(err, "c").Error.Code + fault.Show(err, "c").Error.Message
}

func TestAKeyBoundToASeatOpensItsGameOnly(t *testing.T) {
	f := newFixture(t)
	_, secret := f.key(identity.KeySpec{Seat: "game/p1", Actor: access.AI})
	c, err := f.caller(secret)
	if err != nil || c.MayUse("archive", "get_card") || !c.MayUse("alignment", "get_game") {
		t.Errorf("it opens %v, %v", c.Surfaces, err)
	}
	_, secret = f.key(identity.KeySpec{Seat: "game/p1", Actor: access.AI,
		Surfaces: []string{identity.SeatSurface, identity.PlaySurface}})
	if c, err = f.caller(secret); err != nil || c.MayUse("archive", "get_card") || !c.MayUse("alignment-play", "make_move") {
		t.Errorf("a key that acts opens %v, %v", c.Surfaces, err)
	}
	if _, _, err = f.CreateKey(context.Background(), identity.KeySpec{Name: "n", Subject: "s", Actor: access.AI,
		MaxRole: access.RoleUser, Seat: "game/p1", Surfaces: []string{identity.PlaySurface, "archive"}}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a key of a seat opens the archive: %v", err)
	}
}

func TestRevokeOfNoKey(t *testing.T) {
	if err := newFixture(t).RevokeKey(context.Background(), "id-9"); !errors.Is(err, fault.NotFound) {
		t.Errorf("%v, want not found", err)
	}
}

func FuzzKey(f *testing.F) {
	fx := newFixture(f)
	_, secret := fx.key(identity.KeySpec{})
	for _, s := range []string{secret, "lg_", secret + secret, "lgi_" + secret[3:]} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := fx.caller(s); err == nil && s != secret {
			t.Errorf("%q was taken for %+v", s, c)
		}
		if _, err := fx.Accept(context.Background(), s, "bert"); err == nil {
			t.Errorf("%q was taken for an invitation", s)
		}
	})
}
