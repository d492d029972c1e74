package scaletest

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/wait"
)

// TestLimitsHoldOverProcesses makes most of a caller's writes at one process, and checks that the
// other process counts them too. Each process learns of the other's calls at the next exchange, so
// the calls at the second are two exchanges apart.
func TestLimitsHoldOverProcesses(t *testing.T) {
	at := database(t)
	limited := app.Options{Profile: access.ProfileDefault}
	here := serve(t, openApp(t, at, limited))
	if err := here.app.EnsureWorld(t.Context()); err != nil {
		t.Fatal(err)
	}
	there := serve(t, openApp(t, at, limited))
	key, _ := here.key("keeper", access.RoleGM)
	begin := time.Now()
	write := func(s served, n int) int {
		status, body := s.call(key, "POST", "/api/mcp/cards",
			map[string]any{"name": fmt.Sprintf("Card %d of %s", n, s.url[len("http://"):]), "content": "x"})
		if status != http.StatusCreated && status != http.StatusTooManyRequests {
			t.Fatalf("%d %s", status, body)
		}
		return status
	}
	given := 0
	for n := range 30 { // 20 a minute are allowed, and 10 a second
		if write(here, n) == http.StatusCreated {
			given++
		}
		if n%8 == 7 {
			wait.For(t.Context(), time.Second)
		}
	}
	for n := 0; n < 20; n++ {
		wait.For(t.Context(), 2*access.Exchange)
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
