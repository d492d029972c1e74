package rule

import (
	"cmp"
	"slices"
	"strings"

	"loregate/internal/fault"
	"loregate/internal/slicesx"
)

// Create is the first command of a game.
type Create struct {
	ID, World, Host string
	Settings        Settings
	Seed            Seed
}

// Bounds of a host's settings.
const (
	maxSeconds  = 24 * 60 * 60
	minSeconds  = 0.05
	maxDays     = 10
	maxMessages = 500
)

func (c Create) emitEvents(t *turn) error {
	if t.Events > 0 {
		return fault.New(fault.Conflict, "there is a game of this id already")
	}
	s := c.Settings
	s.Seconds = s.Seconds.orDefault()
	for _, f := range s.Seconds.fieldPointers() {
		if !(*f >= minSeconds && *f <= maxSeconds) {
			return fault.BadField("seconds", "a phase lasts between %v and %d seconds", minSeconds, maxSeconds)
		}
	}
	s.Days = cmp.Or(s.Days, maxDays)
	s.Messages = cmp.Or(s.Messages, 120)
	switch {
	case s.Days < 1 || s.Days > maxDays:
		return fault.BadField("days", "is 1 to %d", maxDays)
	case s.Messages < 1 || s.Messages > maxMessages:
		return fault.BadField("messages", "is 1 to %d", maxMessages)
	case s.Mandate != "" && !slices.Contains(mandates[:], s.Mandate):
		return fault.BadField("mandate", "is aggressive_growth, total_transparency or security_lockdown")
	}
	t.emitEvent(&Created{ID: c.ID, World: c.World, Host: c.Host, Settings: s, Seed: c.Seed})
	return nil
}

// Join takes the next seat.
type Join struct {
	Name, JobTitle string
	Owner          string
	Played         Played
	Host           bool
}

func (c Join) emitEvents(t *turn) error {
	name, err := needText("name", c.Name, MaxName)
	if err != nil {
		return err
	}
	title, err := cleanLine("job_title", c.JobTitle, MaxName)
	if err != nil {
		return err
	}
	switch {
	case t.Public.Phase != Lobby:
		return fault.New(fault.Rule, "the game has begun; join another")
	case t.Public.Seated == MaxSeats:
		return fault.New(fault.Rule, "all %d seats are taken; join another game", MaxSeats)
	}
	for i := range t.Public.Seated {
		if strings.EqualFold(t.Public.Players[i].Name, name) {
			return fault.BadField("name", "is taken at this table; choose another")
		}
	}
	t.emitEvent(&Joined{Name: name, JobTitle: title})
	t.emitEvent(&Seated{Seat: Seat(t.Public.Seated), Owner: c.Owner, Played: c.Played, Host: c.Host})
	return nil
}

// Reseat changes the owner of a seat, or lets a program play it.
type Reseat struct {
	Seat   Seat
	Owner  string
	Played Played // "" keeps the present value
}

func (c Reseat) emitEvents(t *turn) error {
	if c.Seat == 0 || int(c.Seat) > t.Public.Seated {
		return fault.BadField("player_id", "is nobody at this table")
	}
	h := t.hiddenOf(c.Seat)
	e := &Seated{Seat: c.Seat, Owner: c.Owner, Played: c.Played, Host: h.Host}
	e.Played = cmp.Or(e.Played, h.Played)
	if e.Owner != h.Owner || e.Played != h.Played {
		t.emitEvent(e)
	}
	return nil
}

// Start ends the lobby and deals. The caller of Decide must ensure that only a host sends it.
type Start struct{ By Seat }

func (c Start) emitEvents(t *turn) error {
	n := t.Public.Seated
	switch {
	case t.Public.Phase != Lobby:
		return t.newIllegal(c.By, "the game has begun already")
	case n < MinSeats:
		return fault.New(fault.Rule, "a game needs %d players and has %d; let more join, or add AI players", MinSeats,
			n).With("players", n)
	}
	mandate := t.Settings.Mandate
	if mandate == "" {
		mandate = pickOne(t.dice, mandates[:])
	}
	tokens := 1
	if mandate == AggressiveGrowth {
		tokens = 2
	}
	t.emitEvent(&Started{Mandate: mandate, Tokens: tokens})
	t.dealRoles(n)
	t.tellAll("The mandate from above: " + mandate.Card().Title + ". " + mandate.Card().Text)
	t.beginDay()
	return nil
}

// dealRoles gives each seat a role, one seat the Original AI and the others a goal, and shuffles
// the crises.
func (t *turn) dealRoles(n int) {
	e := &Dealt{Roles: make([]Role, n), Alignments: make([]Alignment, n), KPIs: make([]KPI, n), Deck: Crises()}
	offices, goals := slices.Clone(roles[:]), slices.Clone(kpis[:])
	shuffle(t.dice, offices)
	shuffle(t.dice, goals)
	shuffle(t.dice, e.Deck)
	for len(offices) < n {
		offices = append(offices, Staff)
	}
	offices = offices[:n]
	shuffle(t.dice, offices)
	machine := t.dice.N(n)
	goal := 0
	for i := range n {
		e.Roles[i], e.Alignments[i] = offices[i], Human
		if i == machine {
			e.Alignments[i] = OriginalAI
			continue
		}
		e.KPIs[i] = goals[goal%len(goals)]
		goal++
	}
	t.emitEvent(e)
}

// Remove takes a player out of the game between days, during a sitrep. The caller of Decide must
// ensure that only a host sends it.
type Remove struct {
	By, Seat Seat
}

func (c Remove) emitEvents(t *turn) error {
	if t.Public.Phase != Sitrep {
		return t.newIllegal(c.By, "a player may be removed between days, during %s only", Sitrep)
	}
	if !t.Public.Alive(c.Seat) {
		return fault.BadField("player_id", "is nobody who is in the game; the living are %s", joinSeats(t.Public.Living()))
	}
	t.tellAll(t.playerName(c.Seat) + " was removed by the host.")
	t.deactivateSeat(c.Seat, true)
	t.emitEvent(&LeaveTaken{c.Seat})
	if t.Public.Phase != Over {
		t.updateCounts()
	}
	return nil
}

func joinSeats(seats []Seat) string {
	words := slicesx.Map(seats, Seat.String)
	return strings.Join(words, ", ")
}
