package identity_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
)

func (f *clientFixture) programCaller(token string) (access.Caller, error) {
	return f.AuthenticateAt(context.Background(), token, clientResource)
}

// TestSecretsOfGrantsExpire uses each secret right before its end and at it.
func TestSecretsOfGrantsExpire(t *testing.T) {
	f := newClientFixture(t)
	code, late := f.code(), f.code()
	f.add(identity.CodeLife - time.Second)
	tokens, err := f.redeem(code)
	if err != nil {
		t.Fatal(err)
	}
	f.add(time.Second)
	if _, err := f.redeem(late); !errors.Is(err, identity.ErrGrant) {
		t.Errorf("a code after a minute: %v", err)
	}
	f.add(identity.AccessLife - 2*time.Second)
	if _, err := f.programCaller(tokens.Access); err != nil {
		t.Errorf("a token within its hour: %v", err)
	}
	f.add(2*time.Second + identity.Leeway)
	_, err = f.programCaller(tokens.Access)
	wantRefused(t, err, identity.ErrExpired)
	f.add(identity.RefreshLife - identity.AccessLife - identity.Leeway - 2*time.Second)
	if tokens, err = f.refresh(tokens.Refresh); err != nil {
		t.Fatalf("a refresh token within its sixty days: %v", err)
	}
	f.add(identity.RefreshLife)
	if _, err := f.refresh(tokens.Refresh); !errors.Is(err, identity.ErrGrant) {
		t.Errorf("a refresh token after sixty days: %v", err)
	}
}

// TestGrantsHaveNoMoreThanThePersonGave changes the person behind a grant, and looks at the program's rights.
func TestGrantsHaveNoMoreThanThePersonGave(t *testing.T) {
	f := newClientFixture(t)
	f.join("keeper", mainWorld, gm)
	tokens := f.letIn()
	c, err := f.programCaller(tokens.Access)
	if err != nil || c.Actor != access.AI || c.Approve || c.Operator || c.Role(mainWorld) != user ||
		c.Role(otherWorld) != none || c.Subject == "keeper" {
		t.Errorf("%+v %v", c, err)
	}
	f.join("keeper", mainWorld, none)
	f.Invalidate()
	if c, err := f.programCaller(tokens.Access); err == nil && c.Role(mainWorld) != none {
		t.Errorf("the program of a removed member is %s", c.Role(mainWorld))
	}
	f.join("keeper", mainWorld, gm)
	grants, err := f.Grants(t.Context(), "keeper")
	if err != nil || len(grants) != 1 {
		t.Fatalf("%+v %v", grants, err)
	}
	if err := f.RevokeKey(t.Context(), grants[0].ID); err != nil {
		t.Fatal(err)
	}
	_, err = f.programCaller(tokens.Access)
	wantRefused(t, err, identity.ErrInvalid)
	if _, err := f.refresh(tokens.Refresh); !errors.Is(err, identity.ErrGrant) {
		t.Errorf("a refresh after the end of the grant: %v", err)
	}
}

// TestGrantsEndWithTheKeyOfThePerson lets a client in after signing in with an API key.
func TestGrantsEndWithTheKeyOfThePerson(t *testing.T) {
	f := newClientFixture(t)
	key, secret := f.key(aPerson())
	session, _, err := f.OpenSession(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	f.session = session.ID
	tokens, pending := f.letIn(), f.code()
	if err := f.RevokeKey(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	_, err = f.programCaller(tokens.Access)
	wantRefused(t, err, identity.ErrInvalid)
	if _, err := f.refresh(tokens.Refresh); !errors.Is(err, identity.ErrGrant) {
		t.Errorf("a refresh: %v", err)
	}
	if _, err := f.redeem(pending); !errors.Is(err, identity.ErrGrant) {
		t.Errorf("a code: %v", err)
	}
}

// TestRedirectsNameOneHost registers clients whose answers would go to several hosts, or to one that only looks like
// another.
func TestRedirectsNameOneHost(t *testing.T) {
	f := newClientFixture(t)
	for _, redirect := range []string{"https://*/cb", "https://*.example.org/cb", "https://%2A.example.org/cb",
		"https://a*b.example.org/cb", "http://*.localhost/cb", "https://example..org/cb", "https://.example.org/cb",
		"https://exam\u200bple.org/cb", "https://bücher.example/cb", "https://[::1/cb", "https://ex_ample(.org/cb"} {
		if _, _, err := f.RegisterClient("Quill", []string{redirect}); !errors.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", redirect, err)
		}
	}
	for _, redirect := range []string{"https://example.org/cb", "https://xn--bcher-kva.example/cb",
		"https://Example.ORG:8443/*",
		"http://127.0.0.1:7/cb", "http://[::1]/cb", "http://localhost/cb", "http://quill.localhost/cb",
		"https://10.0.0.7/cb"} {
		if _, _, err := f.RegisterClient("Quill", []string{redirect}); err != nil {
			t.Errorf("%s: %v", redirect, err)
		}
	}
}

// TestRegistrationsEndUnlessUsed waits an hour before and after a person lets the client in.
func TestRegistrationsEndUnlessUsed(t *testing.T) {
	f := newClientFixture(t)
	unused, _, err := f.RegisterClient("Other", []string{"http://127.0.0.1/cb"})
	if err != nil {
		t.Fatal(err)
	}
	f.letIn()
	f.add(identity.RegistrationLife)
	if _, err := f.FindClient(t.Context(), "keeper", unused); !errors.Is(err, fault.NotFound) {
		t.Errorf("a registration that nobody used: %v", err)
	}
	f.add(100 * 24 * time.Hour)
	f.prune()
	if c, err := f.FindClient(t.Context(), "keeper", f.client); err != nil || c.Name != "Quill" {
		t.Errorf("a client that was let in: %+v %v", c, err)
	}
}

// TestFourProcessesRefreshAtOnce has four processes of one client use the same token. One gets tokens at most,
// and the others' replay ends the grant.
func TestFourProcessesRefreshAtOnce(t *testing.T) {
	f := newClientFixture(t)
	var services []*identity.Service
	for range 4 {
		services = append(services, f.another(func(c *identity.Config) { c.ClientSecret = []byte("secret") }))
	}
	for range 20 {
		tokens := f.letIn()
		var mu sync.Mutex
		var got []identity.Tokens
		var group sync.WaitGroup
		start := make(chan struct{})
		for _, s := range services {
			group.Go(func() {
				<-start
				next, err := s.RefreshGrant(context.Background(), f.client, tokens.Refresh, clientResource)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					got = append(got, next)
				} else if !errors.Is(err, identity.ErrGrant) {
					t.Error(err)
				}
			})
		}
		close(start)
		group.Wait()
		if len(got) > 1 {
			t.Fatalf("%d processes got tokens", len(got))
		}
		for _, next := range got {
			if _, err := f.refresh(next.Refresh); !errors.Is(err, identity.ErrGrant) {
				t.Errorf("the grant lives after three replays: %v", err)
			}
		}
	}
}
