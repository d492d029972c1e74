package benchtest

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/identity"
	"loregate/internal/loadtest"
)

// The live pages that stand open: for each feed, some of each person.
const (
	livePeople = 10
	liveEach   = 7
)

// liveFeeds are the feeds of the pages: play and the map follow the first, the queue of proposals the second, the list of
// runs the third. The stream of one run ends with its run, so none stands open for long.
var liveFeeds = []string{"map", "proposals", "runs"}

// BenchmarkLivePages opens the streams of 210 pages of the program, in its own process, on the world of places, and
// writes cards by eight clients, which wakes all streams. It reports the memory of the process.
func BenchmarkLivePages(b *testing.B) {
	requireBench(b)
	dir, path := placesFolder(b), program(b)
	key := keyOf(b, path, dir)
	var codes []string
	a := openApp(b, dir)
	for i := range livePeople {
		link, err := a.SignInLink(b.Context(), "", identity.KeySpec{Name: "bench",
			Subject: access.Subject(fmt.Sprintf("reader-%d", i)), Actor: access.Person, MaxRole: access.RoleGM, Approve: true},
			[]string{worldName})
		if err != nil {
			b.Fatal(err)
		}
		_, code, _ := strings.Cut(link, "#")
		codes = append(codes, code)
	}
	a.Close(context.WithoutCancel(b.Context()))
	s := startServer(b, path, dir)
	var cookies []*http.Cookie
	for _, code := range codes {
		cookies = append(cookies, openSession(b, s.url, code))
	}
	m := medians{}
	for b.Loop() {
		ctx, cancel := context.WithCancel(b.Context())
		var open sync.WaitGroup
		var messages atomic.Int64
		for _, cookie := range cookies {
			for n := range liveEach * len(liveFeeds) {
				lines := openStream(ctx, b, s.url+"/live/"+worldName+"/"+liveFeeds[n%len(liveFeeds)], cookie)
				open.Go(func() {
					for lines.Scan() {
						if strings.HasPrefix(lines.Text(), "event:") {
							messages.Add(1)
						}
					}
				})
			}
		}
		m.add("streams", livePeople*liveEach*float64(len(liveFeeds)))
		m.add("open-MB", s.memory(b, "RssAnon"))
		r, err := loadtest.Run(context.WithoutCancel(b.Context()), loadtest.Config{URLs: []string{s.url}, Key: key,
			World: worldName, Role: "admin", Cards: 10, Clients: 8, Duration: 10 * time.Second, Keep: true,
			Mix: map[loadtest.Kind]int{loadtest.Read: 3, loadtest.Write: 1}})
		if err != nil || r.Failed > 0 {
			b.Fatal(err, r)
		}
		m.add("written-MB", s.memory(b, "RssAnon"))
		m.add("peak-MB", s.memory(b, "VmHWM"))
		m.add("calls/s", r.PerSec)
		m.add("messages", float64(messages.Load()))
		cancel()
		open.Wait()
	}
	m.report(b)
}

// openStream opens the stream of a page and returns its lines, once the first has come.
func openStream(ctx context.Context, b *testing.B, url string, cookie *http.Cookie) *bufio.Scanner {
	b.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		b.Fatal(err)
	}
	r.AddCookie(cookie)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = res.Body.Close() }) // it was only read
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	if res.StatusCode != http.StatusOK || !lines.Scan() {
		b.Fatal(res.Status)
	}
	return lines
}
