package rule

// State is a game at one moment. It is a value; what it refers to is never changed.
type State struct {
	ID       string   `json:"id"`
	Settings Settings `json:"settings"`
	Seed     Seed     `json:"seed"`
	Events   int      `json:"events"` // folded so far
	Public   Public   `json:"public"`
	Secret   Secret   `json:"secret"`
}

// Public is what everybody at the table may know.
type Public struct {
	Version int            `json:"version"` // counts the changes of what follows
	Phase   Phase          `json:"phase"`
	Ends    Millis         `json:"ends"` // of the phase; 0 where nothing ends it but a command
	Day     int            `json:"day"`
	Seated  int            `json:"seated"` // seats taken, from the first
	Players Places[Person] `json:"players"`
	Log     Log            `json:"log"`

	Crisis   Crisis  `json:"crisis"`
	Mandate  Mandate `json:"mandate"`
	Extended bool    `json:"extended"` // today's discussion has been
	Rounds   int     `json:"rounds"`   // nominations that the day has had
	Vote     Tally   `json:"vote"`
	Nominee  Seat    `json:"nominee"`

	Mining   Mining         `json:"mining"` // of last night, as reported
	Pool     int            `json:"pool"`   // mining slots of tonight
	Machines int            `json:"machines"`
	Revealed Places[Reveal] `json:"revealed"`
	Pulse    Pulse          `json:"pulse"`
	Winner   Side           `json:"winner"`
}

// Person is what is public of a player.
type Person struct {
	Name       string `json:"name"`
	JobTitle   string `json:"job_title"`
	Status     string `json:"status"`
	Tokens     int    `json:"tokens"`
	Milestones int    `json:"milestones"`
	Alive      bool   `json:"alive"`
}

// Tally is a vote: what it is about and how it stands.
type Tally struct {
	Kind   VoteKind       `json:"kind"` // "" while there is none
	Yes    int            `json:"yes"`  // tokens
	No     int            `json:"no"`
	For    Places[int]    `json:"for"`    // tokens that would nominate
	Ledger Places[Choice] `json:"ledger"` // who chose what, under an open ledger only
}

// VoteKind is what a vote decides.
type VoteKind string

// The kinds.
const (
	VoteExtension  VoteKind = "EXTENSION"
	VoteNomination VoteKind = "NOMINATION"
	VoteVerdict    VoteKind = "VERDICT"
)

// Choice is what somebody votes: "YES", "NO" or a player's id; "" is nothing.
type Choice string

// The choices that are not players.
const (
	Yes Choice = "YES"
	No  Choice = "NO"
)

// Mining is what came of a night's mining.
type Mining struct {
	Reported bool        `json:"reported"`
	Slots    int         `json:"slots"`
	Gained   Places[int] `json:"gained"`
}

// Reveal is what has become public of a player. "" is not revealed.
type Reveal struct {
	Role      Role      `json:"role"`
	Alignment Alignment `json:"alignment"`
}

// Pulse is the day's question with the answers, once they are shown.
type Pulse struct {
	Prompt  string         `json:"prompt"`
	Answers Places[string] `json:"answers"`
}

// Secret is what nobody at the table may know but whom it concerns.
type Secret struct {
	Seats    Places[Hidden] `json:"seats"`
	Deck     []Crisis       `json:"deck"` // to come, the next first
	Tainted  bool           `json:"tainted"`
	Liaison  bool           `json:"liaison"` // the protocol holds today
	Whispers Log            `json:"whispers"`
	Host     string         `json:"host"` // who made the game, in the words of the caller of Decide
	World    string         `json:"world"`
}

// Hidden is what is secret of a player.
type Hidden struct {
	Owner  string `json:"owner"` // who sits there, in the words of the caller of Decide
	Played Played `json:"played"`
	Host   bool   `json:"host"` // may start, advance and remove as well

	Role      Role      `json:"role"`
	Alignment Alignment `json:"alignment"`
	KPI       KPI       `json:"kpi"`
	KPIMet    bool      `json:"kpi_met"`
	Equity    int       `json:"equity"`
	Shock     Shock     `json:"shock"`

	Ballot  Choice `json:"ballot"`
	Convict int    `json:"convict"` // deactivated players it voted to deactivate
	Pulse   string `json:"pulse"`
	Action  Action `json:"action"`  // for tonight
	Last    Action `json:"last"`    // of last night
	Convert Seat   `json:"convert"` // conversion target for tonight
	Failed  bool   `json:"failed"`  // its mining of last night got no slot
	Kind    bool   `json:"kind"`    // has said a kind word today
	Said    int    `json:"said"`    // messages of today's discussion
	Written int    `json:"written"` // messages of today
	Leaving bool   `json:"leaving"` // may still take its leave
	Cue     int    `json:"cue"`     // last cue that it spoke at, of a seat played by the program

	Notices []Notice `json:"notices"`
}

// Played is who plays a seat.
type Played string

// The kinds.
const (
	ByPerson  Played = "person"
	ByProgram Played = "program" // by this server
	ByClient  Played = "client"  // by a program somewhere else
)

// Notice is a line for one player.
type Notice struct {
	Day  int    `json:"day"`
	Text string `json:"text"`
}

// Action is what a player does at night. The zero Action is none.
type Action struct {
	Do     string `json:"do"` // "mine", "project", "bargain" or an ability
	Target Seat   `json:"target,omitzero"`
	Second Seat   `json:"second,omitzero"`
	Pick   string `json:"pick,omitzero"` // a crisis or a part of the report
}

// Settings are what a host may choose. The zero value of each means the default.
type Settings struct {
	Seconds  Seconds `json:"seconds,omitzero"`
	Days     int     `json:"days"`              // the last day; 0 is 10
	Mandate  Mandate `json:"mandate,omitzero"`  // "" is drawn
	Messages int     `json:"messages,omitzero"` // a player may write in a day; 0 is 120
}

// Seconds are how long the phases last. A zero is the default.
type Seconds struct {
	Sitrep     float64 `json:"sitrep,omitzero"`
	Pulse      float64 `json:"pulse_check,omitzero"`
	Discussion float64 `json:"discussion,omitzero"`
	Extension  float64 `json:"extension,omitzero"`
	Overtime   float64 `json:"overtime,omitzero"` // of a discussion that was extended
	Nomination float64 `json:"nomination,omitzero"`
	Trial      float64 `json:"trial,omitzero"`
	Verdict    float64 `json:"verdict,omitzero"`
	Night      float64 `json:"night,omitzero"`
}

// Divided is all durations made shorter by a factor, for tests and demonstrations.
func (s Seconds) Divided(by float64) Seconds {
	s = s.orDefault()
	for _, f := range s.fields() {
		*f /= by
	}
	return s
}

func (s *Seconds) fields() []*float64 {
	return []*float64{&s.Sitrep, &s.Pulse, &s.Discussion, &s.Extension, &s.Overtime, &s.Nomination, &s.Trial, &s.Verdict, &s.Night}
}

// defaults are the durations of the contract.
func defaults() Seconds { return Seconds{15, 30, 120, 15, 60, 30, 30, 30, 30} }

func (s Seconds) orDefault() Seconds {
	d := defaults()
	from := d.fields()
	for i, f := range s.fields() {
		if *f == 0 {
			*f = *from[i]
		}
	}
	return s
}

// length is how long a phase lasts; 0 is until a command ends it.
func (s Settings) length(p Phase, overtime bool) Millis {
	t := s.Seconds
	seconds := map[Phase]float64{Sitrep: t.Sitrep, PulseCheck: t.Pulse, Discussion: t.Discussion, Extension: t.Extension,
		Nomination: t.Nomination, Trial: t.Trial, Verdict: t.Verdict, Night: t.Night}[p]
	if p == Discussion && overtime {
		seconds = t.Overtime
	}
	return Millis(seconds * 1000)
}

// Length is how long the present phase lasts in all; 0 until a command ends it.
func (s *State) Length() Millis { return s.Settings.length(s.Public.Phase, s.Public.Extended) }

// Needed is how many milestones unlock a role.
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

// Living are the seats still in the game, in order.
func (p *Public) Living() []Seat {
	living := make([]Seat, 0, MaxSeats)
	for s := Seat(1); int(s) <= p.Seated; s++ {
		if p.Players.Of(s).Alive {
			living = append(living, s)
		}
	}
	return living
}

// machines are the living of the AI side, the Original AI first.
func (s *State) machines() []Seat {
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

// Machine reports whether a seat is of the AI side.
func (s *State) Machine(seat Seat) bool { return s.Secret.Seats.Of(seat).Alignment.Machine() }

// Dice are those of the next decision.
func (s *State) Dice() *Dice { return NewDice(s.Seed, s.Events) }
