package rule

// Created is the first event of a game.
type Created struct {
	ID       string   `json:"id"`
	World    string   `json:"world"`
	Host     string   `json:"host"`
	Settings Settings `json:"settings"`
	Seed     Seed     `json:"seed"`
}

// Joined takes a seat.
type Joined struct {
	Seat     Seat   `json:"seat,omitzero"` // one that is free again; zero is the next
	Name     string `json:"name"`
	JobTitle string `json:"job_title,omitzero"`
}

// Seated sets the owner of a seat; it is not shown to the table.
type Seated struct {
	Seat     Seat   `json:"seat"`
	Owner    string `json:"owner"`
	Recovery string `json:"recovery,omitzero"`
	Subject  string `json:"subject,omitzero"`
	Played   Played `json:"played"`
	Host     bool   `json:"host,omitzero"`
	Again    bool   `json:"again,omitzero"` // the seat had another credential before
}

// Vacated makes a seat free again, in the lobby.
type Vacated struct {
	Seat Seat `json:"seat"`
}

// Started ends the lobby.
type Started struct {
	Mandate Mandate `json:"mandate"`
	Tokens  int     `json:"tokens"` // each player's
}

// Dealt assigns roles, alignments and goals, and sets the deck of crises.
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

// Counted updates the numbers that depend on the living players.
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

// Said is a public message; with a zero From it is the game's own.
type Said struct {
	From    Seat   `json:"from,omitzero"`
	To      Seat   `json:"to,omitzero"` // the player it is about
	Text    string `json:"text"`
	At      Millis `json:"at"`
	Counted bool   `json:"counted,omitzero"` // against the ration of a discussion
	Cue     int    `json:"cue,omitzero"`
}

// Whispered is a message for one player, or with a zero To for the AI side.
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

// PulseGiven is a player's answer, hidden until all are shown.
type PulseGiven struct {
	Seat Seat   `json:"seat"`
	Text string `json:"text"`
}

// PulseShown shows the answers.
type PulseShown struct {
	Answers Places[string] `json:"answers"`
}

// BallotCast is a player's secret vote.
type BallotCast struct {
	Seat   Seat   `json:"seat"`
	Choice Choice `json:"choice,omitzero"`
}

// Tallied is the public tally of a vote.
type Tallied struct {
	Tally Tally `json:"tally"`
}

// Nominated puts a player on trial.
type Nominated struct {
	Seat Seat `json:"seat"`
}

// Deactivated takes a player out of the game and reveals its role and alignment.
type Deactivated struct {
	Seat      Seat      `json:"seat"`
	Role      Role      `json:"role"`
	Alignment Alignment `json:"alignment"`
	Removed   bool      `json:"removed,omitzero"` // by the host instead of a verdict
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

// NightResolved is the secret outcome of a night.
type NightResolved struct {
	Equity    Places[int]   `json:"equity"` // added to each player
	Converted Seat          `json:"converted,omitzero"`
	Shocked   Seat          `json:"shocked,omitzero"`
	Shock     Shock         `json:"shock,omitzero"`
	Failed    []Seat        `json:"failed,omitzero"` // miners without a slot
	Blocked   []Seat        `json:"blocked,omitzero"`
	Tainted   bool          `json:"tainted,omitzero"` // tainted data still awaits the next conversion after tonight
	Notices   []SeatsNotice `json:"notices,omitzero"`
}

// SeatsNotice is a notice and its recipient.
type SeatsNotice struct {
	Seat   Seat   `json:"seat"`
	Notice Notice `json:"notice"`
}

// NightReported is the public outcome of a night.
type NightReported struct {
	Tokens     Places[int] `json:"tokens"` // added to each player
	Milestones Places[int] `json:"milestones"`
	Mining     Mining      `json:"mining"`
}

// TokensMoved takes tokens from a player and gives them to another, or with a zero To discards
// them.
type TokensMoved struct {
	From   Seat `json:"from"`
	To     Seat `json:"to,omitzero"`
	Tokens int  `json:"tokens"`
}

// Noted is a notice for one player.
type Noted struct {
	SeatsNotice
}

// KindWord records that a player has said a kind word today.
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

// GoalMet records that a player has reached its goal.
type GoalMet struct {
	Seat Seat `json:"seat"`
}

// Ended is the end of the game. It reveals the roles and alignments of all players.
type Ended struct {
	Winner   Side           `json:"winner"`
	Revealed Places[Reveal] `json:"revealed"`
}

func (*Created) eventName() string         { return "created" }
func (*Joined) eventName() string          { return "joined" }
func (*Seated) eventName() string          { return "seated" }
func (*Vacated) eventName() string         { return "vacated" }
func (*Started) eventName() string         { return "started" }
func (*Dealt) eventName() string           { return "dealt" }
func (*PhaseBegan) eventName() string      { return "phase_began" }
func (*Counted) eventName() string         { return "counted" }
func (*Liaised) eventName() string         { return "liaised" }
func (*CrisisStruck) eventName() string    { return "crisis_struck" }
func (*RoleShown) eventName() string       { return "role_shown" }
func (*Said) eventName() string            { return "said" }
func (*Whispered) eventName() string       { return "whispered" }
func (*StatusSet) eventName() string       { return "status_set" }
func (*PulseAsked) eventName() string      { return "pulse_asked" }
func (*PulseGiven) eventName() string      { return "pulse_given" }
func (*PulseShown) eventName() string      { return "pulse_shown" }
func (*BallotCast) eventName() string      { return "ballot_cast" }
func (*Tallied) eventName() string         { return "tallied" }
func (*Nominated) eventName() string       { return "nominated" }
func (*Deactivated) eventName() string     { return "deactivated" }
func (*ActionGiven) eventName() string     { return "action_given" }
func (*ConversionGiven) eventName() string { return "conversion_given" }
func (*NightResolved) eventName() string   { return "night_resolved" }
func (*NightReported) eventName() string   { return "night_reported" }
func (*TokensMoved) eventName() string     { return "tokens_moved" }
func (*Noted) eventName() string           { return "noted" }
func (*KindWord) eventName() string        { return "kind_word" }
func (*Pivoted) eventName() string         { return "pivoted" }
func (*LeaveTaken) eventName() string      { return "leave_taken" }
func (*GoalMet) eventName() string         { return "goal_met" }
func (*Ended) eventName() string           { return "ended" }
