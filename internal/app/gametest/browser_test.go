package gametest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/websocket"

	"loregate/internal/app/apptest"
	"loregate/internal/game/rule"
	"loregate/internal/game/view"
	"loregate/internal/programtest"
	"loregate/internal/wait"
)

// browser is a headless Chromium.
type browser struct {
	t    *testing.T
	base string // URL of its DevTools
}

// newBrowser starts Chromium; see apptest.Chromium for a machine without it.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	path := apptest.Chromium(t)
	dir, err := os.MkdirTemp("", "chromium")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--disable-extensions",
		"--disable-background-networking", "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
		"--disable-backgrounding-occluded-windows",
		"--remote-debugging-port=0", "--remote-allow-origins=*", "--user-data-dir="+dir, "about:blank")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		// The browser's helper processes end after it, and still write for a moment.
		apptest.Eventually(t, "the browser's folder is removed", 10*time.Second,
			func() bool { return os.RemoveAll(dir) == nil })
	})
	port := ""
	apptest.Eventually(t, "Chromium reports its port, for which it only has a file", 30*time.Second, func() bool {
		b, _ := os.ReadFile(filepath.Join(dir, "DevToolsActivePort")) // absent at first
		first, _, complete := strings.Cut(string(b), "\n")
		port = first
		return complete
	})
	return &browser{t, "http://127.0.0.1:" + port}
}

// tab is one page.
type tab struct {
	t    *testing.T
	ws   *websocket.Conn
	mu   sync.Mutex
	next int
	bad  []string // exceptions and security errors of the page. Guarded by mu
}

func (b *browser) open(url string) *tab {
	b.t.Helper()
	r, _ := http.NewRequestWithContext(b.t.Context(), "PUT", b.base+"/json/new?about:blank", nil)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var made struct {
		URL string `json:"webSocketDebuggerUrl"`
	}
	if err := json.NewDecoder(res.Body).Decode(&made); err != nil {
		b.t.Fatal(err)
	}
	p := &tab{t: b.t}
	if p.ws, err = websocket.Dial(made.URL, "", b.base); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = p.ws.Close() })
	p.call("Runtime.enable", nil)
	p.call("Log.enable", nil)
	p.call("Page.enable", nil)
	p.call("Page.navigate", object{"url": url})
	return p
}

// call sends one command and returns its result. Errors that the page reports meanwhile are
// kept.
func (p *tab) call(method string, params object) json.RawMessage {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	if err := p.ws.SetDeadline(time.Now().Add(time.Minute)); err != nil { // a browser that hangs must fail the test
		p.t.Fatal(err)
	}
	if err := websocket.JSON.Send(p.ws, object{"id": p.next, "method": method, "params": params}); err != nil {
		p.t.Fatal(err)
	}
	for {
		var m struct {
			ID     int
			Method string
			Params json.RawMessage
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := websocket.JSON.Receive(p.ws, &m); err != nil {
			p.t.Fatal(err)
		}
		switch {
		case m.Method == "Runtime.exceptionThrown", m.Method == "Log.entryAdded" &&
			strings.Contains(string(m.Params), "Security"):
			p.bad = append(p.bad, string(m.Params))
		case m.ID == p.next && m.Error != nil:
			p.t.Fatalf("%s: %s", method, m.Error.Message)
		case m.ID == p.next:
			return m.Result
		}
	}
}

// eval evaluates JavaScript and returns its value as text.
func (p *tab) eval(js string) string {
	p.t.Helper()
	var out struct {
		Result struct{ Value any }
		Failed json.RawMessage `json:"exceptionDetails"`
	}
	if err := json.Unmarshal(p.call("Runtime.evaluate",
		object{"expression": js, "returnByValue": true, "awaitPromise": true}), &out); err != nil {
		p.t.Fatal(err)
	}
	if out.Failed != nil {
		p.t.Fatalf("%s: %s", js, out.Failed)
	}
	return fmt.Sprint(out.Result.Value)
}

// waits waits until a JavaScript expression is true in the page.
func (p *tab) waits(ctx context.Context, js string) bool {
	p.t.Helper()
	for p.eval(js) != "true" {
		if !wait.For(ctx, 50*time.Millisecond) {
			return false
		}
	}
	return true
}

// types focuses an element and types on the keyboard, as a person does.
func (p *tab) types(selector, text string) {
	p.t.Helper()
	p.eval(fmt.Sprintf("document.querySelector(%q).focus()", selector))
	p.call("Input.insertText", object{"text": text})
	for _, kind := range []string{"keyDown", "keyUp"} {
		p.call("Input.dispatchKeyEvent", object{"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13,
			"text": "\r"})
	}
}

// press focuses an enabled button and presses Enter. It reports whether there is such a button.
func (p *tab) press(selector string) bool {
	p.t.Helper()
	if p.eval(fmt.Sprintf("(() => { const b = document.querySelector(%q); if (!b || b.disabled) return false; b.focus(); return document.activeElement === b })()", selector)) != "true" {
		return false
	}
	for _, kind := range []string{"keyDown", "keyUp"} {
		p.call("Input.dispatchKeyEvent",
			object{"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"})
	}
	return true
}

// checkAccessibility reads the page as a screen reader does: every control has a name, and no
// two controls of a role have the same.
func (p *tab) checkAccessibility() {
	p.t.Helper()
	type text struct{ Value any }
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name text
		}
	}
	if err := json.Unmarshal(p.call("Accessibility.getFullAXTree", nil), &tree); err != nil {
		p.t.Fatal(err)
	}
	seen := map[string]int{}
	for _, n := range tree.Nodes {
		role, name := fmt.Sprint(n.Role.Value), fmt.Sprint(n.Name.Value)
		if n.Ignored || !strings.Contains(" button textbox combobox log timer link ", " "+role+" ") {
			continue
		}
		seen[role]++
		if seen[role+" "+name]++; n.Name.Value == nil || name == "" || seen[role+" "+name] > 1 {
			p.t.Errorf("a %s of the page is called %q, as another or as nothing", role, name)
		}
	}
	if seen["textbox"] == 0 || seen["combobox"] == 0 || seen["button"] == 0 || seen["log"] != 1 || seen["timer"] != 1 {
		p.t.Errorf("a screen reader finds %v", seen)
	}
}

// full reports whether tests take the time that their specification asks for.
func full() bool { return os.Getenv("GAMETEST_FULL") == "1" }

// TestAGameInTheBrowser plays a game of two people and six AI players to its end. The server is
// killed in the middle of a phase, and another is started. In full, durations are a twentieth
// and the game may take ten days; otherwise it takes one, and the durations leave a person's
// hands enough time in a browser on a busy machine.
func TestAGameInTheBrowser(t *testing.T) {
	programtest.Long(t)
	t.Parallel()
	b := newBrowser(t)
	h := open(t)
	seconds, days := rule.Seconds{Sitrep: 0.3, Pulse: 2, Discussion: 25, Extension: 2, Overtime: 0.5, Nomination: 8,
		Trial: 0.5, Verdict: 8, Night: 8}, 1
	if full() {
		seconds, days = rule.Seconds{Sitrep: 0.75, Pulse: 1.5, Discussion: 6, Extension: 0.75, Overtime: 3,
			Nomination: 1.5, Trial: 1.5, Verdict: 1.5, Night: 1.5}, 10
	}
	g := h.newGame(object{"days": days, "seconds": seconds}, 2, 0, 6)
	h.serveApart()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	ada, ben := b.open(g.seats[0].Link), b.open(g.seats[1].Link)
	ada.call("Emulation.setDeviceMetricsOverride", object{"width": 1280, "height": 800, "deviceScaleFactor": 1,
		"mobile": false})
	ada.call("Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": "dark"}}})
	ben.call("Emulation.setDeviceMetricsOverride", object{"width": 390, "height": 844, "deviceScaleFactor": 2,
		"mobile": true})
	for _, p := range []*tab{ada, ben} {
		if !p.waits(ctx, `document.querySelectorAll("#players li").length === 8 && location.hash === ""`) {
			t.Fatalf("the lobby is not shown: %s", p.eval(`document.body.innerText`))
		}
	}
	ada.types("#text", "Hello from <b>Ada</b>")
	if !ben.waits(ctx, `document.querySelector("#log").innerText.includes("Hello from <b>Ada</b>")`) {
		t.Fatal("Ben does not read what Ada wrote")
	}
	if !ada.press(`[data-do="start"]`) {
		t.Fatal("the host finds no way to start")
	}
	if !ada.waits(ctx, `document.body.dataset.phase === "DAY_DISCUSSION"`) {
		t.Fatal("no discussion begins")
	}
	if wide := ben.eval(`document.documentElement.scrollWidth <= innerWidth`); wide != "true" {
		t.Error("the page is wider than a phone")
	}
	for _, p := range []*tab{ada, ben} {
		p.checkAccessibility()
	}
	shoot(t, ada, "discussion")
	shoot(t, ben, "phone")
	ada.types("#text", "Before the lights go out.")
	if !ben.waits(ctx, `document.querySelector("#log").innerText.includes("Before the lights go out.")`) {
		t.Fatal("Ben does not read what Ada wrote in the discussion")
	}
	before := g.viewAs(g.seats[1])
	h.killAndRestart()
	wantSameGame(t, before, g.viewAs(g.seats[1]))
	ada.types("#text", "Is the light back?")
	if !ben.waits(ctx, `document.querySelector("#log").innerText.includes("Is the light back?")`) {
		t.Fatal("the pages do not find the server again")
	}
	play(ctx, t, ada, ben)
	shoot(t, ada, "end")
	shoot(t, ben, "end-phone")
	v := g.viewAs(g.seats[0])
	if v.Winner == nil || len(v.Revealed) != 8 {
		t.Fatalf("the game is not over: %s on day %d", v.Phase, v.Day)
	}
	checkGame(t, g, &v)
	for _, p := range []*tab{ada, ben} {
		if !p.waits(ctx, `document.querySelectorAll("#roles tr").length === 8 && document.querySelectorAll("#days li").length > 2`) {
			t.Errorf("the page does not tell what happened: %s", p.eval(`document.querySelector("#after").innerText`))
		}
	}
	if told := ada.eval(`document.querySelector("#after").innerText`); !strings.Contains(told, "Original AI") ||
		!strings.Contains(told, "Nominations, ") {
		t.Errorf("the page tells of the game: %s", told)
	}
	h.do(h.key, "POST", "/api/games/"+g.id+"/seats/p1/token", object{}, nil)
	late := b.open(g.seats[0].Link)
	if !late.waits(ctx,
		`document.querySelector("#problem")?.innerText.includes("does not open a seat") && document.querySelector("#text").disabled`) {
		t.Errorf("a link that was given anew still looks as if it opened: %s", late.eval(`document.body.innerText`))
	}
	shoot(t, late, "no-seat")
	for _, p := range []*tab{ada, ben} {
		if len(p.bad) > 0 {
			t.Errorf("the page complains: %v", p.bad)
		}
	}
}

// TestPeopleJoinByALink lets a host invite on the page, somebody take a seat by the link and a name,
// and everybody read the rules.
func TestPeopleJoinByALink(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := open(t)
	g := h.newGame(object{}, 1, 0, 0)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ada := b.open(g.seats[0].Link)
	if !ada.waits(ctx, `document.querySelectorAll("#players li").length === 1`) || !ada.press(`[data-do="ai"]`) ||
		!ada.waits(ctx, `document.querySelectorAll("#players li").length === 2`) || !ada.press(`[data-do="invite"]`) ||
		!ada.waits(ctx, `!!document.querySelector("#invitation")`) {
		t.Fatalf("the host cannot invite: %s", ada.eval(`document.body.innerText`))
	}
	shoot(t, ada, "lobby")
	link := ada.eval(`document.querySelector("#invitation").value`)
	ben := b.open(link)
	if !ben.waits(ctx, `document.querySelector("#join")?.hidden === false && location.hash === ""`) {
		t.Fatalf("the link opens no form: %s", ben.eval(`document.body.innerText`))
	}
	if shown := ben.eval(`document.querySelectorAll("#players li").length`); shown != "0" {
		t.Errorf("who has only an invitation sees %s players", shown)
	}
	shoot(t, ben, "invitation")
	ben.types("#join-name", "Ben <i>B</i>")
	if !ben.waits(ctx, `document.querySelectorAll("#players li").length === 3 && document.querySelector("#join")?.hidden`) ||
		!ada.waits(ctx, `document.querySelector("#players").innerText.includes("Ben <i>B</i>")`) {
		t.Fatalf("the guest gets no seat: %s", ben.eval(`document.body.innerText`))
	}
	ben.call("Page.reload", nil)
	if !ben.waits(ctx, `document.querySelectorAll("#players li").length === 3`) {
		t.Error("after a reload the seat is lost")
	}
	if rules := ben.eval(`document.querySelector("#rules").innerText`); !strings.Contains(rules, "Red team exercise") ||
		!strings.Contains(rules, "51 of 100 tokens") || !strings.Contains(rules, "Ethics VP") {
		t.Errorf("the page has the rules %s", rules)
	}
	invited := strings.SplitN(link, "#", 2)[1]
	for _, tc := range []struct {
		method, path string
		in           any
		want         int
	}{
		{"GET", "/api/games/" + g.id, nil, 403},
		{"GET", "/api/games/" + g.id + "/stream", nil, 403},
		{"POST", "/api/games/" + g.id + "/join", object{"name": "Eve", "host": true}, 403},
		{"POST", "/api/games/" + g.id + "/join", object{"name": "Eve", "as": "ai"}, 403},
		{"POST", "/api/games/" + h.newGame(object{}, 1, 0, 0).id + "/join", object{"name": "Eve"}, 404},
	} {
		if status, body := h.send(invited, tc.method, tc.path, tc.in); status != tc.want {
			t.Errorf("an invitation on %s %s: %d %s, want %d", tc.method, tc.path, status, body, tc.want)
		}
	}
	for _, p := range []*tab{ada, ben} {
		if len(p.bad) > 0 {
			t.Errorf("the page complains: %v", p.bad)
		}
	}
}

// wantSameGame compares a seat's view of a game after its server was killed with the view
// before.
func wantSameGame(t *testing.T, before, after view.Own) {
	t.Helper()
	if len(after.ChatLog) < len(before.ChatLog) || !reflect.DeepEqual(after.ChatLog[:len(before.ChatLog)],
		before.ChatLog) {
		t.Errorf("what was said before the kill is not what is there after it: %v and "+
			"%v", before.ChatLog, after.ChatLog)
	}
	if after.Version < before.Version || after.Self.Role != before.Self.Role ||
		after.Self.Alignment != before.Self.Alignment {
		t.Errorf("before the kill version %d, %s, after it %d, %s", before.Version, before.Self.Role, after.Version,
			after.Self.Role)
	}
	if after.Phase == before.Phase && !after.Ends.Equal(*before.Ends) {
		t.Errorf("the phase ended at %s, and ends at %s after the kill", before.Ends, after.Ends)
	}
}

// play takes every action that the pages offer a person, until the game is over.
func play(ctx context.Context, t *testing.T, tabs ...*tab) {
	t.Helper()
	done := map[string]bool{}
	for tabs[0].eval(`document.body.dataset.phase`) != "GAME_OVER" {
		for i, p := range tabs {
			at := fmt.Sprint(i,
				p.eval(`document.body.dataset.phase + document.querySelector("#day").textContent + document.querySelector("#vote-title").textContent`))
			if done[at] {
				continue
			}
			switch {
			case p.press(`[data-vote]`), p.press(`[data-night="mine"]`), p.press(`[data-night="project"]`),
				p.press(`[data-exit="handoff"]`):
				done[at] = true
			case p.eval(`!!document.querySelector("#f-pulse")`) == "true":
				p.types("#f-pulse", "I trust the numbers.")
				done[at] = true
			}
		}
		if !wait.For(ctx, 100*time.Millisecond) {
			t.Fatalf("the game does not end: %s", tabs[0].eval(`document.body.innerText`))
		}
	}
	if tabs[0].eval(`document.querySelector("#result").hidden`) != "false" {
		t.Error("the page does not say who won")
	}
}

// checkGame checks the replay: people and programs have acted.
func checkGame(t *testing.T, g *table, v *view.Own) {
	t.Helper()
	var replay struct {
		Events []struct {
			Type    string
			Payload struct {
				From, Seat string
				Played     string
				Phase      rule.Phase
			}
		}
		Total int
	}
	g.do(g.seats[0].Token, "GET", "/api/games/"+g.id+"/replay?limit=2000", nil, &replay)
	if replay.Total != len(replay.Events) {
		t.Fatalf("%d of %d events", len(replay.Events), replay.Total)
	}
	did, night := map[string]map[string]bool{}, false
	for _, e := range replay.Events {
		night = night || e.Payload.Phase == rule.Night
		if did[e.Type] == nil {
			did[e.Type] = map[string]bool{}
		}
		did[e.Type][e.Payload.From+e.Payload.Seat] = true
	}
	for _, what := range []string{"said", "pulse_given", "ballot_cast"} {
		programs := 0
		for id := range did[what] {
			if id != "p1" && id != "p2" && id != "" {
				programs++
			}
		}
		if programs == 0 {
			t.Errorf("no AI player has %s", what)
		}
	}
	for _, person := range []string{"p1", "p2"} {
		if !did["ballot_cast"][person] || night && !did["action_given"][person] && v.Players[person].Alive {
			t.Errorf("%s has not voted and, in a night, acted: %v", person, did)
		}
	}
}

// shoot saves a screenshot of the page if GAME_SHOTS names a folder.
func shoot(t *testing.T, p *tab, name string) {
	t.Helper()
	dir := os.Getenv("GAME_SHOTS")
	if dir == "" {
		return
	}
	var out struct{ Data []byte }
	if err := json.Unmarshal(p.call("Page.captureScreenshot", object{"format": "png"}), &out); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), out.Data, 0o600); err != nil {
		t.Fatal(err)
	}
}
