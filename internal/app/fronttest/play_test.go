package fronttest

import (
	"bufio"
	"net/http"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/canon"
	"loregate/internal/waittest"
)

// A player's token becomes invalid with the key that made it: at once if the key is revoked in the
// serving process, within a second if another process revokes it.
func TestPlayTokensEndWithTheKeyThatMadeThem(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		s := open(t, nil)
		s.change(func(p *canon.Plan) error {
			_, err := p.Create(canon.NewCard{Name: "Gate", Type: "Location", Root: true})
			return err
		})
		key, id := s.key(access.RoleGM)
		var made struct {
			Token  string
			Player struct{ ID string }
		}
		s.object("POST", "/api/players", key, `{"name":"Ada"}`, &made)
		path := "/api/players/" + made.Player.ID
		if a := s.send("GET", path, made.Token, ""); a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
		stream := s.follow(path+"/stream", made.Token)
		list, err := s.app.PlayTokens(t.Context())
		if err != nil || len(list) != 1 || list[0].MadeWith != id || list[0].Plays != "Ada" || list[0].World != "mire" ||
			!list[0].Revoked.IsZero() {
			t.Errorf("listed: %+v, %v", list, err)
		}
		by, within := s.app, time.Duration(0) // at once
		if elsewhere {
			if by, err = app.Open(t.Context(), s.app.Config, app.Options{}); err != nil {
				t.Fatal(err)
			}
			within = waittest.Patience
		}
		if err := by.Identity.RevokeKey(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if elsewhere {
			by.Close(t.Context())
		}
		apptest.Eventually(t, "the player's token is refused after its key was revoked", within, func() bool {
			return s.send("GET", path, made.Token, "").status == http.StatusUnauthorized
		})
		waittest.Receive(t, stream, "the player's stream ends")
		if list, _ := s.app.PlayTokens(t.Context()); len(list) != 1 || list[0].Revoked.IsZero() {
			t.Errorf("listed after: %+v", list)
		}
	}
}

func TestOnePlayTokenIsRevokedByItself(t *testing.T) {
	s := open(t, nil)
	s.change(func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "Gate", Type: "Location", Root: true})
		return err
	})
	key, _ := s.key(access.RoleGM)
	var tokens [2]string
	var ids [2]string
	for i, name := range []string{"Ada", "Ben"} {
		var made struct {
			Token  string
			Player struct{ ID string }
		}
		s.object("POST", "/api/players", key, `{"name":"`+name+`"}`, &made)
		tokens[i], ids[i] = made.Token, made.Player.ID
	}
	list, err := s.app.PlayTokens(t.Context())
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	if err := s.app.Identity.RevokeKey(t.Context(), list[0].ID); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{http.StatusUnauthorized, http.StatusOK} {
		if a := s.send("GET", "/api/players/"+ids[i], tokens[i], ""); a.status != want {
			t.Errorf("token %d: %d %s", i, a.status, a.body)
		}
	}
}

// follow opens a stream. The returned channel closes when the stream has ended.
func (s *stage) follow(path, bearer string) <-chan struct{} {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "GET", s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+bearer)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		s.t.Fatalf("GET %s: %s", path, res.Status)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer res.Body.Close()
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		}
	}()
	return ended
}
