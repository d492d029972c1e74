package rule

// State is the complete state of a game. It is a value; the data it refers to is never changed.
type State struct {
	ID       string   `json:"id"`
	Settings Settings `json:"settings"`
	Seed     Seed     `json:"seed"`
	Events   int      `json:"events"` // number of events folded
	Public   Public   `json:"public"`
	Secret   Secret   `json:"secret"`
}

// Public is the half of a state that everybody at the table may know.
type Public struct {
	Version int            `json:"version"` // number of open events so far
	Phase   Phase          `json:"phase"`
	Ends    Millis         `json:"ends"` // of the phase; 0 if only a command ends it
	Day     int            `json:"day"`
	Seated  int            `json:"seated"` // number of the last seat that was taken; in the lobby, some may be free again
	Players Places[Person] `json:"players"`
	Log     Log            `json:"log"`

	Crisis   Crisis  `json:"crisis"`
	Mandate  Mandate `json:"mandate"`
	Extended bool    `json:"extended"` // today's discussion was extended
	Rounds   int     `json:"rounds"`   // nominations today
	Vote     Tally   `json:"vote"`
	Nominee  Seat    `json:"nominee"`

	Mining   Mining         `json:"mining"` // of last night, as reported
	Pool     int            `json:"pool"`   // mining slots of tonight
	Machines int            `json:"machines"`
	Revealed Places[Reveal] `json:"revealed"`
	Pulse    Pulse          `json:"pulse"`
	Winner   Side           `json:"winner"`
}

// Person is the public half of a player.
type Person struct {
	Name       string `json:"name"`
	JobTitle   string `json:"job_title"`
	Status     string `json:"status"`
	Tokens     int    `json:"tokens"`
	Milestones int    `json:"milestones"`
	Alive      bool   `json:"alive"`
}

// Tally is a vote and its current result.
type Tally struct {
	Kind   VoteKind       `json:"kind"` // "" while there is no vote
	Yes    int            `json:"yes"`  // weights of the votes, from tokens
	No     int            `json:"no"`
	For    Places[int]    `json:"for"`    // weights of the votes for each player's nomination
	Ledger Places[Choice] `json:"ledger"` // each player's choice, only with the mandate TotalTransparency
}

// VoteKind is the subject of a vote.
type VoteKind string

// The kinds of votes.
const (
	VoteExtension  VoteKind = "EXTENSION"
	VoteNomination VoteKind = "NOMINATION"
	VoteVerdict    VoteKind = "VERDICT"
)

// Choice is a player's vote: "YES", "NO" or a player's id; "" is no vote.
type Choice string

// The choices that are not players.
const (
	Yes Choice = "YES"
	No  Choice = "NO"
)

// Mining is the result of a night's mining.
type Mining struct {
	Reported bool        `json:"reported"`
	Slots    int         `json:"slots"`
	Gained   Places[int] `json:"gained"`
}

// Reveal is a player's role and alignment as far as they are public. "" is not revealed.
type Reveal struct {
	Role      Role      `json:"role"`
	Alignment Alignment `json:"alignment"`
}

// Pulse is the day's question with the answers, once they are shown.
type Pulse struct {
	Prompt  string         `json:"prompt"`
	Answers Places[string] `json:"answers"`
}

// Secret is the half of a state that only the players concerned may know.
type Secret struct {
	Seats    Places[Hidden] `json:"seats"`
	Deck     []Crisis       `json:"deck"` // crises to come, the next first
	Tainted  bool           `json:"tainted"`
	Liaison  bool           `json:"liaison"` // the protocol applies today
	Whispers Log            `json:"whispers"`
	Host     string         `json:"host"` // creator of the game, an opaque text of the caller of Decide
	World    string         `json:"world"`
}

// Hidden is the secret half of a player.
type Hidden struct {
	// Owner, Recovery and Subject are opaque texts of the caller of Decide: the credential that opens the seat, the
	// one that opens it anew, and the person who took it under a name of its own ("" for other players).
	Owner    string `json:"owner"`
	Recovery string `json:"recovery,omitzero"`
	Subject  string `json:"subject,omitzero"`
	Reopened int    `json:"reopened,omitzero"` // how often it was opened anew
	Played   Played `json:"played"`
	Host     bool   `json:"host"` // may start, advance, remove and vacate too

	Role      Role      `json:"role"`
	Alignment Alignment `json:"alignment"`
	KPI       KPI       `json:"kpi"`
	KPIMet    bool      `json:"kpi_met"`
	Equity    int       `json:"equity"`
	Shock     Shock     `json:"shock"`

	Ballot  Choice `json:"ballot"`
	Convict int    `json:"convict"` // number of deactivated players that it voted to deactivate
	Pulse   string `json:"pulse"`
	Action  Action `json:"action"`  // for tonight
	Last    Action `json:"last"`    // of last night
	Convert Seat   `json:"convert"` // conversion target for tonight
	Failed  bool   `json:"failed"`  // its mining of last night got no slot
	Kind    bool   `json:"kind"`    // has said a kind word today
	Said    int    `json:"said"`    // number of messages in today's discussion
	Written int    `json:"written"` // number of messages today
	Leaving bool   `json:"leaving"` // may still give its exit interview
	Cue     int    `json:"cue"`     // last cue that it spoke at, for a program's seat

	Notices []Notice `json:"notices"`
}

// Played is the kind of player on a seat.
type Played string

// The kinds of players.
const (
	ByPerson  Played = "person"
	ByProgram Played = "program" // by this server
	ByClient  Played = "client"  // by a program elsewhere
)

// Notice is a private line for one player.
type Notice struct {
	Day  int    `json:"day"`
	Text string `json:"text"`
}

// Action is a player's choice for the night. The zero Action is no choice.
type Action struct {
	Do     string `json:"do"` // "mine", "project", "bargain" or an ability
	Target Seat   `json:"target,omitzero"`
	Second Seat   `json:"second,omitzero"`
	Pick   string `json:"pick,omitzero"` // a crisis or a part of the report
}

// Settings are the host's choices. The zero value of each field means the default.
type Settings struct {
	Seconds  Seconds `json:"seconds,omitzero"`
	Days     int     `json:"days"`              // the last day; 0 is 10
	Mandate  Mandate `json:"mandate,omitzero"`  // "" is drawn at random
	Messages int     `json:"messages,omitzero"` // most messages of a player in a day; 0 is 120
	// ClientsAct lets the keys of clients act in their seats. Otherwise they only read the table.
	ClientsAct bool `json:"clients_act,omitzero"`
}

// Seconds are the durations of the phases. A zero is the default.
type Seconds struct {
	Sitrep     float64 `json:"sitrep,omitzero"`
	Pulse      float64 `json:"pulse_check,omitzero"`
	Discussion float64 `json:"discussion,omitzero"`
	Extension  float64 `json:"extension,omitzero"`
	Overtime   float64 `json:"overtime,omitzero"` // of the discussion after an extension
	Nomination float64 `json:"nomination,omitzero"`
	Trial      float64 `json:"trial,omitzero"`
	Verdict    float64 `json:"verdict,omitzero"`
	Night      float64 `json:"night,omitzero"`
}

func (s *Seconds) fieldPointers() []*float64 {
	return []*float64{&s.Sitrep, &s.Pulse, &s.Discussion, &s.Extension, &s.Overtime, &s.Nomination, &s.Trial, &s.Verdict,
		&s.Night}
}

// defaultSeconds returns the durations that the contract defines.
func defaultSeconds() Seconds { return Seconds{15, 30, 120, 15, 60, 30, 30, 30, 30} }

func (s Seconds) orDefault() Seconds {
	d := defaultSeconds()
	from := d.fieldPointers()
	for i, f := range s.fieldPointers() {
		if *f == 0 {
			*f = *from[i]
		}
	}
	return s
}

// lengthOf returns the length of a phase; 0 means that only a command ends it.
func (s Settings) lengthOf(p Phase, overtime bool) Millis {
	t := s.Seconds
	seconds := map[Phase]float64{Sitrep: t.Sitrep, PulseCheck: t.Pulse, Discussion: t.Discussion, Extension: t.Extension,
		Nomination: t.Nomination, Trial: t.Trial, Verdict: t.Verdict, Night: t.Night}[p]
	if p == Discussion && overtime {
		seconds = t.Overtime
	}
	return Millis(seconds * 1000)
}

// Length returns the full length of the current phase; 0 means that only a command ends it.
func (s *State) Length() Millis { return s.Settings.lengthOf(s.Public.Phase, s.Public.Extended) }

// Needed returns the number of milestones that unlock a role.
func (p *Public) Needed() int {
	if p.Mandate == SecurityLockdown {
		return 4
	}
	return 3
}

// Unlocked reports whether a player's role is unlocked.
func (p *Public) Unlocked(s Seat) bool { return p.Players.Of(s).Milestones >= p.Needed() }

// Alive reports whether a seat is taken and its player still in the game.
func (p *Public) Alive(s Seat) bool {
	return s > 0 && int(s) <= p.Seated && p.Players.Of(s).Alive
}

// Taken reports whether somebody has a seat.
func (p *Public) Taken(s Seat) bool {
	return s > 0 && int(s) <= p.Seated && p.Players.Of(s).Name != ""
}

// freeSeat returns the first seat that is free again, or the next; zero if all are taken.
func (p *Public) freeSeat() Seat {
	for s := Seat(1); int(s) <= MaxSeats; s++ {
		if !p.Taken(s) {
			return s
		}
	}
	return 0
}

// Count returns the number of players.
func (p *Public) Count() (n int) {
	for s := Seat(1); int(s) <= p.Seated; s++ {
		if p.Taken(s) {
			n++
		}
	}
	return n
}

// Living returns the seats still in the game, in order.
func (p *Public) Living() []Seat {
	living := make([]Seat, 0, MaxSeats)
	for s := Seat(1); int(s) <= p.Seated; s++ {
		if p.Players.Of(s).Alive {
			living = append(living, s)
		}
	}
	return living
}

// machineSeats returns the living players of the AI side, the Original AI first.
func (s *State) machineSeats() []Seat {
	side := make([]Seat, 0, MaxSeats)
	for _, seat := range s.Public.Living() {
		switch s.Secret.Seats.Of(seat).Alignment {
		case OriginalAI:
			side = append([]Seat{seat}, side...)
		case Aligned:
			side = append(side, seat)
		}
	}
	return side
}

// Machine reports whether a seat belongs to the AI side.
func (s *State) Machine(seat Seat) bool { return s.Secret.Seats.Of(seat).Alignment.Machine() }

// Dice returns the dice of the next decision.
func (s *State) Dice() *Dice { return NewDice(s.Seed, s.Events) }
