package identity_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
)

func (f *fixture) invite(spec identity.InvitationSpec) (identity.Invitation, string) {
	f.t.Helper()
	spec.World, spec.By = mainWorld, "anna"
	if spec.Role == none {
		spec.Role = gm
	}
	i, code, err := f.Invite(context.Background(), spec)
	if err != nil {
		f.t.Fatal(err)
	}
	return i, code
}

func (f *fixture) roleOf(s access.Subject) access.Role {
	f.t.Helper()
	all, err := f.worlds.Memberships(context.Background(), s)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, m := range all {
		if m.World == mainWorld {
			return m.Role
		}
	}
	return none
}

func TestAnInvitationIsAcceptedOnce(t *testing.T) {
	f := newFixture(t)
	i, code := f.invite(identity.InvitationSpec{})
	if i.Hash != (identity.Hash{}) || !strings.HasPrefix(code, "lgi_") || len(code) != 36 {
		t.Errorf("%+v, %q", i, code)
	}
	m, err := f.Accept(context.Background(), code, "bert")
	if err != nil || m.World != mainWorld || m.Role != gm || f.roleOf("bert") != gm {
		t.Fatalf("%+v, %v", m, err)
	}
	for _, s := range []access.Subject{"bert", "carl"} {
		if _, err := f.Accept(context.Background(), code, s); !errors.Is(err, fault.NotFound) {
			t.Errorf("%s used it again: %v", s, err)
		}
	}
	all, err := f.Invitations(context.Background(), mainWorld)
	if err != nil || len(all) != 1 || all[0].State != identity.InvitationAccepted || all[0].Subject != "bert" ||
		all[0].Hash != (identity.Hash{}) {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestInvitationsThatAreNotOpenAnswerAlike(t *testing.T) {
	f := newFixture(t)
	_, used := f.invite(identity.InvitationSpec{})
	if _, err := f.Accept(context.Background(), used, "x"); err != nil {
		t.Fatal(err)
	}
	gone, withdrawn := f.invite(identity.InvitationSpec{})
	if err := f.Withdraw(context.Background(), mainWorld, gone.ID); err != nil {
		t.Fatal(err)
	}
	_, others := f.invite(identity.InvitationSpec{Subject: "carl"})
	_, expired := f.invite(identity.InvitationSpec{Life: time.Minute})
	f.add(time.Minute)
	answers := map[string]bool{}
	for _, code := range []string{used, withdrawn, others, expired, "lgi_" + strings.Repeat("a", 32), "lgi_", "", "lg_" +
		used[4:]} {
		_, err := f.Accept(context.Background(), code, "bert")
		if !errors.Is(err, fault.NotFound) {
			t.Errorf("%q: %v", code, err)
		}
		answers[shown(err)] = true
	}
	if len(answers) != 1 || f.roleOf("bert") != none {
		t.Errorf("answers %v, role %s", answers, f.roleOf("bert"))
	}
	if _, err := f.Accept(context.Background(), others, "carl"); err != nil {
		t.Errorf("whom it is for: %v", err)
	}
}

func TestAnInvitationNeverLowers(t *testing.T) {
	f := newFixture(t)
	f.join("bert", mainWorld, admin)
	_, code := f.invite(identity.InvitationSpec{Role: user})
	if m, err := f.Accept(context.Background(), code, "bert"); err != nil || m.Role != admin || f.roleOf("bert") != admin {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestAHalfAcceptedInvitationCanBeFinishedByTheSameSubject(t *testing.T) {
	f := newFixture(t)
	_, code := f.invite(identity.InvitationSpec{})
	f.worlds.Fail(errors.New("away"))
	if _, err := f.Accept(context.Background(), code, "bert"); err == nil {
		t.Fatal("it went on")
	}
	f.worlds.Fail(nil)
	if _, err := f.Accept(context.Background(), code, "carl"); !errors.Is(err, fault.NotFound) {
		t.Errorf("somebody else took it over: %v", err)
	}
	if _, err := f.Accept(context.Background(), code, "bert"); err != nil || f.roleOf("bert") != gm {
		t.Errorf("%v", err)
	}
}

func TestOneCodeMakesOneMember(t *testing.T) {
	f := newFixture(t)
	_, code := f.invite(identity.InvitationSpec{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	joined := 0
	for n := range 16 {
		wg.Go(func() {
			if _, err := f.Accept(context.Background(), code, access.Subject(rune('a'+n))); err == nil {
				mu.Lock()
				defer mu.Unlock()
				joined++
			}
		})
	}
	wg.Wait()
	if joined != 1 {
		t.Errorf("%d joined", joined)
	}
}

func TestInvitationFieldsAreChecked(t *testing.T) {
	f := newFixture(t)
	good := identity.InvitationSpec{World: mainWorld, Role: user, By: "anna"}
	for name, change := range map[string]func(*identity.InvitationSpec){
		"world":   func(i *identity.InvitationSpec) { i.World = access.WorldID{} },
		"role":    func(i *identity.InvitationSpec) { i.Role = none },
		"by":      func(i *identity.InvitationSpec) { i.By = "" },
		"subject": func(i *identity.InvitationSpec) { i.Subject = "a b" },
		"life":    func(i *identity.InvitationSpec) { i.Life = 91 * 24 * time.Hour },
	} {
		spec := good
		change(&spec)
		_, _, err := f.Invite(context.Background(), spec)
		var e *fault.Error
		if !errors.As(err, &e) || e.Kind != fault.Invalid || len(e.Fields) != 1 || e.Fields[0].Field != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWithdrawOfAnotherWorldsInvitation(t *testing.T) {
	f := newFixture(t)
	i, code := f.invite(identity.InvitationSpec{})
	for _, err := range []error{f.Withdraw(context.Background(), otherWorld, i.ID),
		f.Withdraw(context.Background(), mainWorld, "id-99")} {
		if !errors.Is(err, fault.NotFound) {
			t.Errorf("%v, want not found", err)
		}
	}
	if _, err := f.Accept(context.Background(), code, "bert"); err != nil {
		t.Errorf("it was withdrawn from outside: %v", err)
	}
}

// A member of another world, or of this one with a lower role, gets the invitation's role and stays
// bound to the same player.
func TestAnInvitationIsForItsWorldAndRaises(t *testing.T) {
	f := newFixture(t)
	player := uuid.UUID{15: 3}
	f.join("bert", otherWorld, admin)
	f.join("carl", otherWorld, user)
	if err := f.worlds.Join(context.Background(), identity.Membership{World: mainWorld, Subject: "carl", Role: user,
		Player: player}, ""); err != nil {
		t.Fatal(err)
	}
	for who, card := range map[access.Subject]uuid.UUID{"bert": uuid.Nil, "carl": player} {
		_, code := f.invite(identity.InvitationSpec{Role: gm})
		m, err := f.Accept(context.Background(), code, who)
		if err != nil || m.World != mainWorld || m.Role != gm || m.Player != card || f.roleOf(who) != gm {
			t.Errorf("%s: %+v, %v; now %s", who, m, err, f.roleOf(who))
		}
	}
}

// joins counts calls of Join.
type joins struct {
	identity.Joiner
	n int
}

func (j *joins) Join(ctx context.Context, m identity.Membership, by access.Subject) error {
	j.n++
	return j.Joiner.Join(ctx, m, by)
}

// A member who already has that role, or a higher one, is not joined again.
func TestAnInvitationOfAMemberChangesNothing(t *testing.T) {
	var count *joins
	f := newFixture(t, func(c *identity.Config) { count = &joins{Joiner: c.Joiner}; c.Joiner = count })
	f.join("anna", mainWorld, gm)
	f.join("bert", mainWorld, admin)
	for _, who := range []access.Subject{"anna", "bert"} {
		i, code := f.invite(identity.InvitationSpec{Role: gm})
		if _, err := f.Accept(context.Background(), code, who); err != nil || count.n != 0 {
			t.Errorf("%s: joined %d times, %v", who, count.n, err)
		}
		if all, err := f.Invitations(context.Background(), mainWorld); err != nil || all[len(all)-1].ID != i.ID ||
			all[len(all)-1].State != identity.InvitationAccepted {
			t.Errorf("%s: %+v, %v", who, all, err)
		}
	}
}

// An acceptance takes effect at once, even for a credential that is cached.
func TestAnAcceptanceShowsAtOnce(t *testing.T) {
	f := newFixture(t, func(c *identity.Config) { c.Poll = time.Hour })
	_, secret := f.key(identity.KeySpec{Subject: "bert", Worlds: roles{}})
	if c, err := f.caller(secret); err != nil || c.Role(mainWorld) != none {
		t.Fatalf("%+v, %v", c, err)
	}
	_, code := f.invite(identity.InvitationSpec{Role: gm})
	if _, err := f.Accept(context.Background(), code, "bert"); err != nil {
		t.Fatal(err)
	}
	if c, err := f.caller(secret); err != nil || c.Role(mainWorld) != gm {
		t.Errorf("%+v, %v", c, err)
	}
}

// Withdrawing one invitation leaves the others open, and works once.
func TestOneInvitationIsWithdrawn(t *testing.T) {
	f := newFixture(t)
	_, first := f.invite(identity.InvitationSpec{})
	second, gone := f.invite(identity.InvitationSpec{})
	third, last := f.invite(identity.InvitationSpec{})
	if err := f.Withdraw(context.Background(), mainWorld, second.ID); err != nil {
		t.Fatal(err)
	}
	if err := f.Withdraw(context.Background(), mainWorld, second.ID); !errors.Is(err, fault.NotFound) {
		t.Errorf("withdrawn again: %v", err)
	}
	for code, open := range map[string]bool{first: true, gone: false, last: true} {
		if _, err := f.Accept(context.Background(), code, "bert"); (err == nil) != open {
			t.Errorf("open %t: %v", open, err)
		}
	}
	if err := f.Withdraw(context.Background(), mainWorld, third.ID); !errors.Is(err, fault.NotFound) {
		t.Errorf("withdrawn after its acceptance: %v", err)
	}
}

// TestAnInvitationGivesRights lists memberships before and after an invitation.
func TestAnInvitationGivesRights(t *testing.T) {
	type rights struct {
		role access.Role
		may  access.May
	}
	for name, row := range map[string]struct{ before, invited, after rights }{
		"a new player": {rights{}, rights{user, access.MayPropose}, rights{user, access.MayPropose}},
		"a guest becomes a player": {rights{user, access.MayRead}, rights{user, access.MayPropose},
			rights{user, access.MayPropose}},
		"who writes goes on writing": {rights{user, access.MayWrite}, rights{user, access.MayPropose},
			rights{user, access.MayWrite}},
		"a player becomes a game master": {rights{user, access.MayRead}, rights{gm, access.MayWrite},
			rights{gm, access.MayWrite}},
		"a game master stays one": {rights{gm, access.MayWrite}, rights{user, access.MayRead},
			rights{gm, access.MayWrite}},
		"a game master is not narrowed": {rights{}, rights{gm, access.MayRead}, rights{gm, access.MayWrite}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			if row.before.role != none {
				m := identity.Membership{World: mainWorld, Subject: "bert", Role: row.before.role, May: row.before.may}
				if err := f.worlds.Join(context.Background(), m, ""); err != nil {
					t.Fatal(err)
				}
			}
			_, code := f.invite(identity.InvitationSpec{Role: row.invited.role, May: row.invited.may})
			m, err := f.Accept(context.Background(), code, "bert")
			all, _ := f.worlds.Memberships(context.Background(), "bert")
			if err != nil || (rights{m.Role, m.May}) != row.after || len(all) != 1 ||
				(rights{all[0].Role, all[0].May}) != row.after {
				t.Errorf("%+v, %+v, %v", m, all, err)
			}
		})
	}
}

func TestTheBoundsOfAnInvitation(t *testing.T) {
	f := newFixture(t)
	for _, row := range []struct {
		role access.Role
		life time.Duration
		good bool
	}{
		{user, 0, true}, {gm, 0, true}, {admin, 0, true}, {admin + 1, 0, false}, {255, 0, false},
		{gm, 1, true}, {gm, -1, false}, {gm, identity.MaxInvitationLife, true}, {gm, identity.MaxInvitationLife + 1, false},
	} {
		i, code, err := f.Invite(context.Background(), identity.InvitationSpec{World: mainWorld, Role: row.role, By: "anna",
			Life: row.life})
		life := row.life
		if life == 0 {
			life = identity.DefaultInvitationLife
		}
		if (err == nil) != row.good || row.good && !i.Expires.Equal(start.Add(life)) || !row.good &&
			(code != "" || !errors.Is(err, fault.Invalid)) {
			t.Errorf("%d for %v: %+v, %v", row.role, row.life, i, err)
		}
	}
}

func TestInstanceWithoutInvitations(t *testing.T) {
	f := newFixture(t, func(c *identity.Config) { c.Joiner = nil })
	i, code := f.invite(identity.InvitationSpec{})
	if _, err := f.Accept(context.Background(), code, "bert"); !errors.Is(err, fault.Rule) {
		t.Errorf("%v", err)
	}
	if all, err := f.Invitations(context.Background(), mainWorld); err != nil || all[0].State != identity.InvitationOpen ||
		all[0].Subject != i.Subject {
		t.Errorf("%+v, %v", all, err)
	}
}
