package consoletest

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"loregate/internal/access"
)

// TestEarlierCommandsComeBack goes through a player's commands by the arrow keys, also after a turn and a reload, and
// finds none of them after signing out.
func TestEarlierCommandsComeBack(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	p := newTab(t, s.base, 390)
	p.signIn(s.link(access.RoleUser))
	p.open("/play/world/lendwater")
	p.fill("#name", "Ada Finch")
	p.click("Begin")
	at := p.eval("location.pathname")
	for i, command := range []string{"look at the tariff board", "go north"} {
		p.fill("#text", command)
		p.do(chromedp.KeyEvent(kb.Enter))
		p.waits("document.querySelectorAll('.turn').length === "+[]string{"2", "3"}[i], "the turn is added")
	}
	press := func(key, want string) {
		t.Helper()
		p.do(chromedp.KeyEvent(key))
		if got := p.eval("document.querySelector('#text').value"); got != want {
			t.Errorf("the line reads %q, want %q", got, want)
		}
	}
	p.do(chromedp.KeyEvent("go so"))
	press(kb.ArrowUp, "go north")
	press(kb.ArrowUp, "look at the tariff board")
	press(kb.ArrowUp, "look at the tariff board")
	press(kb.ArrowDown, "go north")
	press(kb.ArrowDown, "go so")
	p.checkAxeHere(loadAxe(t), "play with a command")
	p.open(at)
	p.waits(`document.activeElement.id === "text"`, "the line has the focus")
	press(kb.ArrowUp, "go north")
	p.open("/account")
	p.click("Sign out")
	p.waits("sessionStorage.length === 0", "the commands are forgotten")
	p.signIn(s.link(access.RoleUser))
	p.open(at)
	p.waits(`document.activeElement.id === "text"`, "the line has the focus")
	press(kb.ArrowUp, "")
}
