package foundry

import (
	"encoding/json"
	"slices"

	"loregate/internal/decoded"
	"loregate/internal/secrecy"
)

// sight is where a document's ownership can be read.
type sight struct {
	world     bool   // the data of a world: ownership counts
	pack      string // what the manifest of its pack grants to players; "" if it is unknown
	recovered bool   // the database was recovered: its ownership cannot be trusted
}

// The levels of ownership.
const (
	ownerInherit = -1
	ownerLimited = 1 // players see the name and the picture
	ownerObserve = 2 // players read the text
)

// Rules that hide.
const (
	ruleOwnership = "ownership"
	ruleUnknown   = "unknown ownership"
	ruleItem      = "unidentified item"
)

// ownership returns the level that all players have; inherited is the level of the document above. An ownership
// that the document states itself counts wherever it hides, but for those of documents in packs, which Foundry
// does not read.
func (d *document) ownership(inherited int) (level int, marks []secrecy.Mark) {
	unknown := func(what string) []secrecy.Mark {
		return append(d.restriction(), secrecy.Mark{Rule: ruleUnknown, What: what, Doubt: true})
	}
	switch {
	case d.sight.recovered:
		return ownerObserve, unknown("recovered " + d.file)
	case d.sight.world:
		return d.worldOwnership(inherited)
	case slices.Contains([]string{"OBSERVER", "OWNER"}, d.sight.pack):
		return ownerObserve, d.restriction()
	case d.sight.pack == "LIMITED":
		return ownerLimited, d.restriction()
	case d.sight.pack == "NONE":
		return 0, []secrecy.Mark{{Rule: ruleOwnership, What: "pack " + d.file}}
	}
	return ownerObserve, unknown(d.file)
}

// restriction returns the mark of a document outside of a readable world that hides itself: a page, or a
// document of a world that was recovered.
func (d *document) restriction() []secrecy.Mark {
	own := d.owners()
	n, ok := own["default"].(json.Number)
	isPage := d.collection == "pages" || d.collection == "journal.pages"
	if level := decoded.IntOf(n); ok && (isPage || d.sight.recovered && d.sight.world) && level >= 0 &&
		level < ownerObserve {
		return []secrecy.Mark{{Rule: ruleOwnership, What: "own"}}
	}
	return nil
}

// owners returns the levels of ownership that a document states, by user.
func (d *document) owners() map[string]any {
	own, _ := d.data["ownership"].(map[string]any)
	if own == nil {
		own, _ = d.data["permission"].(map[string]any)
	}
	return own
}

// worldOwnership returns the ownership that a document of a world states.
func (d *document) worldOwnership(inherited int) (int, []secrecy.Mark) {
	own, level := d.owners(), 0
	if n, ok := own["default"].(json.Number); ok {
		level = decoded.IntOf(n)
	} else if inherited > 0 {
		level = ownerInherit
	}
	if level == ownerInherit {
		level = max(inherited, 0)
	}
	if level > 0 {
		return level, keptFromSome(own, level)
	}
	for user, v := range own {
		if user != "default" && decoded.IntOf(v) >= ownerLimited {
			return 0, []secrecy.Mark{{Rule: ruleOwnership, What: "shared with single users"}}
		}
	}
	return 0, []secrecy.Mark{{Rule: ruleOwnership, What: "none"}}
}

// keptFromSome returns the mark of a document that all players see except some, who are not known here.
func keptFromSome(own map[string]any, level int) []secrecy.Mark {
	for user, v := range own {
		if n := decoded.IntOf(v); user != "default" && n >= 0 && n < min(level, ownerObserve) {
			return []secrecy.Mark{{Rule: ruleOwnership, What: "kept from single users", Doubt: true}}
		}
	}
	return nil
}
