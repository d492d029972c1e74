package prooftest

import (
	"encoding/json"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/sample"
)

// This file puts the declared examples of all operations into the story's world. They name cards
// of the sample world: the story has those cards too, with hidden cards around them. The ids in
// them are invented: the story replaces them by ids of its own, by the name of their field.

// sampleCard is a card of the sample world.
type sampleCard struct {
	Name     string
	Type     string
	Codename string
	Tags     []string
	text     string // in Markdown
}

// sampleCards returns the cards of the sample world that everybody sees, by the keys of their
// names and by their codenames.
var sampleCards = sync.OnceValues(func() (map[string]sampleCard, error) {
	all := map[string]sampleCard{}
	err := fs.WalkDir(sample.Files(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(sample.Files(), path)
		if err != nil {
			return err
		}
		head, text, _ := strings.Cut(strings.TrimPrefix(string(b), "---\n"), "\n---\n")
		c := sampleCard{text: text}
		if err := yaml.Unmarshal([]byte(head), &c); err != nil {
			return err
		}
		parts := strings.Split(c.Name, "+")
		if c.Name == "" || slices.Contains(parts, "GM") || slices.Contains(parts, "AI") {
			return nil
		}
		all[string(markup.KeyOf(c.Name))] = c
		if c.Codename != "" {
			all[c.Codename] = c
		}
		return nil
	})
	return all, err
})

// declaredInputs returns the inputs of an operation's declared examples.
func (s *story) declaredInputs(o *op.Operation) (list []map[string]any) {
	s.t.Helper()
	for _, e := range o.Examples {
		in := map[string]any{}
		if err := json.Unmarshal([]byte(e.Input), &in); err != nil {
			s.t.Fatalf("the example %q of %s is no JSON object: %v", e.Title, o.Name, err)
		}
		list = append(list, in)
	}
	return list
}

// tellSample creates the cards of the sample world that the declared examples name.
func (s *story) tellSample() {
	s.t.Helper()
	known, err := sampleCards()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, o := range s.app.Ops.All() {
		for _, in := range s.declaredInputs(o) {
			for _, text := range textsIn(in) {
				if c, ok := known[text]; ok {
					s.tellSampleCard(c)
				} else if c, ok := known[string(markup.KeyOf(text))]; ok {
					s.tellSampleCard(c)
				}
			}
		}
	}
}

// tellSampleCard creates a card of the sample world, unless the story has one of its name.
func (s *story) tellSampleCard(c sampleCard) {
	if slices.Contains(s.known.names, c.Name) {
		return
	}
	in := map[string]any{"name": c.Name, "markdown_content": c.text, "codename": c.Codename,
		"fields": map[string]any{"+tags": map[string]any{"type": "Pointer", "content": strings.Join(c.Tags, "\n")}}}
	if c.Type != "" {
		in["type"] = c.Type
	}
	s.tellVisible(func() { s.do(player, "create_card", in) })
	s.known.names = append(s.known.names, c.Name, c.Name+"+tags")
	s.known.tags = append(s.known.tags, c.Tags...)
	s.sample = append(s.sample, c)
}

// tellSecretsOfSample creates hidden cards and tags around the cards of the sample world.
func (s *story) tellSecretsOfSample(l access.Label) {
	for _, c := range s.sample {
		s.putCard(canon.NewCard{Name: c.Name + "+" + s.newSecretName("name below", l), Label: &l,
			Content: "<p>" + s.newSecret("content", l) + " of [[" + c.Name + "]]</p>"})
		s.putCard(canon.NewCard{Name: c.Name + "+tags", Type: "Pointer", Label: &l,
			Content: strings.Join(append(slices.Clone(c.Tags), s.newSecretName("tag", l)), "\n")})
		hidden := s.newSecretName("name", l)
		s.putCard(canon.NewCard{Name: hidden, Content: "<p>[[" + c.Name + "]]</p>", Label: &l})
		s.putCard(canon.NewCard{Name: hidden + "+tags", Type: "Pointer", Content: strings.Join(c.Tags, "\n"), Label: &l})
	}
}

// textsIn returns the texts in a decoded JSON value.
func textsIn(v any) (list []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, x := range v {
			list = append(list, textsIn(x)...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			list = append(list, textsIn(v[name])...)
		}
	}
	return list
}

// inventedID matches an id that an example invents.
var inventedID = regexp.MustCompile(`^(?:01[0-9a-f]{6}-0000-7000-8000-[0-9a-f]{12}|g-00112233aabbccdd)$`)

// idOfField names the story's ids that take the place of invented ones, by the input field.
var idOfField = map[string]string{
	"locationId": "market", "scopeId": "harbour", "playerId": "mira", "npcId": "keeper", "proposalId": "mood",
	"entity_id": "ann", "entity_ids": "ann", "other_id": "cy", "secret_of": "ann", "source_id": "ann", "target_id": "dee",
	"relationship_id": "tie2", "event_id": "snow", "session_id": "one",
	"run_id": "run", "plan_id": "plan",
}

// idOfSurface does the same for the field id, by the operation's home.
var idOfSurface = map[string]string{"archive": "oda", "world": "mira", "alignment": "game"}

// placeInStory returns an example's value as it is in the story's world: ids and the campaign's
// name are replaced.
func (s *story) placeInStory(o *op.Operation, field string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, x := range v {
			out[name] = s.placeInStory(o, name, x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = s.placeInStory(o, field, x)
		}
		return out
	case string:
		if field == "campaign_id" {
			return "lendwater"
		}
		name := idOfField[field]
		if field == "id" {
			name = idOfSurface[o.Surfaces[0]]
		}
		if s.ids[name] != "" && (inventedID.MatchString(v) || field == "locationId" || field == "scopeId") {
			return s.ids[name]
		}
	}
	return v
}

// goodInputs returns the inputs with which the proofs call an operation: those of its declared
// examples, and then those that are written by hand. A short proof makes a call of every declared
// example, and of the first input of each table by hand.
func (s *story) goodInputs(o *op.Operation) (list []example) {
	s.t.Helper()
	for i, in := range s.declaredInputs(o) {
		in, _ = s.placeInStory(o, "", in).(map[string]any) // an object stays one
		if o.Approver {
			in["world"] = "lendwater" // the approver's key opens all worlds
		}
		list = append(list, example{input: in, rest: i%2 == 0, tool: i%2 == 1})
	}
	for _, table := range byHand {
		for i, e := range table[o.Name] {
			e.rest = i == 0
			list = append(list, e)
		}
	}
	if len(list) == 0 {
		list = append(list, example{input: map[string]any{}, rest: true})
	}
	return list
}
