package front

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/op"
)

type browseIn struct {
	Name   string `json:"name,omitzero" maxlen:"1020" jsonschema:"Name of a place, person or page; without it, the world as a whole."`
	View   string `json:"view,omitzero" enum:"around,children,links,map,timeline" default:"around" jsonschema:"around: below, linked and connected. map: places and people nearby. timeline: dated events, of name or of all."`
	Depth  int    `json:"depth,omitzero" default:"1" min:"1" max:"4" jsonschema:"How many steps away to look, for children and map."`
	Since  string `json:"since,omitzero" maxlen:"100" alias:"from" jsonschema:"First date of a timeline."`
	Until  string `json:"until,omitzero" maxlen:"100" alias:"to" jsonschema:"Last date of a timeline."`
	Offset int    `json:"offset,omitzero" default:"0" min:"0" jsonschema:"Entries to skip, for the next part of a list."`
}

// browseOut lists what lies around a card. Its rows name things; only the card itself has an id.
type browseOut struct {
	Name      string      `json:"name,omitzero"`
	Type      string      `json:"type,omitzero"`
	ID        string      `json:"id,omitzero"`
	World     *worldOut   `json:"world,omitempty"`
	Children  []row       `json:"children,omitempty"`
	Links     []string    `json:"links,omitempty"`
	LinkedBy  []row       `json:"linked_by,omitempty"`
	Ways      []way       `json:"ways,omitempty"`
	Relations []string    `json:"relations,omitempty"`
	Timeline  []happening `json:"timeline,omitempty"`
	More      []string    `json:"more,omitempty" jsonschema:"Calls that continue the lists."`
}

type row struct {
	Name string `json:"name"`
	Type string `json:"type,omitzero"`
}

type way struct {
	Name string `json:"name"`
	By   string `json:"by"`
}

type happening struct {
	Date        string `json:"date,omitzero"`
	Description string `json:"description"`
	Who         string `json:"who,omitzero"`
}

type worldOut struct {
	World    string `json:"world"`
	Role     string `json:"role"`
	Cards    int    `json:"cards"`
	TopCards []row  `json:"top_cards,omitempty"`
	Types    []struct {
		Name  string `json:"name"`
		Count int    `json:"count"`
	} `json:"types,omitempty"`
}

// rowLimit is the number of rows of one list of an answer.
const rowLimit = 40

func (f *Front) browseOp() *op.Operation {
	return define(op.Spec{
		Name: "browse", Title: "Look around", Effect: access.Read, Target: "name",
		Asked: []string{"which pages mention it", "family, friends and enemies of somebody", "in which year was that",
			"pages below this one", "overview of the whole world", "neighbouring places", "before or after that event"},
		Doc: "See the surroundings of a name: the subpages, parts and chapters below it, links to and from it, which " +
			"pages point to or mention it, neighbouring places, the routes and distances between them, " +
			"family, friends, enemies and other ties of somebody, and a chronology: when something happened, in " +
			"which year, before or after which event. " +
			"Without a name: an overview of the whole world, its biggest pages and their kinds.",
		Examples: []op.Example{{Title: "A place and its surroundings", Input: `{"name": "Rent Quay"}`},
			{Title: "All events", Input: `{"view": "timeline"}`}},
	}, f.browse)
}

func (f *Front) browse(ctx context.Context, c *op.Call, in browseIn) (out browseOut, err error) {
	if in.Name == "" {
		return f.browseWorld(ctx, c, in)
	}
	card, err := f.findCard(ctx, c, in.Name)
	if err != nil {
		return out, err
	}
	out.Name, out.Type, out.ID = card.Name, card.Type, card.ID
	parts := map[string][]func(context.Context, *op.Call, foundCard, browseIn, *browseOut) error{
		"children": {f.addChildren}, "links": {f.addLinks}, "map": {f.addWays, f.addRelations}, "timeline": {f.addTimeline},
		"around": {f.addChildren, f.addLinks, f.addWays, f.addRelations},
	}[in.View]
	for _, add := range parts {
		if err := add(ctx, c, card, in, &out); err != nil {
			return browseOut{}, err
		}
	}
	return out, nil
}

func (f *Front) browseWorld(ctx context.Context, c *op.Call, in browseIn) (out browseOut, err error) {
	switch in.View {
	case "timeline":
		return out, f.addTimeline(ctx, c, foundCard{}, in, &out)
	case "map":
		return out, f.addWays(ctx, c, foundCard{Type: placeType}, in, &out)
	}
	w, err := invoke[worldOut](ctx, f, c, "get_site_context", args{})
	w.TopCards = w.TopCards[:min(len(w.TopCards), rowLimit)]
	out.World = &w
	return out, err
}

// foundCard is a card as get_card describes it.
type foundCard struct {
	Name  string   `json:"name"`
	Type  string   `json:"type"`
	ID    string   `json:"id"`
	Level string   `json:"level"`
	Form  string   `json:"text_format"`
	Code  string   `json:"codename"`
	Links []string `json:"links"`
	More  int      `json:"more_links"`

	Homonyms []struct {
		ID    string `json:"id"`
		Level string `json:"level"`
	} `json:"homonyms"`
}

// findCard finds a card by any of its names.
func (f *Front) findCard(ctx context.Context, c *op.Call, name string) (foundCard, error) {
	return invoke[foundCard](ctx, f, c, "get_card", args{"name": name, "max_content_length": 1})
}

func (f *Front) addChildren(ctx context.Context, c *op.Call, card foundCard, in browseIn, out *browseOut) error {
	page, err := invoke[struct {
		Children []row `json:"children"`
		Next     *int  `json:"next_offset"`
	}](ctx, f, c, "list_children", args{"name": "~" + card.ID, "depth": in.Depth, "limit": rowLimit, "offset": in.Offset})
	if out.Children = page.Children; page.Next != nil {
		out.More = append(out.More, nextBrowse(card, "children", *page.Next))
	}
	return err
}

func (f *Front) addLinks(ctx context.Context, c *op.Call, card foundCard, in browseIn, out *browseOut) error {
	page, err := invoke[struct {
		Cards []row `json:"cards"`
		Next  *int  `json:"next_offset"`
	}](ctx, f, c, "get_relationships", args{"name": "~" + card.ID, "kind": "referers", "limit": rowLimit,
		"offset": in.Offset})
	if in.Offset == 0 {
		out.Links = card.Links[:min(len(card.Links), rowLimit)]
	}
	if out.LinkedBy = page.Cards; page.Next != nil {
		out.More = append(out.More, nextBrowse(card, "links", *page.Next))
	}
	return err
}

// nextBrowse returns the call that continues a list.
func nextBrowse(card foundCard, view string, offset int) string {
	a := args{"view": view, "offset": offset}
	set(a, "name", card.Name)
	return callText("browse", a)
}

// placeType is the type of cards that have ways to others.
const placeType = "Location"

func (f *Front) addWays(ctx context.Context, c *op.Call, card foundCard, in browseIn, out *browseOut) error {
	if card.Type != placeType {
		return nil
	}
	at := args{"depth": in.Depth}
	set(at, "locationId", card.ID)
	near, err := invoke[struct {
		Item *struct {
			Neighbors []struct {
				Name string   `json:"name"`
				Path []string `json:"path"`
			} `json:"neighbors"`
		} `json:"item"`
	}](ctx, f, c, "get-spatial-context", at)
	if err != nil || near.Item == nil {
		return ignoreAbsent(err)
	}
	for _, n := range near.Item.Neighbors[:min(len(near.Item.Neighbors), rowLimit)] {
		out.Ways = append(out.Ways, way{n.Name, joinWords(n.Path)})
	}
	return nil
}

func (f *Front) addRelations(ctx context.Context, c *op.Call, card foundCard, in browseIn, out *browseOut) error {
	m, err := invoke[struct {
		Nodes []struct {
			ID   string `json:"id"`
			Name string `json:"name"`
		} `json:"nodes"`
		Relationships []struct {
			Source string `json:"source_id"`
			Target string `json:"target_id"`
			Type   string `json:"type"`
			Tone   string `json:"tone"`
		} `json:"relationships"`
	}](ctx, f, c, "relationship_map", args{"entity_id": card.ID, "depth": in.Depth})
	if err != nil {
		return ignoreAbsent(err)
	}
	names := map[string]string{}
	for _, n := range m.Nodes {
		names[n.ID] = n.Name
	}
	for _, r := range m.Relationships[:min(len(m.Relationships), rowLimit)] {
		line := names[r.Source] + ": " + r.Type + " " + names[r.Target]
		if r.Tone != "" && r.Tone != "unknown" && r.Tone != "neutral" {
			line += " (" + r.Tone + ")"
		}
		out.Relations = append(out.Relations, line)
	}
	return nil
}

func (f *Front) addTimeline(ctx context.Context, c *op.Call, card foundCard, in browseIn, out *browseOut) error {
	query := args{"limit": rowLimit, "offset": in.Offset}
	set(query, "entity_id", card.ID)
	set(query, "start_date", in.Since)
	set(query, "end_date", in.Until)
	page, err := invoke[struct {
		Events []struct {
			Date        string `json:"date"`
			Description string `json:"description"`
			Entities    []row  `json:"entities"`
		} `json:"events"`
		Next *int `json:"next_offset"`
	}](ctx, f, c, "timeline_query", query)
	if err != nil {
		return err
	}
	for _, e := range page.Events {
		var who []string
		for _, one := range e.Entities {
			who = append(who, one.Name)
		}
		out.Timeline = append(out.Timeline, happening{e.Date, cutSentence(e.Description, 400), joinWords(who)})
	}
	if page.Next != nil {
		out.More = append(out.More, nextBrowse(card, "timeline", *page.Next))
	}
	return nil
}

// ignoreAbsent returns nil for an error that only means that a card has no such part.
func ignoreAbsent(err error) error {
	if isAbsent(err) {
		return nil
	}
	return err
}
