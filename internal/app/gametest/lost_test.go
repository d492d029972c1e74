package gametest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestALostSeatIsOpenedOnThePage takes a seat by an invitation, loses the page, and opens the seat by the code. Then
// the host vacates it.
func TestALostSeatIsOpenedOnThePage(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := open(t)
	for _, width := range []int{390, 1280} {
		g := h.newGame(object{"mandate": "aggressive_growth"}, 1, 0, 5)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		ada, ben := b.open(g.seats[0].Link), b.open(h.url()+"/play/"+g.id+"#"+g.invitation())
		for _, p := range []*tab{ada, ben} {
			p.call("Emulation.setDeviceMetricsOverride", object{"width": width, "height": 900, "deviceScaleFactor": 1,
				"mobile": false})
		}
		if !ben.waits(ctx, `document.querySelector("#join")?.hidden === false && document.querySelector("#recover").hidden`) {
			t.Fatalf("the link opens no form: %s", ben.eval(`document.body.innerText`))
		}
		ben.types("#join-name", "Ben")
		if !ben.waits(ctx, `document.querySelector("#keep").hidden === false && document.querySelector("#keep-code").value.startsWith("lgp_")`) {
			t.Fatalf("no code is shown: %s", ben.eval(`document.body.innerText`))
		}
		shoot(t, ben, fmt.Sprint("keep-", width))
		ben.checkFits(width)
		ben.checkAccessibility()
		code := ben.eval(`document.querySelector("#keep-code").value`)
		ben.press("#kept")
		if left := ben.eval(`document.documentElement.outerHTML.includes("` + code + `") || document.querySelector("#keep-code").value !== ""`); left != "false" {
			t.Error("the code is still on the page")
		}
		ada.waits(ctx, `document.querySelectorAll("#players li").length === 7`)
		if !ada.press(`[data-do="start"]`) || !ben.waits(ctx, `document.body.dataset.phase === "DAY_SITREP"`) {
			t.Fatalf("the game does not begin: %s", ada.eval(`document.body.innerText`))
		}
		ben.eval(`sessionStorage.clear()`)
		ben.call("Page.reload", nil)
		if !ben.waits(ctx, `document.querySelector("#recover")?.hidden === false`) {
			t.Fatalf("a lost page asks for no code: %s", ben.eval(`document.body.innerText`))
		}
		shoot(t, ben, fmt.Sprint("recover-", width))
		ben.checkFits(width)
		ben.checkAccessibility()
		ben.types("#recover-code", code)
		if !ben.waits(ctx, `document.querySelector("#self")?.innerText.includes("Alignment") && !document.querySelector("#keep").hidden`) {
			t.Fatalf("the code opens no seat: %s", ben.eval(`document.body.innerText`))
		}
		if !ada.waits(ctx, `document.querySelector("#log").innerText.includes("The seat of Ben was opened anew.")`) {
			t.Errorf("the table reads %s", ada.eval(`document.querySelector("#log").innerText`))
		}
		ada.eval(`window.confirm = () => true; document.querySelector('[aria-label="Seat to vacate"]').value = "p7"`)
		shoot(t, ada, fmt.Sprint("vacate-", width))
		ada.checkFits(width)
		if !ada.press(`[data-do="vacate"]`) || !ada.waits(ctx,
			`document.querySelector("#log").innerText.includes("The computer plays it from now on.")`) {
			t.Errorf("the host cannot vacate: %s", ada.eval(`document.body.innerText`))
		}
		if !ben.waits(ctx, `document.querySelector("#recover").hidden === false`) {
			t.Errorf("a vacated seat still looks open: %s", ben.eval(`document.body.innerText`))
		}
		for _, p := range []*tab{ada, ben} {
			if len(p.bad) > 0 {
				t.Errorf("the page complains: %v", p.bad)
			}
		}
	}
}

// checkFits checks that a page does not scroll sideways.
func (p *tab) checkFits(width int) {
	p.t.Helper()
	if wide := p.eval(`document.documentElement.scrollWidth`); wide > fmt.Sprint(width) &&
		len(wide) >= len(fmt.Sprint(width)) {
		p.t.Errorf("the page is %s wide on a screen of %d", wide, width)
	}
}

// TestAHostReadsNoSealedState lets a host who plays and owns the world try every way to the secrets of another seat.
func TestAHostReadsNoSealedState(t *testing.T) {
	t.Parallel()
	h := open(t)
	operator := h.newOperator()
	for n := range number("GAME_SECRETS_HOST", 1) {
		g := h.newGame(object{"mandate": "aggressive_growth", "clients_act": true}, 6, 2, 0)
		g.begin()
		g.advance()
		victims := append([]seat{g.seats[1]}, g.seats[6:]...)
		var marks []string
		for i, s := range g.seats[:6] {
			mark := fmt.Sprintf("Zh%dx%dZh", n, i)
			g.act(s, object{"type": "pulse", "text": mark})
			g.act(s, object{"type": "chat", "channel": "aligned", "text": mark})
			if i > 0 {
				g.act(s, object{"type": "chat", "channel": "direct", "to": g.seats[1+i%5].ID, "text": mark})
				marks = append(marks, mark)
			}
		}
		for _, v := range victims {
			for name, key := range map[string]string{"host": h.key, "host's seat": g.seats[0].Token, "operator": operator} {
				for _, try := range []struct {
					method, path string
					in           object
				}{
					{"POST", "/api/games/" + g.id + "/seats/" + v.ID + "/token", object{}},
					{"POST", "/api/games/" + g.id + "/seats/mine/token", object{}},
					{"POST", "/api/games/" + g.id + "/join", object{"name": "Again"}},
					{"POST", "/api/games/" + g.id + "/join", object{"name": "Again", "as": "mcp"}},
					{"POST", "/api/games/" + g.id + "/invitation", object{}},
					{"POST", "/api/games/" + g.id + "/commands", object{"type": "vacate", "player_id": v.ID}},
					{"GET", "/api/games/" + g.id, nil}, {"GET", "/api/games/" + g.id + "/replay", nil}, {"GET", "/api/games", nil},
					{"GET", "/api/seat", nil}, {"GET", "/api/seat/moves", nil}, {"GET", "/api/changes", nil},
					{"GET", "/api/mcp/changes?limit=100", nil}, {"GET", "/api/mcp/cards?q=Zh&search_in=both", nil},
					{"GET", "/api/members/audit", nil}, {"GET", "/api/keys", nil}, {"GET", "/api/proposals", nil},
				} {
					status, body := h.send(key, try.method, try.path, try.in)
					own := strings.HasSuffix(try.path, "/seats/mine/token") && name == "host"
					if status < 300 && strings.Contains(string(body), `"token":"lgp_`) && !own {
						t.Errorf("the %s gets a token by %s %s: %s", name, try.method, try.path, body)
					}
					for _, m := range marks {
						if strings.Contains(string(body), m) {
							t.Errorf("the %s reads %s by %s %s: %s", name, m, try.method, try.path, body)
						}
					}
					if own {
						var again seat
						h.do(key, "POST", try.path, object{}, &again)
						if again.ID != "p1" {
							t.Fatalf("the host's own seat is %s", again.ID)
						}
						g.seats[0] = again
					}
				}
			}
		}
		if own := g.viewAs(g.seats[1]); own.Self.Alignment == "" {
			t.Error("the control: a player does not read its own side")
		}
	}
}

// newOperator returns a key of the operator, which opens all worlds.
func (h *house) newOperator() string { return h.newKeyOf("operator", true) }
