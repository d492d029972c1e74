package consoletest

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"loregate/internal/access"
)

// TestASeatIsTakenAndOpenedAgainSignedIn takes a seat on the page of games, and opens it again without a code.
func TestASeatIsTakenAndOpenedAgainSignedIn(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	host, ada := s.visitor(), s.visitor()
	host.signIn(s.code(access.RoleGM))
	ada.signIn(s.code(access.RoleUser))
	if status, body, _ := host.send("POST", "/games/lendwater/create", url.Values{"ai_players": {"5"}}); status != 200 {
		t.Fatalf("no game: %d %s", status, body)
	}
	_, body, _ := host.send("GET", "/games/lendwater", nil)
	game := regexp.MustCompile(`g-[0-9a-f]{16}`).FindString(body)
	open := func(v *visitor, id, name string) (status int, token string) {
		status, body, res := v.send("POST", "/games/lendwater/seat", url.Values{"id": {id}, "name": {name}})
		if strings.HasPrefix(res.Request.URL.Fragment, "lgp_") {
			token = res.Request.URL.Fragment
		} else if status == 200 {
			t.Errorf("the page answers %s", body)
		}
		return status, token
	}
	if _, first := open(ada, s.base+"/play/"+game, "Ada"); first == "" {
		t.Error("no seat is taken")
	} else if _, again := open(ada, game, ""); again == "" || again == first {
		t.Error("the seat is not opened again")
	}
	for _, try := range []struct{ id, name string }{{game, ""}, {"g-0000000000000000", "Eve"}, {"x", "Eve"}} {
		if status, token := open(host, try.id, try.name); status < 400 || token != "" {
			t.Errorf("the host opens %+v: %d", try, status)
		}
	}
}
