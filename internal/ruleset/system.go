package ruleset

// Check asks a system whether somebody succeeds in an act.
type Check struct {
	// Skill is the person's ability in the act, in the unit of the system: a modifier of the fifth
	// edition, a share in a hundred of the free form.
	Skill int
	// Difficulty is how hard the act is, in the unit of the system: a difficulty class, or a
	// number to subtract from the skill.
	Difficulty int
	Mode       Mode
}

// Mode tells favourable circumstances of an act from unfavourable ones.
type Mode int

// The modes.
const (
	Disadvantage Mode = iota - 1
	Straight
	Advantage
)

// ModeOf returns the mode of favourable and unfavourable circumstances: if there are both, however
// many, they cancel each other.
func ModeOf(favourable, unfavourable bool) Mode {
	switch {
	case favourable == unfavourable:
		return Straight
	case favourable:
		return Advantage
	}
	return Disadvantage
}

// Outcome is the result of a Check.
type Outcome struct {
	Success  bool     `json:"success"`
	Degree   string   `json:"degree"`           // such as success, or critical failure
	Total    int      `json:"total"`            // the number that is compared
	Target   int      `json:"target"`           // the number that it is compared with
	Margin   int      `json:"margin"`           // how far it succeeds; negative: how far it fails
	Thrown   []Thrown `json:"thrown,omitempty"` // the dice
	Citation string   `json:"citation"`         // the heading of the rule
}

// System is a system of rules. Implementations have no state.
type System interface {
	// Name is the name by which a world chooses the system.
	Name() string
	Check(Check, Chance) Outcome
	// Untrained is the skill of somebody of whom nothing is known.
	Untrained() int
	// Difficulties returns the named difficulties, from the easiest.
	Difficulties() []Difficulty
}

// Difficulty is a named difficulty in the unit of a system.
type Difficulty struct {
	Name  string `json:"name"`
	Value int    `json:"value"`
}
