package play

import (
	"slices"
	"strings"

	"loregate/internal/world"
	"loregate/internal/world/command"
)

// goalWords are the prepositions in front of the goal of a motion, and notGoals those of names that are none.
var (
	goalWords = []string{"to", "up to", "over", "toward", "towards", "into", "onto", "beside", "for", "at"}
	notGoals  = []string{"from", "with", "without", "like", "as", "until", "till", "about"}
)

// isMotion reports whether the act is a motion, which may lead through an exit.
func (h *handled) isMotion() bool {
	return h.intent.Verb == command.Move || h.intent.Verb == command.Attempt && slices.Contains(motions, h.manner.Verb)
}

// goals returns the names in a clause of motion, its goal first: along the causeway to the stone.
func (h *handled) goals() (list []command.Part, err error) {
	m := h.manner
	for _, p := range append([]command.Part{{Name: m.Object}}, m.Parts...) {
		if p.Name == "" || slices.Contains(notGoals, p.By) || command.MeansHere(p.Name) || isBodyPart(p.Name) {
			continue
		}
		if p.Name, err = h.explain(p.Name, false); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	slices.SortStableFunc(list, func(a, b command.Part) int { return goalRank(a.By) - goalRank(b.By) })
	return list, nil
}

func goalRank(by string) int {
	if slices.Contains(goalWords, by) {
		return 0
	}
	return 1
}

// planGoal goes through the exit that a name in a clause of motion means. A person or thing that is the goal and stands
// here is no exit. ok is false if the clause means none, or if its direction is enough.
func (h *handled) planGoal() (ok bool, err error) {
	if plain, err := h.hasDirection(); plain || err != nil {
		return false, err
	}
	if slices.Contains(beyond, h.manner.Verb) {
		return true, cannot("unfit", "That is more than you can do.")
	}
	goals, err := h.goals()
	if err != nil {
		return true, err
	}
	around, err := h.cardsAround()
	if err != nil {
		return true, err
	}
	if len(goals) > 0 && isWater(goals[0].Name) {
		return true, h.planIntoWater(goals[0])
	}
	for i, p := range goals {
		if here, err := h.isThisPlace(p.Name); err != nil || here && i == 0 {
			if err != nil {
				return true, err
			}
			exits, err := h.exitsHere()
			if way, there := world.ExitToward(exits, h.intent.Direction); there || err != nil {
				if err == nil {
					h.intent.Verb, h.action.Verb = command.Move, command.Move
					err = h.goThrough(way) // up the hill, on which one stands
				}
				return true, err
			}
			if slices.Contains([]string{"on", "onto", "on to", "upon"}, p.By) && h.name == "climb" {
				return false, nil // climb onto the stone that the place is
			}
			return true, h.doneGoing("already", subject{name: definite(h.place)})
		} else if here {
			continue
		}
		var r referent
		if err := h.findWayAs(p.Name, command.FitForms, &r); err != nil {
			return true, err
		}
		if found, _ := matchNames(p.Name, around, command.FitForms); i == 0 && r.way == nil && len(found) > 0 {
			return false, nil
		}
		if r.way == nil && i == 0 {
			if err := h.findKindOfPlace(p.Name, nil, &r); err != nil {
				return true, err
			}
		}
		if r.way != nil {
			h.intent.Verb, h.action.Verb = command.Move, command.Move
			return true, h.goThrough(*r.way)
		}
	}
	return false, nil
}

// isWater reports whether a name is that of water to be in.
func isWater(name string) bool {
	return isAnyOf(command.HeadOf(name), []string{"body of water", "water"})
}

// planIntoWater goes into water that is here, or up to it.
func (h *handled) planIntoWater(goal command.Part) error {
	if ok, err := h.hasLiquid(goal.Name); err != nil || !ok {
		return orCannot(err, reasonUnknown, "You see no %s here.", goal.Name)
	}
	if goal.By == "to" || goal.By == "up to" || goal.By == "toward" || goal.By == "towards" || goal.By == "" ||
		goal.By == "along" {
		return h.doneGoing("", subject{name: "the " + goal.Name})
	}
	h.name, h.makes = "swim", false
	return h.done("into", subject{name: "the " + goal.Name})
}

// hasDirection reports whether the direction of a motion is enough to know where it leads: a point of the compass, or
// one of an exit.
func (h *handled) hasDirection() (bool, error) {
	d := h.intent.Direction
	if d == "out" && (slices.Contains([]string{"leave", "exit"}, h.manner.Verb) ||
		slices.ContainsFunc(h.manner.Parts, func(p command.Part) bool { return p.By == "out of" })) {
		return true, nil // leave the inn
	}
	if d == "" || d.Index() < 8 {
		return d != "", nil
	}
	exits, err := h.exitsHere()
	if _, there := world.ExitToward(exits, d); !there || err != nil {
		return false, err
	}
	goals, err := h.goals()
	if err != nil || len(goals) == 0 {
		return true, err
	}
	r, err := h.resolveHere(goals[0].Name) // splash in the puddle
	t, isCard := r.card()
	return !(isCard && t.ID != h.place.ID || r.isMentioned() && !r.mention.Denied), err
}

// isThisPlace reports whether a name means the place where the player is, and none that an exit leads to.
func (h *handled) isThisPlace(name string) (bool, error) {
	places, err := h.waysOut()
	if err != nil {
		return false, err
	}
	found, _ := matchNames(name, append(slices.Clone(places), h.place), command.FitForms)
	return len(found) == 1 && found[0].ID == h.place.ID, nil
}

// planWalk walks up to a person or thing that is here. It succeeds: it leads nowhere else.
func planWalk(h *handled) error {
	if plain, err := h.hasDirection(); plain || err != nil {
		return cmpErr(err, errOther)
	}
	goals, err := h.goals()
	if err != nil {
		return err
	}
	for _, p := range goals {
		t, err := h.findThing(p.Name)
		if err == nil && !t.hasCard() && (p.By == "" || strings.HasSuffix(p.By, "to")) {
			if err := h.checkNear(p.Name); err != nil {
				return err // the text tells of a place that is elsewhere
			}
		}
		if no, ok := err.(*impossible); ok && ifAbsent(no) != nil {
			continue
		}
		switch {
		case err != nil:
			return err
		case (p.By == "round" || p.By == "around") && t.hasCard() && t.card.ID == h.place.ID: // walk round the stone
			h.action.Handling = &world.Handling{Words: h.manner.Verb + " " + p.By}
			return h.doneGoing("along", t)
		case !t.hasCard() && !t.mentioned, // the moon
			t.hasCard() && (t.card.ID == h.place.ID || t.card.ID == h.player.ID):
			continue
		case slices.Contains([]string{"along", "across", "around", "round", "past", "over"}, p.By) &&
			!slices.Contains([]string{"go", "come"}, h.manner.Verb):
			h.action.Handling = &world.Handling{Words: h.manner.Verb + " " + p.By}
			return h.doneGoing("along", t)
		case h.manner.Verb == "cross":
			h.action.Handling = &world.Handling{Words: "cross"}
			return h.doneGoing("along", t)
		case !slices.Contains(plainMotions, h.manner.Verb) && p.By != "" && h.manner.Object == "":
			h.action.Handling = &world.Handling{Words: h.manner.Verb + " " + p.By} // splash in the puddle
			return h.doneGoing("along", t)
		}
		return h.doneGoing("", t)
	}
	return errOther
}

// plainMotions are verbs of motions that are told as going up to a thing.
var plainMotions = strings.Fields(
	"go come walk run get head move return travel approach proceed hurry rush make step follow enter visit " +
		"race dash stroll wander the up down in out back to over",
)

// doneGoing finishes a motion inside the place.
func (h *handled) doneGoing(effect string, t subject) error {
	h.name, h.makes = "go", false
	return h.done(effect, t)
}
