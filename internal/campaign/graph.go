package campaign

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/slicesx"
	"loregate/internal/surface"
)

func mapOps(d *deps) []*op.Operation {
	return []*op.Operation{surface.DefineRead(d.Kit, op.Spec{
		Name: "relationship_map",
		Asked: []string{
			"who knows these people", "everyone connected to a person",
			"family, friends and enemies of somebody", "network of people", "ties of somebody",
			"people that somebody is tied to", "who stands close to a person",
			"through which people do they know each other", "who is tied to , and how", "family of a person",
			"friends and foes of somebody", "how are two people connected", "who is he married to",
			"family and friends of somebody", "web of ties", "who is connected to whom", "net around a person",
			"allies and enemies of somebody",
		},
		Title: "Map relationships",
		Doc: "Get the entities that are connected to an entity, directly or through others, up to four steps away: nearest first, with all relationships among them. " +
			"At most 200 entities are returned; truncated is set if there are more. " +
			"With as_of_session, they are as they stood when that session was completed: their names, types and relationships " +
			"then, as far as you saw them then and see the entities today. For the GM this includes reveals recorded " +
			"for the session before the next was completed. A session after all completed ones is the present.",
		Route:  "GET /api/campaigns/{campaign_id}/entities/{entity_id}/map",
		Target: "entity_id",
		Examples: []op.Example{
			{Title: "Two steps around somebody",
				Input: `{"campaign_id": "ashlar-pass", "entity_id": "01920000-0000-7000-8000-000000000001", "depth": 2}`},
			{Title: "As they stood after the second session",
				Input: `{"campaign_id": "ashlar-pass", "entity_id": "01920000-0000-7000-8000-000000000001", "as_of_session": 2}`},
		},
	}, relationshipMap)}
}

// maxNodes is the highest number of nodes in a map.
const maxNodes = 200

type mapIn struct {
	maybeCampaign
	EntityID    ref  `json:"entity_id" jsonschema:"Id of the entity in the middle."`
	Depth       int  `json:"depth,omitzero" default:"1" min:"1" max:"4" jsonschema:"Maximum number of steps."`
	AsOfSession *int `json:"as_of_session,omitzero" min:"0" max:"100000" jsonschema:"Number of a session; default now."`
	Offset      int  `json:"offset,omitzero" default:"0" min:"0" max:"200" jsonschema:"Nodes to skip, with the relationships among them; as in next of a long answer."`
}

// node is an entity of a map.
type node struct {
	mention
	Depth int `json:"depth" jsonschema:"Steps from the center."`
}

// edge is a relationship between two nodes.
type edge struct {
	ID       canon.LinkID `json:"id"`
	Source   canon.CardID `json:"source_id"`
	Target   canon.CardID `json:"target_id"`
	Type     string       `json:"type" jsonschema:"Relation of the source to the target."`
	Inverse  string       `json:"inverse"`
	Tone     string       `json:"tone"`
	Strength int          `json:"strength"`
	KnownTo  knownTo      `json:"known_to,omitzero" jsonschema:"For the GM: who sees the relationship."`

	late int // index of the later of its two ends among all nodes
}

type mapOut struct {
	Center        mention           `json:"center"`
	AsOfSession   *int              `json:"as_of_session,omitzero" jsonschema:"The session that was asked for."`
	Nodes         []node            `json:"nodes" jsonschema:"The center first, then by distance and name. Empty if you did not see the center at the end of the session."`
	Relationships []edge            `json:"relationships"`
	Reached       int               `json:"reached" jsonschema:"Number of entities reached, including the center."`
	Truncated     bool              `json:"truncated" jsonschema:"There are more: entities beyond the 200 nearest, or the nodes that next returns."`
	Next          *surface.NextCall `json:"next,omitzero" jsonschema:"The call that returns the rest."`

	offset int
	again  func(offset int) *surface.NextCall
}

// Cut drops nodes from the end, and the relationships that have one of them as an end.
func (o mapOut) Cut(budget int) (any, map[string]any, bool) {
	keep := len(o.Nodes)
	for keep > 1 {
		size := surface.Overhead
		for _, e := range o.Relationships {
			if e.late < o.offset+keep {
				size += 330 + len(e.Type) + len(e.Inverse) // about the size of an edge as JSON
			}
		}
		for _, n := range o.Nodes[:keep] {
			size += 100 + len(n.Name)
		}
		if size <= budget {
			break
		}
		keep -= 1 + keep/16
	}
	if keep == len(o.Nodes) {
		return o, nil, false
	}
	end := o.offset + keep
	o.Nodes, o.Truncated, o.Next = o.Nodes[:keep], true, o.again(end)
	edges := slicesx.Filter(o.Relationships, func(e edge) bool { return e.late < end })
	o.Relationships = edges
	return o, o.Next.Arguments, true
}

func relationshipMap(ctx context.Context, l *canon.Snapshot, _ *op.Call, in mapIn) (mapOut, error) {
	center, err := entityOf(ctx, l, in.EntityID)
	if err != nil {
		return mapOut{}, err
	}
	at, err := in.seq(ctx, l)
	if err != nil {
		return mapOut{}, err
	}
	r, err := l.Reach(ctx, canon.ReachQuery{From: center.ID, Kinds: []string{kindRelation}, Both: true, Depth: in.Depth,
		Limit: maxNodes, AsOf: at})
	if err != nil {
		return mapOut{}, err
	}
	nodes, err := nodesAsOf(ctx, l, r, at, in.Depth)
	if err != nil {
		return mapOut{}, err
	}
	out := mapOut{Center: mentionOf(center), AsOfSession: in.AsOfSession, Nodes: []node{}, Relationships: []edge{},
		Reached: len(nodes), Truncated: r.Cut,
		offset: in.Offset, again: in.nextCallFrom(l)}
	place := make(map[canon.CardID]int, len(nodes))
	for i, n := range nodes {
		place[n.ID] = i
	}
	out.Nodes = append(out.Nodes, nodes[min(in.Offset, len(nodes)):]...)
	for _, k := range r.Links {
		from, known := place[k.From]
		to, also := place[k.To]
		if late := max(from, to); known && also && late >= in.Offset {
			b := attrsOf(k)
			out.Relationships = append(out.Relationships, edge{k.ID, k.From, k.To, b.Type, b.Inverse, b.Tone, b.Strength,
				shownTo(l, k.Label), late})
		}
	}
	return out, nil
}

// seq returns the commit whose state is asked for; 0 is the present.
func (in mapIn) seq(ctx context.Context, l *canon.Snapshot) (canon.Seq, error) {
	if in.AsOfSession == nil {
		return 0, nil
	}
	h, err := historyFor(ctx, l, *in.AsOfSession)
	if err != nil {
		return 0, err
	}
	at := h.asOf(*in.AsOfSession)
	if at == 0 {
		return 0, fault.BadField("as_of_session", "is before the first completed session; give the number of a later one")
	}
	return at, nil
}

// nodesAsOf returns the cards that were reached as they stood at a commit, by their distance and name. It leaves out
// those that the caller did not see then, and those that are connected through these alone.
func nodesAsOf(ctx context.Context, l *canon.Snapshot, r canon.Reached, at canon.Seq, depth int) ([]node, error) {
	if at == 0 {
		nodes := make([]node, len(r.Cards))
		for i, c := range r.Cards {
			nodes[i] = node{mentionOf(c), r.Depth[i]}
		}
		return nodes, nil
	}
	versions, err := l.CardsAt(ctx, slicesx.Map(r.Cards, func(c canon.Card) canon.CardID { return c.ID }), at)
	if err != nil {
		return nil, err
	}
	then := map[canon.CardID]mention{}
	for _, v := range versions {
		if kind := kindByType[markup.KeyOf(v.Type)]; kind != "" {
			then[v.Card] = mention{v.Card, v.Name, kind}
		}
	}
	beside := map[canon.CardID][]canon.CardID{}
	for _, k := range r.Links {
		beside[k.From], beside[k.To] = append(beside[k.From], k.To), append(beside[k.To], k.From)
	}
	var nodes []node
	front := []canon.CardID{r.Cards[0].ID}
	for n := 0; n <= depth && len(front) > 0; n++ {
		first, next := len(nodes), []canon.CardID(nil)
		for _, id := range front {
			if m, known := then[id]; known {
				delete(then, id)
				nodes, next = append(nodes, node{m, n}), append(next, beside[id]...)
			}
		}
		slices.SortFunc(nodes[first:], func(a, b node) int {
			return cmp.Or(cmp.Compare(a.Name, b.Name), bytes.Compare(a.ID[:], b.ID[:]))
		})
		front = next
	}
	return nodes, nil
}

// nextCallFrom returns a function that makes the call for the nodes from an offset on.
func (in mapIn) nextCallFrom(l *canon.Snapshot) func(offset int) *surface.NextCall {
	return func(offset int) *surface.NextCall {
		arguments := map[string]any{"campaign_id": l.World().Slug, "entity_id": in.EntityID, "depth": in.Depth,
			"offset": offset}
		if in.AsOfSession != nil {
			arguments["as_of_session"] = *in.AsOfSession
		}
		return &surface.NextCall{Tool: "relationship_map", Arguments: arguments}
	}
}
