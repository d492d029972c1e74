package benchtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"loregate/internal/access"
	"loregate/internal/app/apptest"
	"loregate/internal/canon"
	"loregate/internal/identity"
)

// The sizes of the drawings that the performance goals name.
const (
	drawnEntities = 1_000
	drawnPlaces   = 5_000
)

// openSession signs in with a secret and returns the cookie of the session.
func openSession(b *testing.B, base, secret string) *http.Cookie {
	b.Helper()
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := c.PostForm(base+"/sign-in", url.Values{"secret": {secret}})
	if err != nil {
		b.Fatal(err)
	}
	_ = res.Body.Close()
	if len(res.Cookies()) != 1 {
		b.Fatal(res.Status)
	}
	return res.Cookies()[0]
}

// signIn signs a person in, whose calls are not limited.
func (s *stage) signIn() *http.Cookie {
	s.b.Helper()
	link, err := s.app.SignInLink(s.b.Context(), s.server.URL, identity.KeySpec{Name: "bench", Subject: "reader",
		Actor: access.Person, MaxRole: access.RoleAdmin, Approve: true, RateClass: access.ProfileDefault},
		[]string{worldName})
	if err != nil {
		s.b.Fatal(err)
	}
	_, secret, _ := strings.Cut(link, "#")
	return openSession(s.b, s.server.URL, secret)
}

// pageTarget returns a target of pages, the first of which shows a text.
func (s *stage) pageTarget(shows string, path func(n int64) string, headers ...string) *target {
	s.b.Helper()
	addr, cookie := s.server.Listener.Addr().String(), s.signIn()
	headers = append(headers, "Cookie: "+cookie.Name+"="+cookie.Value)
	ask := func(n int64) (string, string) { return head("GET "+path(n), addr, headers...), "" }
	c, err := dial(addr)
	if err != nil {
		s.b.Fatal(err)
	}
	defer c.conn.Close()
	status, body, err := c.do(ask(0))
	if err != nil || status != http.StatusOK || !strings.Contains(string(body), shows) {
		s.b.Fatalf("%d without %q, %v: %s", status, shows, err, body)
	}
	return &target{addr: addr, call: want(http.StatusOK, ask)}
}

// waitingProposals are on the page of proposals.
const waitingProposals = 20

// BenchmarkPage asks for pages, each a different one, over one connection.
func BenchmarkPage(b *testing.B) {
	requireBench(b)
	for _, page := range []struct {
		name, shows string
		path        func(p *prose, i int) string
		headers     []string
	}{
		{"card", `class="text"`, func(p *prose, i int) string {
			return "/w/bench/" + url.PathEscape(cardName(p, i))
		}, nil},
		{"list", `id="cards"`, func(_ *prose, i int) string { return "/w/bench?offset=" + strconv.Itoa(i%20*50) }, nil},
		{"search", `id="cards"`, func(p *prose, _ int) string { return "/w/bench?q=" + p.word() },
			[]string{"HX-Request: true"}},
		{"history", "Version 1", func(p *prose, i int) string {
			return "/history/bench/" + url.PathEscape(cardName(p, i))
		}, nil},
		{"changes", "Undo", func(*prose, int) string { return "/changes/bench" }, nil},
	} {
		b.Run(page.name, func(b *testing.B) {
			eachSize(b, func(b *testing.B, s *stage, size int) {
				measureCalls(b, s.pageTarget(page.shows, func(n int64) string {
					return page.path(s.p, int(n*7919%int64(size))/10*10)
				}, page.headers...))
			})
		})
	}
	b.Run("proposals", func(b *testing.B) {
		s := serve(b, b.TempDir())
		s.makeSquare()
		s.proposeChanges()
		measureCalls(b, s.pageTarget("scribe", func(int64) string { return "/proposals/bench" }))
	})
	b.Run("graph", func(b *testing.B) {
		s := serve(b, stagedCampaign(b))
		measureCalls(b, s.pageTarget("<svg", func(n int64) string {
			return "/graph/bench/" + entityID(int(n*7919%entities)).String()
		}))
	})
	b.Run("places", func(b *testing.B) {
		s := serve(b, placesFolder(b))
		measureCalls(b, s.pageTarget("<svg", func(n int64) string {
			return "/places/bench?at=" + placeCode(int(n)*7919)
		}))
	})
}

// proposeChanges lets proposals wait for a person.
func (s *stage) proposeChanges() {
	s.b.Helper()
	secret, _, err := s.app.CreateKey(s.b.Context(), identity.KeySpec{Name: "scribe", Subject: "scribe",
		MaxRole: access.RoleGM, Advisory: true}, []string{worldName})
	if err != nil {
		s.b.Fatal(err)
	}
	var out struct{ Token string }
	if err := json.Unmarshal(s.post("/api/mcp/auth", map[string]any{"api_key": secret, "role": "gm"}), &out); err != nil {
		s.b.Fatal(err)
	}
	for n := range waitingProposals {
		r, err := http.NewRequestWithContext(s.b.Context(), http.MethodPatch, s.server.URL+"/api/mcp/cards/Square",
			strings.NewReader(fmt.Sprintf(`{"content": "<p>%d %s</p>"}`, n, s.p.text(300))))
		if err != nil {
			s.b.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+out.Token)
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			s.b.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode >= 300 || !strings.Contains(string(body), "pending") {
			s.b.Fatalf("%d %s", res.StatusCode, body)
		}
	}
}

// paint is what a browser tells of the page that it shows.
type paint struct {
	Paint  float64 `json:"paint"`  // Largest Contentful Paint, in ms since the request
	Shift  float64 `json:"shift"`  // Cumulative Layout Shift
	Loaded float64 `json:"loaded"` // in ms since the request
	Bytes  float64 `json:"bytes"`  // of scripts and styles over the wire
	Page   float64 `json:"page"`   // of the page over the wire
	Nodes  float64 `json:"nodes"`  // elements
}

const askPaint = `new Promise((done) => {
	const out = {paint: 0, shift: 0};
	new PerformanceObserver((l) => { for (const e of l.getEntries()) out.paint = e.startTime; })
		.observe({type: "largest-contentful-paint", buffered: true});
	new PerformanceObserver((l) => { for (const e of l.getEntries()) out.shift += e.value; })
		.observe({type: "layout-shift", buffered: true});
	setTimeout(() => {
		const page = performance.getEntriesByType("navigation")[0];
		const parts = performance.getEntriesByType("resource").filter((e) => /\.(js|css)$/.test(e.name));
		done({...out, loaded: page.loadEventEnd, page: page.transferSize, nodes: document.querySelectorAll("*").length,
			bytes: parts.reduce((n, e) => n + e.transferSize, 0)});
	}, 500);
})`

// panPage scrolls to and fro, a step for each frame, for a second and a half.
const panPage = `new Promise((done) => {
	const box = document.querySelector(".drawing") ?? document.scrollingElement;
	let frames = 0;
	const step = () => {
		box.scrollBy(frames % 40 < 20 ? 15 : -15, frames % 40 < 20 ? 8 : -8);
		++frames < 90 ? requestAnimationFrame(step) : done(frames);
	};
	requestAnimationFrame(step);
})`

// mainThread returns the seconds for which the main thread of the page has worked.
func mainThread(b *testing.B, ctx context.Context) float64 {
	b.Helper()
	all, err := chromedp.Call(ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range all.Metrics {
		if m.Name == "TaskDuration" {
			return m.Value
		}
	}
	b.Fatal("the browser does not tell the time of its tasks")
	return 0
}

// measurePaint shows a page in a browser that has kept nothing, and pans it. The page has an element by a
// selector.
func (s *stage) measurePaint(path, selector string) {
	m := medians{}
	c := s.signIn()
	for s.b.Loop() {
		ctx := apptest.Browse(s.b, time.Minute)
		must := func(err error) {
			s.b.Helper()
			if err != nil {
				s.b.Fatal(err)
			}
		}
		must(chromedp.Do(ctx, chromedp.EmulateViewport(1280, 900)))
		_, err := chromedp.Call(ctx, network.SetCookie,
			network.SetCookieParams{Name: c.Name, Value: c.Value, URL: s.server.URL})
		must(err)
		_, err = chromedp.Call(ctx, performance.Enable, performance.EnableParams{})
		must(err)
		must(chromedp.Do(ctx, chromedp.Navigate(s.server.URL+path)))
		there, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fmt.Sprintf("!!document.querySelector(%q)", selector)))
		if must(err); !there {
			text, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText"))
			s.b.Fatalf("%s has no %s: %s", path, selector, text)
		}
		got, err := chromedp.Run(ctx, chromedp.Evaluate[paint](askPaint, chromedp.EvalAwaitPromise))
		must(err)
		before := mainThread(s.b, ctx)
		frames, err := chromedp.Run(ctx, chromedp.Evaluate[float64](panPage, chromedp.EvalAwaitPromise))
		must(err)
		m.add("frame-ms", (mainThread(s.b, ctx)-before)/frames*1000)
		m.add("paint-ms", got.Paint)
		m.add("shift", got.Shift)
		m.add("loaded-ms", got.Loaded)
		m.add("assets-KB", got.Bytes/1000)
		m.add("page-KB", got.Page/1000)
		m.add("elements", got.Nodes)
	}
	m.report(s.b)
}

// BenchmarkPaint shows pages in headless Chromium.
func BenchmarkPaint(b *testing.B) {
	requireBench(b)
	b.Run("card", func(b *testing.B) {
		eachSize(b, func(b *testing.B, s *stage, _ int) {
			s.measurePaint("/w/bench/"+url.PathEscape(cardName(s.p, 70)), ".text")
		})
	})
	b.Run("list", func(b *testing.B) {
		eachSize(b, func(b *testing.B, s *stage, _ int) { s.measurePaint("/w/bench", "#cards a") })
	})
	b.Run("graph", func(b *testing.B) {
		s := serve(b, b.TempDir())
		s.fillGraph()
		s.measurePaint("/graph/bench/"+entityID(0).String()+"?steps=4", ".drawing svg, svg.drawing")
	})
	b.Run("graph/50000", func(b *testing.B) {
		serve(b, stagedCampaign(b)).measurePaint("/graph/bench/"+entityID(0).String()+"?steps=4", ".drawing svg")
	})
	b.Run("places/100000", func(b *testing.B) {
		serve(b, placesFolder(b)).measurePaint("/places/bench?steps=5&at="+placeCode(places/2), ".drawing svg")
	})
	b.Run("places", func(b *testing.B) {
		s, all := serve(b, b.TempDir()), places
		places = drawnPlaces
		defer func() { places = all }()
		fillPlaces(b, s.app, s.world, s.p)
		s.measurePaint("/places/bench?steps=5&at="+placeCode(drawnPlaces/2), ".drawing svg, svg.drawing")
	})
}

// fillGraph creates entities each of which knows two others, all within a few steps of the first.
func (s *stage) fillGraph() {
	change(s.b, s.app, s.world, func(plan *canon.Plan) error {
		for i := range drawnEntities {
			if _, err := plan.Create(canon.NewCard{ID: entityID(i), Name: entityName(s.p, i),
				Type: entityTypes[i%len(entityTypes)], Content: "<p>" + s.p.text(300) + "</p>"}); err != nil {
				return err
			}
		}
		for i := range drawnEntities {
			for _, to := range []int{i / 4, (i + 1) % drawnEntities} {
				if to == i {
					continue
				}
				bond, from, other := relationshipTypes[to%len(relationshipTypes)], entityID(i), entityID(to)
				if _, err := plan.Link(canon.Link{ID: canon.LinkIDOf("relationship", from.String(), other.String(), bond),
					Kind: "relationship", From: from, To: other, Label: access.NewLabel(access.LevelUser),
					Attrs: json.RawMessage(fmt.Sprintf(`{"type":%q,"inverse":%q,"tone":"neutral","strength":1}`, bond,
						bond))}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
