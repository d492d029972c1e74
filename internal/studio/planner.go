package studio

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// proposeByRules makes a plan of a sentence by rules: a phrase grammar over the tools and the
// canon's places. An ambiguity becomes a question, and each assumption is listed. The plan is as
// untrusted as any other.
func (s *Studio) proposeByRules(ctx context.Context, g access.Grant, in planRequest) (draft, error) {
	d := draft{Plan: Plan{Name: markup.Shorten(in.Intent, 60), Intent: in.Intent, Seed: in.Seed, Audience: in.Audience,
		Budget: in.Budget, Source: byRules}}
	said := parseIntent(in.Intent)
	if in.noEngine {
		said.engine, said.strew, said.profile = "", "", false
	}
	card, open, err := s.findPlace(ctx, g, in, said.rest)
	if err != nil {
		return d, err
	}
	if open != nil {
		d.addQuestion(*open)
	}
	s.addSceneCalls(&d, said, card, in.Target)
	s.addEngineCalls(&d, said, card)
	if len(d.Calls) == 0 {
		d.addQuestion(question{topic: topicIntent,
			text: "What should be done? For example: build PLACE at dusk, render it, export it to glb, import it into godot."})
	}
	return d, nil
}

// intent is a parsed sentence.
type intent struct {
	build, render, terrain, profile bool
	format                          string // of an export; "" without an export
	engine                          string // "", "godot", "unreal", or "?" if an engine is wanted but not named
	style                           string
	strew                           string // "it" if instances are to be strewn, else ""
	rest                            string // the words that describe the scene to build
}

var (
	verbs = map[string]*regexp.Regexp{
		"build":   regexp.MustCompile(`(?i)\b(build|make|create|generate|model|construct)\b`),
		"render":  regexp.MustCompile(`(?i)\b(render|picture|preview|screenshot|show me)\b`),
		"terrain": regexp.MustCompile(`(?i)\b(terrain|landscape|heightmap)\b`),
		"profile": regexp.MustCompile(`(?i)\b(profile|measure|benchmark)\b`),
	}
	exportForm = regexp.MustCompile(`(?i)\bexport\b(?:[^.;]*?\b(glb|gltf|obj|fbx)\b)?`)
	formatForm = regexp.MustCompile(`(?i)\b(?:to|as|in) (?:an? )?(glb|gltf|obj|fbx)\b`)
	engineForm = regexp.MustCompile(`(?i)\b(?:import\b[^.;]*|into |to |in )(godot|unreal)\b`)
	importForm = regexp.MustCompile(`(?i)\bimport\b`)
	styleForm  = regexp.MustCompile(`(?i)\b(?:at|by|in) (dusk|night|day|daylight|overcast)\b`)
	strewForm  = regexp.MustCompile(`(?i)\b(?:populate|strew|scatter)\b(?: it| the level)?(?: with)? ?([a-z ]{0,30})`)
	clauseForm = regexp.MustCompile(`(?i)[,;.]\s*|\s+(?:and|then)\s+(?:then\s+)?`)
	verbHead   = regexp.MustCompile(`(?i)^\s*(?:please\s+)?(?:build|make|create|generate|model|construct|export|render|import|show)\s*(?:me\s+)?(?:a (?:scene|picture|preview) of\s+)?(?:\b(?:it|them|this|that|everything|a picture|a preview|the scene)\b)?\s*`)
)

// parseIntent parses a sentence clause by clause.
func parseIntent(text string) intent {
	said := intent{build: verbs["build"].MatchString(text), render: verbs["render"].MatchString(text),
		terrain: verbs["terrain"].MatchString(text), profile: verbs["profile"].MatchString(text)}
	if m := exportForm.FindStringSubmatch(text); m != nil {
		said.format = strings.ToLower(m[1])
		if said.format == "" {
			said.format = "glb"
		}
	} else if m := formatForm.FindStringSubmatch(text); m != nil {
		said.format = strings.ToLower(m[1])
	}
	if m := engineForm.FindStringSubmatch(text); m != nil {
		said.engine = strings.ToLower(m[1])
	} else if importForm.MatchString(text) {
		said.engine = "?"
	}
	if m := styleForm.FindStringSubmatch(text); m != nil {
		said.style = strings.TrimSuffix(strings.ToLower(m[1]), "light")
	}
	if m := strewForm.FindStringSubmatch(text); m != nil {
		said.strew = "it"
	}
	var keep []string
	for _, clause := range clauseForm.Split(text, -1) {
		if strewForm.MatchString(clause) || verbs["profile"].MatchString(clause) {
			continue
		}
		clause = engineForm.ReplaceAllString(formatForm.ReplaceAllString(clause, ""), "")
		if clause = strings.TrimSpace(verbHead.ReplaceAllString(clause, "")); clause != "" {
			keep = append(keep, clause)
		}
	}
	said.rest = strings.Join(keep, ", ")
	return said
}

var nameWord = regexp.MustCompile(`[\p{L}0-9'’+-]+`)

// findPlace finds the card of the place to build. That is the card named in the request, or the
// longest run of words that is a place's name, or a place inside that one that the words describe.
// With several candidates it returns a question.
func (s *Studio) findPlace(ctx context.Context, g access.Grant, in planRequest,
	words string) (card string, open *question, err error) {
	err = s.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		if in.Card != "" {
			c, err := findBuildable(ctx, snap, in.Card)
			card = c.Name
			return err
		}
		if in.noCard {
			return nil
		}
		spans := nameWord.FindAllStringIndex(words, 40)
		for n := min(len(spans), 6); n > 0; n-- {
			for i := 0; i+n <= len(spans); i++ {
				c, ok, err := snap.Exists(ctx, words[spans[i][0]:spans[i+n-1][1]])
				if err != nil {
					return err
				}
				if ok && c.Type == "Location" && (n > 1 || c.Name[0] == words[spans[i][0]]) {
					card, open, err = findPlaceInside(ctx, snap, c, words)
					return err
				}
			}
		}
		card, open, err = findDescribedPlace(ctx, snap, words)
		return err
	})
	return card, open, err
}

// findBuildable finds a card that a scene can be built from. Its error is that of a missing card,
// or a Failure.
func findBuildable(ctx context.Context, snap *canon.Snapshot, name string) (canon.Card, error) {
	c, err := snap.Find(ctx, name)
	if err == nil && c.Type != "Location" && c.Type != "Realm" {
		err = Fail(Validation, "card: %q is of type %s; a scene is built from a Location or a Realm", c.Name, c.Type)
	}
	return c, err
}

// findPlaceInside resolves "the tavern of Mosswell" where Mosswell is a place itself: it finds a
// place whose name contains "tavern" and that mentions Mosswell. Without a match the outer place is
// built, with the words as its description.
func findPlaceInside(ctx context.Context, snap *canon.Snapshot, outer canon.Card,
	words string) (card string, open *question, err error) {
	m := ofForm.FindStringSubmatch(words)
	if m == nil || markup.KeyOf(m[2]) != outer.Key {
		return outer.Name, nil, nil
	}
	found, err := snap.Search(ctx, canon.SearchQuery{Q: m[1] + " " + m[2], InName: true, InContent: true,
		Filter: canon.Filter{Type: "Location", NameContains: m[1]}}, canon.Page{Limit: 4})
	if err != nil {
		return "", nil, err
	}
	names := cardNames(found)
	switch len(names) {
	case 0:
		return outer.Name, nil, nil
	case 1:
		return names[0], nil, nil
	}
	return "", askWhichPlace(m[0], append(names, outer.Name)), nil
}

func cardNames(found canon.SearchResult) []string {
	var names []string
	for _, h := range found.Hits {
		names = append(names, h.Card.Name)
	}
	return names
}

// askWhichPlace makes a question that asks for one of several places.
func askWhichPlace(meant string, names []string) *question {
	return &question{topic: topicCard, options: names,
		text: fmt.Sprintf("Which place does %q mean: %s? Name it with card.", meant, strings.Join(names, ", "))}
}

// ofForm matches "the tavern of Mosswell": a place that the words describe, followed by the name of
// another card that it belongs to.
var ofForm = regexp.MustCompile(`\b(?i:the |an? )?([\p{L}]+) (?i:of|in|at) ((?i:the )?\p{Lu}[\p{L}'’]*(?: \p{Lu}[\p{L}'’]*)*)`)

func findDescribedPlace(ctx context.Context, snap *canon.Snapshot,
	words string) (card string, open *question, err error) {
	m := ofForm.FindStringSubmatch(words)
	if m == nil {
		return "", nil, nil
	}
	found, err := snap.Search(ctx, canon.SearchQuery{Q: m[1] + " " + m[2], InName: true, InContent: true,
		Filter: canon.Filter{Type: "Location"}}, canon.Page{Limit: 4})
	if err != nil {
		return "", nil, err
	}
	names := cardNames(found)
	switch len(names) {
	case 0:
		return "", &question{topic: topicCard, optional: true,
			text: fmt.Sprintf("No place matches %q. Name its card with card, or leave the name out to build from the words alone.", m[0])}, nil
	case 1:
		return names[0], nil, nil
	}
	return "", askWhichPlace(m[0], names), nil
}

// addSceneCalls adds the calls on the scene.
func (s *Studio) addSceneCalls(p *draft, said intent, card, target string) {
	add := func(tool string, with map[string]any) {
		p.Calls = append(p.Calls, PlanCall{Tool: tool, Target: target, With: with})
	}
	if said.terrain {
		p.addAssumption("the land is 200 m by 200 m at low detail")
		add("generate_terrain", map[string]any{"width": 200, "height": 200, "detail_level": "low"})
	}
	described := said.rest != "" && (said.render || said.format != "")
	if card != "" || !said.terrain && (said.build || described) {
		with := map[string]any{"replace": true}
		if card != "" {
			with["card"] = card
		}
		if said.rest != "" {
			with["description"] = said.rest
		}
		if said.style != "" {
			with["style"] = said.style
		}
		if card == "" && said.rest == "" {
			p.addQuestion(question{topic: topicDescription, text: "What should be built? Name a place, or describe it."})
		}
		p.addAssumption("the scene is replaced; undo_run restores the old one")
		add("generate_scene", with)
	}
	if said.render {
		add("render_preview", nil)
	}
	if said.format == "" && said.engine != "" {
		said.format = "glb"
		p.addAssumption("assets for an engine are exported as glb")
	}
	if said.format != "" && len(p.Calls) > 0 {
		add("export_asset", map[string]any{"format": said.format})
	}
}

// addEngineCalls adds the calls on an engine.
func (s *Studio) addEngineCalls(p *draft, said intent, card string) {
	if said.engine == "" && said.strew == "" && !said.profile {
		return
	}
	engine := said.engine
	if engine == "" || engine == "?" {
		t, _ := toolNamed("import_asset")
		switch doers := s.adaptersFor(t); len(doers) {
		case 0:
			p.addQuestion(question{topic: topicEngine, options: []string{leaveOutEngine},
				text: "No engine is configured here; leave out import, populate and profile."})
			return
		case 1:
			engine = doers[0]
		default:
			engine = "godot"
			if !slices.Contains(doers, engine) {
				engine = doers[0]
			}
			p.addAssumption("the engine is %s, of %s", engine, strings.Join(doers, ", "))
		}
	}
	asset := strings.ReplaceAll(FileName(card), "-", "_")
	if card == "" {
		asset = "scene"
	}
	at := slices.IndexFunc(p.Calls, func(c PlanCall) bool { return c.Tool == "export_asset" })
	if at >= 0 {
		p.Calls = append(p.Calls, PlanCall{Tool: "import_asset", Target: engine,
			With: map[string]any{"manifest": fmt.Sprintf("$%d.manifest", at+1), "name": asset}})
	}
	if said.strew != "" {
		p.addAssumption("instances of %s itself are placed, at most 50 within 300 m", asset)
		p.Calls = append(p.Calls, PlanCall{Tool: "populate_level", Target: engine,
			With: map[string]any{"asset": asset, "density": 0.0004, "area": []float64{-150, -150, 150, 150},
				"budget_max_instances": 50}})
	}
	if said.profile {
		p.Calls = append(p.Calls, PlanCall{Tool: "profile_performance", Target: engine,
			With: map[string]any{"level_name": "main"}})
	}
}
