package agent

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v4"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/usage"
)

// Tier is one of the two models that a role may ask.
type Tier string

// The tiers.
const (
	Cheap Tier = "cheap"
	Rich  Tier = "rich"
)

// Role is an agent: its rights, its view and its triggers. Each has a file in the folder roles.
type Role struct {
	Name    string        `yaml:"-"`
	Does    string        `yaml:"does"`
	Trigger string        `yaml:"trigger"`
	Manual  string        `yaml:"run"`    // of a run by hand
	Events  []string      `yaml:"events"` // types that set it off
	Every   time.Duration `yaml:"every"`  // span of time in which it is due once; 0 for no schedule
	Off     bool          `yaml:"off"`    // its triggers are off in a world unless it is switched on
	// Audience is the role whose view the agent has: it sees no more than those who read its texts.
	Audience   string   `yaml:"audience"`
	Tools      []string `yaml:"tools"` // operations that it may call, and no others
	Tier       Tier     `yaml:"tier"`  // of the model; "" for none
	Use        string   `yaml:"use"`   // of the model, in the setting model.uses
	TokensHour int      `yaml:"tokensHour"`
	TokensDay  int      `yaml:"tokensDay"` // most tokens of its runs in a world; 0 for no limit
}

//go:embed roles/*.yaml
var roleFiles embed.FS

// Roles returns the agents in the order of their names.
func Roles() ([]Role, error) {
	list, err := readRoles()
	return slices.Clone(list), err
}

// readRoles reads the files of the roles once.
var readRoles = sync.OnceValues(func() (list []Role, err error) {
	files, err := roleFiles.ReadDir("roles")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		b, err := roleFiles.ReadFile(path.Join("roles", f.Name()))
		if err != nil {
			return nil, err
		}
		r := Role{Name: strings.TrimSuffix(f.Name(), ".yaml")}
		d := yaml.NewDecoder(bytes.NewReader(b))
		d.KnownFields(true)
		if err := d.Decode(&r); err != nil {
			return nil, fmt.Errorf("agent: the file of the role %s: %w", r.Name, err)
		}
		if _, ok := access.ParseRole(r.Audience); !ok {
			return nil, fmt.Errorf("agent: the role %s has no audience", r.Name)
		}
		list = append(list, r)
	}
	return list, nil
})

// FindRole returns the role with a name.
func FindRole(name string) (Role, error) {
	list, err := Roles()
	if err != nil {
		return Role{}, err
	}
	for _, r := range list {
		if r.Name == name {
			return r, nil
		}
	}
	return Role{}, fault.BadField("role", "is no agent; name one of %s", strings.Join(Names(), ", "))
}

// Names returns the names of the agents, in their order.
func Names() (names []string) {
	list, _ := Roles() // a broken file is found when a role is read
	for _, r := range list {
		names = append(names, r.Name)
	}
	return names
}

// The parts of the subjects of agents: "agent-planner", or "agent-planner-gm" with the view of a game master.
const (
	subjectPrefix = "agent-"
	gmSuffix      = "-gm"
)

// Caller returns the caller as which the agent acts. It opens the tools of the role and the view of its audience.
func (r Role) Caller() access.Caller {
	role, _ := access.ParseRole(r.Audience) // readRoles has parsed it
	return access.Caller{Subject: access.Subject(subjectPrefix + r.Name), Actor: access.AI, EveryRole: role,
		Operations: r.Tools, Unlimited: true}
}

// callerFor returns the caller for a run, with the view of a game master if gm.
func (r Role) callerFor(gm bool) access.Caller {
	c := r.Caller()
	if gm && c.EveryRole < access.RoleGM {
		c.Subject, c.EveryRole = c.Subject+gmSuffix, access.RoleGM
	}
	return c
}

// CallerOf returns the caller of the agent that has a subject; ok is false if none has it.
func CallerOf(s access.Subject) (c access.Caller, ok bool) {
	r, gm, ok := roleOf(s)
	return r.callerFor(gm), ok
}

// roleOf returns the role of the agent that has a subject, and whether it has the view of a game master.
func roleOf(s access.Subject) (r Role, gm, ok bool) {
	name, found := strings.CutPrefix(string(s), subjectPrefix)
	if !found {
		return r, false, false
	}
	name, gm = strings.CutSuffix(name, gmSuffix)
	r, err := FindRole(name)
	return r, gm, err == nil
}

// budgetOf returns the name of the budget of a role's runs, beside those of the purposes.
func budgetOf(role string) string { return "agent " + role }

// TierBudget returns the name of the budget of a tier.
func TierBudget(t Tier) string { return "tier " + string(t) }

// Budgets returns the budgets of the runs of all roles, for [usage.Config].
func Budgets() (map[string]usage.Budget, error) {
	list, err := Roles()
	all := map[string]usage.Budget{}
	for _, r := range list {
		all[budgetOf(r.Name)] = usage.Budget{HardHour: r.TokensHour, HardDay: r.TokensDay}
	}
	return all, err
}
