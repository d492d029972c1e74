package console

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/a-h/templ"

	"loregate/internal/fault"
)

// pinMap holds the pins of a picture and the places of players.
type pinMap struct {
	Pins    []pin       `json:"pins"`
	Players []mapPlayer `json:"players"`
}

type pin struct {
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
	ID   string  `json:"id"`
	Name string  `json:"name"`
	Type string  `json:"type"`
}

// pinLink returns the address to which a pin leads: a place on the map of places, or a card.
func (f frame) pinLink(p pin) templ.SafeURL {
	if p.Type == "Location" {
		return f.link("places") + query(f, "at", p.ID)
	}
	return f.card("w", "", p.ID)
}

type mapPlayer struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	LocationID string `json:"locationId"`
	Location   string `json:"locationName"`
}

// playersByPlace returns the names of the players at each place.
func (m pinMap) playersByPlace() map[string][]string {
	names := map[string][]string{}
	for _, p := range m.Players {
		names[p.LocationID] = append(names[p.LocationID], p.Name)
	}
	return names
}

// chart is a picture with its pins.
type chart struct {
	pinMap
	pictureSize
	Card     card
	Problem  string
	Problems []fault.Field
}

// pictureSize is the size of a picture in its own units; 0 if it is not known.
type pictureSize struct {
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// manyPins is the number of pins above which their names are only shown at the pointer.
const manyPins = 60

// chartWidth is the width at which a picture is drawn. It scrolls in its box.
const chartWidth = 1200

// scale returns how many pixels of the picture one of the drawing is.
func (c chart) scale() float64 { return c.Width / chartWidth }

func (s *server) showMap(v *visit) error { return v.writeMap(nil) }

func (v *visit) writeMap(problem error) error {
	var c chart
	c.Problem, c.Problems = problemOf(problem)
	var err error
	if c.Card, err = v.readCard(nil); err != nil {
		return err
	}
	if c.Card.Type != "Image" {
		return errNothingHere
	}
	if c.pictureSize, err = call[pictureSize](v, "get_file_url", fields{"name": "~" + c.Card.ID}); err != nil {
		return err
	}
	if c.pinMap, err = call[pinMap](v, "get-map", fields{"pictureId": c.Card.ID}); err != nil {
		return err
	}
	return v.write(statusOf(problem), mapPage(v.frame(c.Card.Name), c))
}

// changePins adds a pin to a picture, or removes those of a card.
func (s *server) changePins(v *visit) error {
	err := v.writePins()
	if problem, _ := problemOf(err); problem != "" {
		return v.writeMap(err)
	}
	if err != nil {
		return err
	}
	return v.redirect(addressOf("map", v.world, v.r.PathValue("name")))
}

func (v *visit) writePins() error {
	form := v.r.PostForm
	c, err := v.readCard(nil)
	if err != nil {
		return err
	}
	var pins []map[string]any
	if held := c.Fields["pins"]; held != nil && json.Unmarshal(held, &pins) != nil {
		return fault.BadField("pins", "of this picture are no list of pins; mend the field with an API client")
	}
	if id := form.Get("remove"); id != "" {
		pins = slices.DeleteFunc(pins, func(p map[string]any) bool { return p["card"] == id })
	} else {
		x, wrongX := strconv.ParseFloat(form.Get("x"), 64)
		y, wrongY := strconv.ParseFloat(form.Get("y"), 64)
		if wrongX != nil || wrongY != nil {
			return fault.BadField("x", "and y must be numbers; click the picture where the pin belongs")
		}
		target, err := call[card](v, "get_card", fields{"name": form.Get("card")})
		if fault.KindOf(err) == fault.NotFound {
			return fault.BadField("card", "is no card that you see; check the name")
		}
		if err != nil {
			return err
		}
		pins = append(pins, map[string]any{"x": x, "y": y, "card": target.ID})
	}
	_, err = call[card](v, "update_card", fields{"name": "~" + c.ID, "fields": fields{"pins": pins},
		"if_match": c.Version})
	return err
}
