package boundstest

import (
	"net/http"
	"testing"

	"loregate/internal/app/apptest"
	"loregate/internal/programtest"
)

// The program starts within the limits and answers.
func TestBoundsOfStart(t *testing.T) {
	programtest.Long(t)
	onEachStore(t, func(t *testing.T, p *program) {
		p.attack("a start and one call", func() {
			if status, answer := apptest.Send(t, "GET", p.url+"/api/mcp/cards", p.player, ""); status != http.StatusOK {
				t.Errorf("%d: %s", status, answer)
			}
		})
	})
}
