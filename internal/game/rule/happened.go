package rule

// Created is the first event of a game.
type Created struct {
	ID       string   `json:"id"`
	World    string   `json:"world"`
	Host     string   `json:"host"`
	Settings Settings `json:"settings"`
	Seed     Seed     `json:"seed"`
}

// Joined takes the next seat.
type Joined struct {
	Name     string `json:"name"`
	JobTitle string `json:"job_title,omitzero"`
}

// Seated says who sits on a seat, which the table does not learn.
type Seated struct {
	Seat   Seat   `json:"seat"`
	Owner  string `json:"owner"`
	Played Played `json:"played"`
	Host   bool   `json:"host,omitzero"`
}

// Started ends the lobby.
type Started struct {
	Mandate Mandate `json:"mandate"`
	Tokens  int     `json:"tokens"` // each player's
}

// Dealt says who is what.
type Dealt struct {
	Roles      []Role      `json:"roles"` // by seat
	Alignments []Alignment `json:"alignments"`
	KPIs       []KPI       `json:"kpis"`
	Deck       []Crisis    `json:"deck"`
}

// PhaseBegan puts the game into a phase.
type PhaseBegan struct {
	Phase    Phase  `json:"phase"`
	Day      int    `json:"day"`
	Ends     Millis `json:"ends"`
	Extended bool   `json:"extended,omitzero"`
}

// Counted is a new count of what follows from who lives.
type Counted struct {
	Pool     int `json:"pool"`
	Machines int `json:"machines"`
}

// Liaised begins or ends the liaison protocol for a day.
type Liaised struct {
	On bool `json:"on"`
}

// CrisisStruck is the day's crisis, the next of the deck.
type CrisisStruck struct {
	Crisis Crisis `json:"crisis"`
}

// RoleShown makes a role public.
type RoleShown struct {
	Seat Seat `json:"seat"`
	Role Role `json:"role"`
}

// Said is a public message; from nobody, it is the game's.
type Said struct {
	From    Seat   `json:"from,omitzero"`
	To      Seat   `json:"to,omitzero"` // whom it is about
	Text    string `json:"text"`
	At      Millis `json:"at"`
	Counted bool   `json:"counted,omitzero"` // against the ration of a discussion
	Cue     int    `json:"cue,omitzero"`
}

// Whispered is a message for one player, or for the AI side where it is to nobody.
type Whispered struct {
	From  Seat   `json:"from"`
	To    Seat   `json:"to,omitzero"`
	Day   int    `json:"day"`
	Phase Phase  `json:"phase"`
	Text  string `json:"text"`
	At    Millis `json:"at"`
}

// StatusSet is a player's new status.
type StatusSet struct {
	Seat Seat   `json:"seat"`
	Text string `json:"text"`
}

// PulseAsked is the question of the day.
type PulseAsked struct {
	Prompt string `json:"prompt"`
}

// PulseGiven is an answer, hidden until all are shown.
type PulseGiven struct {
	Seat Seat   `json:"seat"`
	Text string `json:"text"`
}

// PulseShown shows the answers.
type PulseShown struct {
	Answers Places[string] `json:"answers"`
}

// BallotCast is what somebody votes, as nobody sees it.
type BallotCast struct {
	Seat   Seat   `json:"seat"`
	Choice Choice `json:"choice,omitzero"`
}

// Tallied is how the vote stands, as all see it.
type Tallied struct {
	Tally Tally `json:"tally"`
}

// Nominated puts a player on trial.
type Nominated struct {
	Seat Seat `json:"seat"`
}

// Deactivated takes a player out of the game and says who it was.
type Deactivated struct {
	Seat      Seat      `json:"seat"`
	Role      Role      `json:"role"`
	Alignment Alignment `json:"alignment"`
	Removed   bool      `json:"removed,omitzero"` // by the host, and not by a verdict
}

// ActionGiven is a player's action for tonight.
type ActionGiven struct {
	Seat   Seat   `json:"seat"`
	Action Action `json:"action"`
}

// ConversionGiven is a conversion target for tonight.
type ConversionGiven struct {
	Seat   Seat `json:"seat"`
	Target Seat `json:"target"`
}

// NightResolved is what the night did in secret.
type NightResolved struct {
	Equity    Places[int]   `json:"equity"` // added
	Converted Seat          `json:"converted,omitzero"`
	Shocked   Seat          `json:"shocked,omitzero"`
	Shock     Shock         `json:"shock,omitzero"`
	Failed    []Seat        `json:"failed,omitzero"` // miners without a slot
	Blocked   []Seat        `json:"blocked,omitzero"`
	Tainted   bool          `json:"tainted,omitzero"` // what waits for the next conversion, after tonight
	Notices   []SeatsNotice `json:"notices,omitzero"`
}

// SeatsNotice is a notice and whose it is.
type SeatsNotice struct {
	Seat   Seat   `json:"seat"`
	Notice Notice `json:"notice"`
}

// NightReported is what the night did for all to see.
type NightReported struct {
	Tokens     Places[int] `json:"tokens"` // added
	Milestones Places[int] `json:"milestones"`
	Mining     Mining      `json:"mining"`
}

// TokensMoved takes tokens from a player and gives them to another, or to nobody.
type TokensMoved struct {
	From   Seat `json:"from"`
	To     Seat `json:"to,omitzero"`
	Tokens int  `json:"tokens"`
}

// Noted is a line for one player.
type Noted struct {
	SeatsNotice
}

// KindWord notes that a player has said one today.
type KindWord struct {
	Seat Seat `json:"seat"`
}

// Pivoted puts a crisis on top of the deck.
type Pivoted struct {
	Deck []Crisis `json:"deck"`
}

// LeaveTaken uses up a player's exit interview.
type LeaveTaken struct {
	Seat Seat `json:"seat"`
}

// GoalMet notes that a player has reached its goal.
type GoalMet struct {
	Seat Seat `json:"seat"`
}

// Ended is the end of the game. Everything about everybody is told.
type Ended struct {
	Winner   Side           `json:"winner"`
	Revealed Places[Reveal] `json:"revealed"`
}

func (*Created) name() string         { return "created" }
func (*Joined) name() string          { return "joined" }
func (*Seated) name() string          { return "seated" }
func (*Started) name() string         { return "started" }
func (*Dealt) name() string           { return "dealt" }
func (*PhaseBegan) name() string      { return "phase_began" }
func (*Counted) name() string         { return "counted" }
func (*Liaised) name() string         { return "liaised" }
func (*CrisisStruck) name() string    { return "crisis_struck" }
func (*RoleShown) name() string       { return "role_shown" }
func (*Said) name() string            { return "said" }
func (*Whispered) name() string       { return "whispered" }
func (*StatusSet) name() string       { return "status_set" }
func (*PulseAsked) name() string      { return "pulse_asked" }
func (*PulseGiven) name() string      { return "pulse_given" }
func (*PulseShown) name() string      { return "pulse_shown" }
func (*BallotCast) name() string      { return "ballot_cast" }
func (*Tallied) name() string         { return "tallied" }
func (*Nominated) name() string       { return "nominated" }
func (*Deactivated) name() string     { return "deactivated" }
func (*ActionGiven) name() string     { return "action_given" }
func (*ConversionGiven) name() string { return "conversion_given" }
func (*NightResolved) name() string   { return "night_resolved" }
func (*NightReported) name() string   { return "night_reported" }
func (*TokensMoved) name() string     { return "tokens_moved" }
func (*Noted) name() string           { return "noted" }
func (*KindWord) name() string        { return "kind_word" }
func (*Pivoted) name() string         { return "pivoted" }
func (*LeaveTaken) name() string      { return "leave_taken" }
func (*GoalMet) name() string         { return "goal_met" }
func (*Ended) name() string           { return "ended" }
