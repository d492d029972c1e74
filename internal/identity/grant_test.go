package identity_test

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
)

const (
	none  = access.RoleNone
	user  = access.RoleUser
	gm    = access.RoleGM
	admin = access.RoleAdmin
)

type roles = map[access.WorldID]access.Role

// The effective role is the lowest of the key's, the token's and the membership's.
func TestEffectiveRole(t *testing.T) {
	for name, row := range map[string]struct {
		worlds  roles // of a key whose highest role is admin
		members roles
		token   access.Role // RoleNone: the key itself as bearer
		world   string      // the token's
		want    roles
	}{
		"the key's": {roles{mainWorld: gm}, nil, none, "", roles{mainWorld: gm}},
		"the key's, per world": {roles{mainWorld: admin, otherWorld: user}, nil, none, "",
			roles{mainWorld: admin, otherWorld: user}},
		"the token's": {roles{mainWorld: admin}, nil, user, "", roles{mainWorld: user}},
		"never above the key's": {roles{mainWorld: user, otherWorld: admin}, nil, admin, "",
			roles{mainWorld: user, otherWorld: admin}},
		"the membership's":        {roles{mainWorld: admin}, roles{mainWorld: user}, none, "", roles{mainWorld: user}},
		"membership of elsewhere": {roles{mainWorld: admin}, roles{otherWorld: user}, none, "", roles{mainWorld: admin}},
		"membership above":        {roles{mainWorld: user}, roles{mainWorld: admin}, none, "", roles{mainWorld: user}},
		"removed member":          {roles{mainWorld: admin}, roles{mainWorld: none}, none, "", roles{}},
		"no worlds, memberships": {roles{}, roles{mainWorld: gm, otherWorld: user}, none, "",
			roles{mainWorld: gm, otherWorld: user}},
		"no worlds, lower token": {roles{}, roles{mainWorld: gm, otherWorld: user}, user, "",
			roles{mainWorld: user, otherWorld: user}},
		"nothing at all":        {roles{}, nil, none, "", roles{}},
		"a token for one world": {roles{mainWorld: gm, otherWorld: gm}, nil, gm, "main", roles{mainWorld: gm}},
		"all three": {roles{mainWorld: gm, otherWorld: gm}, roles{mainWorld: admin, otherWorld: user}, gm, "",
			roles{mainWorld: gm, otherWorld: user}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			for w, r := range row.members {
				f.join("anna", w, r)
			}
			_, bearer := f.key(identity.KeySpec{MaxRole: admin, Worlds: row.worlds})
			if row.token != none {
				bearer = f.token(bearer, row.token, row.world)
			}
			c, err := f.caller(bearer)
			if err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(c.Roles, row.want) || c.EveryRole != none {
				t.Errorf("%v, every %v; want %v", c.Roles, c.EveryRole, row.want)
			}
		})
	}
}

// TestMembershipNarrowsEveryCredential lists the rights of the credentials of a member who only suggests.
func TestMembershipNarrowsEveryCredential(t *testing.T) {
	f := newFixture(t)
	for subject, may := range map[access.Subject]access.May{"anna": access.MayPropose, "gita": access.MayRead} {
		role := user
		if subject == "gita" {
			role = gm // a game master is not narrowed
		}
		m := identity.Membership{World: mainWorld, Subject: subject, Role: role, May: may}
		if err := f.worlds.Join(context.Background(), m, ""); err != nil {
			t.Fatal(err)
		}
	}
	_, own := f.key(identity.KeySpec{MaxRole: admin, Worlds: roles{mainWorld: admin, otherWorld: user}})
	_, behalf := f.key(identity.KeySpec{Subject: "helper", Behalf: "anna", Actor: access.AI, MaxRole: gm,
		Worlds: roles{mainWorld: user}})
	_, other := f.key(identity.KeySpec{Subject: "scribe", MaxRole: user, Worlds: roles{mainWorld: user}})
	_, master := f.key(identity.KeySpec{Subject: "gita", MaxRole: gm})
	for name, row := range map[string]struct {
		bearer string
		world  access.WorldID
		want   access.May
	}{
		"a key of hers":                 {own, mainWorld, access.MayPropose},
		"a token of it":                 {f.token(own, user, "main"), mainWorld, access.MayPropose},
		"that key elsewhere":            {own, otherWorld, access.MayWrite},
		"a program's on her behalf":     {behalf, mainWorld, access.MayPropose},
		"a key of somebody not invited": {other, mainWorld, access.MayWrite},
		"a game master's":               {master, mainWorld, access.MayWrite},
	} {
		c, err := f.caller(row.bearer)
		if err != nil || c.MayIn(row.world) != row.want {
			t.Errorf("%s: %v, %v; want %v", name, c.MayIn(row.world), err, row.want)
		}
	}
	_, session, err := f.OpenSession(context.Background(), own)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := f.Authenticate(context.Background(), session, identity.AudienceConsole); err != nil ||
		c.MayIn(mainWorld) != access.MayPropose {
		t.Errorf("a session: %v, %v", c.MayIn(mainWorld), err)
	}
}

func TestAMembershipTakenAwayLowersTheToken(t *testing.T) {
	f := newFixture(t)
	_, secret := f.key(identity.KeySpec{})
	token := f.token(secret, gm, "main")
	for _, today := range []access.Role{gm, user, none} {
		f.join("anna", mainWorld, today)
		f.Invalidate()
		c, err := f.caller(token)
		if err != nil || c.Role(mainWorld) != today {
			t.Errorf("a member as %s is %s, %v", today, c.Role(mainWorld), err)
		}
	}
}

// Without Invalidate, the service reads memberships again within a second.
func TestAMembershipChangedElsewhereShowsWithinASecond(t *testing.T) {
	f := newFixture(t)
	_, secret := f.key(identity.KeySpec{})
	if _, err := f.caller(secret); err != nil {
		t.Fatal(err)
	}
	f.join("anna", mainWorld, user)
	f.add(999_000_000)
	if c, err := f.caller(secret); err != nil || c.Role(mainWorld) != user {
		t.Errorf("%v, %v", c.Roles, err)
	}
}

func TestOperators(t *testing.T) {
	f := newFixture(t)
	_, secret := f.key(identity.KeySpec{MaxRole: admin, Worlds: roles{}, Operator: true, Approve: true})
	elsewhere := access.WorldID{77}
	c, err := f.caller(secret)
	if err != nil || !c.Operator || !c.Approve || c.Role(elsewhere) != admin {
		t.Errorf("the key: %+v, %v", c, err)
	}
	c, err = f.caller(f.token(secret, admin, ""))
	if err != nil || !c.Operator || !c.Approve || c.Role(elsewhere) != admin {
		t.Errorf("an admin's token: %+v, %v", c, err)
	}
	c, err = f.caller(f.token(secret, gm, ""))
	if err != nil || c.Operator || !c.Approve || c.Role(elsewhere) != gm {
		t.Errorf("a lower token: %+v, %v", c, err)
	}
	c, err = f.caller(f.token(secret, admin, "main"))
	if err != nil || c.Role(elsewhere) != none || c.Role(mainWorld) != admin || c.Home != mainWorld {
		t.Errorf("a token for one world: %+v, %v", c, err)
	}
	_, some := f.key(identity.KeySpec{MaxRole: admin, Operator: true, Worlds: roles{mainWorld: gm}})
	for _, bearer := range []string{some, f.token(some, admin, "")} {
		if c, err = f.caller(bearer); err != nil || !c.Operator || c.Role(elsewhere) != none || c.Role(mainWorld) != gm {
			t.Errorf("an operator's key that names worlds: %+v, %v", c, err)
		}
	}
}

// A correctly signed token that claims more than its key allows gets no more than the key's rights.
func TestATokenAboveItsKeysCeiling(t *testing.T) {
	f := newForge(t)
	f.join("bert", mainWorld, admin)
	k, _ := f.key(identity.KeySpec{Subject: "bert", MaxRole: user, Worlds: roles{}})
	c, err := f.caller(signed(rsaKeys()[0], goodHeader, claims("role", `"admin"`, "sub", `"bert"`, "key", `"`+k.ID+`"`)))
	if err != nil || c.Role(mainWorld) != user {
		t.Errorf("%v, %v; want the key's own user", c.Roles, err)
	}
}

// A key record that CreateKey would refuse gives no more rights than keys may have.
func TestInvalidKeyRecordsGiveNoMoreRights(t *testing.T) {
	f := newFixture(t)
	k, secret := f.key(identity.KeySpec{Actor: access.AI, Worlds: roles{}})
	stored, _, err := f.store.KeyByID(context.Background(), k.ID)
	if err != nil {
		t.Fatal(err)
	}
	stored.Approve, stored.Operator, stored.MaxRole = true, true, admin
	stored.Seat, stored.Surfaces = "g/p", nil
	forged := newFixture(t)
	if err := forged.store.AddKey(context.Background(), stored); err != nil {
		t.Fatal(err)
	}
	c, err := forged.caller(secret)
	if err != nil || c.Approve || c.Operator || c.EveryRole != none {
		t.Errorf("an AI's capabilities: %+v, %v", c, err)
	}
	if c.MayUse("archive", "get_card") {
		t.Error("a seat's key opens the archive")
	}
}

func TestExchange(t *testing.T) {
	f := newFixture(t)
	f.join("anna", otherWorld, user)
	_, secret := f.key(identity.KeySpec{MaxRole: gm, Worlds: roles{mainWorld: gm, otherWorld: gm}})
	_, member := f.key(identity.KeySpec{Worlds: roles{}})
	_, newcomer := f.key(identity.KeySpec{Worlds: roles{}, Subject: "zoe"})
	for name, row := range map[string]struct {
		key   string
		role  access.Role
		world string
		want  error
	}{
		"own role":                   {secret, gm, "", nil},
		"a lower role":               {secret, user, "main", nil},
		"by id":                      {secret, gm, mainWorld.String(), nil},
		"above the key's":            {secret, admin, "", fault.Denied},
		"above the key's, world":     {secret, admin, "main", fault.Denied},
		"above the membership's":     {secret, gm, "other", fault.Denied},
		"above all memberships":      {member, gm, "", fault.Denied},
		"within the membership":      {member, user, "other", nil},
		"a world it does not open":   {member, user, "main", fault.NotFound},
		"a world that is not there":  {secret, user, "nowhere", fault.NotFound},
		"a member of nothing yet":    {newcomer, gm, "", nil},
		"a member of nothing, above": {newcomer, admin, "", fault.Denied},
		"the highest role":           {secret, none, "", nil},
		"no such role":               {secret, 200, "", fault.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			i, err := f.Exchange(context.Background(), row.key, row.role, row.world)
			if row.want != nil {
				if !errors.Is(err, row.want) || i.Token != "" {
					t.Errorf("%v, want %v", err, row.want)
				}
				return
			}
			if err != nil || i.TokenType != "Bearer" || i.Role != cmp.Or(row.role, gm) || i.ExpiresIn != 1800 ||
				!i.ExpiresAt.Equal(start.Add(1800e9)) {
				t.Errorf("%+v, %v", i, err)
			}
			c, err := f.caller(i.Token)
			if err != nil || !c.TokenExpires.Equal(i.ExpiresAt) {
				t.Errorf("%+v, %v", c, err)
			}
		})
	}
}

func TestAbsentAndClosedWorldsAnswerAlike(t *testing.T) {
	f := newFixture(t)
	_, secret := f.key(identity.KeySpec{})
	_, absent := f.Exchange(context.Background(), secret, user, "nowhere")
	_, closed := f.Exchange(context.Background(), secret, user, "other")
	if shown(absent) != shown(closed) {
		t.Errorf("%q and %q", shown(absent), shown(closed))
	}
}

func TestTokensEndWithTheirKey(t *testing.T) {
	f := newFixture(t)
	_, secret := f.key(identity.KeySpec{Expires: start.Add(600e9)})
	i, err := f.Exchange(context.Background(), secret, gm, "")
	if err != nil || i.ExpiresIn != 600 {
		t.Fatalf("%+v, %v; want 600 seconds", i, err)
	}
	f.add(599e9)
	if _, err := f.caller(i.Token); err != nil {
		t.Errorf("before the end: %v", err)
	}
	f.add(1e9) // within the leeway of the token, but the key has expired
	_, err = f.caller(i.Token)
	wantRefused(t, err, identity.ErrInvalid)
}

func TestStoreFailuresAreUnavailableNotRefusals(t *testing.T) {
	f := newFixture(t)
	_, secret := f.key(identity.KeySpec{})
	token := f.token(secret, gm, "")
	if _, err := f.caller(token); err != nil {
		t.Fatal(err)
	}
	f.store.Fail(errors.New("disk"))
	f.add(2e9)
	for _, bearer := range []string{secret, token, "lg_" + strings.Repeat("a", 32)} {
		if _, err := f.caller(bearer); !errors.Is(err, fault.Unavailable) {
			t.Errorf("%v, want unavailable", err)
		}
	}
	_, rest, _ := strings.Cut(token, ".")
	header := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","kid":"of another process"}`))
	if err := f.EndGrant(t.Context(), "client", header+"."+rest); !errors.Is(err, fault.Unavailable) {
		t.Errorf("the end of a grant whose token cannot be checked: %v, want unavailable", err)
	}
	f.store.Fail(nil)
	f.worlds.Fail(errors.New("disk"))
	if _, err := f.caller(token); !errors.Is(err, fault.Unavailable) {
		t.Errorf("%v, want unavailable", err)
	}
	f.worlds.Fail(nil)
	if _, err := f.caller(token); err != nil {
		t.Errorf("well again: %v", err)
	}
}
