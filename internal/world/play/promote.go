package play

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"html"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
	"loregate/internal/meaning"
	"loregate/internal/slicesx"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// A noun in the text of a place becomes a card when a player handles it. Everything is decided in the player's
// view, and the card is as hidden as the text. So a card that the player does not see neither stops it nor is
// joined with it.

// Bounds of the cards that are made of nouns.
const (
	madeAtPlace  = 40 // that the player sees at one place
	madeByPlayer = 30 // an hour
	maxNoun      = 40 // bytes of a name
)

// Kinds of nouns, by WordNet.
var (
	thingKinds = []string{"artifact", "natural object", "plant", "food", "body of water", "animal", "person"}
	// fixedKinds are things that nobody carries off.
	fixedKinds = []string{
		"structure",
		"seat",
		"bed",
		"table",
		"cabinet",
		"vehicle",
		"way",
		"barrier",
		"geological formation",
		"body of water",
		"tree",
		"wharf",
	}
	// thingWords are nouns that WordNet has under none of thingKinds.
	thingWords = strings.Fields(
		"rope stall sign step stick string thread rag cloth bill note letter hook fork chain ring kite flag straw ticket page deed " +
			"bond ledger scrap",
	)
	fixedWords = strings.Fields("fire hearth stall sign step quay stair board bollard well")
)

// madeThing is the payload of World.Thing.Made.
type madeThing struct {
	LocationID canon.CardID `json:"locationId"`
	ThingID    canon.CardID `json:"thingId"`
	PlayerID   canon.CardID `json:"playerId"` // who handled it
	Noun       string       `json:"noun"`
	TextHash   string       `json:"textHash"` // SHA-256 of the text that it stood in
}

// needsCard ends the plan of an act on a noun of a text: the noun must become a card first.
type needsCard struct {
	phrase string
	also   []string // further phrases, of nouns that may become cards too
	person bool     // the act needs somebody, so that a rarer sense of the noun counts
}

func (needsCard) Error() string { return "world: a noun must become a card first" }

// isPromotable reports whether a noun of a text can become a card: it stands in a text of the place, which does not
// tell that there is none, and is a thing or somebody.
func (r referent) isPromotable() bool { return r.isPromotableAs(false) }

// ownerForm matches the form of a noun that owns what follows.
var ownerForm = lazyregexp.New(`['’]s$`)

// isPromotableAs is isPromotable for an act that needs somebody, if person is set.
func (r referent) isPromotableAs(person bool) bool {
	return r.isMentioned() && r.text.of.IsZero() && !r.mention.Denied && len(r.name) <= maxNoun &&
		!ownerForm.MatchString(r.mention.Noun) && // a mason's lunch tells of no mason
		(isThing(r.noun()) || person && mayBePerson(r.noun()))
}

// makeNoun makes a card of the noun that a phrase means. It changes nothing if that is not possible; the act itself
// tells the player why.
func (h *Host) makeNoun(ctx context.Context, g access.Grant, player canon.CardID, i command.Intent,
	noun needsCard) error {
	_, err := h.canon.Update(ctx, g, func(p *canon.Plan) error {
		s, err := newTurn(ctx, h.world, p, player, i)
		if err != nil {
			return err
		}
		for _, phrase := range append(slices.Clone(noun.also), noun.phrase) {
			if err := s.planPromotion(phrase, noun.person); err != nil {
				return err
			}
		}
		return nil
	})
	var no *impossible
	if errors.As(err, &no) && no.reason == reasonBusy {
		return err
	}
	if no != nil || slices.Contains([]fault.Kind{fault.Conflict, fault.Rule, fault.Invalid}, fault.KindOf(err)) {
		return nil
	}
	return err
}

func (s *turn) planPromotion(phrase string, person bool) error {
	find := s.resolveHere
	if person {
		find = s.resolvePerson
	}
	r, err := find(phrase)
	if err != nil || !r.isPromotableAs(person) {
		return err
	}
	sum := sha256.Sum256([]byte(r.text.text))
	made := madeThing{LocationID: s.place.ID, PlayerID: s.player.ID,
		Noun: strings.Join(command.BareWords(r.name), " "), TextHash: hex.EncodeToString(sum[:])}
	if ok, err := s.mayMake(made, r); err != nil || !ok {
		return err
	}
	return s.makeThing(made, r, person && mayBePerson(r.noun()))
}

// mayMake reports whether the noun of a text was not made before, and the limits are not reached.
func (s *turn) mayMake(m madeThing, r referent) (bool, error) {
	query := func(q canon.EventQuery) ([]canon.StoredEvent, error) {
		q.Types, q.Page = []string{string(world.ThingMade)}, canon.Page{Limit: 100, Uncounted: true}
		list, _, err := s.plan.Events(s.ctx, q)
		return list, err
	}
	here, err := query(canon.EventQuery{Scopes: []string{string(world.LocationScope(s.place.ID))}})
	if err != nil || len(here) >= madeAtPlace {
		return false, err
	}
	for _, e := range here {
		var earlier madeThing
		if world.DecodeFields(e.Payload, &earlier); earlier.Noun == m.Noun && earlier.TextHash == m.TextHash {
			return false, nil
		}
	}
	latest, err := query(canon.EventQuery{})
	lately := 0
	for _, e := range latest {
		var earlier madeThing
		world.DecodeFields(e.Payload, &earlier)
		if earlier.PlayerID == m.PlayerID && s.plan.Clock().Sub(e.At) < time.Hour {
			lately++
		}
	}
	switch {
	case lately < madeByPlayer || s.intent.Verb == command.Examine ||
		!r.isPerson() && s.intent.Verb != command.Take && s.intent.Verb != command.Throw:
	case r.isPerson():
		return false, tooBusy(r)
	default:
		return false, cannot(reasonBusy,
			"You have handled so many things of late that this one escapes you. Try again in an hour.")
	}
	return lately < madeByPlayer, err
}

// reasonBusy is the reason of an act on a thing that the limit of a player keeps in the text.
const reasonBusy = "busy"

// tooBusy returns the answer of somebody who stands in a text and cannot become a card.
func tooBusy(r referent) error {
	has := "has"
	if r.mention.Plural && command.IsPlural(r.name) {
		has = "have"
	}
	return cannot(reasonBusy, "The %s %s no time for you just now. Try again in an hour.", markup.Clean(r.name), has)
}

// bareName returns a name without the small words in front of it.
func bareName(name string) string {
	words, small := strings.Fields(name), strings.Fields("to at the a an with over round around")
	for len(words) > 1 && slices.Contains(small, strings.ToLower(words[0])) {
		words = words[1:]
	}
	return strings.Join(words, " ")
}

// makeThing plans the card below the place, its link to the place if it can be met or carried off, and the event.
func (s *turn) makeThing(m madeThing, r referent, person bool) error {
	noun, sentence, label := r.noun(), r.mention.Sentence, r.text.label
	fields, typ := `{"fixed":true}`, "Item"
	link := canon.Link{From: s.place.ID, Label: label}
	name := cmp.Or(command.NameIn(sentence, m.Noun), r.name)
	if strings.HasSuffix(name, "s") && !strings.HasSuffix(m.Noun, "s") {
		name = m.Noun // one of several
	}
	switch {
	case isMainly(noun, "animal"):
		fields, typ, link.Kind = `{}`, "Creature", world.LinkAt
	case person || isMainly(noun, "person"):
		name = bareName(m.Noun) // one of several is one
		fields, typ, link.Kind = linesFrom(r), "Character", world.LinkAt
	case !isFixed(noun):
		fields, link.Kind, link.Attrs = `{"portable":true}`, world.LinkHolds, quantityAttrs(1)
	}
	if name != m.Noun {
		aliases, err := json.Marshal(map[string][]string{"aliases": {m.Noun}})
		if err != nil {
			return err
		}
		fields = string(mergeAttrs(json.RawMessage(fields), aliases))
	}
	card, err := s.plan.Create(canon.NewCard{Name: markup.Join(s.place.Name, name), Type: typ,
		Content: "<p>" + html.EscapeString(sentence) + "</p>", Fields: json.RawMessage(fields), Label: &label,
		Parent: s.place.ID})
	if err != nil {
		return err
	}
	if link.To = card.ID; link.Kind == world.LinkAt {
		link.From, link.To = card.ID, s.place.ID
	}
	if link.Kind != "" {
		link.ID = canon.LinkIDOf(link.Kind, link.From.String(), link.To.String())
		if _, err := s.plan.Link(link); err != nil {
			return err
		}
	}
	m.ThingID = card.ID
	payload, err := json.Marshal(m)
	if err != nil {
		return err
	}
	s.plan.Target(card.ID)
	return s.plan.Event(canon.Event{Type: string(world.ThingMade), Payload: payload, Label: card.Label.Meet(label),
		Scope: string(world.LocationScope(s.place.ID)), Version: 1, Actor: canon.EventActor{Kind: "system"}})
}

// lastWord returns the last word of a name.
func lastWord(name string) string { return name[strings.LastIndexByte(name, ' ')+1:] }

// linesFrom returns the fields of somebody who stood in a text: lines that tell no more than the text does.
func linesFrom(r referent) string {
	who := "me"
	if r.mention.Plural || isMainly(r.noun(), "social group") {
		who = "us"
	}
	f := struct {
		Says  []string `json:"says"`
		Group bool     `json:"group,omitempty"` // several people
		Minor bool     `json:"minor"`           // its text tells of others, too
	}{Minor: true, Group: command.IsPlural(r.name) || isMainly(r.noun(), "social group"), Says: []string{
		"You see how it is. " + r.mention.Phrase + ". There is no more to " + who + " than that.",
		"I could not tell you. You would have to ask somebody who is paid to know.",
		"Another time. There is work to do, and it does itself badly.",
	}}
	if f.Group {
		f.Says = slicesx.Map(f.Says, inPlural)
	}
	b, _ := json.Marshal(f) // texts always encode
	return string(b)
}

func isThing(noun string) bool {
	return noun != "" && (slices.Contains(thingWords, noun) || slices.Contains(fixedWords, noun) || isAnyOf(noun,
		thingKinds) ||
		isAlive(noun))
}

func isAlive(noun string) bool { return isMainly(noun, "person") || isMainly(noun, "animal") }

// isMainly reports whether a noun is mainly of a kind. Of a compound that WordNet does not have, such as
// "ferrywoman", the last part counts.
func isMainly(noun, kind string) bool {
	if meaning.Lemma(noun, meaning.Noun) == "" {
		for _, tail := range personTails {
			if strings.HasSuffix(noun, tail) {
				noun = tail
				break
			}
		}
	}
	return meaning.IsMainly(noun, meaning.Noun, kind)
}

var personTails = strings.Fields("woman man wife boy girl maid keeper maker seller")

// mayBePerson reports whether a noun has a sense that is a person, an animal or a group of people, or is built like one
// for somebody who does something and names no thing: the factor at the window.
func mayBePerson(noun string) bool {
	switch {
	case isAlive(noun):
		return true
	case isAnyOf(noun, []string{"artifact", "natural object", "plant", "food"}):
		return false
	case isMainly(noun, "social group"), meaning.IsA(noun, meaning.Noun, "person"):
		return true
	}
	isDoer := strings.HasSuffix(noun, "or") || strings.HasSuffix(noun, "er") || strings.HasSuffix(noun, "ist")
	return isDoer && !isAnyOf(noun, notDoers)
}

// notDoers are kinds of nouns that are nobody, however they end: river, number, weather.
var notDoers = []string{
	"object",
	"substance",
	"location",
	"body of water",
	"attribute",
	"body part",
	"phenomenon",
	"time period",
	"measure",
	"communication",
}

func isFixed(noun string) bool { return slices.Contains(fixedWords, noun) || isAnyOf(noun, fixedKinds) }

func isAnyOf(noun string, kinds []string) bool {
	return slices.ContainsFunc(kinds, func(k string) bool { return meaning.IsA(noun, meaning.Noun, k) })
}

// capitalize returns a text with a capital first letter.
func capitalize(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[n:]
}
