package prooftest

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/op"
)

// chance makes inputs of operations out of their schemas and of what there is to name.
type chance struct {
	*rand.Rand
	known pool
}

func newChance(seed uint64, known pool) *chance {
	return &chance{rand.New(rand.NewPCG(seed, 2)), known}
}

func (c *chance) in(n int) bool { return c.IntN(n) == 0 }

func pick[T any](c *chance, list []T) T {
	if len(list) == 0 {
		var zero T
		return zero
	}
	return list[c.IntN(len(list))]
}

// name is a name argument: of something in sight, something hidden, or nothing.
func (c *chance) name() string {
	switch c.IntN(10) {
	case 0, 1, 2, 3:
		return pick(c, c.known.names)
	case 4, 5, 6, 7:
		return pick(c, c.known.hidden)
	case 8:
		return markupSlip(pick(c, c.known.names))
	}
	return pick(c, c.known.names) + "+" + pick(c, []string{"Notes", "GM", "tags", "Door", "map", pick(c, c.known.hidden), pick(c, c.known.guesses)})
}

// word is something to search for.
func (c *chance) word() string {
	if c.in(4) {
		return pick(c, c.known.guesses)
	}
	return pick(c, c.known.words)
}

// text is content that links and nests what is in sight and what is not.
func (c *chance) text() string {
	var b strings.Builder
	for range 1 + c.IntN(4) {
		fmt.Fprintf(&b, "<p>%s [[%s]] {{%s}} {{%s|titled}} %s</p>", c.word(), c.name(), c.name(), c.name(), c.word())
	}
	return b.String()
}

// input is an input of an operation: most often a fitting one, with about a third of what
// is optional.
func (c *chance) input(o *op.Operation) map[string]any {
	s := o.InputSchema()
	v, _ := c.object(o, s, s, 0).(map[string]any)
	if c.in(25) {
		v[pick(c, []string{"nonsense", "nam", "Role", "limit"})] = pick(c, []any{"x", -1, true, nil})
	}
	return v
}

func (c *chance) object(o *op.Operation, root, s *jsonschema.Schema, depth int) any {
	names := slices.Clone(s.PropertyOrder)
	if len(names) == 0 {
		for name := range s.Properties {
			names = append(names, name)
		}
		slices.Sort(names)
	}
	v := map[string]any{}
	for _, name := range names {
		often := slices.Contains(s.Required, name)
		if often && !c.in(40) || !often && c.in(3) && name != "world" || name == "world" && c.in(12) {
			v[name] = c.value(o, root, s.Properties[name], name, depth+1)
		}
	}
	return v
}

func (c *chance) value(o *op.Operation, root, s *jsonschema.Schema, name string, depth int) any {
	if at, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		s = root.Defs[at]
	}
	if c.in(60) {
		return pick(c, []any{nil, "", 0, -3, "\u0000", strings.Repeat("x", 2000), map[string]any{}})
	}
	switch kind := append([]string{s.Type}, s.Types...); {
	case len(s.Enum) > 0:
		return pick(c, s.Enum)
	case name == "publish_notes":
		return false // what is published shows, and is no leak
	case slices.Contains(kind, "boolean"):
		return c.in(2)
	case slices.Contains(kind, "integer"), slices.Contains(kind, "number"):
		return pick(c, []int{1, 1, 2, 3, 5, 10, 50, 100, 0, 8000})
	case s.Type == "array":
		if depth > 4 {
			return []any{}
		}
		list := []any{}
		for range 1 + c.IntN(3) {
			list = append(list, c.value(o, root, s.Items, name, depth+1))
		}
		return list
	case s.Type == "object" && len(s.Properties) == 0:
		return c.fields(name)
	case s.Type == "object":
		return c.object(o, root, s, depth)
	case s.ContentEncoding != "":
		return base64.StdEncoding.EncodeToString([]byte("a file of " + c.word()))
	case s.Format == "date-time":
		return begin.AddDate(0, 0, c.IntN(3)-1).Format("2006-01-02T15:04:05Z")
	}
	return c.str(o, name)
}

// str is a text for a field, by the field's name.
func (c *chance) str(o *op.Operation, name string) string {
	switch name {
	case "name", "terms_card", "results_card", "new_name", "query_name", "prefix", "add", "remove":
		return c.name()
	case "confirm":
		return pick(c, c.known.names)
	case "q", "query", "find", "heading", "replace", "replacement", "pattern", "start_marker", "end_marker":
		if strings.Contains(o.Route, "{q}") {
			return pick(c, append([]string{c.name()}, "people_of"))
		}
		return c.word()
	case "content", "markdown_content", "html", "markdown", "replacement_html":
		return c.text()
	case "id", "locationId", "playerId", "scopeId", "npcId", "factId", "entity_id", "other_id", "source_id", "target_id", "session_id", "event_id", "relationship_id",
		"conflict_id", "secret_of", "proposalId", "run_id", "plan_id", "artifact_id", "entity_ids":
		return pick(c, append([]string{c.name()}, c.known.ids...))
	case "campaign_id":
		return pick(c, []string{"lendwater", "lendwater", "lendwater", "lendwater", "otherland", "nowhere"})
	case "as_of", "before":
		// Never the number of a commit, which a GM may ask for: it counts those out of
		// sight, and so world.md has it.
		return begin.Add(time.Duration(c.IntN(1200)) * time.Second).Format(time.RFC3339)
	case "filename":
		return pick(c, []string{"a.txt", "loregate-0123456789abcdef.db"})
	case "url":
		return "https://files.example/" + c.word()
	case "type_name":
		return pick(c, c.known.types)
	case "text", "utterance", "draftText":
		return pick(c, []string{"look", "go " + pick(c, []string{"north", "east", "down", "up", "west"}) + " then look", "take " + c.word(), "talk to " + c.name(), "Rain on the " + c.word() + ".", "examine " + c.name()})
	case "audience":
		return pick(c, []string{"user", "gm"})
	case "card":
		return pick(c, []string{"Harbour", c.name()})
	case "type":
		return pick(c, c.known.types)
	case "tag", "tags":
		return pick(c, append([]string{c.name()}, c.known.tags...))
	case "not_name":
		return pick(c, []string{"*GM*", "Place*", "*" + c.word() + "*", c.name()})
	case "codename":
		return pick(c, []string{"oda", "vault", "fresh", strings.TrimPrefix(pick(c, c.known.hidden), ":")})
	case "author":
		return pick(c, []string{"player", "keeper", "user", "gm", "nobody"})
	case "world":
		return pick(c, []string{"lendwater", "otherland", "nowhere"})
	case "idempotency_key":
		return pick(c, []string{"once", "twice", "thrice"})
	case "subjects":
		return pick(c, []string{"alice", "bob", c.word()})
	}
	return pick(c, []string{c.word(), c.name()})
}

// fields is an object of free members: arguments of a query, or a card's fields.
func (c *chance) fields(name string) map[string]any {
	if name == "args" {
		return map[string]any{pick(c, []string{"faction_tag", "x", c.word()}): pick(c, c.known.tags)}
	}
	v := map[string]any{}
	for range c.IntN(3) {
		v[pick(c, []string{"rank", "role", "motive", "+tags", "+GM", "+Notes", "*when", "+" + c.word()})] = pick(c, []any{1, c.word(), nil, c.text()})
	}
	return v
}
