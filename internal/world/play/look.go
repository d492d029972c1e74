package play

import (
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
	"loregate/internal/meaning"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// planLook looks around, in a direction, or at something here.
func (s *turn) planLook() error {
	name := s.intent.DirectObject
	switch {
	case s.intent.Direction != "":
		s.action.Direction = s.intent.Direction
		return s.finishTurn(world.PlayerLook)
	case name == "" || command.MeansHere(name):
		return s.finishTurn(world.PlayerLook)
	}
	return s.planLookAt(name)
}

func (s *turn) planLookAt(name string) error {
	all, err := s.listLookTargets()
	if err != nil {
		return err
	}
	if d, ok := command.DirectionOf(name); ok && len(bestOf(name, all, command.FitForms)) == 0 {
		s.action.Direction = d
		return s.finishTurn(world.PlayerLook)
	}
	r, err := s.resolve(name, all)
	if err != nil {
		return err
	}
	if words := strings.Fields(name); !r.isFound() && len(words) > 1 &&
		meaning.Lemma(words[len(words)-1], meaning.Verb) != "" {
		shorter := strings.Join(words[:len(words)-1], " ") // watch the fishwives haggle
		if other, err := s.resolve(shorter, all); err != nil {
			return err
		} else if other.isFound() {
			r, name = other, shorter
		}
	}
	if err := r.unclear(); err != nil {
		return err
	}
	t, isCard := r.card()
	if s.intent.Manner().Verb == "read" {
		if err := s.checkLegible(r); err != nil {
			return err
		}
	}
	switch {
	case r.self:
		t, isCard = s.player, true
	case r.way != nil:
		s.action.Direction = r.way.Direction
	case r.isMentioned():
		var way referent
		if err := s.findWay(name, nil, &way); err != nil {
			return err
		}
		if s.intent.Verb == command.Examine && r.isPromotable() && !s.tried && !way.isFound() {
			return needsCard{phrase: name}
		}
		if err := s.lookAtMention(r); err != nil {
			return err
		}
		s.action.Detail = markup.Clean(r.name)
	case !isCard && !r.all && !isEverywhere(name):
		if ok, err := s.isAtShore(name); err != nil || !ok {
			return cmpErr(err, s.notHere(name))
		}
		s.action.Detail = markup.Clean(name)
	case !isCard && !r.all:
		s.action.Detail = markup.Clean(name)
	}
	if isCard {
		s.narrowLabel(t)
		s.action.Objects = []world.ObjectRef{world.NewObjectRef(t, 0)}
	}
	return s.finishTurn(world.PlayerLook)
}

// writing matches words of a sentence that tells of writing, or quotes it.
var writing = lazyregexp.New(`[“"‘]|\b[A-Z]{3,}\b|(?i)\b(?:says?|reads?|written|writes|writing|chalked|letters|lettered|` +
	`inscri\w+|marks?|marked|labels?|labelled|names?|numbers?|numbered|carved|painted|printed|lists?|tells?|spells?|signed)\b`)

// checkLegible refuses to read a thing of which nothing is known but a sentence of the place that tells of no writing.
func (s *turn) checkLegible(r referent) error {
	told, name := r.mention.Sentence, "the "+r.name
	if t, ok := r.card(); ok {
		text, err := s.ReadText(s.ctx, t)
		if err != nil {
			return err
		}
		told, name = markup.OneLine(text), world.Definite(t)
		all, err := s.textsOfPlace()
		if err != nil || !slices.ContainsFunc(all, func(p passage) bool { return strings.Contains(markup.OneLine(p.text), told) }) {
			return err
		}
		traces, err := readTrace(s.ctx, s.AsOf, t.ID)
		if err != nil {
			return err
		}
		told += " " + strings.Join(traces, " ")
	}
	if told == "" || writing.MatchString(told) {
		return nil
	}
	s.label = s.label.Meet(r.text.label)
	return cannot("unfit", "You can make out no writing on %s.", markup.Clean(name))
}

// lookAtMention makes the card whose text has a noun the target of a look.
func (s *turn) lookAtMention(r referent) error {
	s.label = s.label.Meet(r.text.label)
	if r.text.of.IsZero() {
		return nil
	}
	of, ok, err := s.CardByID(s.ctx, r.text.of)
	if ok {
		s.aimAt(of)
	}
	return err
}

// isEverywhere reports whether a name means something that every place has, such as the ground and the air.
func isEverywhere(name string) bool {
	words := command.BareWords(name)
	return len(words) == 1 && slices.Contains(everywhere, words[0])
}

var everywhere = strings.Fields(
	"air sky ground floor earth wind breeze weather surroundings silence darkness light shadows walls wall ceiling " +
		"sun moon stars clouds horizon smell noise sounds",
)

// listLookTargets lists everything that the player can look at: the things here, the things it carries,
// the parts of the place that have a card, and the player itself.
func (s *turn) listLookTargets() ([]world.Card, error) {
	if s.targets != nil {
		return s.targets, nil
	}
	all, err := s.cardsAround()
	if err != nil {
		return nil, err
	}
	own, err := s.carriedCards()
	if err != nil {
		return nil, err
	}
	all = append(append(all, own...), s.place)
	parts, err := s.partsOfPlace()
	for _, t := range parts {
		if !slices.ContainsFunc(all, func(o world.Card) bool { return o.ID == t.ID }) {
			all = append(all, t)
		}
	}
	me := s.player
	me.Fields = []byte(`{"aliases":["me","myself","self"]}`)
	s.targets = append(all, me)
	return s.targets, err
}

// partsOfPlace lists the parts of the place that have a card, without those that may have been carried off.
func (s *turn) partsOfPlace() (list []world.Card, err error) {
	parts, _, err := s.Descendants(s.ctx, s.place.ID, 1, canon.Page{Limit: 50})
	for _, c := range parts {
		var f struct{ Portable bool }
		if world.DecodeFields(c.Fields, &f); !c.IsTagList() && !f.Portable {
			list = append(list, world.CardOf(c))
		}
	}
	return list, err
}

// planInventory looks at the things that the player has.
func (s *turn) planInventory() error { return s.finishTurn(world.PlayerLook) }
