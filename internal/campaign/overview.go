package campaign

import (
	"cmp"
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func campaignOps(d *deps) []*op.Operation {
	return []*op.Operation{
		op.Define(op.Spec{
			Name: "campaign_list",
			Asked: []string{
				"which tables do I play at", "my games and my part in them", "rules are we using",
				"which adventure am I in", "am I player or master", "which campaigns am I part of",
				"we play here", "our stories", "tables that I take part in", "which adventures are there",
				"games that I lead or play",
			},
			Title:    "List campaigns",
			Doc:      "List your campaigns with their game systems and your role in each: player or GM. Start here.",
			Surfaces: []string{Surface}, Effect: access.Read, NoWorld: true,
			Route:    "GET /api/campaigns",
			Examples: []op.Example{{Title: "Mine", Input: `{}`}},
		}, d.campaignList),
		surface.DefineRead(d.Kit, op.Spec{
			Name: "campaign_get",
			Asked: []string{
				"summary of our table", "how many people, places and evenings are recorded", "the story about",
				"how many people and things does our story have", "our campaign about",
				"numbers of our campaign", "overview of the story", "how large is our campaign",
				"summary of the adventure",
			},
			Title:    "Read a campaign",
			Doc:      "Get the description of a campaign, and the number of its entities, relationships, sessions and timeline events that you may see.",
			Route:    "GET /api/campaigns/{campaign_id}",
			Examples: []op.Example{{Title: "One of them", Input: `{"campaign_id": "ashlar-pass"}`}},
		}, campaignGet),
	}
}

// campaign is a campaign in the list.
type campaign struct {
	ID     string `json:"id"`
	Slug   string `json:"slug"`
	Name   string `json:"name"`
	System string `json:"system" jsonschema:"Code of the game system, such as coc-7e; empty if none is set."`
	Role   string `json:"role" jsonschema:"Your role in it: player, gm or admin."`
}

// settingSystem is the key of the world setting that names the game system.
const settingSystem = "system"

// roleWords maps roles to their names in a campaign.
var roleWords = map[access.Role]string{access.RoleUser: "player", access.RoleGM: "gm", access.RoleAdmin: "admin"}

func campaignOf(w canon.World, role access.Role) campaign {
	return campaign{w.ID.String(), w.Slug, markup.Clean(cmp.Or(w.Title, w.Slug)),
		markup.Clean(w.Settings.Extra[settingSystem]),
		roleWords[role]}
}

type campaignListIn struct{}

type campaignsOut struct {
	Campaigns []campaign `json:"campaigns"`
}

func (d *deps) campaignList(ctx context.Context, c *op.Call, _ campaignListIn) (campaignsOut, error) {
	all, err := d.Canon.Worlds(ctx)
	out := campaignsOut{[]campaign{}}
	caller := c.Grant.Caller()
	for _, w := range all {
		role := caller.Role(w.ID)
		if role > access.RoleNone && (caller.Home.IsZero() || caller.Home == w.ID) {
			out.Campaigns = append(out.Campaigns, campaignOf(w, role))
		}
	}
	return out, err
}

type campaignGetIn struct{ inCampaign }

// stats counts the objects that the caller sees.
type stats struct {
	Entities      int `json:"entities"`
	Relationships int `json:"relationships"`
	Sessions      int `json:"sessions"`
	Events        int `json:"events"`
}

type campaignOut struct {
	campaign
	Description string `json:"description"`
	Stats       stats  `json:"stats"`
	AtLeast     bool   `json:"stats_are_lower_bounds,omitzero" jsonschema:"The counts are lower bounds."`
}

func campaignGet(ctx context.Context, l *canon.Snapshot, c *op.Call, _ campaignGetIn) (campaignOut, error) {
	w := l.World()
	out := campaignOut{campaign: campaignOf(w, c.Grant.Role()), Description: markup.Clean(w.Settings.Description)}
	use, err := l.TypeUse(ctx)
	if err != nil {
		return out, err
	}
	for _, t := range entityTypes {
		out.Stats.Entities += use[string(markup.KeyOf(t))]
	}
	out.Stats.Sessions, out.Stats.Events = use[string(markup.KeyOf(typeSession))], use[string(markup.KeyOf(typeTimeline))]
	_, links, err := l.Links(ctx, canon.LinkQuery{Kinds: []string{kindRelation}, Page: canon.Page{Limit: 1}})
	out.Stats.Relationships, out.AtLeast = links.Count, links.AtLeast
	return out, err
}
