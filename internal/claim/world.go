package claim

import "strings"

// Class is the sort of an entity.
type Class int

// The classes of entities.
const (
	Other Class = iota // known by its full name alone
	Person
	Place
	Thing
	Group
)

// None is the index of no entity.
const None = -1

// Entity is something that the canon has a card about.
type Entity struct {
	Name    string
	Aliases []string
	Class   Class
	Text    string         // of the card, without markup
	Fields  map[string]any // of the card, as JSON decodes them
	Near    bool           // at the place of the text, or next to it
}

// Exit is a way from one place to another.
type Exit struct {
	From, To  int
	Direction string
	Lock      string // locked, unlocked or ""
}

// Relation is a tie between two entities: From is Type To, such as "child of".
type Relation struct {
	From, To int
	Type     string
}

// World is the part of a canon that claims are judged against. Numbers are indices into Entities.
type World struct {
	Entities   []Entity
	Place      int         // where the text is said or seen; None if unknown
	Speaker    int         // who says the text; None for a narrator
	Listener   int         // the player who hears it; None if unknown
	At         map[int]int // the place of a person or thing
	Within     map[int]int // the place around a place
	Holder     map[int]int // the holder of a thing
	Exits      []Exit
	Relations  []Relation
	Weather    string         // the weather at the place, "" if unknown
	Weathers   map[int]string // the weather at other places that the text names
	Directions []string       // the canonical names of directions
}

// dead reports whether the canon says that an entity is dead.
func (w *World) dead(e int) bool {
	f := w.Entities[e].Fields
	for _, name := range []string{"died", "dead", "deceased", "death"} {
		switch v := f[name].(type) {
		case string:
			if v != "" {
				return true
			}
		case bool:
			if v {
				return true
			}
		}
	}
	status, _ := f["status"].(string)
	return strings.EqualFold(status, "dead")
}

// isWithin reports whether a place is another one or lies in it.
func (w *World) isWithin(place, around int) bool {
	for range len(w.Within) + 1 {
		if place == around {
			return true
		}
		next, ok := w.Within[place]
		if !ok {
			return false
		}
		place = next
	}
	return false
}

// exit returns the exit of a place in a direction.
func (w *World) exit(from int, direction string) (Exit, bool) {
	for _, x := range w.Exits {
		if x.From == from && x.Direction == direction {
			return x, true
		}
	}
	return Exit{}, false
}

// exitTo returns the exit of a place that leads to another.
func (w *World) exitTo(from, to int) (Exit, bool) {
	for _, x := range w.Exits {
		if x.From == from && x.To == to {
			return x, true
		}
	}
	return Exit{}, false
}

func (w *World) name(e int) string {
	if e < 0 || e >= len(w.Entities) {
		return "nobody"
	}
	return w.Entities[e].Name
}
