package identity_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
)

// clientFixture is a fixture with a client that a person lets in.
type clientFixture struct {
	*fixture
	client, session string
}

func newClientFixture(t *testing.T, change ...func(*identity.Config)) *clientFixture {
	t.Helper()
	f := &clientFixture{
		fixture: newFixture(t, append(change, func(c *identity.Config) { c.ClientSecret = []byte("secret") })...),
	}
	code, err := f.CreateSignIn(t.Context(), aPerson())
	if err != nil {
		t.Fatal(err)
	}
	session, _, err := f.OpenSession(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	f.session = session.ID
	if f.client, _, err = f.RegisterClient("Quill", []string{"http://127.0.0.1/cb"}); err != nil {
		t.Fatal(err)
	}
	return f
}

const (
	clientVerifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	clientResource = "http://127.0.0.1/mcp"
)

func (f *clientFixture) code() string {
	f.t.Helper()
	sum := sha256.Sum256([]byte(clientVerifier))
	code, err := f.CreateCode(context.Background(), identity.Consent{Client: f.client, Redirect: "http://127.0.0.1/cb",
		Challenge: base64.RawURLEncoding.EncodeToString(sum[:]), Resource: clientResource, Person: "keeper",
		Session: f.session, Rights: identity.KeySpec{MaxRole: user, Worlds: roles{mainWorld: user}}})
	if err != nil {
		f.t.Fatal(err)
	}
	return code
}

func (f *clientFixture) redeem(code string) (identity.Tokens, error) {
	return f.RedeemCode(context.Background(), f.client, code, "http://127.0.0.1/cb", clientVerifier, clientResource)
}

func (f *clientFixture) refresh(token string) (identity.Tokens, error) {
	return f.RefreshGrant(context.Background(), f.client, token, clientResource)
}

func (f *clientFixture) letIn() identity.Tokens {
	f.t.Helper()
	t, err := f.redeem(f.code())
	if err != nil {
		f.t.Fatal(err)
	}
	return t
}

// rows counts the stored keys, also those that have ended.
func (f *clientFixture) rows() (n int) {
	for _, err := range f.store.Keys(context.Background()) {
		if err != nil {
			f.t.Fatal(err)
		}
		n++
	}
	return n
}

func (f *clientFixture) prune() (deleted int) {
	f.t.Helper()
	deleted, err := f.Prune(context.Background())
	if err != nil {
		f.t.Fatal(err)
	}
	return deleted
}

// TestSecretsDoNotPileUp refreshes every hour for sixty days. A replay ends the grant as long as it is in the
// window, and is refused afterwards.
func TestSecretsDoNotPileUp(t *testing.T) {
	f := newClientFixture(t)
	tokens := f.letIn()
	used := []string{tokens.Refresh}
	for hour := range 60 * 24 {
		f.add(time.Hour)
		var err error
		if tokens, err = f.refresh(tokens.Refresh); err != nil {
			t.Fatalf("after %d hours: %v", hour, err)
		}
		used = append(used, tokens.Refresh)
		if hour%24 == 0 {
			f.prune()
			if n := f.rows(); n > 7*24+24+5 {
				t.Fatalf("%d rows after %d hours", n, hour)
			}
		}
	}
	f.prune()
	if _, err := f.refresh(used[0]); !errors.Is(err, identity.ErrGrant) {
		t.Errorf("a token of two months ago: %v", err)
	}
	if tokens, err := f.refresh(tokens.Refresh); err != nil {
		t.Errorf("the grant ended by a token outside the window: %v", err)
	} else if _, err := f.AuthenticateAt(t.Context(), tokens.Access, clientResource); err != nil {
		t.Error(err)
	}
	if _, err := f.refresh(used[len(used)-7*24]); !errors.Is(err, identity.ErrGrant) {
		t.Errorf("a token of a week ago: %v", err)
	}
	if _, err := f.AuthenticateAt(t.Context(), tokens.Access, clientResource); !errors.Is(err, fault.Unauthorized) {
		t.Errorf("the grant lives after a replay in the window: %v", err)
	}
	f.add(identity.SessionLife + identity.RefreshLife)
	f.prune()
	if n := f.rows(); n != 1 {
		t.Errorf("%d rows are left, want the grant", n)
	}
	if n := f.prune(); n != 0 {
		t.Errorf("a second time deletes %d", n)
	}
}

func TestACodeIsRecognisedAfterPruning(t *testing.T) {
	f := newClientFixture(t)
	code := f.code()
	tokens, err := f.redeem(code)
	if err != nil {
		t.Fatal(err)
	}
	f.add(identity.ReplayWindow - time.Hour)
	if n := f.prune(); n != 0 {
		t.Errorf("%d secrets are deleted within the window", n)
	}
	if _, err := f.redeem(code); !errors.Is(err, identity.ErrGrant) {
		t.Error(err)
	}
	if _, err := f.refresh(tokens.Refresh); !errors.Is(err, identity.ErrGrant) {
		t.Errorf("the grant lives after its code came again: %v", err)
	}
}

// TestRefreshingIsLimited refreshes without end. A refused token is not spent, and another grant is not
// touched.
func TestRefreshingIsLimited(t *testing.T) {
	f := newClientFixture(t, func(c *identity.Config) { c.Limiter = access.NewLimits(access.LimitConfig{}, c.Now) })
	tokens, other := f.letIn(), f.letIn()
	done := 0
	for ; done < 100; done++ {
		next, err := f.refresh(tokens.Refresh)
		if errors.Is(err, fault.RateLimited) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		tokens = next
	}
	if done < 5 || done > 10 {
		t.Errorf("%d refreshes in one moment", done)
	}
	if _, err := f.refresh(other.Refresh); err != nil {
		t.Errorf("another grant: %v", err)
	}
	f.add(time.Minute)
	if _, err := f.refresh(tokens.Refresh); err != nil {
		t.Errorf("after a minute: %v", err)
	}
}

// TestSpentTokensOfAGrantAreBounded refreshes faster than any sound client.
func TestSpentTokensOfAGrantAreBounded(t *testing.T) {
	f := newClientFixture(t)
	tokens := f.letIn()
	used := []string{tokens.Refresh}
	for range 1200 {
		var err error
		f.add(time.Second)
		if tokens, err = f.refresh(tokens.Refresh); err != nil {
			t.Fatal(err)
		}
		used = append(used, tokens.Refresh)
	}
	f.prune()
	if n := f.rows(); n > 1000+5 {
		t.Errorf("%d rows", n)
	}
	if _, err := f.refresh(tokens.Refresh); err != nil {
		t.Errorf("the current token: %v", err)
	}
	if _, err := f.refresh(used[len(used)-900]); !errors.Is(err, identity.ErrGrant) {
		t.Error(err)
	}
	if _, err := f.AuthenticateAt(t.Context(), tokens.Access, clientResource); !errors.Is(err, fault.Unauthorized) {
		t.Errorf("the grant lives after a replay: %v", err)
	}
}

func TestPruningReportsAStoreThatFails(t *testing.T) {
	f := newClientFixture(t)
	f.store.Fail(errors.New("disk"))
	if _, err := f.Prune(t.Context()); !errors.Is(err, fault.Unavailable) {
		t.Error(err)
	}
}
