package consoletest

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"loregate/internal/access"
)

// hover moves the mouse to the middle of an element, or away from all for "".
func (p *tab) hover(expression string) {
	p.t.Helper()
	at := input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved}
	if expression != "" {
		box, err := chromedp.Run(p.ctx, chromedp.Evaluate[[]float64]("(() => { const b = "+expression+
			".getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2] })()"))
		p.must(err)
		at.X, at.Y = box[0], box[1]
	}
	_, err := chromedp.Call(p.ctx, input.DispatchMouseEvent, at)
	p.must(err)
}

// TestLinksShowTheFirstLinesOfTheirCards rests the mouse on a link, goes to it by keyboard, and touches it.
func TestLinksShowTheFirstLinesOfTheirCards(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	script := loadAxe(t)
	s.rest(access.RoleGM, "POST", "/api/mcp/cards", `{"name": "Zinc Bell", "content": "<p>Rung <b>twice</b> &lt;at&gt; dusk.</p><p>`+
		strings.Repeat("long ", 200)+`</p>"}`)
	s.rest(access.RoleGM, "POST", "/api/mcp/cards", `{"name": "Zinc Door", "content": "<p>Under the bell.</p>", "level": "gm"}`)
	s.rest(access.RoleGM, "POST", "/api/mcp/cards",
		`{"name": "Zinc Stair", "content": "<p>Below the [[Zinc Bell]] and the [[Zinc Door]].</p>"}`)
	s.rest(access.RoleAdmin, "PUT", "/api/mcp/cards/Zinc%20Stair/rename", `{"new_name": "Zinc Steps"}`)
	const (
		bell  = `[...document.querySelectorAll(".text a")].find((a) => a.innerText === "Zinc Bell")`
		shown = `document.querySelector("#hovercard")?.innerText ?? ""`
	)
	p := newTab(t, s.base, 1280)
	p.signIn(s.link(access.RoleGM))
	p.open("/w/lendwater/Zinc%20Steps")
	if old := p.eval(`[...document.querySelectorAll("aside section")].find((x) => x.innerText.startsWith("Old names")).innerText`); !strings.Contains(old, "Zinc Stair") {
		t.Errorf("old names: %s", old)
	}
	p.hover(bell)
	p.waits("("+shown+`).includes("Rung twice <at> dusk.")`, "the card of the link is shown")
	if text := p.eval(shown); len(text) > 400 || !strings.Contains(text, "Zinc Bell") {
		t.Errorf("%d bytes are shown: %s", len(text), text)
	}
	p.look("hovercard")
	p.checkAxeHere(script, "a hovercard")
	p.hover(`document.querySelector("#hovercard")`)
	p.waits(`performance.now() - (window.rested ??= performance.now()) > 400`, "the mouse rests on the card")
	if text := p.eval(shown); text == "" {
		t.Error("the card vanishes under the mouse")
	}
	p.do(chromedp.KeyEvent(kb.Escape))
	p.waits(shown+` === ""`, "Escape closes the card")
	p.hover("")
	p.eval(bell + `.dispatchEvent(new PointerEvent("pointerover", { bubbles: true, pointerType: "touch" })); 0`)
	p.waits(`performance.now() - (window.touched ??= performance.now()) > 600`, "a touch has had its time")
	if text := p.eval(shown); text != "" {
		t.Errorf("a touch shows %s", text)
	}
	p.eval(`document.querySelector("h1").setAttribute("tabindex", "-1"); document.querySelector("h1").focus()`)
	for range 12 {
		if p.eval("document.activeElement === "+bell) == "true" {
			break
		}
		p.do(chromedp.KeyEvent(kb.Tab))
	}
	p.waits("("+shown+`).includes("Rung twice")`, "the card is shown to the keyboard")
	if by := p.eval(bell + `.getAttribute("aria-describedby")`); by != "hovercard" {
		t.Errorf("the link is described by %s", by)
	}

	gm, player := s.visitor(), s.visitor()
	gm.signIn(s.code(access.RoleGM))
	player.signIn(s.code(access.RoleUser))
	for _, row := range []struct {
		who  *visitor
		path string
		want int
	}{{gm, "Zinc%20Door", 200}, {gm, "Zinc%20Door?as=user", 204}, {player, "Zinc%20Door", 204},
		{player, "Nobody", 204}, {player, "Zinc%20Stair", 200}} {
		status, body, res := row.who.send("GET", "/hovercard/lendwater/"+row.path, nil)
		if status != row.want || res.Header.Get("Cache-Control") != "no-store" ||
			strings.Contains(body, "Under the bell") != (row.want == 200 && strings.HasPrefix(row.path, "Zinc%20D")) {
			t.Errorf("%s: %d %s", row.path, status, body)
		}
	}
}
