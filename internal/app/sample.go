package app

import (
	"context"
	"errors"
	"fmt"
	"io"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/vault"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/sample"
)

// Sample holds the results of loading the sample world: the world and its keys, which are shown
// once.
type Sample struct {
	World canon.World
	Keys  []SampleKey

	Campaign []SampleKey // keys of the sample campaign, in the order of sampleSeats
}

// SampleKey is a key of the sample world.
type SampleKey struct {
	Role   access.Role
	Secret string
}

// SampleWorld is the slug of the sample world.
const SampleWorld = "lendwater"

// LoadSample loads the sample world into an empty store and creates a key for each role. If the
// store already has a world, it does nothing and returns nil.
func (a *App) LoadSample(ctx context.Context, progress func(done, total int)) (*Sample, error) {
	all, err := a.Canon.Worlds(ctx)
	if err != nil || len(all) > 0 {
		return nil, err
	}
	w, err := a.CreateWorld(ctx, canon.NewWorld{Slug: SampleWorld, Title: "Lendwater", First: true,
		Settings: canon.Settings{
			Description: "Lendwater, a town on seabed leased from the sea: the sample world.",
			Starter:     "Rent Quay",
		}})
	if errors.Is(err, fault.Conflict) {
		return nil, nil // another process made a world meanwhile
	}
	if err != nil {
		return nil, err
	}
	err = a.runAsOperator(ctx, w.ID, "load_sample", access.Write, func(g access.Grant) error {
		summary, err := vault.Import(ctx, a.Canon, g, sample.Files(),
			vault.Options{Options: exchange.Options{Label: "sample", Level: access.LevelUser, Progress: progress}, Native: true})
		if err == nil && len(summary.Problems) > 0 {
			a.logger.Warn("the sample world was imported with problems", "first", summary.Problems[0].String(), "count",
				len(summary.Problems))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	made := &Sample{World: w}
	for _, role := range []access.Role{access.RoleUser, access.RoleGM, access.RoleAdmin} {
		secret, _, err := a.CreateKey(ctx, identity.KeySpec{Name: "sample " + role.String(),
			Subject: access.Subject("sample-" + role.String()),
			Actor:   access.AI, MaxRole: role}, []string{SampleWorld})
		if err != nil {
			return nil, err
		}
		made.Keys = append(made.Keys, SampleKey{role, secret})
	}
	made.Campaign, err = a.loadCampaign(ctx)
	return made, err
}

// Print prints the keys and, for each client, the line that connects it.
func (s *Sample) Print(w io.Writer, url string) {
	fmt.Fprintf(w, "The sample world %q is loaded. Its keys are shown only this once:\n\n", s.World.Title)
	for _, k := range s.Keys {
		fmt.Fprintf(w, "  %-6s %s\n", k.Role, k.Secret)
	}
	key := s.Keys[0].Secret
	fmt.Fprint(w, "\nRun one of these commands to connect a client (as user; use another key for another role):\n\n")
	printClients(w, clientsAt(url, key))
	fmt.Fprintf(w, `
Or send a request with curl:

  curl -s -H "Authorization: Bearer %[2]s" "%[1]s/api/mcp/cards?q=rent&limit=5"

`, url, key)
	s.printCampaign(w, url)
}

// URL returns the address at which clients reach a server that listens on addr.
func (c Config) URL(addr string) string {
	switch {
	case c.PublicURL != "":
		return c.PublicURL
	case c.TLS.Cert != "":
		return "https://" + addr
	}
	return "http://" + addr
}
