package foundry

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"loregate/internal/exchange"
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
	ruleSection   = "secret section"
	ruleItem      = "unidentified item"
)

// ownership returns the level that all players have; inherited is the level of the document above.
func (d *document) ownership(inherited int) (level int, marks []exchange.Mark) {
	switch {
	case d.sight.recovered:
		return ownerObserve, []exchange.Mark{{Rule: ruleUnknown, What: "recovered " + d.file, Doubt: true}}
	case d.sight.world:
		return d.worldOwnership(inherited)
	case slices.Contains([]string{"OBSERVER", "OWNER"}, d.sight.pack):
		return ownerObserve, nil
	case d.sight.pack == "LIMITED":
		return ownerLimited, nil
	case d.sight.pack == "NONE":
		return 0, []exchange.Mark{{Rule: ruleOwnership, What: "pack " + d.file}}
	}
	return ownerObserve, []exchange.Mark{{Rule: ruleUnknown, What: d.file, Doubt: true}}
}

// worldOwnership returns the ownership that a document of a world states.
func (d *document) worldOwnership(inherited int) (int, []exchange.Mark) {
	own, _ := d.data["ownership"].(map[string]any)
	if own == nil {
		own, _ = d.data["permission"].(map[string]any)
	}
	level := 0
	if n, ok := own["default"].(json.Number); ok {
		level = exchange.IntOf(n)
	} else if inherited > 0 {
		level = ownerInherit
	}
	if level == ownerInherit {
		level = max(inherited, 0)
	}
	if level > 0 {
		return level, nil
	}
	for user, v := range own {
		if user != "default" && exchange.IntOf(v) >= ownerLimited {
			return 0, []exchange.Mark{{Rule: ruleOwnership, What: "shared with single users"}}
		}
	}
	return 0, []exchange.Mark{{Rule: ruleOwnership, What: "none"}}
}

// splitSecrets takes the secret sections out of a text. A section is secret if the list of its classes
// has "secret" and not "revealed". A secret section that is not closed extends to the end.
func splitSecrets(text string) (visible, secret string, count int) {
	if !strings.Contains(strings.ToLower(text), "secret") {
		return text, "", 0
	}
	var open, hidden bytes.Buffer
	depth := 0 // of sections inside the outermost secret one
	for z := html.NewTokenizer(strings.NewReader(text)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		raw := bytes.Clone(z.Raw())
		name, attrs := z.TagName()
		section := string(name) == "section"
		switch {
		case kind == html.StartTagToken && section && depth > 0:
			depth++
		case kind == html.StartTagToken && section && attrs && hasSecretClass(z):
			depth = 1
			count++
		}
		if depth > 0 {
			hidden.Write(raw)
		} else {
			open.Write(raw)
		}
		if kind == html.EndTagToken && section && depth > 0 {
			depth--
		}
	}
	return open.String(), hidden.String(), count
}

// hasSecretClass reads the attributes of the current tag.
func hasSecretClass(z *html.Tokenizer) bool {
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		if string(key) == "class" {
			classes := strings.Fields(strings.ToLower(string(value)))
			return slices.Contains(classes, "secret") && !slices.Contains(classes, "revealed")
		}
	}
	return false
}
