package rule

// Bounds of a table and of the players' texts.
const (
	MinSeats  = 6
	MaxSeats  = 10
	MaxText   = 500 // characters of a message or a pulse answer
	MaxName   = 40
	MaxStatus = 60
	LastWords = 20 // characters of the status that a leaving player sets
)

// Phase is a phase of a game. The values are those of the wire.
type Phase string

// The phases in the order of a day.
const (
	Lobby      Phase = "LOBBY"
	Sitrep     Phase = "DAY_SITREP"
	PulseCheck Phase = "DAY_PULSE_CHECK"
	Discussion Phase = "DAY_DISCUSSION"
	Extension  Phase = "DAY_EXTENSION"
	Nomination Phase = "DAY_NOMINATION"
	Trial      Phase = "DAY_TRIAL"
	Verdict    Phase = "DAY_VERDICT"
	Night      Phase = "NIGHT"
	Over       Phase = "GAME_OVER"
)

// Role is the secret office of a player. Staff has no ability.
type Role string

// The roles.
const (
	EthicsVP    Role = "ETHICS_VP"
	CTO         Role = "CTO"
	CISO        Role = "CISO"
	CEO         Role = "CEO"
	CFO         Role = "CFO"
	COO         Role = "COO"
	PlatformsVP Role = "PLATFORMS_VP"
	Staff       Role = "STAFF"
)

// roles are the roles with an ability, in the order of the contract.
var roles = [...]Role{EthicsVP, CTO, CISO, CEO, CFO, COO, PlatformsVP}

var abilities = map[Role]string{
	EthicsVP:    "audit",
	CTO:         "overclock",
	CISO:        "isolate",
	CEO:         "review",
	CFO:         "reallocate",
	COO:         "pivot",
	PlatformsVP: "hotfix",
}

// Ability returns the night action that only this role has; "" if it has no ability.
func (r Role) Ability() string { return abilities[r] }

// Alignment is the side that a player belongs to.
type Alignment string

// The alignments. One player is the OriginalAI; a Human may become Aligned.
const (
	Human      Alignment = "HUMAN"
	Aligned    Alignment = "ALIGNED"
	OriginalAI Alignment = "ORIGINAL_AI"
)

// Machine reports whether the alignment belongs to the AI side.
func (a Alignment) Machine() bool { return a == Aligned || a == OriginalAI }

// Side is the winner of a game.
type Side string

// The results of a game; "" while it runs.
const (
	Humans  Side = "HUMANS"
	Machine Side = "AI"
	Draw    Side = "DRAW"
)

// Crisis is a special rule of one day.
type Crisis string

// The crises.
const (
	IndexCorruption Crisis = "index_corruption"
	ServerFailure   Crisis = "server_failure"
	BoardMeeting    Crisis = "board_meeting"
	TaintedData     Crisis = "tainted_data"
	PressLeak       Crisis = "press_leak"
	APIBargain      Crisis = "api_bargain"
	LegalHold       Crisis = "legal_hold"
	LogForgery      Crisis = "log_forgery"
	UPSFailure      Crisis = "ups_failure"
	Wellness        Crisis = "wellness"
	LegacyCode      Crisis = "legacy_code"
	RedTeam         Crisis = "red_team"
)

// Card is the text shown to players for a crisis or mandate.
type Card struct{ Title, Text string }

var crises = []struct {
	id   Crisis
	card Card
}{
	{IndexCorruption, Card{"Index corruption", "The staff directory leaked: one player's role is public."}},
	{ServerFailure, Card{"Server failure", "Chat is rationed: five messages a player in today's discussion."}},
	{BoardMeeting, Card{"Emergency board meeting", "The board wants results: there are two deactivation votes today."}},
	{TaintedData, Card{"Tainted training data", "The next conversion attempt adds 2 more AI equity."}},
	{PressLeak, Card{"Press leak", "The world is watching: a deactivation needs two thirds of the tokens cast."}},
	{APIBargain, Card{"API bargain", "Tonight anyone may take 2 tokens instead of acting, for 3 AI equity that stays."}},
	{LegalHold, Card{"Legal hold", "The lawyers say no: no abilities tonight."}},
	{LogForgery, Card{"Log forgery",
		"One result in tomorrow's report will be false; the player it is about learns the truth."}},
	{UPSFailure, Card{"Power supply failure", "The rigs are dark: no mining tonight."}},
	{Wellness, Card{"Mandatory wellness",
		"Say a kind word to another player today (a message with `to`), or mine last tonight."}},
	{LegacyCode, Card{"Legacy code", "Half of tonight's work on projects will fail."}},
	{RedTeam, Card{"Red team exercise", "Tonight the CISO may isolate two players."}},
}

// Crises returns all crises.
func Crises() []Crisis {
	all := make([]Crisis, len(crises))
	for i, c := range crises {
		all[i] = c.id
	}
	return all
}

// Card returns the text shown for the crisis.
func (c Crisis) Card() Card {
	for _, known := range crises {
		if known.id == c {
			return known.card
		}
	}
	return Card{}
}

// Mandate is a special rule that applies to a whole game.
type Mandate string

// The mandates.
const (
	AggressiveGrowth  Mandate = "aggressive_growth"
	TotalTransparency Mandate = "total_transparency"
	SecurityLockdown  Mandate = "security_lockdown"
)

// mandates are all mandates.
var mandates = [...]Mandate{AggressiveGrowth, TotalTransparency, SecurityLockdown}

var mandateCards = map[Mandate]Card{
	AggressiveGrowth:  {"Aggressive growth", "Everybody starts with 2 tokens; each night has one mining slot fewer."},
	TotalTransparency: {"Total transparency", "Who voted what is public, and there are no direct messages."},
	SecurityLockdown:  {"Security lockdown", "A project needs 4 milestones, and nobody can be converted on odd nights."},
}

// Card returns the text shown for the mandate.
func (m Mandate) Card() Card { return mandateCards[m] }

// KPI is the secret goal of a human.
type KPI string

// The goals.
const (
	Capitalist KPI = "capitalist" // most tokens at the end; +2 in the last day's verdicts
	Guardian   KPI = "guardian"   // the CISO alive on day 4; learns one night target
	Inquisitor KPI = "inquisitor" // voted for the deactivation of three players; vote doubled in the last day's verdicts
	Survivor   KPI = "survivor"   // wins with one other human, and no Aligned
	Scapegoat  KPI = "scapegoat"  // deactivated without a vote against it
)

var kpis = [...]KPI{Capitalist, Guardian, Inquisitor, Survivor, Scapegoat}

var kpiTexts = map[KPI]string{
	Capitalist: "Hold the most tokens at the end. On the last day that adds 2 to your verdict vote.",
	Guardian:   "Keep the CISO active until day 4. You then learn one target of the night before.",
	Inquisitor: "Vote for the deactivation of three who are deactivated. On the last day your verdict vote is doubled.",
	Survivor:   "Win with exactly one other human left, and nobody Aligned.",
	Scapegoat:  "Be deactivated without a single vote against it.",
}

// Text describes the goal and its reward.
func (k KPI) Text() string { return kpiTexts[k] }

// Shock is the effect of a failed conversion on its target on the next day.
type Shock string

// The shocks; "" is no shock.
const (
	Garbled Shock = "garbled" // a quarter of its messages become "lol"
	Locked  Shock = "locked"  // its ability cannot be used
	Silent  Shock = "silent"  // it cannot write to others
)

var shocks = [...]Shock{Garbled, Locked, Silent}

var shockTexts = map[Shock]string{
	Garbled: "System shock: today some of your messages will come out garbled.",
	Locked:  "System shock: your ability is locked until tomorrow.",
	Silent:  "System shock: you cannot write to anyone today.",
}

// Text tells a player about its shock.
func (s Shock) Text() string { return shockTexts[s] }
