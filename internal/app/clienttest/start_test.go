package clienttest

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/canon"
)

// number returns the positive number in an environment variable, or fallback.
func number(variable string, fallback int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil && n > 0 {
		return n
	}
	return fallback
}

// serve serves the sample world on default limits, with additional cards, and returns a key of
// a role.
func serve(t testing.TB, role access.Role, cards int) server {
	t.Helper()
	return serveWith(t, role, cards, app.Options{})
}

func serveWith(t testing.TB, role access.Role, cards int, options app.Options) server {
	t.Helper()
	data := t.TempDir()
	keys := apptest.Sample(t, data)
	a, _ := apptest.Open(t, apptest.Config(t, data), options)
	fill(t, a, keys.World, cards)
	addr, _ := apptest.Serve(t, a, "")
	for _, k := range keys.Keys {
		if k.Role == role {
			return server{"http://" + addr + "/mcp", k.Secret}
		}
	}
	t.Fatal("the sample has no key of this role")
	return server{}
}

// fill creates cards that players see, in commits of 500.
func fill(t testing.TB, a *app.App, w canon.World, cards int) {
	t.Helper()
	author := access.Caller{Subject: "filler", Actor: access.Person, EveryRole: access.RoleAdmin, Unlimited: true}
	for at := 0; at < cards; at += 500 {
		err := a.WithGrant(t.Context(), author, access.Request{Operation: "fill", Effect: access.Write, World: w.ID},
			func(g access.Grant) error {
				_, err := a.Canon.Update(t.Context(), g, func(p *canon.Plan) error {
					for i := at; i < min(at+500, cards); i++ {
						if _, err := p.Create(canon.NewCard{Name: fmt.Sprintf("Ledger %d", i),
							Content: "<p>An entry of the harbour's ledger.</p>"}); err != nil {
							return err
						}
					}
					return nil
				})
				return err
			})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestClientsKeepTheirTools starts every client ten times in a row, on default limits, with a
// world of 20,000 cards. Each time the client must offer its model all tools of the default set, and
// get an answer from one, and through one from an operation that is not listed.
func TestClientsKeepTheirTools(t *testing.T) {
	programs(t)
	starts, cards := number("CLIENT_STARTS", 10), number("CLIENT_CARDS", 20_000)
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			at := serve(t, access.RoleUser, cards)
			fewest := -1
			for i := range starts {
				m := newModel(t, func(t talk) step {
					switch {
					case len(t.results) == 0 && slices.Contains(t.tools, "browse"):
						return step{tool: "browse", args: object{"name": "Rent Quay"}}
					case len(t.results) == 1 && slices.Contains(t.tools, "call_operation"):
						return step{tool: "call_operation", args: object{"operation": "get_card",
							"arguments": object{"name": "Rent Quay"}}}
					}
					return step{say: "done"}
				})
				said := converse(t, c, at, m, "Read the card Rent Quay.")
				seen, asked := m.last()
				if asked == 0 || len(seen.tools) == 0 {
					t.Errorf("start %d: no tool was offered; the client said: %.600s; not understood: %v", i+1, said, m.odd)
					continue
				}
				if fewest < 0 {
					fewest = len(seen.tools)
				}
				if len(seen.tools) != fewest {
					t.Errorf("start %d: %d tools were offered, %d before", i+1, len(seen.tools), fewest)
				}
				if len(seen.tools) > 16 {
					t.Errorf("start %d: %d tools were offered: %v", i+1, len(seen.tools), seen.tools)
				}
				if len(seen.results) != 2 || !strings.Contains(seen.results[0], "Fishgate Market") ||
					!strings.Contains(seen.results[1], "The front doorstep of") {
					t.Errorf("start %d: the answers did not reach the model: %.900q", i+1, seen.results)
				}
			}
			t.Logf("%s: %d starts, %d tools each, %d cards", c.name, starts, fewest, cards)
		})
	}
}
