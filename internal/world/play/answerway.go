package play

import (
	"slices"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/meaning"
	"loregate/internal/slicesx"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// nearestWords are words before a kind of place that change nothing: the places around are looked through in order.
var nearestWords = lazyregexp.New(`(?i)^(?:nearest|closest|next|local) `)

// answerWay answers a question for the ways out, for the end of one, for the way to something or for its place.
func (a *answerer) answerWay() (string, error) {
	exits, err := a.listExits()
	if err != nil {
		return "", err
	}
	name := nearestWords.ReplaceAllString(a.q.Subject, "")
	if d, ok := command.DirectionOf(name); ok {
		a.q.Direction = d
	}
	for _, w := range command.BareWords(name) { // the north door
		if d, ok := command.DirectionOf(w); ok && a.q.Kind == command.AskedLeads {
			a.q.Direction = d
		}
	}
	switch {
	case name == "back":
		return a.tellWayBack()
	case a.q.Direction != "":
		return a.tellDirection(exits)
	case name == "" || a.q.Kind == command.AskedExits:
		return tellNamedExits(exits), nil
	case a.q.Kind == command.AskedLeads:
		if e, ok := findNamedExit(exits, command.Intent{DirectObject: name}); ok {
			return tellNamedExit(e), nil
		}
		return tellNamedExits(exits), nil
	}
	if a.q.Kind == command.AskedLocate {
		if text, err := a.locateHere(name); err != nil || text != "" {
			return text, err
		}
	}
	return a.locateElsewhere(name)
}

// findNamedExit returns the exit in the direction of an intent, or the one that leads to its object or is described
// with it.
func findNamedExit(exits []world.Exit, i command.Intent) (world.Exit, bool) {
	if i.Direction != "" {
		return world.ExitToward(exits, i.Direction)
	}
	n := slices.IndexFunc(exits, func(e world.Exit) bool {
		return e.Availability == world.ExitHard && (rateFit(i.DirectObject,
			world.Card{Name: e.ToName}) > command.FitNone ||
			command.Mentions(e.Description, i.DirectObject))
	})
	if n < 0 {
		return world.Exit{}, false
	}
	return exits[n], true
}

// listExits returns the exits of the place with the names of their ends.
func (a *answerer) listExits() ([]world.Exit, error) {
	exits, err := a.Exits(a.ctx, a.place)
	if err != nil {
		return nil, err
	}
	for n, e := range exits {
		if e.To == nil {
			continue
		}
		t, ok, err := a.CardByID(a.ctx, *e.To)
		if err != nil {
			return nil, err
		}
		if ok {
			exits[n].ToName = t.Title()
		}
	}
	return exits, nil
}

func (a *answerer) tellDirection(exits []world.Exit) (string, error) {
	e, ok := world.ExitToward(exits, a.q.Direction)
	if ok && e.Availability == world.ExitHard {
		return tellNamedExit(e), nil
	}
	if !ok {
		return "No way leads " + a.q.Direction.Phrase() + " from here. " + tellNamedExits(exits), nil
	}
	return tellExit(exits, a.q.Direction), nil
}

// tellNamedExit describes an exit with the name of its end and its lock.
func tellNamedExit(e world.Exit) string {
	text := "A way leads " + e.Direction.Phrase()
	if e.ToName != "" {
		text += ", to " + e.ToName
	}
	text += "."
	if e.LockState == "locked" {
		text += " It is locked."
	}
	return strings.TrimSpace(text + " " + e.Description)
}

// tellNamedExits lists the ways out with their ends.
func tellNamedExits(exits []world.Exit) string {
	var ways []string
	for _, e := range exits {
		if e.Availability != world.ExitHard {
			continue
		}
		way := string(e.Direction)
		if e.ToName != "" {
			way += " to " + e.ToName
		}
		ways = append(ways, way)
	}
	if len(ways) == 0 {
		return "There is no way out."
	}
	return "Ways out: " + strings.Join(ways, ", ") + "."
}

// locateHere answers the question for a thing that is here or that the player has; "" if there is none.
func (a *answerer) locateHere(name string) (string, error) {
	all, err := a.listAround()
	if err != nil {
		return "", err
	}
	own, err := a.carriedCards()
	if err != nil {
		return "", err
	}
	if found := findMatches(name, all); len(found) > 0 {
		t := found[0]
		switch {
		case t.ID == a.player.ID || t.ID == a.place.ID:
			return "You are in " + a.place.Title() + ".", nil
		case t.IsType(world.TypeLocation):
			return a.locateElsewhere(t.Title())
		case slices.ContainsFunc(own, func(o world.Card) bool { return o.ID == t.ID }):
			return "You have " + t.Title() + ".", nil
		}
		return t.Title() + " is here.", nil
	}
	if exits, err := a.listExits(); err != nil {
		return "", err
	} else if i := slices.IndexFunc(exits, func(e world.Exit) bool {
		return e.ToName != "" && rateFit(name, world.Card{Name: e.ToName}) > command.FitSlip
	}); i >= 0 {
		return tellNamedExit(exits[i]), nil
	}
	return "", nil
}

// maxNear bounds the places around that are searched for somebody.
const maxNear = 8

// locateElsewhere tells the way to a place, person or thing that is not here.
func (a *answerer) locateElsewhere(name string) (string, error) {
	ways, err := a.WaysFrom(a.ctx, a.place.ID)
	if text := tellWayTo(name, ways); text != "" || err != nil {
		return text, err
	}
	t, ok, err := a.FindNamed(a.ctx, name)
	if err != nil {
		return "", err
	}
	if ok && t.IsType(world.TypeLocation) {
		return "You know of " + t.Title() + ", and not the way there from here.", nil
	}
	if ok && world.IsAlive(t) && !t.IsType(world.TypePlayer) {
		return a.locatePerson(t, ways)
	}
	if text, err := a.locateNear(name, ways); err != nil || text != "" {
		return text, err
	}
	return a.findPassage(name)
}

// tellWayTo tells which of some ways leads to a place of a name; "" if none does.
func tellWayTo(name string, ways []world.Way) string {
	best, at := command.FitNone, -1
	for n, w := range ways {
		if fit := rateFit(name, world.Card{Name: w.Name}); fit > best {
			best, at = fit, n
		}
	}
	if at < 0 {
		return ""
	}
	return "To reach " + titleOfWay(ways[at]) + ", " + tellPath(ways[at].Path) + "."
}

func titleOfWay(w world.Way) string { return world.Card{Name: w.Name}.Title() }

// locateNear tells in which of the nearest places somebody or something is that stays where it is, or which of them is
// such a place by its first sentence: an inn; "" if none is.
func (a *answerer) locateNear(name string, ways []world.Way) (string, error) {
	for _, w := range ways[:min(len(ways), maxNear)] {
		if len(w.Path) > 1 {
			break
		}
		here, err := a.CardsHere(a.ctx, w.To)
		if err != nil {
			return "", err
		}
		here = slicesx.Filter(here, func(t world.Card) bool { return !t.IsType(world.TypePlayer) && !isPortable(t) })
		if found, _ := matchNames(name, here, command.FitForms); len(found) == 1 {
			return found[0].Title() + " is not here. You might look in " + titleOfWay(w) + ": " + tellPath(w.Path) + ".", nil
		}
		t, ok, err := a.CardByID(a.ctx, w.To)
		if err != nil || !ok {
			return "", err
		}
		text, err := a.ReadText(a.ctx, t)
		if err != nil {
			return "", err
		}
		for first := range meaning.Sentences(text) {
			if command.Mentions(first, name) {
				return "To reach " + titleOfWay(w) + ", " + tellPath(w.Path) + ".", nil
			}
			break
		}
	}
	return "", nil
}

// tellWayBack tells the way by which the player came.
func (a *answerer) tellWayBack() (string, error) {
	back := a.presence.Heading.Opposite()
	if back == "" {
		return "Your way begins here, as far as you know.", nil
	}
	exits, err := a.listExits()
	if way, ok := world.ExitToward(exits, back); ok && way.ToName != "" && err == nil {
		return "You came from " + way.ToName + ". To go back, go " + back.Going() + ".", nil
	}
	return "To go back, go " + back.Going() + ".", err
}

// locatePerson names the place of somebody who is not here.
func (a *answerer) locatePerson(t world.Card, ways []world.Way) (string, error) {
	at, stands, err := a.FindAtLink(a.ctx, t.ID)
	if err != nil {
		return "", err
	}
	place, ok, err := a.CardByID(a.ctx, at.To)
	if err != nil || !stands || !ok {
		return t.Title() + " is not here, and nobody has told you where else.", err
	}
	if place.ID == a.place.ID {
		return t.Title() + " is here.", nil
	}
	text := t.Title() + " is not here. You might look in " + place.Title()
	if i := slices.IndexFunc(ways, func(w world.Way) bool { return w.To == place.ID }); i >= 0 {
		text += ": " + tellPath(ways[i].Path)
	}
	return text + ".", nil
}

// tellPath describes a way step by step.
func tellPath(path []command.Direction) string {
	return "go " + strings.Join(slicesx.Map(path, command.Direction.Going), ", then ")
}
