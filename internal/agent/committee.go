package agent

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"

	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/proposal"
)

// questTemplate is the prompt template for quests.
const questTemplate = "quest-seed"

// MaxCommittee is the largest number of drafts of a committee.
const MaxCommittee = 5

// QuestWish is a wish for a quest.
type QuestWish struct {
	Location string // of the giver; "" for the place where players begin
	Drafts   int    // 1 to MaxCommittee
	Seed     uint64
	Reward   string // such as "2 Sound Penny"; "" for words of thanks
}

// Committee is the result of a committee.
type Committee struct {
	Run      string           `json:"run"`    // the correlation id of all calls
	Status   string           `json:"status"` // skipped, or that of the proposal
	Why      string           `json:"why,omitempty"`
	Chosen   int              `json:"chosen,omitempty"` // number of the proposed draft, from 1
	Drafts   []Deliberated    `json:"drafts"`
	Proposal *proposal.Result `json:"proposal,omitempty"`
}

// Deliberated is a draft with the opinions on it.
type Deliberated struct {
	Title    string                  `json:"title"`
	Steps    int                     `json:"steps"`
	By       string                  `json:"by"` // the model, or the grammar
	Opinions []proposal.DraftOpinion `json:"opinions"`

	payload json.RawMessage
	hash    [sha256.Size]byte
	valid   bool
	risk    int
}

// grammarModel is the model name of arcs that the grammar wrote.
const grammarModel = "arcs/1.0"

// proposeQuest drafts arcs of quests, has the judges for canonicality and safety judge each, and proposes the best one
// with all opinions. It reads and proposes with the rights of the caller alone.
func (t *task) proposeQuest(ctx context.Context, wish QuestWish) (Committee, error) {
	out, err := t.holdCommittee(ctx, wish)
	if err != nil || out.Chosen == 0 {
		return out, err
	}
	return t.proposeChosen(ctx, out)
}

// holdCommittee drafts arcs, has them judged, and chooses the best one.
func (t *task) holdCommittee(ctx context.Context, wish QuestWish) (out Committee, err error) {
	if wish.Drafts < 1 || wish.Drafts > MaxCommittee {
		return out, fault.BadField("committee", "must be from 1 to 5")
	}
	out.Run = t.id
	parts, err := t.readCast(ctx, wish)
	if err != nil {
		return out, err
	}
	if parts.Giver.ID == "" {
		out.Status, out.Why = Skipped, "nobody at "+parts.Here.Name+" could give a quest; choose a place with a person"
		return out, nil
	}
	for _, composed := range composeArcs(parts, wish.Seed, wish.Drafts) {
		d, err := t.deliberate(ctx, parts, composed, len(out.Drafts)+1)
		if err != nil {
			return out, err
		}
		out.Drafts = append(out.Drafts, d)
	}
	if out.Chosen = chooseDraft(out.Drafts); out.Chosen == 0 {
		out.Status, out.Why = Skipped, "the judges let no draft through"
	}
	return out, nil
}

// deliberate has the n-th draft written and judged.
func (t *task) deliberate(ctx context.Context, parts cast, composed arc, n int) (d Deliberated, err error) {
	draft, by := t.writeArc(ctx, parts, composed)
	return t.judgeDraft(ctx, draft, by, n)
}

// judgeDraft has the n-th draft judged against canon and for safety.
func (t *task) judgeDraft(ctx context.Context, draft arc, by string, n int) (d Deliberated, err error) {
	d = Deliberated{Title: draft.Title, Steps: len(draft.Objectives), By: by, valid: true}
	if d.payload, err = json.Marshal(map[string]any{"seedSpec": draft}); err != nil {
		return d, err
	}
	d.hash = sha256.Sum256(d.payload)
	judged, err := t.assess(ctx, "quest", d.payload)
	if err != nil {
		return d, err
	}
	title := markup.Shorten(draft.Title, maxTitle)
	canonicality := proposal.DraftOpinion{Draft: n, Title: title, By: "canonicality", Passed: true}
	safety := proposal.DraftOpinion{Draft: n, Title: title, By: "safety", Why: "the draft could not be read"}
	for _, as := range judged {
		opinion := &canonicality
		if as.Gate == proposal.GateSafety {
			safety.Passed, safety.Why, opinion = true, "", &safety
		}
		opinion.Passed, opinion.Risk = opinion.Passed && as.Passed, opinion.Risk+as.Risk
		opinion.Why = markup.Shorten(cmp.Or(opinion.Why, as.Why), maxOpinion)
	}
	d.Opinions = []proposal.DraftOpinion{canonicality, safety}
	d.valid, d.risk = canonicality.Passed && safety.Passed, canonicality.Risk+safety.Risk
	return d, nil
}

// maxTitle bounds the title of a draft in an opinion, in characters.
const maxTitle = 100

// maxOpinion bounds the reason of an opinion, in characters.
const maxOpinion = 500

// chooseDraft returns the number of the best draft, or 0 if none is valid: the shortest, then the one with the least
// risk, then by hash.
func chooseDraft(list []Deliberated) (best int) {
	for i, d := range list {
		if d.valid && (best == 0 || compareDrafts(d, list[best-1]) < 0) {
			best = i + 1
		}
	}
	return best
}

func compareDrafts(a, b Deliberated) int {
	return cmp.Or(cmp.Compare(a.Steps, b.Steps), cmp.Compare(a.risk, b.risk), bytes.Compare(a.hash[:], b.hash[:]))
}

func (t *task) proposeChosen(ctx context.Context, out Committee) (Committee, error) {
	d := out.Drafts[out.Chosen-1]
	p := proposal.Provenance{Model: d.By, ContextRefs: t.refs}
	for _, one := range out.Drafts {
		p.Opinions = append(p.Opinions, one.Opinions...)
	}
	var input map[string]any
	if err := json.Unmarshal(d.payload, &input); err != nil {
		return out, err
	}
	if !t.dry {
		input["correlationId"] = t.id
	}
	r, err := t.submitDraft(ctx, draft{"quest", "propose-quest", input, p})
	if err != nil {
		return out, err
	}
	out.Proposal, out.Status = &r, string(r.Status)
	if r.Rejection != nil {
		out.Why = r.Rejection.Message
	}
	return out, nil
}

// writeArc returns the model's arc if it gives one, else the composed arc, and the name of the author.
func (t *task) writeArc(ctx context.Context, parts cast, composed arc) (arc, string) {
	if !t.agents.cfg.AskQuests {
		return composed, grammarModel
	}
	drafted, err := t.askArc(ctx, parts, composed)
	if err == nil {
		return drafted, modelFor(t.agents.cfg.Answers, "quest_seed")
	}
	t.agents.cfg.Logger.WarnContext(ctx, "the model drafted no quest; the grammar of arcs stands in", "error", err)
	return composed, grammarModel
}

func (t *task) askArc(ctx context.Context, parts cast, composed arc) (drafted arc, err error) {
	data, err := marshalData(t.answers)
	if err != nil {
		return drafted, err
	}
	schema, err := arcSchema()
	if err != nil {
		return drafted, err
	}
	theme, err := marshalData(composed.Title + ". " + composed.Hook)
	if err != nil {
		return drafted, err
	}
	answer, err := t.agents.Ask(ctx, Question{World: t.world, task: t, Purpose: "quest_seed", Template: questTemplate,
		MaxTokens: 1024, Schema: schema, Values: map[string]string{"context": data, "theme": theme},
		Accept: func(answer string) (string, error) {
			_, err := readArc(parts, answer)
			return answer, err
		}})
	if err != nil {
		return drafted, err
	}
	return readArc(parts, answer)
}

// placeCast is the part of get-location-context that the grammar needs.
type placeCast struct {
	Location named
	Exits    []struct {
		To           string `json:"toLocationId"`
		Availability string
		LockState    string
	}
	Realms struct{ Political, Geographic []named }
	NPCs   []struct {
		named
		Type string
	}
	Items []named
}

// people returns the characters at the place. Creatures may not answer.
func (p placeCast) people() (list []named) {
	for _, n := range p.NPCs {
		if !strings.EqualFold(n.Type, "Creature") {
			list = append(list, n.named)
		}
	}
	return list
}

// leadsTo reports whether a way that is open leads to a place.
func (p placeCast) leadsTo(id string) bool { return slices.Contains(p.openWays(), id) }

func (p placeCast) openWays() (ids []string) {
	for _, e := range p.Exits {
		if e.Availability == "hard" && e.To != "" && e.LockState != "locked" {
			ids = append(ids, e.To)
		}
	}
	return ids
}

// fact is the part of get-canonical-fact that the grammar needs.
type fact struct {
	ID, Type string
	Fields   struct {
		Name     string
		Wants    json.RawMessage
		Portable bool
	}
}

// readCast reads the cards that the arcs of a run are made of, as its caller sees them. A run reads at most
// MaxToolCalls times.
func (t *task) readCast(ctx context.Context, wish QuestWish) (c cast, err error) {
	r := rand.New(rand.NewPCG(wish.Seed, castStream))
	pick := func(list []named) (n named) {
		if len(list) > 0 {
			n = list[r.IntN(len(list))]
		}
		return n
	}
	c.Reward = wish.Reward
	var here, there *placeCast
	if err := t.readContext(ctx, "get-location-context", placeInput(wish.Location), &here); err != nil {
		return c, err
	}
	if here == nil {
		return c, fault.New(fault.NotFound, "there is no place %q; give the name of one, or its id", wish.Location)
	}
	c.Here, c.Giver = here.Location, pick(here.people())
	if c.Giver.ID == "" {
		return c, nil
	}
	giver, err := t.readFact(ctx, c.Giver.ID)
	if err != nil {
		return c, err
	}
	_ = json.Unmarshal(giver.Fields.Wants, &c.Wants) // other forms of wants are no phrase
	if ways := here.openWays(); len(ways) > 0 {
		err = t.readContext(ctx, "get-location-context", placeInput(ways[r.IntN(len(ways))]), &there)
	}
	if err != nil {
		return c, err
	}
	if there != nil && there.leadsTo(c.Here.ID) {
		c.There, c.Other = there.Location, pick(there.people())
		if err = t.readThing(ctx, &c, pick(there.Items)); err != nil {
			return c, err
		}
	}
	return c, t.readFaction(ctx, &c, append(here.Realms.Political, here.Realms.Geographic...), r)
}

// readFact reads a fact; it is empty if the caller sees none with this id.
func (t *task) readFact(ctx context.Context, id string) (f fact, err error) {
	var found *fact
	err = t.readContext(ctx, "get-canonical-fact", map[string]any{"factId": id}, &found)
	if found != nil {
		f = *found
	}
	return f, err
}

// readThing adds a thing to the cast if it can be carried.
func (t *task) readThing(ctx context.Context, c *cast, thing named) error {
	if thing.ID == "" {
		return nil
	}
	f, err := t.readFact(ctx, thing.ID)
	if err == nil && f.Fields.Portable {
		c.Thing = thing
	}
	return err
}

// readFaction adds a faction of the first realm to the cast.
func (t *task) readFaction(ctx context.Context, c *cast, realms []named, r *rand.Rand) error {
	if len(realms) == 0 || c.Other.ID == "" {
		return nil
	}
	var found []struct{ FactID, Type string }
	if err := t.readContext(ctx, "search-lore", map[string]any{"query": realms[0].Name + " faction", "k": 10},
		&found); err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(f struct{ FactID, Type string }) bool { return f.Type != "faction" })
	if len(found) == 0 {
		return nil
	}
	f, err := t.readFact(ctx, found[r.IntN(len(found))].FactID)
	if err == nil && f.Fields.Name != "" {
		c.Faction = named{f.ID, f.Fields.Name}
	}
	return err
}
