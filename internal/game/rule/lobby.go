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

// Join takes the first free seat.
type Join struct {
	Name, JobTitle string
	Owner          string
	Subject        string // who takes it under a name of its own; "" for others
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
	case t.Public.freeSeat() == 0:
		return fault.New(fault.Rule, "all %d seats are taken; join another game", MaxSeats)
	}
	for i := range t.Public.Seated {
		if strings.EqualFold(t.Public.Players[i].Name, name) {
			return fault.BadField("name", "is taken at this table; choose another")
		}
	}
	if err := t.checkOneSeat(c); err != nil {
		return err
	}
	seat := t.Public.freeSeat()
	joined := &Joined{Name: name, JobTitle: title}
	if int(seat) <= t.Public.Seated {
		joined.Seat = seat
	}
	t.emitEvent(joined)
	t.emitEvent(&Seated{Seat: seat, Owner: c.Owner, Subject: c.Subject, Played: c.Played, Host: c.Host})
	return nil
}

// checkOneSeat returns an error if somebody who has a seat would take another: who knows the secrets of two seats
// plays no fair game. A host who does not play may seat any number of clients.
func (t *turn) checkOneSeat(c Join) error {
	for s := Seat(1); int(s) <= t.Public.Seated && c.Subject != ""; s++ {
		h := t.hiddenOf(s)
		clients := h.Played == ByClient && c.Played == ByClient && c.Subject == t.Secret.Host
		if h.Subject == c.Subject && !clients {
			return fault.New(fault.Rule, "you have the seat %s already, and one person plays one seat; others take "+
				"theirs by the link of an invitation or with keys of their own", s).With("player_id", s.String())
		}
	}
	return nil
}

// Open gives a seat a new credential. Only the one who shows the seat's recovery code, or is its subject, may do so:
// the caller of Decide must ensure it.
type Open struct {
	Seat            Seat
	Owner, Recovery string // the new credentials
	Was             string // the seat's credential when the caller of Decide looked
}

// maxReopened bounds how often a seat is opened anew, since each time leaves records.
const maxReopened = 50

func (c Open) emitEvents(t *turn) error {
	if !t.Public.Taken(c.Seat) {
		return fault.BadField("player_id", "is nobody at this table")
	}
	h := t.hiddenOf(c.Seat)
	switch {
	case h.Owner != c.Was || h.Played == ByProgram:
		return fault.New(fault.Conflict, "this seat was opened or vacated at the same time; look at the game again")
	case h.Reopened >= maxReopened:
		return fault.New(fault.Rule, "this seat was opened anew %d times, which is the limit", maxReopened)
	}
	again := h.Owner != ""
	t.emitEvent(&Seated{Seat: c.Seat, Owner: c.Owner, Recovery: c.Recovery, Subject: h.Subject, Played: h.Played,
		Host: h.Host, Again: again})
	if again {
		t.tellAll("The seat of " + t.playerName(c.Seat) + " was opened anew.")
	}
	return nil
}

// Vacate takes a seat from its player, in the lobby or between days. In the lobby the seat is free again. Later the
// program plays it to the end: nobody else may learn its secrets. The caller of Decide must ensure that only a host
// sends it.
type Vacate struct {
	By, Seat Seat
}

func (c Vacate) emitEvents(t *turn) error {
	switch phase := t.Public.Phase; {
	case phase != Lobby && phase != Sitrep:
		return t.newIllegal(c.By, "a seat may be vacated in the lobby and between days, during %s only", Sitrep)
	case !t.Public.Alive(c.Seat):
		return fault.BadField("player_id", "is nobody who is in the game; the living are %s", joinSeats(t.Public.Living()))
	case phase != Lobby && t.hiddenOf(c.Seat).Played == ByProgram:
		return fault.New(fault.Rule, "the computer plays this seat already")
	}
	name := t.playerName(c.Seat)
	if t.Public.Phase == Lobby {
		t.emitEvent(&Vacated{c.Seat})
		t.tellAll("The host vacated the seat of " + name + ". It is free again.")
		return nil
	}
	t.emitEvent(&Seated{Seat: c.Seat, Played: ByProgram})
	t.tellAll("The host vacated the seat of " + name + ". The computer plays it from now on.")
	return nil
}

// Start ends the lobby and deals. The caller of Decide must ensure that only a host sends it.
type Start struct{ By Seat }

func (c Start) emitEvents(t *turn) error {
	n := t.Public.Count()
	switch {
	case t.Public.Phase != Lobby:
		return t.newIllegal(c.By, "the game has begun already")
	case n >= MinSeats && n < t.Public.Seated:
		return fault.New(fault.Rule, "the seat %s is free; let somebody join, or add an AI player", t.Public.freeSeat())
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
