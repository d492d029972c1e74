package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"

	"github.com/a-h/templ"
)

// near is a place near another, with the way to it.
type near struct {
	ID   string   `json:"id"`
	Name string   `json:"name"`
	Path []string `json:"path"`

	InRealms []int `json:"inRealms"` // positions in the realms of the surroundings
}

// surroundings are the places around one, and the realms that they lie in.
type surroundings struct {
	Neighbors []near     `json:"neighbors"`
	Realms    []mapRealm `json:"realms"`
	InRealms  []int      `json:"inRealms"` // those of the place in the middle
}

type mapRealm struct {
	near
	Category string `json:"category"`
}

// placeView is a place with what surrounds it.
type placeView struct {
	Location struct {
		ID          string   `json:"id"`
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Tags        []string `json:"tags"`
	} `json:"location"`
	Exits []struct {
		Direction    string `json:"direction"`
		To           string `json:"toLocationId"`
		ToName       string `json:"toLocationName"`
		Description  string `json:"description"`
		Availability string `json:"availability"`
	} `json:"exits"`
	Realms map[string][]near `json:"realms"`
	NPCs   []near            `json:"npcs"`
	Items  []near            `json:"items"`
}

type atmosphere struct {
	TimeOfDay string        `json:"timeOfDay"`
	Weather   atmosphereRow `json:"weather"`
	Lighting  atmosphereRow `json:"lighting"`
	Ambient   atmosphereRow `json:"ambient"`
}

// atmosphereRow is one part of an atmosphere; its value is the usual one if nothing else was written.
type atmosphereRow struct {
	Value string `json:"value"`
}

// only is an answer of the world's surface about one thing; nil if there is none.
type only[T any] struct {
	Item *T `json:"item"`
}

// showPlaces shows the map around a place, by default where players begin.
func (s *server) showPlaces(v *visit) error {
	q := v.r.URL.Query()
	at := fields{}.with("locationId", q.Get("at"))
	here, err := call[only[placeView]](v, "get-location-context", at)
	if err != nil {
		return err
	}
	f := v.frame("Places")
	if here.Item == nil {
		return v.write(http.StatusOK, noPlacesPage(f))
	}
	air, err := call[atmosphere](v, "get-atmosphere", at)
	if err != nil {
		return err
	}
	depth := q.Get("steps")
	if depth == "" {
		depth = "3"
	}
	around, err := call[only[surroundings]](v, "get-spatial-context", fields{"depth": numberOf(depth)}.with("locationId", q.Get("at")))
	if err != nil {
		return err
	}
	m, err := call[pinMap](v, "get-map", nil)
	if err != nil {
		return err
	}
	var drawn drawing
	if around.Item != nil {
		drawn = drawMap(f, here.Item.Location.ID, here.Item.Location.Name, *around.Item, m.playersByPlace())
	}
	pictures, err := v.searchNames(fields{"type": "Image", "q": "map", "search_in": "name"})
	if err != nil {
		return err
	}
	f.Title = here.Item.Location.Name
	return v.write(http.StatusOK, placesPage(f, *here.Item, air, drawn, depth, m.Players, pictures))
}

// query returns a parameter for an address of the frame.
func query(f frame, name, value string) templ.SafeURL {
	mark := "?"
	if f.As != "" {
		mark = "&"
	}
	return templ.SafeURL(mark + url.Values{name: {value}}.Encode())
}

// graph holds the relationships around an entity, and the choice among them.
type graph struct {
	Center        entity         `json:"center"`
	Nodes         []entity       `json:"nodes"`
	Relationships []relationship `json:"relationships"`
	Truncated     bool           `json:"truncated"`

	Steps    string        `json:"-"`
	Session  string        `json:"-"` // number of the session at whose end it is shown; "" is now
	Sessions []playSession `json:"-"` // completed ones, latest first
	Types    []string      `json:"-"` // of all relationships
	Chosen   []string      `json:"-"` // types that are shown; none is all
}

// chooseTypes drops the relationships of other types, and the entities that have none left.
func (g *graph) chooseTypes(wanted []string) {
	for _, r := range g.Relationships {
		g.Types = append(g.Types, r.Type)
	}
	slices.Sort(g.Types)
	g.Types = slices.Compact(g.Types)
	g.Chosen = slices.DeleteFunc(wanted, func(t string) bool { return !slices.Contains(g.Types, t) })
	if len(g.Chosen) == 0 {
		return
	}
	related := map[string]bool{g.Center.ID: true}
	g.Relationships = slices.DeleteFunc(g.Relationships, func(r relationship) bool {
		shown := slices.Contains(g.Chosen, r.Type)
		if shown {
			related[r.SourceID], related[r.TargetID] = true, true
		}
		return !shown
	})
	g.Nodes = slices.DeleteFunc(g.Nodes, func(n entity) bool { return !related[n.ID] })
}

// link returns the address of the graph around an entity, for the same session.
func (g *graph) link(f frame, id string) templ.SafeURL {
	address := f.link("graph", id)
	if g.Session != "" {
		address += query(f, "session", g.Session)
	}
	return address
}

// withSteps returns the address of the graph with another number of steps, the same session and the same types.
func (g *graph) withSteps(f frame, steps string) templ.SafeURL {
	address := f.link("graph", g.Center.ID) + query(f, "steps", steps)
	if g.Session != "" {
		address += templ.SafeURL("&" + url.Values{"session": {g.Session}}.Encode())
	}
	for _, t := range g.Chosen {
		address += templ.SafeURL("&" + url.Values{"type": {t}}.Encode())
	}
	return address
}

// readSessions reads the sessions at whose end the graph can be shown.
func (g *graph) readSessions(v *visit) error {
	list, err := call[sessionList](v, "session_list", v.campaign(fields{"limit": 100, "status": "COMPLETED"}))
	g.Sessions = list.Sessions
	slices.SortFunc(g.Sessions, func(a, b playSession) int { return cmp.Compare(b.Number, a.Number) })
	return err
}

// showGraph shows the relationships around an entity.
func (s *server) showGraph(v *visit) error {
	q := v.r.URL.Query()
	steps := cmp.Or(q.Get("steps"), "2")
	in := v.campaign(fields{"entity_id": v.r.PathValue("id"), "depth": numberOf(steps)})
	session := q.Get("session")
	if session != "" {
		in["as_of_session"] = numberOf(session)
	}
	g, err := call[graph](v, "relationship_map", in)
	if err != nil {
		return err
	}
	g.Steps, g.Session = steps, session
	if err := g.readSessions(v); err != nil {
		return err
	}
	g.chooseTypes(q["type"])
	f := v.frame(g.Center.Name)
	return v.write(http.StatusOK, graphPage(f, g, drawGraph(f, g)))
}
