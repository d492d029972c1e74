package app

import (
	"context"
	"fmt"
	"io"

	"loregate/internal/access"
	"loregate/internal/campaign"
	"loregate/internal/canon"
	"loregate/internal/identity"
	"loregate/internal/op"
	"loregate/internal/sample"
)

// openCampaign adds the campaign surface.
func (a *App) openCampaign(tags op.ReadTags) error {
	s, err := campaign.New(campaign.Config{Canon: a.Canon, Tags: tags})
	if err == nil {
		a.Surfaces = append(a.Surfaces, s)
	}
	return err
}

// SampleCampaign is the slug of the sample campaign.
const SampleCampaign = "ashlar-pass"

// sampleSeats are the subjects who have keys to the sample campaign. Some facts are revealed to one
// player and not to the other.
var sampleSeats = []struct {
	name    string
	subject access.Subject
	role    access.Role
}{
	{"player", "sample-ada", access.RoleUser},
	{"player", "sample-ben", access.RoleUser},
	{"gm", "sample-keeper", access.RoleGM},
}

// loadCampaign loads the sample campaign beside the sample world, and creates keys for its seats.
// They open only the campaign, so no caller with a key of the sample has to name a world.
func (a *App) loadCampaign(ctx context.Context) (keys []SampleKey, err error) {
	w, err := a.CreateWorld(ctx, canon.NewWorld{Slug: SampleCampaign, Title: "The Ninth Train", Settings: canon.Settings{
		Description: "A winter on a mountain railway, where a man froze beside a warm stove: the sample campaign.",
		GMRights:    canon.GMRightsAll,
		Extra:       map[string]string{"system": "coc-7e"},
	}})
	if err != nil {
		return nil, err
	}
	err = a.runAsOperator(ctx, w.ID, "load_sample", access.Write, func(g access.Grant) error {
		return campaign.Load(ctx, a.Canon, g, sample.Campaign())
	})
	if err != nil {
		return nil, err
	}
	for _, seat := range sampleSeats {
		secret, _, err := a.CreateKey(ctx, identity.KeySpec{Name: "sample " + string(seat.subject), Subject: seat.subject,
			Actor: access.AI, MaxRole: seat.role}, []string{SampleCampaign})
		if err != nil {
			return nil, err
		}
		keys = append(keys, SampleKey{seat.role, secret})
	}
	return keys, nil
}

// printCampaign prints the keys of the sample campaign.
func (s *Sample) printCampaign(w io.Writer, url string) {
	if len(s.Campaign) == 0 {
		return
	}
	fmt.Fprintf(w, "The campaign \"The Ninth Train\" (%s) is loaded too, with its own keys:\n\n", SampleCampaign)
	for i, k := range s.Campaign {
		fmt.Fprintf(w, "  %-6s %s  (%s)\n", sampleSeats[i].name, k.Secret, sampleSeats[i].subject)
	}
	fmt.Fprintf(w, "\n  curl -s -H \"Authorization: Bearer %s\" \"%s/api/campaigns/%s/entities?query=signalman\"\n\n",
		s.Campaign[0].Secret, url, SampleCampaign)
}
