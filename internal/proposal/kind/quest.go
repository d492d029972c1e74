package kind

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/proposal"
)

// quest is the payload of propose-quest.
type quest struct {
	SeedSpec seedSpec `json:"seedSpec" jsonschema:"The quest: title, hook and objectives, and optionally its giver, factions and rewards."`

	cfg Config
}

type seedSpec struct {
	Title      string      `json:"title" minlen:"1" maxlen:"200"`
	Hook       string      `json:"hook" minlen:"1" maxlen:"8000"`
	GiverID    string      `json:"giverId,omitzero" pattern:"^[0-9A-Za-z._-]{1,100}$"`
	Objectives []objective `json:"objectives" minitems:"1" maxitems:"50"`
	Factions   []string    `json:"factions,omitzero" maxitems:"20" minlen:"1" maxlen:"100"`
	Rewards    []string    `json:"rewards,omitzero" maxitems:"20" minlen:"1" maxlen:"500"`
}

type objective struct {
	ID         string   `json:"id" minlen:"1" maxlen:"64"`
	Text       string   `json:"text" minlen:"1" maxlen:"1000"`
	LocationID string   `json:"locationId,omitzero" pattern:"^[0-9A-Za-z._-]{1,100}$"`
	Requires   []string `json:"requires,omitzero" maxitems:"50" maxlen:"64"`
	condition
}

// condition has the conditions of an objective other than to be at a place; see world.QuestCondition.
type condition struct {
	Bring       string `json:"bring,omitzero" pattern:"^[0-9A-Za-z._-]{1,100}$" jsonschema:"Thing to take or, with to, to hand over."`
	To          string `json:"to,omitzero" pattern:"^[0-9A-Za-z._-]{1,100}$" jsonschema:"Person or place that gets the thing."`
	Quantity    int64  `json:"quantity,omitzero" min:"0" max:"1000" jsonschema:"How many of the thing, in one act."`
	Talk        string `json:"talk,omitzero" pattern:"^[0-9A-Za-z._-]{1,100}$" jsonschema:"Person to talk to."`
	About       string `json:"about,omitzero" maxlen:"100" jsonschema:"Words to say to that person."`
	Defeat      string `json:"defeat,omitzero" pattern:"^[0-9A-Za-z._-]{1,100}$" jsonschema:"Person or creature to beat."`
	Learn       string `json:"learn,omitzero" maxlen:"100" jsonschema:"Words to hear, or the name of a thing to look at or ask about."`
	WaitMinutes int64  `json:"waitMinutes,omitzero" min:"0" max:"525600" jsonschema:"Minutes to pass on the player's clock."`
}

// isPlayable reports whether an act of a player can meet the objective.
func (o objective) isPlayable() bool {
	return o.WaitMinutes > 0 || cmp.Or(o.LocationID, o.Bring, o.Talk, o.Defeat, o.Learn) != ""
}

func questKind(c Config) *proposal.Kind {
	return proposal.DefineWith(proposal.Kind{
		Name: "quest", Version: 2, Purpose: proposal.ForQuest, Policy: proposal.Review,
		Refs: []string{"seedSpec.giverId", "seedSpec.objectives.locationId", "seedSpec.objectives.bring",
			"seedSpec.objectives.to", "seedSpec.objectives.talk", "seedSpec.objectives.defeat"},
		Tool: proposal.Tool{Name: "propose-quest", ID: "WorldMutation-proposeQuest", Title: "Propose a quest",
			Asked: []string{
				"offer an adventure", "errand or mission for the players", "job with goals and reward",
				"task to hand out", "something for the players to do", "new errand",
				"a task for the heroes, with a reward", "suggest an adventure", "a new mission",
				"offer an errand", "idea for an adventure", "a mission with aims and a reward",
				"suggest a task for heroes", "job for the party",
			},
			Doc: "Propose a quest: a title, a hook of at most 1,000 characters, and objectives, which may require others. " +
				"Each needs a condition that an act of a player meets: locationId, bring, talk, defeat, learn or waitMinutes. " +
				"Use only ids that the context and lore tools returned. A person decides.",
			Examples: []op.Example{{Title: "Two steps",
				Input: `{"seedSpec": {"title": "A Note Too Few", "hook": "The rent song has lost its fourth note.", "objectives": [{"id": "ask", "text": "Ask about it.", "learn": "rent song"}, {"id": "hear", "text": "Hear it sung.", "learn": "fourth note", "requires": ["ask"]}]}}`}}},
		Fallbacks: []string{
			"Nobody has anything for you to do today, or nobody says so.",
			"There was talk of an errand; it seems to have been settled.",
			"The notice on the board has been taken down.",
		},
	}, func(q quest) proposal.Draft { q.cfg = c; return q })
}

func (q quest) Scope() string  { return "global:world" }
func (q quest) Player() string { return "" }

func (q quest) Texts() []proposal.Text {
	s := q.SeedSpec
	list := []proposal.Text{{Field: "seedSpec.title", Text: s.Title, Max: 200},
		{Field: "seedSpec.hook", Text: s.Hook, Max: 1000}}
	for n, o := range s.Objectives {
		list = append(list, proposal.Text{Field: fieldAt("objectives", n) + ".text", Text: o.Text, Max: 500})
	}
	for n, o := range s.Objectives {
		for _, t := range []proposal.Text{{Field: ".about", Text: o.About}, {Field: ".learn", Text: o.Learn}} {
			if t.Text != "" {
				list = append(list, proposal.Text{Field: fieldAt("objectives", n) + t.Field, Text: t.Text, Max: 100})
			}
		}
	}
	for n, r := range s.Rewards {
		list = append(list, proposal.Text{Field: fieldAt("rewards", n), Text: r, Max: 200})
	}
	return list
}

func fieldAt(list string, n int) string { return "seedSpec." + list + "[" + strconv.Itoa(n) + "]" }

// QuestDraft returns the quest in its stored form.
func (q quest) QuestDraft() json.RawMessage {
	b, err := json.Marshal(q.cleanedSeed())
	if err != nil {
		return nil // cannot happen: strings and lists only
	}
	return b
}

func (q quest) cleanedSeed() seedSpec {
	s := q.SeedSpec
	s.Title, s.Hook = cleanText(s.Title), cleanText(s.Hook)
	s.Objectives = append([]objective(nil), s.Objectives...)
	for n := range s.Objectives {
		s.Objectives[n].Text = cleanText(s.Objectives[n].Text)
	}
	return s
}

func (q quest) Check(ctx context.Context, w proposal.State) (proposal.Finding, error) {
	i, s := newInspection(ctx, w), q.SeedSpec
	if s.GiverID != "" {
		i.checkCard("seedSpec.giverId", s.GiverID, "character", speakers...)
	}
	for n, f := range s.Factions {
		i.checkFaction(fieldAt("factions", n), f)
	}
	for n, o := range s.Objectives {
		if o.LocationID != "" {
			i.checkCard(fieldAt("objectives", n)+".locationId", o.LocationID, "place", typeLocation)
		}
		i.checkCondition(fieldAt("objectives", n), o)
	}
	i.checkOrder(s.Objectives)
	return i.finding()
}

// checkCondition checks that an objective can be met.
func (i *inspection) checkCondition(field string, o objective) {
	for _, ref := range []struct{ name, id string }{{"bring", o.Bring}, {"to", o.To}, {"talk", o.Talk}, {"defeat", o.Defeat}} {
		if ref.id != "" {
			i.checkCard(field+"."+ref.name, ref.id, "card")
		}
	}
	if !o.isPlayable() {
		i.add(field, "has no condition that an act of a player can meet; "+
			"add locationId, bring, talk, defeat, learn or waitMinutes")
	}
}

// checkOrder checks that each objective's id is unique, that required objectives exist, and that no
// objective requires itself, directly or indirectly.
func (i *inspection) checkOrder(list []objective) {
	byID := map[string]objective{}
	for n, o := range list {
		if _, twice := byID[o.ID]; twice {
			i.add(fieldAt("objectives", n)+".id", "is also the id of another objective")
		}
		byID[o.ID] = o
	}
	for n, o := range list {
		for _, r := range o.Requires {
			if _, ok := byID[r]; !ok {
				i.add(fieldAt("objectives", n)+".requires", "names "+strconv.Quote(r)+", which is not an objective")
			}
		}
		if isCircular(byID, o.ID) {
			i.add(fieldAt("objectives", n)+".requires", "makes the objective require itself")
		}
	}
}

// isCircular reports whether an objective requires itself, directly or indirectly.
func isCircular(byID map[string]objective, id string) bool {
	seen := map[string]bool{}
	next := append([]string(nil), byID[id].Requires...)
	for len(next) > 0 {
		r := next[len(next)-1]
		next = next[:len(next)-1]
		if r == id {
			return true
		}
		if !seen[r] {
			seen[r] = true
			next = append(next, byID[r].Requires...)
		}
	}
	return false
}

// questFields are the fields of the card of a quest; see world.Quest.
type questFields struct {
	Giver    string      `json:"giver,omitzero"`
	Steps    []objective `json:"steps"`
	Rewards  []string    `json:"rewards,omitzero"`
	Factions []string    `json:"factions,omitzero"`
}

// Plan creates a card for the quest, if its name is free, and returns the event.
func (q quest) Plan(_ context.Context, p *canon.Plan, label access.Label) (canon.Event, error) {
	s := q.cleanedSeed()
	fields, err := json.Marshal(questFields{s.GiverID, s.Objectives, s.Rewards, s.Factions})
	if err != nil {
		return canon.Event{}, err
	}
	card, err := p.Create(canon.NewCard{Name: strings.ReplaceAll(s.Title, "+",
		"and"), Type: "Quest", Content: "<p>" +
		escapeContent(s.Hook) + "</p>", Fields: fields, Label: &label, Root: true})
	if err != nil {
		return canon.Event{}, err
	}
	p.Target(card.ID)
	return eventOf(q.cfg.Quest, q.Scope(), label, map[string]any{"questId": card.ID, "seedSpec": s})
}

func escapeContent(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "[[", "[ [", "{{", "{ {").Replace(s)
}
