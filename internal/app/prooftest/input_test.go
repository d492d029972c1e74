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

// inputGen makes random inputs of operations from their schemas and from names of the story.
type inputGen struct {
	*rand.Rand
	known namePool
}

func newInputGen(seed uint64, known namePool) *inputGen {
	return &inputGen{rand.New(rand.NewPCG(seed, 2)), known}
}

func (c *inputGen) oneIn(n int) bool { return c.IntN(n) == 0 }

func pick[T any](c *inputGen, list []T) T {
	if len(list) == 0 {
		var zero T
		return zero
	}
	return list[c.IntN(len(list))]
}

// randomName returns a name argument: of something visible, something hidden, or nothing.
func (c *inputGen) randomName() string {
	switch c.IntN(10) {
	case 0, 1, 2, 3:
		return pick(c, c.known.names)
	case 4, 5, 6, 7:
		return pick(c, c.known.hidden)
	case 8:
		return withTypo(pick(c, c.known.names))
	}
	return pick(c, c.known.names) + "+" + pick(c, []string{"Notes", "GM", "tags", "Door", "map", pick(c, c.known.hidden),
		pick(c, c.known.guesses)})
}

// randomWord returns a word to search for.
func (c *inputGen) randomWord() string {
	if c.oneIn(4) {
		return pick(c, c.known.guesses)
	}
	return pick(c, c.known.words)
}

// randomText returns content that links and nests visible and hidden cards.
func (c *inputGen) randomText() string {
	var b strings.Builder
	for range 1 + c.IntN(4) {
		fmt.Fprintf(&b, "<p>%s [[%s]] {{%s}} {{%s|titled}} %s</p>", c.randomWord(), c.randomName(), c.randomName(),
			c.randomName(), c.randomWord())
	}
	return b.String()
}

// randomInput returns an input of an operation, mostly a valid one, with about a third of the
// optional fields.
func (c *inputGen) randomInput(o *op.Operation) map[string]any {
	s := o.InputSchema()
	v, _ := c.randomObject(o, s, s, 0).(map[string]any)
	if c.oneIn(25) {
		v[pick(c, []string{"nonsense", "nam", "Role", "limit"})] = pick(c, []any{"x", -1, true, nil})
	}
	return v
}

func (c *inputGen) randomObject(o *op.Operation, root, s *jsonschema.Schema, depth int) any {
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
		if often && !c.oneIn(40) || !often && c.oneIn(3) && name != "world" || name == "world" && c.oneIn(12) {
			v[name] = c.randomValue(o, root, s.Properties[name], name, depth+1)
		}
	}
	return v
}

func (c *inputGen) randomValue(o *op.Operation, root, s *jsonschema.Schema, name string, depth int) any {
	if at, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		s = root.Defs[at]
	}
	if c.oneIn(60) {
		return pick(c, []any{nil, "", 0, -3, "\u0000", strings.Repeat("x", 2000), map[string]any{}})
	}
	switch kind := append([]string{s.Type}, s.Types...); {
	case len(s.Enum) > 0:
		return pick(c, s.Enum)
	case name == "publish_notes":
		return false // published notes become visible, which is no leak
	case slices.Contains(kind, "boolean"):
		return c.oneIn(2)
	case slices.Contains(kind, "integer"), slices.Contains(kind, "number"):
		return pick(c, []int{1, 1, 2, 3, 5, 10, 50, 100, 0, 8000})
	case s.Type == "array":
		if depth > 4 {
			return []any{}
		}
		list := []any{}
		for range 1 + c.IntN(3) {
			list = append(list, c.randomValue(o, root, s.Items, name, depth+1))
		}
		return list
	case s.Type == "object" && len(s.Properties) == 0:
		return c.randomFields(name)
	case s.Type == "object":
		return c.randomObject(o, root, s, depth)
	case s.ContentEncoding != "":
		return base64.StdEncoding.EncodeToString([]byte("a file of " + c.randomWord()))
	case s.Format == "date-time":
		return begin.AddDate(0, 0, c.IntN(3)-1).Format("2006-01-02T15:04:05Z")
	}
	return c.randomString(o, name)
}

// randomString returns a text for a field, by the field's name.
func (c *inputGen) randomString(o *op.Operation, name string) string {
	switch name {
	case "name", "terms_card", "results_card", "new_name", "query_name", "prefix", "add", "remove":
		return c.randomName()
	case "confirm":
		return pick(c, c.known.names)
	case "q", "query", "find", "heading", "replace", "replacement", "pattern", "start_marker", "end_marker":
		if strings.Contains(o.Route, "{q}") {
			return pick(c, append([]string{c.randomName()}, "people_of"))
		}
		return c.randomWord()
	case "content", "markdown_content", "html", "markdown", "replacement_html":
		return c.randomText()
	case "id", "locationId", "playerId", "scopeId", "npcId", "factId", "entity_id", "other_id", "source_id", "target_id",
		"session_id", "event_id", "relationship_id",
		"conflict_id", "secret_of", "proposalId", "run_id", "plan_id", "artifact_id", "entity_ids":
		return pick(c, append([]string{c.randomName()}, c.known.ids...))
	case "campaign_id":
		return pick(c, []string{"lendwater", "lendwater", "lendwater", "lendwater", "otherland", "nowhere"})
	case "as_of", "before":
		// Never the number of a commit: a GM may ask for it, and it counts hidden commits;
		// world.md documents that.
		return begin.Add(time.Duration(c.IntN(1200)) * time.Second).Format(time.RFC3339)
	case "filename":
		return pick(c, []string{"a.txt", "loregate-0123456789abcdef.db"})
	case "url":
		return "https://files.example/" + c.randomWord()
	case "type_name":
		return pick(c, c.known.types)
	case "text", "utterance", "draftText":
		return pick(c, []string{"look", "go " + pick(c, []string{"north", "east", "down", "up", "west"}) + " then look",
			"take " + c.randomWord(), "talk to " + c.randomName(), "Rain on the " + c.randomWord() + ".", "examine " +
				c.randomName()})
	case "audience":
		return pick(c, []string{"user", "gm"})
	case "card":
		return pick(c, []string{"Harbour", c.randomName()})
	case "type":
		return pick(c, c.known.types)
	case "tag", "tags":
		return pick(c, append([]string{c.randomName()}, c.known.tags...))
	case "not_name":
		return pick(c, []string{"*GM*", "Place*", "*" + c.randomWord() + "*", c.randomName()})
	case "codename":
		return pick(c, []string{"oda", "vault", "fresh", strings.TrimPrefix(pick(c, c.known.hidden), ":")})
	case "author":
		return pick(c, []string{"player", "keeper", "user", "gm", "nobody"})
	case "world":
		return pick(c, []string{"lendwater", "otherland", "nowhere"})
	case "idempotency_key":
		return pick(c, []string{"once", "twice", "thrice"})
	case "subjects":
		return pick(c, []string{"alice", "bob", c.randomWord()})
	}
	return pick(c, []string{c.randomWord(), c.randomName()})
}

// randomFields returns an object of free members: arguments of a query, or a card's fields.
func (c *inputGen) randomFields(name string) map[string]any {
	if name == "args" {
		return map[string]any{pick(c, []string{"faction_tag", "x", c.randomWord()}): pick(c, c.known.tags)}
	}
	v := map[string]any{}
	for range c.IntN(3) {
		v[pick(c, []string{"rank", "role", "motive", "+tags", "+GM", "+Notes", "*when", "+" + c.randomWord()})] = pick(c,
			[]any{1, c.randomWord(), nil, c.randomText()})
	}
	return v
}
