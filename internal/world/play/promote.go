package play

import (
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
	"loregate/internal/markup"
	"loregate/internal/meaning"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// A noun in the text of a place becomes a card when a player handles it. Everything is decided in the player's
// view, and the card is as hidden as the text. So a card that the player does not see neither stops it nor is
// joined with it.

// Bounds of the cards that are made of nouns.
const (
	madeAtPlace  = 20 // that the player sees at one place
	madeByPlayer = 6  // an hour
	maxNoun      = 40 // bytes of a name
)

// promoters are the verbs that make a card of a noun.
var promoters = []command.Verb{command.Take, command.Examine, command.Attack, command.Throw}

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
	thingWords = strings.Fields("rope stall sign step stick string thread rag cloth")
	fixedWords = strings.Fields("stall sign step quay stair board bollard well")
)

// madeThing is the payload of World.Thing.Made.
type madeThing struct {
	LocationID canon.CardID `json:"locationId"`
	ThingID    canon.CardID `json:"thingId"`
	PlayerID   canon.CardID `json:"playerId"` // who handled it
	Noun       string       `json:"noun"`
	TextHash   string       `json:"textHash"` // SHA-256 of the text that it stood in
}

// passage is a text at a place, with its label.
type passage struct {
	text  string
	label access.Label
}

// promoteNoun makes a card of the noun that an intent handles, if it stands in a text at the player's place and no card
// there has the name. It changes nothing otherwise.
func (h *Host) promoteNoun(ctx context.Context, g access.Grant, player canon.CardID, i command.Intent) error {
	if !slices.Contains(promoters, i.Verb) || i.DirectObject == "" {
		return nil
	}
	_, err := h.canon.Update(ctx, g, func(p *canon.Plan) error {
		s, err := newTurn(ctx, h.world, p, player, i)
		if err != nil {
			return err
		}
		return s.planPromotion()
	})
	var no *impossible
	if errors.As(err, &no) && no.reason == reasonBusy {
		return err
	}
	if no != nil ||
		slices.Contains([]fault.Kind{fault.Conflict, fault.Rule, fault.Invalid}, fault.KindOf(err)) {
		return nil // the act itself tells the player what is wrong
	}
	return err
}

func (s *turn) planPromotion() error {
	_, name := command.SplitCount(s.intent.DirectObject)
	words := command.BareWords(name)
	if len(words) == 0 || len(name) > maxNoun {
		return nil
	}
	noun := meaning.Lemma(words[len(words)-1], meaning.Noun)
	if !isThing(noun) || s.intent.Verb == command.Attack && !isAlive(noun) {
		return nil
	}
	around, err := s.listLookTargets()
	if err != nil || len(findMatches(name, around)) > 0 {
		return err
	}
	at, sentence, err := s.findPassage(name)
	if err != nil || sentence == "" {
		return err
	}
	sum := sha256.Sum256([]byte(at.text))
	made := madeThing{LocationID: s.place.ID, PlayerID: s.player.ID, Noun: strings.Join(words, " "),
		TextHash: hex.EncodeToString(sum[:])}
	if ok, err := s.mayMake(made); err != nil || !ok {
		return err
	}
	return s.makeThing(made, noun, sentence, at.label)
}

// passagesAt returns the texts at a place: its own, and the moods over it.
func passagesAt(ctx context.Context, m *world.AsOf, place world.Card) ([]passage, error) {
	text, err := m.ReadText(ctx, place)
	if err != nil {
		return nil, err
	}
	layers, err := m.LayersAt(ctx, place)
	if err != nil {
		return nil, err
	}
	all := []passage{{text, place.Label}}
	for _, kind := range []string{world.LayerDynamic, world.LayerAmbient} {
		if text := markup.Clean(layers[kind].Text); text != "" {
			all = append(all, passage{text, place.Label.Meet(layers[kind].Label)})
		}
	}
	return all, nil
}

// findPassage returns the text at the place that has a sentence with a name, and that sentence.
func (s *turn) findPassage(name string) (passage, string, error) {
	all, err := passagesAt(s.ctx, s.AsOf, s.place)
	if err != nil {
		return passage{}, "", err
	}
	p, sentence := sentenceAbout(all, name)
	return p, sentence, nil
}

// sentenceAbout returns the first of several texts that has a sentence with a name, and that sentence; "" if none has.
func sentenceAbout(all []passage, name string) (passage, string) {
	for _, named := range []string{name, plainName(name)} {
		for _, p := range all {
			if sentence := command.SentenceAbout(p.text, named); sentence != "" {
				return p, sentence
			}
		}
	}
	return passage{}, ""
}

// mayMake reports whether the noun of a text was not made before, and the limits are not reached.
func (s *turn) mayMake(m madeThing) (bool, error) {
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
	if lately >= madeByPlayer && s.intent.Verb != command.Examine {
		return false, cannot(reasonBusy, "You have handled so many things of late that this one escapes you. Try again in an hour.")
	}
	return lately < madeByPlayer, err
}

// reasonBusy is the reason of an act on a thing that the limit of a player keeps in the text.
const reasonBusy = "busy"

// makeThing plans the card below the place, its link to the place if it can be met or carried off, and the event.
func (s *turn) makeThing(m madeThing, noun, sentence string, label access.Label) error {
	fields, typ := `{"fixed":true}`, "Item"
	link := canon.Link{From: s.place.ID, Label: label}
	switch {
	case meaning.IsMainly(noun, meaning.Noun, "person"):
		fields, typ, link.Kind = `{}`, "Character", world.LinkAt
	case meaning.IsMainly(noun, meaning.Noun, "animal"):
		fields, typ, link.Kind = `{}`, "Creature", world.LinkAt
	case !isFixed(noun):
		fields, link.Kind, link.Attrs = `{"portable":true}`, world.LinkHolds, quantityAttrs(1)
	}
	card, err := s.plan.Create(canon.NewCard{Name: markup.Join(s.place.Name, titleCase(m.Noun)), Type: typ,
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

func isThing(noun string) bool {
	return noun != "" && (slices.Contains(thingWords, noun) || isAnyOf(noun, thingKinds))
}

func isAlive(noun string) bool {
	return meaning.IsMainly(noun, meaning.Noun, "person") || meaning.IsMainly(noun, meaning.Noun, "animal")
}

func isFixed(noun string) bool { return slices.Contains(fixedWords, noun) || isAnyOf(noun, fixedKinds) }

func isAnyOf(noun string, kinds []string) bool {
	return slices.ContainsFunc(kinds, func(k string) bool { return meaning.IsA(noun, meaning.Noun, k) })
}

// titleCase returns words with capital first letters, as the names of things have them.
func titleCase(words string) string {
	list := strings.Fields(words)
	for i, w := range list {
		r, n := utf8.DecodeRuneInString(w)
		list[i] = string(unicode.ToUpper(r)) + w[n:]
	}
	return strings.Join(list, " ")
}
