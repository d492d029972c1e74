package rules

import (
	"context"
	"strings"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/ruleset/fifth"
)

type scoresIn struct {
	Strength     int `json:"strength" min:"3" max:"18" jsonschema:"Score of Strength."`
	Dexterity    int `json:"dexterity" min:"3" max:"18" jsonschema:"Score of Dexterity."`
	Constitution int `json:"constitution" min:"3" max:"18" jsonschema:"Score of Constitution."`
	Intelligence int `json:"intelligence" min:"3" max:"18" jsonschema:"Score of Intelligence."`
	Wisdom       int `json:"wisdom" min:"3" max:"18" jsonschema:"Score of Wisdom."`
	Charisma     int `json:"charisma" min:"3" max:"18" jsonschema:"Score of Charisma."`
}

func (s scoresIn) toScores() fifth.Scores {
	return fifth.Scores{s.Strength, s.Dexterity, s.Constitution, s.Intelligence, s.Wisdom, s.Charisma}
}

type characterIn struct {
	Name      string         `json:"name" minlen:"1" maxlen:"100" jsonschema:"Name of the character."`
	Race      string         `json:"race" maxlen:"40" jsonschema:"Race or subrace, such as Human or Hill Dwarf."`
	Class     string         `json:"class" maxlen:"40" jsonschema:"Such as Fighter or Wizard."`
	Level     int            `json:"level" min:"1" max:"20" jsonschema:"Level of the character."`
	Scores    scoresIn       `json:"scores" jsonschema:"Ability scores before the race's increases."`
	Method    string         `json:"method,omitzero" enum:"array,points,rolled" default:"rolled" jsonschema:"How the scores were made; array and points are checked."`
	Chosen    []string       `json:"chosen_abilities,omitzero" maxitems:"2" jsonschema:"Abilities that a Half-Elf increases by 1."`
	Increases map[string]int `json:"increases,omitzero" jsonschema:"Points of ability score increases by ability, two for each increase of the class."`
	Skills    []string       `json:"skills,omitzero" maxitems:"12" jsonschema:"Proficiencies, with the background's."`
	Expertise []string       `json:"expertise,omitzero" maxitems:"4" jsonschema:"Skills with twice the proficiency bonus."`
	Armor     string         `json:"armor,omitzero" maxlen:"40" jsonschema:"Such as Chain Mail; none if omitted."`
	Shield    bool           `json:"shield,omitzero" jsonschema:"Carries a shield."`
	Weapons   []string       `json:"weapons,omitzero" maxitems:"10" jsonschema:"Such as Longsword or Longbow."`
}

type characterOut struct {
	Creature    fifth.Creature `json:"creature" jsonschema:"The numbers; start_encounter takes them as they are."`
	Class       string         `json:"class"`
	Race        string         `json:"race"`
	Size        string         `json:"size"`
	Proficiency int            `json:"proficiency_bonus"`
	HitDie      int            `json:"hit_die" jsonschema:"Sides."`
	HitDice     int            `json:"hit_dice"`
	Skills      []string       `json:"skills"`
	Passive     int            `json:"passive_perception"`
	Cantrips    int            `json:"cantrips_known,omitzero"`
	Features    []string       `json:"features"`
	Traits      []string       `json:"traits"`
	Left        []string       `json:"left_to_the_table" jsonschema:"Features and traits that the numbers do not contain."`
	Citation    string         `json:"citation"`
}

func (s *Service) buildCharacter() *op.Operation {
	return define(op.Spec{
		Name: "build_character", Title: "Build and check a character", Route: "POST /api/rules/character",
		Effect: access.Read, NoWorld: true,
		Asked: []string{
			"is the sheet legal", "make a hero of level three", "hit points and armor class of a paladin",
			"level up an adventurer", "work out a hero", "is the character correct",
			"numbers of a wizard of some level", "advance a hero", "make an adventurer by the book",
		},
		Doc: "Compute a fifth-edition character of one class from level 1 to 20, and check the sheet: scores, " +
			"skills, training with armor, increases. It writes no card.",
		Examples: []op.Example{{Title: "A fighter", Input: `{"name":"Guard","race":"Human","class":"Fighter",` +
			`"level":5,` +
			`"scores":{"strength":15,"dexterity":13,"constitution":14,"intelligence":8,"wisdom":12,` +
			`"charisma":10},"method":"array",` +
			`"skills":["athletics","perception"],"increases":{"strength":2},"armor":"Chain Mail","shield":true,` +
			`"weapons":["Longsword"]}`}},
	}, func(_ context.Context, _ *op.Call, in characterIn) (characterOut, error) {
		sheet, err := in.toSheet()
		if err != nil {
			return characterOut{}, err
		}
		c, err := fifth.Build(sheet)
		if err != nil {
			return characterOut{}, asFault(err)
		}
		out := characterOut{Creature: c.Creature, Class: c.Class, Race: c.Race, Size: c.Size, Proficiency: c.Proficiency,
			HitDie: c.HitDie, HitDice: c.HitDice, Skills: c.Skills, Passive: c.PassivePerception, Cantrips: c.Cantrips,
			Features: c.Features, Traits: c.Traits, Left: []string{}, Citation: c.Citation}
		for _, name := range append(append([]string{}, c.Features...), c.Traits...) {
			if !isCounted(name) {
				out.Left = append(out.Left, name)
			}
		}
		return out, nil
	})
}

func isCounted(feature string) bool {
	for _, name := range fifth.CountedFeatures() {
		if strings.HasPrefix(feature, name) {
			return true
		}
	}
	return strings.HasPrefix(feature, "Spellcasting") || feature == "Pact Magic" || feature == "Ability Score Improvement"
}

func (in *characterIn) toSheet() (fifth.Sheet, error) {
	sheet := fifth.Sheet{Name: in.Name, Race: in.Race, Class: in.Class, Level: in.Level, Method: in.Method,
		Scores: in.Scores.toScores(), Skills: in.Skills, Expertise: in.Expertise, Armor: in.Armor, Shield: in.Shield,
		Weapons: in.Weapons, Increases: map[fifth.Ability]int{}}
	for _, name := range in.Chosen {
		a, err := fifth.ParseAbility(name)
		if err != nil {
			return sheet, fault.BadField("chosen_abilities", "%s", err)
		}
		sheet.Chosen = append(sheet.Chosen, a)
	}
	for name, n := range in.Increases {
		a, err := fifth.ParseAbility(name)
		if err != nil {
			return sheet, fault.BadField("increases", "%q %s", name, err)
		}
		sheet.Increases[a] += n
	}
	return sheet, nil
}
