package identity_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

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
	if err != nil || len(all) != 1 || all[0].State != identity.InvitationAccepted || all[0].Subject != "bert" || all[0].Hash != (identity.Hash{}) {
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
	for _, code := range []string{used, withdrawn, others, expired, "lgi_" + strings.Repeat("a", 32), "lgi_", "", "lg_" + used[4:]} {
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

func TestWhatAnInvitationMaySay(t *testing.T) {
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
	for _, err := range []error{f.Withdraw(context.Background(), otherWorld, i.ID), f.Withdraw(context.Background(), mainWorld, "id-99")} {
		if !errors.Is(err, fault.NotFound) {
			t.Errorf("%v, want not found", err)
		}
	}
	if _, err := f.Accept(context.Background(), code, "bert"); err != nil {
		t.Errorf("it was withdrawn from outside: %v", err)
	}
}
