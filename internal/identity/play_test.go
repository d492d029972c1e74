package identity_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/waittest"
)

var aPlayer = uuid.UUID{15: 7}

// play issues a token; fields missing from the spec are those of a player in the main world.
func (f *fixture) play(spec identity.PlaySpec) (token, id string) {
	f.t.Helper()
	if spec.Subject == "" {
		spec.Subject = "player:7"
	}
	if spec.World.IsZero() {
		spec.World = mainWorld
	}
	if spec.Seat == "" {
		spec.Player = aPlayer
	}
	token, id, err := f.IssuePlay(context.Background(), spec)
	if err != nil {
		f.t.Fatal(err)
	}
	return token, id
}

func (f *fixture) playing(bearer string) (access.Caller, error) {
	return f.Authenticate(context.Background(), bearer, identity.AudiencePlay)
}

func TestAPlayTokenPlaysAsOnePlayerInOneWorld(t *testing.T) {
	f := newFixture(t)
	token, id := f.play(identity.PlaySpec{Operations: []string{"look", "go", "go"}})
	if !regexp.MustCompile(`^lgp_[a-z2-7]{32}$`).MatchString(token) {
		t.Errorf("the token is %q", token)
	}
	c, err := f.playing(token)
	if err != nil {
		t.Fatal(err)
	}
	if c.Key != id || c.Audience != identity.AudiencePlay || c.Player != aPlayer || c.Subject != "player:7" ||
		c.Actor != access.Person {
		t.Errorf("the caller is %+v", c)
	}
	if c.Role(mainWorld) != access.RoleUser || c.Role(otherWorld) != access.RoleNone || c.Operator || c.Approve {
		t.Errorf("it has more than the role of a player: %+v", c)
	}
	if !slices.Equal(c.Operations, []string{"go", "look"}) || c.RateClass != access.ProfilePlay {
		t.Errorf("operations %v, rates %q", c.Operations, c.RateClass)
	}
	seat, _ := f.play(identity.PlaySpec{Seat: "g1/p2", Actor: access.AI})
	if c, err := f.playing(seat); err != nil || c.Seat != "g1/p2" || c.Player != uuid.Nil || c.Actor != access.AI {
		t.Errorf("the seat's caller is %+v, %v", c, err)
	}
}

func TestAPlayTokenIsGoodForPlayOnlyAndNothingElseIs(t *testing.T) {
	f := newFixture(t)
	token, _ := f.play(identity.PlaySpec{})
	for _, audience := range []string{"", "loregate", "mcp"} {
		_, err := f.Authenticate(context.Background(), token, audience)
		wantRefused(t, err, identity.ErrInvalid)
	}
	_, err := f.Exchange(context.Background(), token, access.RoleUser, "")
	wantRefused(t, err, identity.ErrInvalid)

	_, secret := f.key(identity.KeySpec{})
	for _, bearer := range []string{secret, f.token(secret, access.RoleGM, "main"), "lgp_" + secret[3:], "lg_" +
		token[4:]} {
		_, err := f.playing(bearer)
		wantRefused(t, err, identity.ErrInvalid)
	}
	if _, err := f.playing(token); err != nil {
		t.Errorf("what was asked between changed the token: %v", err)
	}
}

func TestTheGuardOpensToPlayersWhatIsDeclaredForThem(t *testing.T) {
	f := newFixture(t)
	token, _ := f.play(identity.PlaySpec{Operations: []string{"go"}})
	c, err := f.playing(token)
	if err != nil {
		t.Fatal(err)
	}
	g := access.NewGuard(access.Config{})
	for name, row := range map[string]struct {
		request access.Request
		want    fault.Kind // 0 for admitted
	}{
		"play, on its list": {access.Request{Operation: "go", Audience: "play"}, 0},
		"play, not on it":   {access.Request{Operation: "rest", Audience: "play"}, fault.Denied},
		"the API's":         {access.Request{Operation: "go"}, fault.Denied},
		"another audience":  {access.Request{Operation: "go", Audience: "mcp"}, fault.Denied},
	} {
		row.request.World, row.request.MinRole = mainWorld, access.RoleUser
		a, err := g.Admit(context.Background(), c, row.request)
		if err == nil {
			a.Done(context.Background(), 0, nil)
		}
		if row.want == 0 && err != nil || row.want != 0 && fault.KindOf(err) != row.want {
			t.Errorf("%s: got %v", name, err)
		}
	}
	normal := access.Caller{Subject: "anna", Roles: map[access.WorldID]access.Role{mainWorld: access.RoleGM}}
	if _, err := g.Admit(context.Background(), normal,
		access.Request{Operation: "go", Audience: "play", World: mainWorld, MinRole: access.RoleUser}); err != nil {
		t.Errorf("a normal key may play too: %v", err)
	}
}

func TestRevokingAPlayToken(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	token, id := f.play(identity.PlaySpec{})
	other, _ := f.play(identity.PlaySpec{})
	far := f.another(func(c *identity.Config) { c.Poll = time.Millisecond })
	if _, err := far.Authenticate(ctx, token, identity.AudiencePlay); err != nil {
		t.Fatal(err)
	}
	near, stopNear := f.Watch(ctx, id)
	defer stopNear()
	distant, stopDistant := far.Watch(ctx, id)
	defer stopDistant()

	if err := f.RevokeKey(ctx, id); err != nil {
		t.Fatal(err)
	}
	select {
	case <-near:
	default:
		t.Error("the stream in this process is still open")
	}
	<-distant
	for _, s := range []*identity.Service{f.Service, far} {
		_, err := s.Authenticate(ctx, token, identity.AudiencePlay)
		wantRefused(t, err, identity.ErrInvalid)
	}
	if _, err := f.playing(other); err != nil {
		t.Errorf("another's token ended too: %v", err)
	}
}

func TestAPlayTokenEndsAndIsNeverMoreThanTheMembership(t *testing.T) {
	f := newFixture(t)
	token, _ := f.play(identity.PlaySpec{Life: time.Hour})
	f.join("player:7", mainWorld, access.RoleGM)
	f.Invalidate()
	if c, err := f.playing(token); err != nil || c.Role(mainWorld) != access.RoleUser {
		t.Errorf("role %v, %v", c.Role(mainWorld), err)
	}
	f.join("player:7", mainWorld, access.RoleNone)
	f.Invalidate()
	if c, err := f.playing(token); err != nil || c.Role(mainWorld) != access.RoleNone {
		t.Errorf("removed from the world: role %v, %v", c.Role(mainWorld), err)
	}
	f.add(time.Hour)
	_, err := f.playing(token)
	wantRefused(t, err, identity.ErrInvalid)
}

func TestPlaySpecIsChecked(t *testing.T) {
	f := newFixture(t)
	good := identity.PlaySpec{World: mainWorld, Subject: "player:7", Player: aPlayer}
	for field, change := range map[string]func(*identity.PlaySpec){
		"subject":    func(p *identity.PlaySpec) { p.Subject = "a b" },
		"world":      func(p *identity.PlaySpec) { p.World = access.WorldID{} },
		"actor":      func(p *identity.PlaySpec) { p.Actor = "cat" },
		"player":     func(p *identity.PlaySpec) { p.Player = uuid.Nil },
		"seat":       func(p *identity.PlaySpec) { p.Seat = "a b" },
		"operations": func(p *identity.PlaySpec) { p.Operations = []string{"A"} },
		"life":       func(p *identity.PlaySpec) { p.Life = identity.MaxPlayLife + 1 },
	} {
		spec := good
		change(&spec)
		_, _, err := f.IssuePlay(context.Background(), spec)
		if e := fault.Show(err, "").Error; fault.KindOf(err) != fault.Invalid || len(e.ValidationErrors) != 1 ||
			e.ValidationErrors[0].Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	_, _, err := f.CreateKey(context.Background(), identity.KeySpec{Name: "n", Subject: "anna", MaxRole: access.RoleGM,
		Audience: identity.AudiencePlay})
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("a key with the audience of play tokens: %v", err)
	}
	f.play(identity.PlaySpec{})
	if all, err := f.Keys(context.Background()); err != nil || len(all) != 0 {
		t.Errorf("play tokens are listed as keys: %v, %v", all, err)
	}
}

// A play token, and a seat's key, end with the key that they were made with: in this process at
// once, in another within a poll, and at the latest when that key expires.
func TestKeysEndWithTheirMaker(t *testing.T) {
	f := newFixture(t)
	there := f.another()
	maker, secret := f.key(identity.KeySpec{Expires: f.now().Add(time.Hour)})
	token, _ := f.play(identity.PlaySpec{MadeWith: maker.ID})
	seat, seatSecret, err := f.CreateKey(t.Context(),
		identity.KeySpec{Name: "seat", Subject: "seat", MaxRole: access.RoleUser, Seat: "g1/p1", MadeWith: maker.ID})
	if err != nil {
		t.Fatal(err)
	}
	_, host := f.play(identity.PlaySpec{Seat: "g1/p1", MadeWith: maker.ID})
	replaced, replacedID := f.play(identity.PlaySpec{Seat: "g1/p2", MadeWith: host})
	other, _ := f.play(identity.PlaySpec{})
	list, err := f.PlayTokens(t.Context())
	if err != nil || len(list) != 4 {
		t.Fatalf("%d listed, %v", len(list), err)
	}
	for _, k := range list[:3] {
		if k.MadeWith != maker.ID || !k.Expires.Equal(maker.Expires) || !k.Revoked.IsZero() || k.Hash != (identity.Hash{}) {
			t.Errorf("listed %+v", k)
		}
	}
	var streams []<-chan struct{}
	for _, s := range []*identity.Service{f.Service, there} {
		for _, id := range []string{seat.ID, host, replacedID} {
			ended, stop := s.Watch(t.Context(), id)
			defer stop()
			streams = append(streams, ended)
		}
		if _, err := s.Authenticate(t.Context(), token, identity.AudiencePlay); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.RevokeKey(t.Context(), maker.ID); err != nil {
		t.Fatal(err)
	}
	for _, one := range []string{token, replaced} {
		_, err := f.playing(one)
		wantRefused(t, err, identity.ErrInvalid)
	}
	for _, one := range []string{secret, seatSecret} {
		_, err := f.Exchange(t.Context(), one, access.RoleUser, "")
		wantRefused(t, err, identity.ErrInvalid)
	}
	for i, ended := range streams[:3] {
		select {
		case <-ended:
		default:
			t.Errorf("stream %d of this process goes on", i)
		}
	}
	for i, ended := range streams[3:] {
		waittest.Receive(t, ended, fmt.Sprintf("stream %d of the other process ends", i))
	}
	_, err = there.Authenticate(t.Context(), token, identity.AudiencePlay)
	wantRefused(t, err, identity.ErrInvalid)
	if _, err := f.playing(other); err != nil {
		t.Errorf("another's token ended too: %v", err)
	}
	if list, _ := f.PlayTokens(t.Context()); list[0].Revoked.IsZero() || !list[3].Revoked.IsZero() {
		t.Errorf("listed as %v and %v", list[0].Revoked, list[3].Revoked)
	}
	if _, _, err := f.IssuePlay(t.Context(), identity.PlaySpec{World: mainWorld, Subject: "late", Player: aPlayer,
		MadeWith: maker.ID}); !errors.Is(err, fault.Unauthorized) {
		t.Errorf("a revoked key made a token: %v", err)
	}
}

func TestAPlayTokenExpiresWithItsMaker(t *testing.T) {
	f := newFixture(t)
	maker, _ := f.key(identity.KeySpec{Expires: f.now().Add(time.Hour)})
	token, _ := f.play(identity.PlaySpec{MadeWith: maker.ID})
	if _, err := f.playing(token); err != nil {
		t.Fatal(err)
	}
	f.add(time.Hour)
	_, err := f.playing(token)
	wantRefused(t, err, identity.ErrInvalid)
}
