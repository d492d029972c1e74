package fifth

import (
	"fmt"
	"slices"
	"strings"

	"loregate/internal/ruleset"
)

// Bounds of an encounter.
const (
	maxFighters = 60
	maxZones    = 30
	maxSides    = 6
)

// Setup has the places and the combatants of an encounter at its beginning.
type Setup struct {
	// Zones are the places of the encounter. Empty: one zone, "here".
	Zones []Zone `json:"zones,omitempty"`
	// ZoneFeet is the distance between neighbouring zones; 0 means 25 feet. Within a zone everybody
	// is in reach of everybody.
	ZoneFeet int         `json:"zone_feet,omitempty"`
	Fighters []Combatant `json:"fighters"`
}

// Zone is a place in an encounter.
type Zone struct {
	Name string   `json:"name"`
	Next []string `json:"next,omitempty"` // neighbouring zones; being neighbours is mutual
	// Cover is the bonus of those within to armor class and Dexterity saves against attacks from other
	// zones: 0, 2 (half) or 5 (three-quarters).
	Cover int `json:"cover,omitempty"`
}

// Combatant is a creature on a side in an encounter. Names must differ.
type Combatant struct {
	Creature
	Side       string   `json:"side"`
	Zone       string   `json:"zone,omitempty"` // the first when empty
	Hurt       int      `json:"hurt,omitempty"` // hit points that are missing at the beginning
	Temporary  int      `json:"temporary,omitempty"`
	Conditions []string `json:"conditions,omitempty"`
	Exhaustion int      `json:"exhaustion,omitempty"`
	Surprised  bool     `json:"surprised,omitempty"`
}

// Encounter is a fight in progress. It is not for concurrent use.
type Encounter struct {
	zones    []Zone
	steps    [][]int // number of zones between two; -1 if there is no way
	feet     int
	fighters []fighter
	order    []int // indexes of fighters, by initiative
	turn     int   // index in order
	round    int
	effects  []effect
	events   []Event
	winner   string
	over     bool
	by       ruleset.Chance
}

// fighter is a combatant and its state.
type fighter struct {
	*Combatant
	hp, temp     int
	zone         int
	initiative   int
	base         Condition // that no effect brought
	conditions   Condition // base and those of effects, with the implied ones
	exhaustion   int
	slots        Slots
	engaged      uint64 // fighters that are in melee with this one
	saved        int    // successes and failures of death saving throws
	failed       int
	dying, dead  bool
	concentrates string // the spell

	acted, bonus, reacted  bool
	castBonus, castLeveled bool
	moved                  int
	dashes                 int
	dodging, disengaged    bool
	hidden, helped         bool
	skips                  bool // surprised, in the first round
	ready                  *Act
}

// effect is a condition that a spell keeps on a fighter.
type effect struct {
	spell          string
	caster, target int
	condition      Condition
	until          int // the round in which it ends, at the caster's turn
	save           *Ability
	dc             int
	concentration  bool
}

// Event is something that happened in an encounter. Numbers that do not apply are 0.
type Event struct {
	Round    int    `json:"round"`
	Kind     string `json:"kind"`
	Actor    string `json:"actor"`
	Target   string `json:"target,omitempty"`
	With     string `json:"with,omitempty"` // the attack, spell or condition
	Natural  int    `json:"natural,omitempty"`
	Total    int    `json:"total,omitempty"`
	Against  int    `json:"against,omitempty"` // the armor class or difficulty class
	Result   string `json:"result,omitempty"`
	Amount   int    `json:"amount,omitempty"` // hit points
	Citation string `json:"citation,omitempty"`
}

// Start begins an encounter: it checks the setup, rolls initiative for each combatant in order, and
// begins the first turn.
func Start(s Setup, by ruleset.Chance) (*Encounter, []Event, error) {
	e := &Encounter{by: by, feet: s.ZoneFeet, round: 1, turn: -1}
	if e.feet == 0 {
		e.feet = 25
	}
	if err := e.placeZones(s); err != nil {
		return nil, nil, err
	}
	if err := e.placeFighters(s.Fighters); err != nil {
		return nil, nil, err
	}
	e.rollInitiative()
	e.nextTurn()
	return e, e.takeEvents(), nil
}

func (e *Encounter) placeZones(s Setup) error {
	e.zones = s.Zones
	if len(e.zones) == 0 {
		e.zones = []Zone{{Name: "here"}}
	}
	if len(e.zones) > maxZones || e.feet < 5 || e.feet > 200 {
		return fmt.Errorf("zones must be at most %d, and zone_feet from 5 to 200", maxZones)
	}
	n := len(e.zones)
	e.steps = make([][]int, n)
	for i := range e.steps {
		e.steps[i] = slices.Repeat([]int{-1}, n)
		e.steps[i][i] = 0
	}
	for i, z := range e.zones {
		if z.Name == "" || e.zoneOf(z.Name) != i {
			return fmt.Errorf("zones: each needs a name of its own, not %q", z.Name)
		}
		if z.Cover != 0 && z.Cover != 2 && z.Cover != 5 {
			return fmt.Errorf("zones: %q has the cover %d; it must be 0, 2 or 5", z.Name, z.Cover)
		}
		for _, next := range z.Next {
			j := e.zoneOf(next)
			if j < 0 || j == i {
				return fmt.Errorf("zones: %q is next to %q, which is not another zone", z.Name, next)
			}
			e.steps[i][j], e.steps[j][i] = 1, 1
		}
	}
	for k := range n { // Floyd and Warshall
		for i := range n {
			for j := range n {
				if a, b := e.steps[i][k], e.steps[k][j]; a >= 0 && b >= 0 && (e.steps[i][j] < 0 || a+b < e.steps[i][j]) {
					e.steps[i][j] = a + b
				}
			}
		}
	}
	return nil
}

func (e *Encounter) zoneOf(name string) int {
	return slices.IndexFunc(e.zones, func(z Zone) bool { return strings.EqualFold(z.Name, name) })
}

func (e *Encounter) placeFighters(list []Combatant) error {
	if len(list) < 2 || len(list) > maxFighters {
		return fmt.Errorf("fighters must be 2 to %d", maxFighters)
	}
	sides := map[string]bool{}
	for i := range list {
		c := &list[i]
		if err := c.Check(); err != nil {
			return fmt.Errorf("fighters: %q: %w", c.Name, err)
		}
		if e.fighterOf(c.Name) >= 0 || c.Side == "" {
			return fmt.Errorf("fighters: %q needs a name of its own and a side", c.Name)
		}
		f := fighter{Combatant: c, hp: c.HitPoints - c.Hurt, temp: c.Temporary, slots: c.Slots, exhaustion: c.Exhaustion,
			skips: c.Surprised}
		if c.Zone != "" {
			f.zone = e.zoneOf(c.Zone)
		}
		if f.zone < 0 || f.hp < 1 || f.hp > c.HitPoints || c.Temporary < 0 || c.Temporary > maxHP ||
			c.Exhaustion < 0 || c.Exhaustion >= MaxExhaustion {
			return fmt.Errorf("fighters: %q needs a zone of the encounter, 1 to hit_points hit points left and "+
				"exhaustion below %d",
				c.Name, MaxExhaustion)
		}
		for _, name := range c.Conditions {
			one, err := ParseCondition(name)
			if err != nil {
				return fmt.Errorf("fighters: %q: conditions: %w", c.Name, err)
			}
			f.base |= one
		}
		f.conditions = f.base.withImplied()
		f.hp = min(f.hp, f.maxHP())
		sides[c.Side] = true
		e.fighters = append(e.fighters, f)
	}
	if len(sides) < 2 || len(sides) > maxSides {
		return fmt.Errorf("fighters must be on 2 to %d sides", maxSides)
	}
	return nil
}

func (e *Encounter) fighterOf(name string) int {
	return slices.IndexFunc(e.fighters, func(f fighter) bool { return strings.EqualFold(f.Name, name) })
}

// rollInitiative rolls a Dexterity check for each and orders them from the highest; ties by
// Dexterity, then by the order of the setup.
func (e *Encounter) rollInitiative() {
	for i := range e.fighters {
		f := &e.fighters[i]
		natural := rollD20(e.by, ruleset.ModeOf(false, f.exhaustion >= 1 || f.conditions.Has(checksWorse)))
		f.initiative = natural + f.Scores.Modifier(Dexterity)
		e.order = append(e.order, i)
		e.tell(Event{Kind: "initiative", Actor: f.Name, Natural: natural, Total: f.initiative, Citation: citeInitiative})
	}
	slices.SortStableFunc(e.order, func(a, b int) int {
		x, y := &e.fighters[a], &e.fighters[b]
		if x.initiative != y.initiative {
			return y.initiative - x.initiative
		}
		return y.Scores[Dexterity] - x.Scores[Dexterity]
	})
}

func (e *Encounter) tell(v Event) {
	v.Round = e.round
	e.events = append(e.events, v)
}

func (e *Encounter) takeEvents() []Event {
	list := e.events
	e.events = nil
	return list
}

// Over reports whether the encounter has ended, and the side that won; "" if none is left.
func (e *Encounter) Over() (bool, string) { return e.over, e.winner }

// Round returns the number of the round, from 1.
func (e *Encounter) Round() int { return e.round }

// Current returns the name of the combatant whose turn it is; "" if the encounter is over.
func (e *Encounter) Current() string {
	if e.over {
		return ""
	}
	return e.fighters[e.order[e.turn]].Name
}

// Status is the state of a combatant.
type Status struct {
	Name         string   `json:"name"`
	Side         string   `json:"side"`
	Zone         string   `json:"zone"`
	HitPoints    int      `json:"hit_points"`
	Temporary    int      `json:"temporary,omitempty"`
	Initiative   int      `json:"initiative"`
	Conditions   []string `json:"conditions,omitempty"`
	Exhaustion   int      `json:"exhaustion,omitempty"`
	Slots        Slots    `json:"slots,omitzero"`
	Concentrates string   `json:"concentrates,omitempty"`
	State        string   `json:"state,omitempty"` // dying, stable or dead
	Saves        [2]int   `json:"saves,omitzero"`  // successes and failures of death saving throws
}

// Statuses returns the state of all combatants, in the order of the setup.
func (e *Encounter) Statuses() []Status {
	list := make([]Status, len(e.fighters))
	for i := range e.fighters {
		f := &e.fighters[i]
		s := Status{Name: f.Name, Side: f.Side, Zone: e.zones[f.zone].Name, HitPoints: f.hp, Temporary: f.temp,
			Initiative: f.initiative, Conditions: f.conditions.Names(), Exhaustion: f.exhaustion, Slots: f.slots,
			Concentrates: f.concentrates, Saves: [2]int{f.saved, f.failed}}
		switch {
		case f.dead:
			s.State = "dead"
		case f.dying:
			s.State = "dying"
		case f.hp == 0:
			s.State = "stable"
		}
		list[i] = s
	}
	return list
}

// distance returns the feet between two fighters: 5 within a zone, -1 without a way.
func (e *Encounter) distance(a, b *fighter) int { return e.zoneDistance(a.zone, b.zone) }

func (e *Encounter) zoneDistance(a, b int) int {
	switch n := e.steps[a][b]; n {
	case 0, -1:
		return 5 + 6*n // 5, or -1
	default:
		return n * e.feet
	}
}

func (f *fighter) canAct() bool { return f.hp > 0 && !f.dead && !f.conditions.Has(noActions) }

// hasTurn reports whether a fighter can act or move: the incapacitated may still move.
func (f *fighter) hasTurn() bool { return f.hp > 0 && !f.dead && (f.canAct() || f.speed() > 0) }

// sees reports whether a fighter sees another.
func (f *fighter) sees(o *fighter) bool {
	return !f.conditions.Has(Blinded) && !o.conditions.Has(Invisible) && !o.hidden
}

// speed returns the feet that a fighter can move in a turn now (SRD "Conditions", "Exhaustion").
func (f *fighter) speed() int {
	switch {
	case f.conditions.Has(noMovement) || f.exhaustion >= 5:
		return 0
	case f.exhaustion >= 2:
		return f.Speed / 2
	}
	return f.Speed
}
