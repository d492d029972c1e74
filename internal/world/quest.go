package world

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
	"loregate/internal/world/command"
)

// TypeQuest is the type of the cards of quests.
const TypeQuest = "Quest"

// LinkPursues is the kind of the links from a player to a quest whose attributes are a Pursuit.
const LinkPursues = "pursues"

// Quest holds the fields of a quest's card. References are ids, codenames or names, and are looked
// up as the player sees the world.
type Quest struct {
	Giver         string      `json:"giver"` // stands where the quest is offered; "": offered everywhere
	Order         string      `json:"order"` // "any" (one step is enough), "sequence", otherwise all steps
	Steps         []QuestStep `json:"steps"`
	Fails         []QuestStep `json:"fails"`         // one of them ends the quest
	Rewards       []string    `json:"rewards"`       // "5 Copper Coin" is given if there is such a thing; other words are told
	Prerequisites []string    `json:"prerequisites"` // quests to complete before
	RepeatMinutes *int64      `json:"repeatMinutes"` // time of the player's clock after which it may be accepted again
}

// QuestStep is a step of a quest with the condition that completes it.
type QuestStep struct {
	ID       string   `json:"id"`
	Text     string   `json:"text"`
	Requires []string `json:"requires"` // steps to complete before
	QuestCondition
}

// QuestCondition is a condition over one act of the player.
type QuestCondition struct {
	LocationID  string `json:"locationId"`  // met by being at this place
	Bring       string `json:"bring"`       // met by having this thing or, with To, by handing it over
	To          string `json:"to"`          // person or place
	Quantity    int64  `json:"quantity"`    // of the thing, in one act
	Talk        string `json:"talk"`        // met by talking to this person
	About       string `json:"about"`       // words to say to it
	Defeat      string `json:"defeat"`      // met by beating this person or creature
	Learn       string `json:"learn"`       // met by looking at this, asking about it, or an answer with these words
	WaitMinutes int64  `json:"waitMinutes"` // met when so many minutes have passed on the player's clock
}

// IsEmpty reports whether the condition has no kind.
func (c QuestCondition) IsEmpty() bool {
	return c.WaitMinutes <= 0 && cmp.Or(c.LocationID, c.Bring, c.Talk, c.Defeat, c.Learn) == ""
}

// isOfState reports whether the condition is met by where the player is or by the things that it has, and not by an act.
func (c QuestCondition) isOfState() bool {
	return c.WaitMinutes <= 0 && (c.LocationID != "" || c.Bring != "" && c.To == "")
}

// maxSteps bounds the steps of a quest that count.
const maxSteps = 50

// QuestOf returns the quest of a card. It returns false if the card has no steps: such a card tells
// a part of another quest.
func QuestOf(t Card) (q Quest, ok bool) {
	if !t.IsType(TypeQuest) {
		return q, false
	}
	DecodeFields(t.Fields, &q)
	q.Steps = q.Steps[:min(len(q.Steps), maxSteps)]
	for n := range q.Steps {
		q.Steps[n].ID = cmp.Or(q.Steps[n].ID, fmt.Sprint(n+1))
	}
	return q, len(q.Steps) > 0
}

// Pursuit is the state of a player's quest: the attributes of the link pursues.
type Pursuit struct {
	State string           `json:"state"`
	Since int64            `json:"since"`           // the player's clock when it accepted
	Until int64            `json:"until,omitempty"` // and at the end
	Done  map[string]int64 `json:"done,omitempty"`  // the player's clock by completed step
	Times int              `json:"times,omitempty"` // number of completions
	Acts  int              `json:"acts,omitempty"`  // acts that were looked at since the last step
}

// States of a pursuit.
const (
	QuestActive    = "active"
	QuestDone      = "done"
	QuestFailed    = "failed"
	QuestAbandoned = "abandoned"
)

// OpenSteps returns the steps that can be completed next.
func (q Quest) OpenSteps(p Pursuit) []QuestStep {
	var out []QuestStep
	for n, s := range q.Steps {
		if _, done := p.Done[s.ID]; !done && !slices.ContainsFunc(q.before(n), func(id string) bool {
			_, done := p.Done[id]
			return !done
		}) {
			out = append(out, s)
		}
	}
	return out
}

// before returns the ids of the steps that must be completed before a step.
func (q Quest) before(n int) []string {
	ids := q.Steps[n].Requires
	if q.Order == "sequence" && n > 0 {
		ids = append(slices.Clone(ids), q.Steps[n-1].ID)
	}
	return ids
}

// FoldQuest returns the pursuit after an act of the player, and the steps that the act completed. It
// changes nothing if the act meets no condition.
func (m *AsOf) FoldQuest(ctx context.Context, q Quest, p Pursuit, e canon.StoredEvent) (Pursuit, []string, error) {
	d, place, ok := actOf(e)
	if !ok || p.State != QuestActive {
		return p, nil, nil
	}
	var met []string
	if p.Done = maps.Clone(p.Done); p.Done == nil {
		p.Done = map[string]int64{}
	}
	for before := -1; before < len(met); {
		before = len(met)
		for _, s := range q.OpenSteps(p) {
			if before > 0 && !s.isOfState() { // the act itself counts once
				continue
			}
			since := p.Since
			n := slices.IndexFunc(q.Steps, func(o QuestStep) bool { return o.ID == s.ID })
			for _, id := range q.before(n) {
				since = max(since, p.Done[id])
			}
			yes, err := m.meets(ctx, s.QuestCondition, d, place, since)
			if err != nil {
				return p, nil, err
			}
			if yes {
				met = append(met, s.ID)
			}
		}
		for _, id := range met[before:] {
			p.Done[id] = d.Clock
		}
	}
	if len(p.Done) >= len(q.Steps) || q.Order == "any" && len(p.Done) > 0 {
		p.State, p.Until, p.Times = QuestDone, d.Clock, p.Times+1
		return p, met, nil
	}
	for _, s := range q.Fails {
		yes, err := m.meets(ctx, s.QuestCondition, d, place, p.Since)
		if err != nil {
			return p, nil, err
		}
		if yes {
			p.State, p.Until = QuestFailed, d.Clock
			break
		}
	}
	return p, met, nil
}

// actOf returns the act of an event and the place where the player was after it.
func actOf(e canon.StoredEvent) (d Action, place canon.CardID, ok bool) {
	if !slices.Contains(ActTypes, event.Type(e.Type)) {
		return d, place, false
	}
	DecodeFields(e.Payload, &d)
	_, place, ok = ParseScope(e.Scope)
	return d, place, ok && !d.PlayerID.IsZero()
}

// meets reports whether an act meets a condition. since is the player's clock when the condition
// began to count.
func (m *AsOf) meets(ctx context.Context, c QuestCondition, d Action, place canon.CardID, since int64) (bool, error) {
	is := func(ref string, id canon.CardID) (bool, error) {
		t, ok, err := m.FindNamed(ctx, ref)
		return ok && t.ID == id, err
	}
	target := canon.CardID{}
	if d.Target != nil {
		target = d.Target.ID
	}
	switch {
	case c.WaitMinutes > 0:
		return d.Clock-since >= c.WaitMinutes*Minute, nil
	case c.LocationID != "":
		return is(c.LocationID, place)
	case c.Bring != "":
		return m.meetsBring(ctx, c, d, place)
	case c.Talk != "" && d.Verb == command.Talk && d.Target != nil && (c.About == "" || command.Mentions(d.Detail, c.About)):
		return is(c.Talk, target)
	case c.Defeat != "" && d.Effect == "beaten":
		return is(c.Defeat, target)
	case c.Learn != "":
		return m.meetsLearn(ctx, c.Learn, d)
	}
	return false, nil
}

func (m *AsOf) meetsBring(ctx context.Context, c QuestCondition, d Action, place canon.CardID) (bool, error) {
	if c.To != "" && !slices.Contains([]command.Verb{command.Give, command.Drop, command.Sell}, d.Verb) {
		return false, nil
	}
	t, ok, err := m.FindNamed(ctx, c.Bring)
	if err != nil || !ok {
		return false, err
	}
	if c.To == "" { // a thing that the player had before counts too
		held, err := m.HeldItems(ctx, d.PlayerID)
		return slices.ContainsFunc(held, func(h Held) bool { return h.ID == t.ID && h.Quantity >= max(c.Quantity, 1) }), err
	}
	if !slices.ContainsFunc(d.Objects, func(o ObjectRef) bool { return o.ID == t.ID && o.Quantity >= max(c.Quantity, 1) }) {
		return false, nil
	}
	if d.Target != nil {
		place = d.Target.ID
	}
	to, ok, err := m.FindNamed(ctx, c.To)
	return ok && to.ID == place, err
}

func (m *AsOf) meetsLearn(ctx context.Context, words string, d Action) (bool, error) {
	heard := []string{d.ObjectNames()}
	if d.Verb != command.Take && d.Verb != command.Drop && d.Verb != command.Ask {
		heard = append(heard, d.Detail)
	}
	if d.Verb == command.Talk && d.Target != nil {
		answer, err := m.readAnswer(ctx, d)
		if err != nil {
			return false, err
		}
		heard = append(heard, answer)
	}
	return slices.ContainsFunc(heard, func(s string) bool { return s != "" && command.Mentions(s, words) }), nil
}

// FindNamed returns the card that a field means: by id, codename or name.
func (m *AsOf) FindNamed(ctx context.Context, ref string) (Card, bool, error) {
	if t, ok, err := m.FindCard(ctx, ref); err != nil || ok {
		return t, ok, err
	}
	t, ok, err := m.Exists(ctx, ref)
	return CardOf(t), ok, err
}

// Pursued is a quest of a player.
type Pursued struct {
	Card
	Quest
	Pursuit
	Link canon.Link
}

// maxPursued bounds the quests of a player that are read.
const maxPursued = 100

// PursuedQuests returns the quests of a player, in the order in which it accepted them.
func (m *AsOf) PursuedQuests(ctx context.Context, player canon.CardID) ([]Pursued, error) {
	links, err := m.ReadLinks(ctx, canon.LinkQuery{From: player, Kinds: []string{LinkPursues}}, maxPursued)
	if err != nil || len(links) == 0 {
		return nil, err
	}
	cards, err := m.CardsByID(ctx, slicesx.Map(links, func(l canon.Link) canon.CardID { return l.To }))
	var out []Pursued
	for _, l := range links {
		i := slices.IndexFunc(cards, func(t Card) bool { return t.ID == l.To })
		if i < 0 {
			continue
		}
		p := Pursued{Card: cards[i], Link: l}
		DecodeFields(l.Attrs, &p.Pursuit)
		p.Quest, _ = QuestOf(p.Card)
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b Pursued) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.Name, b.Name))
	})
	return out, err
}

// Offered is a quest that a player may accept.
type Offered struct {
	Card
	Quest
}

// maxOffers bounds the quests of a world that are looked through for offers.
const maxOffers = 200

// OfferedQuests returns the quests that a player may accept where it is, by name. own are its quests.
func (m *AsOf) OfferedQuests(ctx context.Context, place canon.CardID, own []Pursued, clock int64) ([]Offered, error) {
	cards, _, err := m.Cards(ctx, canon.Filter{Type: TypeQuest, Filled: true},
		canon.Page{Limit: maxOffers, Uncounted: true})
	if err != nil || len(cards) == 0 {
		return nil, err
	}
	all, err := m.cardsAsOf(ctx, cards)
	if err != nil {
		return nil, err
	}
	here, err := m.CardsHere(ctx, place)
	if err != nil {
		return nil, err
	}
	var out []Offered
	for _, t := range all {
		q, ok := QuestOf(t)
		if ok && q.isGivenBy(here) && isFree(t, q, own, clock) {
			out = append(out, Offered{t, q})
		}
	}
	return out, nil
}

// isGivenBy reports whether one of the cards gives the quest.
func (q Quest) isGivenBy(here []Card) bool {
	return q.Giver == "" || slices.ContainsFunc(here, func(t Card) bool { return t.isCalled(q.Giver) })
}

// isCalled reports whether a reference is the id or the name of a card.
func (t Card) isCalled(ref string) bool {
	return ref == t.ID.String() || markup.KeyOf(ref) == markup.KeyOf(t.Name) ||
		markup.KeyOf(ref) == markup.KeyOf(t.Title())
}

// isFree reports whether a player with the given quests may accept a quest.
func isFree(t Card, q Quest, own []Pursued, clock int64) bool {
	for _, need := range q.Prerequisites {
		if !slices.ContainsFunc(own, func(p Pursued) bool { return p.Times > 0 && p.Card.isCalled(need) }) {
			return false
		}
	}
	i := slices.IndexFunc(own, func(p Pursued) bool { return p.Card.ID == t.ID })
	switch {
	case i < 0 || own[i].State == QuestAbandoned && own[i].Times == 0:
		return true
	case own[i].State == QuestActive || q.RepeatMinutes == nil:
		return false
	}
	return clock-own[i].Until >= *q.RepeatMinutes*Minute
}

// QuestGaps returns the reasons why a quest cannot be played, as its reader sees the world.
func (m *AsOf) QuestGaps(ctx context.Context, q Quest) (gaps []string, err error) {
	for n, s := range slices.Concat(q.Steps, q.Fails) {
		if s.IsEmpty() {
			gaps = append(gaps, fmt.Sprintf("step %d has no condition", n+1))
		}
		for _, ref := range []string{s.LocationID, s.Bring, s.To, s.Talk, s.Defeat} {
			if ref == "" {
				continue
			}
			_, ok, err := m.FindNamed(ctx, ref)
			if err != nil {
				return nil, err
			}
			if !ok {
				gaps = append(gaps, fmt.Sprintf("there is no %q", ref))
			}
		}
	}
	return gaps, nil
}

// questView is a quest of a player as shown to readers.
type questView struct {
	ID    canon.CardID `json:"id"`
	Name  string       `json:"name"`
	State string       `json:"state" enum:"active,done,failed,abandoned"`
	Steps []stepView   `json:"steps"`
}

type stepView struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	Done bool   `json:"done"`
	Open bool   `json:"open" jsonschema:"It can be completed next."`
}

// questViews returns the quests of a player as shown to readers.
func (m *AsOf) questViews(ctx context.Context, player canon.CardID) ([]questView, error) {
	own, err := m.PursuedQuests(ctx, player)
	return slicesx.Map(own, func(p Pursued) questView {
		v := questView{ID: p.Card.ID, Name: p.Title(), State: p.State, Steps: []stepView{}}
		open := p.OpenSteps(p.Pursuit)
		for _, s := range p.Steps {
			_, done := p.Done[s.ID]
			v.Steps = append(v.Steps, stepView{s.ID, s.Describe(), done, p.State == QuestActive &&
				slices.ContainsFunc(open, func(o QuestStep) bool { return o.ID == s.ID })})
		}
		return v
	}), err
}

// Describe returns the text of a step.
func (s QuestStep) Describe() string {
	text, _ := CutText(markup.Clean(s.Text), MaxText)
	return cmp.Or(text, strings.TrimSpace("Step "+s.ID))
}

// DescribeOpen returns the texts of the steps that can be completed next.
func (p Pursued) DescribeOpen() string {
	return strings.Join(slicesx.Map(p.OpenSteps(p.Pursuit), QuestStep.Describe), " ")
}

// QuestProgress is the payload of Quest.Advanced: the quests of a player that its acts have moved.
type QuestProgress struct {
	PlayerID canon.CardID `json:"playerId"`
	Clock    int64        `json:"clock"`
	Quests   []QuestMove  `json:"quests"`
	Objects  []ObjectRef  `json:"objects"` // the quests, and the things given as rewards
}

// QuestMove is the progress of one quest.
type QuestMove struct {
	QuestID canon.CardID `json:"questId"`
	Steps   []string     `json:"steps,omitempty"` // completed
	State   string       `json:"state"`
	Given   []ObjectRef  `json:"given,omitempty"`
}
