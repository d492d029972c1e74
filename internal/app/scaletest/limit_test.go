package scaletest

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
)

// TestLimitsHoldOverProcesses spends most of a caller's writes at one process, and finds
// them spent at the other. What the one does not know yet of the other is bounded by the
// time between two exchanges, so the calls are that far apart.
func TestLimitsHoldOverProcesses(t *testing.T) {
	at := database(t)
	limited := app.Options{Profile: access.ProfileDefault}
	here := serve(t, opened(t, at, limited))
	if err := here.app.EnsureWorld(t.Context()); err != nil {
		t.Fatal(err)
	}
	there := serve(t, opened(t, at, limited))
	key, _ := here.key("keeper", access.RoleGM)
	begin := time.Now()
	write := func(s served, n int) int {
		status, body := s.call(key, "POST", "/api/mcp/cards", map[string]any{"name": fmt.Sprintf("Card %d of %s", n, s.url[len("http://"):]), "content": "x"})
		if status != http.StatusCreated && status != http.StatusTooManyRequests {
			t.Fatalf("%d %s", status, body)
		}
		return status
	}
	given := 0
	for n := range 30 { // of 20 a minute, and 10 a second
		if write(here, n) == http.StatusCreated {
			given++
		}
		if n%8 == 7 {
			<-time.After(time.Second)
		}
	}
	for n := 0; n < 20; n++ {
		<-time.After(2 * access.Exchange)
		if write(there, n) == http.StatusTooManyRequests {
			break
		}
		given++
	}
	back := int(time.Since(begin)/(3*time.Second)) + 1 // a write comes back every three seconds
	if given > 20+back+1 || given < 18 {
		t.Errorf("%d writes in %s at two processes, of 20 a minute", given, time.Since(begin))
	}
}
