package play

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/meaning"
	"loregate/internal/ruleset"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// Settle decides an uncertain act by the rules of a world: skill names the ability, bonus is the
// person's number in it (nil: nothing is known), and level the difficulty by name. It returns the
// seed of the dice too.
type Settle func(s canon.Settings, skill string, bonus *int, level string, m ruleset.Mode) (ruleset.Outcome, string)

// approach is a way to go about a free act.
type approach struct {
	skill  string
	level  string     // of difficulty
	social bool       // it needs somebody
	won    world.Deed // by a success
	lost   world.Deed // and by a failure
}

// overrides reports whether the approach wins over the grammar's reading of its verb, which is talk or
// taking.
func (a approach) overrides() bool { return a.social || a.skill == "sleight of hand" }

// easyActs are acts on something that always succeed, too.
var easyActs = strings.Fields(
	"lie lean sit stand kneel touch stroke tap knock count reach warm peek peer point wave nod",
)

// motions are verbs of acts that may sound as if they led elsewhere.
var motions = strings.Fields("walk run go climb crawl jump leap swim lower slide step squeeze wade dive")

// approaches maps the verbs of free acts to approaches. Others need strength or skill of no name.
var approaches = listApproaches()

func listApproaches() map[string]approach {
	all := map[string]approach{}
	add := func(a approach, verbs string) {
		for _, v := range strings.Fields(verbs) {
			all[v] = a
		}
	}
	add(approach{skill: "persuasion", level: "easy", social: true, won: world.DeedPersuaded, lost: world.DeedPleaded},
		"persuade convince charm flatter beg plead coax comfort console reassure calm")
	add(approach{skill: "persuasion", level: "medium", social: true, won: world.DeedBargained, lost: world.DeedHaggled},
		"bribe haggle seduce flirt recruit hire tempt")
	add(approach{skill: "intimidation", level: "medium", social: true, won: world.DeedThreatened,
		lost: world.DeedBlustered}, "threaten intimidate scare frighten bully taunt insult mock provoke")
	add(approach{skill: "deception", level: "medium", social: true, won: world.DeedDeceived, lost: world.DeedExposed},
		"deceive trick bluff distract fool mislead lie")
	add(approach{skill: "sleight of hand", level: "hard", lost: world.DeedCaught}, "pickpocket steal palm juggle")
	add(approach{skill: "stealth", level: "medium"}, "sneak hide creep shadow stalk")
	add(approach{skill: "acrobatics", level: "easy"}, "balance tumble vault dodge roll swing dance")
	add(approach{skill: "athletics", level: "easy"},
		"climb jump leap swim push pull lift drag carry shake kick bang hammer knock")
	add(approach{skill: "athletics", level: "medium"}, "break smash force bend tear topple wrestle hold")
	add(approach{skill: "investigation", level: "easy"}, "search inspect study count measure decipher test")
	add(approach{skill: "survival", level: "easy"}, "track fish light burn cook dig tie untie bind")
	add(approach{skill: "animal handling", level: "easy", social: true, won: world.DeedTamed, lost: world.DeedScared},
		"pet feed tame ride stroke soothe")
	return all
}

// approachOf returns the way to go about the act of a phrase. A lie is told to or about somebody; else one lies down.
func approachOf(phrase string) approach {
	words := strings.Fields(phrase)
	how, known := approaches[words[0]]
	if !known || words[0] == "lie" && (len(words) == 1 || words[1] != "to" && words[1] != "about") {
		return approach{skill: "athletics", level: "easy"}
	}
	return how
}

// warm is the trust from which somebody makes a social act easier, and its negative harder.
const warm = 20

// planAttempt decides a free act on a card that is present, or on a thing that the text of the place
// mentions. It is an *impossible error if the phrase names nothing present.
func (s *turn) planAttempt() error {
	phrase := s.intent.DirectObject
	verb, _, _ := strings.Cut(phrase, " ")
	how := approachOf(phrase)
	var err error
	if s.action.Line, err = s.freshNumber(); err != nil {
		return err
	}
	if verb == phrase && command.IsGesture(verb) {
		s.action.Detail = phrase
		return s.finishTurn(world.PlayerAct)
	}
	if isDaydream(phrase) {
		s.action.Detail = phrase
		return s.finishTurn(world.PlayerAct)
	}
	if !how.social {
		if ok, err := s.planOwnAct(phrase); ok || err != nil {
			return err
		}
	}
	if err := s.checkTool(phrase, how); err != nil {
		return err
	}
	r, part, err := s.resolvePart(strings.TrimPrefix(phrase, verb))
	if err != nil {
		return err
	}
	if err := r.unclear(); err != nil {
		return err
	}
	if absent, err := s.lacksThing(phrase, part, how); absent || err != nil {
		return cmpErr(err, missing(phrase))
	}
	to, present := r.card()
	isEasy := slices.Contains(easyActs, verb) || isTrivial(verb)
	switch {
	case r.isMentioned() && r.mention.Denied:
		return s.notHere(part)
	case r.isPerson() && (how.overrides() || !isEasy):
		return s.mustBeCard(r, part)
	case r.isMentioned() && !how.social:
		s.label = s.label.Meet(r.text.label)
	case r.all && len(r.cards) > 1 && !slices.Contains(easyActs, verb) && !command.IsGesture(verb):
		return oneAtATime(r.cards)
	case !present && !r.all && !r.self:
		return missing(phrase)
	}
	if isEasy && !present {
		s.action.Detail = phrase
		return s.finishTurn(world.PlayerAct)
	}
	if present && to.IsType(world.TypePlayer) {
		return cannot("player", "That is up to %s, too. Say it to them.", to.Title())
	}
	s.action.Detail = phrase
	var other *world.Card
	if present {
		s.narrowLabel(to)
		s.aimAt(to)
		if world.IsAlive(to) {
			other = &to
		}
	}
	if other != nil && how.social && world.IsDead(to) {
		return cannot("dead", "%s is dead, and past caring.", to.Title())
	}
	if other != nil {
		s.action.Detail, s.action.Private = openPhrase(phrase, to), true
	}
	if isEasy {
		s.action.Effect = "managed"
		return s.finishTurn(world.PlayerAct)
	}
	if _, err := s.settleWith(how, other, phrase); err != nil {
		return err
	}
	return s.finishTurn(world.PlayerAct)
}

// lacksThing reports whether a phrase names a thing of its own that is not there, beside the part that is: drape the net
// over the crab.
func (s *turn) lacksThing(phrase, part string, how approach) (bool, error) {
	m := command.ReadManner(phrase)
	if how.social || m.Object == "" || !isGoods(m.Object) || isOwn(m.Object, phrase) || isMadeBy(m.Verb, m.Object) ||
		strings.Contains(part, m.Object) || strings.Contains(m.Object, part) {
		return false, nil
	}
	r, err := s.resolveHere(m.Object)
	return !r.isFound(), err
}

// isTrivial reports whether a verb is that of an act that needs no luck: it is no approach, and changes, takes and ruins
// nothing.
func isTrivial(verb string) bool {
	verb = cmp.Or(meaning.Lemma(verb, meaning.Verb), verb)
	if _, known := approaches[verb]; known || meaning.Lemma(verb, meaning.Verb) == "" {
		return command.IsGesture(verb)
	}
	return !slices.ContainsFunc([]string{"destroy", "remove", "damage", "attack", "fight", "kill", "injure"},
		func(kind string) bool { return meaning.IsA(verb, meaning.Verb, kind) }) &&
		!slices.ContainsFunc([]string{"take", "change", "alter", "get"},
			func(kind string) bool { return meaning.IsMainly(verb, meaning.Verb, kind) })
}

// checkTool requires that the player has, or can reach, the thing that a phrase names as its tool.
func (s *turn) checkTool(phrase string, how approach) error {
	if how.social {
		return nil
	}
	h, m := &handled{turn: s}, command.ReadManner(phrase)
	for _, p := range append([]command.Part{{Name: m.Object}}, m.Parts...) {
		if slices.Contains(toolWords, p.By) || isBodyPart(p.Name) || !isThing(command.HeadOf(p.Name)) {
			continue
		}
		if _, err := h.findThing(p.Name); err != nil { // the act needs each thing that it names
			return err
		}
	}
	for _, p := range m.Parts {
		name := toolOf(p.Name)
		if name == "" || !slices.Contains(toolWords, p.By) {
			continue
		}
		if t, err := h.findThing(name); err == nil && t.hasCard() && world.IsAlive(t.card) {
			continue // dance with her
		}
		if _, err := h.findTool(name); err != nil {
			return err
		}
	}
	return nil
}

// settleWith decides an uncertain act. The other remembers it, and its attitude to the player changes. other is nil if
// nobody else is concerned.
func (s *turn) settleWith(how approach, other *world.Card, phrase string) (success bool, err error) {
	mode := ruleset.Straight
	var b bond
	if other != nil {
		if b, err = s.bondWith(*other); err != nil {
			return false, err
		}
		mode = ruleset.ModeOf(how.social && b.Trust >= warm, how.social && b.Trust <= -warm)
	}
	outcome, seed := s.settle(s.World().Settings, how.skill, s.bonusIn(how.skill), how.level, mode)
	deed := how.lost
	s.action.Effect = "failed"
	if outcome.Success {
		s.action.Effect, deed = "managed", how.won
	}
	s.action.Check = &world.ActCheck{Skill: how.skill, Total: outcome.Total, Target: outcome.Target, Seed: seed}
	if other != nil {
		err = s.remember(b, world.Exchange{Verb: command.Attempt, Said: phrase, Effect: s.action.Effect}, deed)
	}
	return outcome.Success, err
}

// openPhrase returns the part of a phrase that those around may know: its verb and its target.
func openPhrase(phrase string, to world.Card) string {
	words := strings.Fields(phrase)
	if len(words) > 1 && slices.Contains([]string{"to", "with", "at", "on", "from"}, words[1]) {
		return words[0] + " " + words[1] + " " + to.Title()
	}
	m := command.ReadManner(phrase)
	for _, p := range m.Parts {
		if m.Object != "" && rateFit(m.Object, to) == command.FitNone && rateFit(p.Name, to) > command.FitNone {
			return words[0] + " something " + p.By + " " + to.Title() // start a fight with the hound
		}
	}
	return words[0] + " " + to.Title()
}

// bonusIn returns a player's number in a skill, from the field skills of its card.
func (s *turn) bonusIn(skill string) *int {
	var f struct {
		Skills map[string]int `json:"skills"`
	}
	world.DecodeFields(s.player.Fields, &f)
	if n, ok := f.Skills[skill]; ok {
		return &n
	}
	return nil
}

// tellAttempt narrates a free act.
func (m narrator) tellAttempt(ctx context.Context, d world.Action) (string, error) {
	verb, _, _ := strings.Cut(d.Detail, " ")
	success := d.Effect == "managed"
	if approaches[verb].social && d.Target != nil {
		t, ok, err := m.CardByID(ctx, d.Target.ID)
		who := world.DefiniteName(d.Target.Name)
		if ok {
			who = world.Definite(t)
		}
		won, lost := moved, unmoved
		if approaches[verb].skill == "animal handling" {
			won, lost = heeding, unheeding
		}
		if success {
			return capitalize(won.tell(d.Line, who)), err
		}
		return capitalize(lost.tell(d.Line, who)), err
	}
	return tellFreely(d, verb, success), nil
}

// tellFreely narrates a free act that is not meant to win somebody.
func tellFreely(d world.Action, verb string, success bool) string {
	switch {
	case d.Effect == "":
		return gesturing.tell(d.Line, d.Detail)
	case success && d.Check == nil:
		return gesturing.tell(d.Line, d.Detail)
	case success && slices.Contains(motions, verb):
		return managed.tell(d.Line, d.Detail) + " Then you come back to where you were."
	case success:
		return managed.tell(d.Line, d.Detail)
	}
	return failed.tell(d.Line, d.Detail)
}
