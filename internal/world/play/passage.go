package play

import (
	"context"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// findKindOfPlace finds the exit to a place whose text begins with a phrase: "An inn built round an anchor" for the
// inn.
func (s *turn) findKindOfPlace(phrase string, _ []world.Card, r *referent) error {
	places, err := s.waysOut()
	if err != nil {
		return err
	}
	for _, t := range places {
		text, err := s.ReadText(s.ctx, t)
		if err != nil {
			return err
		}
		words := strings.Fields(text)
		begin := strings.Join(words[:min(len(words), kindWords)], " ")
		if _, ok := command.ReadProse(begin).Find(phrase, command.SameWords); !ok {
			continue
		}
		for i, e := range s.exits {
			if e.To != nil && *e.To == t.ID {
				r.way = &s.exits[i]
				return nil
			}
		}
	}
	return nil
}

// kindWords is the number of words at the beginning of the text of a place that tell its kind.
const kindWords = 4

// waysOut returns the places that the exits lead to.
func (s *turn) waysOut() ([]world.Card, error) {
	exits, err := s.exitsHere()
	var ids []canon.CardID
	for _, e := range exits {
		if e.To != nil {
			ids = append(ids, *e.To)
		}
	}
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return s.CardsByID(s.ctx, ids)
}

// exitsHere returns the exits of the place, which are read once for a turn.
func (s *turn) exitsHere() (_ []world.Exit, err error) {
	if !s.exitsRead {
		s.exits, err = s.Exits(s.ctx, s.place)
		s.exitsRead = err == nil
	}
	return s.exits, err
}

// textsShown returns the texts that the player was shown at the place: its own, the moods over it, those of the cards
// at it, and the latest answers. They are read once for a turn.
func (s *turn) textsShown() (_ []passage, err error) {
	if s.texts != nil {
		return s.texts, nil
	}
	all, err := s.textsSeen()
	if err != nil {
		return nil, err
	}
	heard, err := s.textsHeard()
	s.texts = append(all, heard...)
	return s.texts, err
}

// textsSeen returns the texts before the player: of the place, the moods over it, and those of the cards at it.
func (s *turn) textsSeen() ([]passage, error) {
	all, err := s.textsOfPlace()
	if err != nil {
		return nil, err
	}
	all = slices.Clone(all)
	near, err := s.listLookTargets()
	if err != nil {
		return nil, err
	}
	for _, t := range near {
		if t.ID == s.place.ID || t.ID == s.player.ID || t.IsType(world.TypePlayer) || t.IsType(world.TypeLocation) {
			continue // the things in a room's text are not within reach of its house
		}
		text, err := s.ReadText(s.ctx, t)
		if err != nil {
			return nil, err
		}
		if text != "" {
			all = append(all, newPassage(text, t.Label.Meet(s.place.Label), t.ID))
		}
	}
	return all, nil
}

// textsOfPlace returns the texts of the place, which are read once for a turn.
func (s *turn) textsOfPlace() (_ []passage, err error) {
	if s.placeTexts != nil {
		return s.placeTexts, nil
	}
	place := s.place
	if place.Type == "" { // the turn has the id only
		if place, _, err = s.CardByID(s.ctx, place.ID); err != nil {
			return nil, err
		}
	}
	s.placeTexts, err = passagesAt(s.ctx, s.AsOf, place)
	return s.placeTexts, err
}

// passage is a text that a player was shown, with its label.
type passage struct {
	text  string
	prose command.Prose
	label access.Label
	of    canon.CardID // the card whose text it is; zero for the text of a place and the moods over it
}

func newPassage(text string, label access.Label, of canon.CardID) passage {
	return passage{text, command.ReadProse(text).Indexed(), label, of}
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
	all := []passage{newPassage(text, place.Label, canon.CardID{})}
	for _, kind := range []string{world.LayerDynamic, world.LayerAmbient} {
		if text := markup.Clean(layers[kind].Text); text != "" {
			all = append(all, newPassage(text, place.Label.Meet(layers[kind].Label), canon.CardID{}))
		}
	}
	return all, nil
}
