package studio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
	"loregate/internal/meaning"
	"loregate/internal/studio/phrase"
	"loregate/internal/studio/sentence"
)

// proposeByRules makes a plan of a request by rules: a phrase grammar over the tools and the canon's
// places. An ambiguity becomes a question, each assumption is listed, and so is each part of the
// request that no call carries out. The plan is as untrusted as any other.
func (s *Studio) proposeByRules(ctx context.Context, g access.Grant, in planRequest) (draft, error) {
	d := draft{Plan: Plan{Name: markup.Shorten(in.Intent, 60), Intent: in.Intent, Seed: in.Seed, Audience: in.Audience,
		Budget: in.Budget, Source: byRules}}
	err := s.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		names, err := findNames(ctx, snap, in)
		if err != nil {
			return err
		}
		said := phrase.Parse(in.Intent, names)
		if len(said.Acts)+len(said.Asks) == 0 && len(said.Ignored) == 1 && isPlaceNoun(said.Ignored[0]) {
			said = phrase.Parse("a "+said.Ignored[0], nil)
		}
		d.Ignored, d.DryRun, d.replace, d.unsure = said.Ignored, said.DryRun, said.Replace, said.Unsure
		d.Seed = cmp.Or(in.Seed, said.Seed)
		if in.Card != "" && !slices.ContainsFunc(said.Acts, phrase.Act.IsScene) {
			said.Acts = slices.Insert(said.Acts, 0, phrase.Act{Tool: "generate_scene", With: map[string]any{}})
		}
		for _, q := range said.Asks {
			d.addQuestion(question{topic: topicByAsk[q.About], text: q.Text})
		}
		if said.Replace && !slices.ContainsFunc(said.Acts, phrase.Act.IsScene) {
			d.addQuestion(question{topic: topicIntent,
				text: "What is built in place of the scene? A scene is emptied only to build another one; undo_run takes back a run."})
		}
		return s.addCalls(ctx, snap, &d, said, in)
	})
	if err == nil && len(d.Calls) == 0 && len(d.Questions) == 0 {
		d.addQuestion(question{topic: topicIntent,
			text: "What should be done? For example: build PLACE at dusk, render it, export it to glb, import it into godot."})
	}
	return d, err
}

// topicByAsk maps the topics of the grammar to those of a plan.
var topicByAsk = map[string]topic{phrase.AboutTask: topicIntent, phrase.AboutScene: topicDescription}

// engineTools are the tools that work on an engine's level.
var engineTools = []string{"import_asset", "generate_blueprint", "profile_performance"}

// addCalls adds the calls of a parsed request.
func (s *Studio) addCalls(ctx context.Context, snap *canon.Snapshot,
	d *draft, said phrase.Reading, in planRequest) error {
	said.Acts = addImport(said, in.noEngine)
	card := ""
	for _, a := range said.Acts {
		if a.IsScene() {
			name, err := s.addScene(ctx, snap, d, said, a, in)
			if err != nil {
				return err
			}
			card = cmp.Or(name, card)
			continue
		}
		for _, text := range a.Assumed {
			d.addAssumption("%s", text)
		}
		if path, ok := a.With["path"].(string); ok {
			if _, _, err := s.policy.findRoot(path); err != nil {
				return err
			}
		}
		target, ok := s.chooseTarget(d, said, a, in)
		if !ok {
			continue
		}
		if a.Tool == "import_asset" {
			name, _ := a.With["name"].(string)
			a.With = importOf(d, cmp.Or(name, card))
		}
		d.Calls = append(d.Calls, PlanCall{Tool: a.Tool, Target: target, With: a.With})
	}
	return nil
}

// addImport returns the acts with the import that a named engine means, and with the export that an
// import needs. Without an engine it leaves out the acts on one.
func addImport(said phrase.Reading, noEngine bool) []phrase.Act {
	acts := said.Acts
	onEngine := func(a phrase.Act) bool {
		return slices.Contains(engineTools, a.Tool) || a.Tool == "populate_level" || a.Tool == "list_objects"
	}
	if noEngine {
		return slices.DeleteFunc(acts, func(a phrase.Act) bool { return slices.Contains(engineTools, a.Tool) })
	}
	if said.Engine != "" && len(acts) > 0 && !slices.ContainsFunc(acts, onEngine) {
		acts = append(acts, phrase.Act{Tool: "import_asset"})
	}
	at := slices.IndexFunc(acts, func(a phrase.Act) bool { return a.Tool == "import_asset" })
	if at >= 0 && !slices.ContainsFunc(acts[:at], func(a phrase.Act) bool { return a.Tool == "export_asset" }) {
		acts = slices.Insert(acts, at, phrase.Act{Tool: "export_asset", With: map[string]any{"format": "glb"},
			Assumed: []string{"assets for an engine are exported as glb"}})
	}
	return acts
}

// importOf returns the input of an import of the last export.
func importOf(d *draft, card string) map[string]any {
	at := 0
	for i, c := range d.Calls {
		if c.Tool == "export_asset" {
			at = i + 1
		}
	}
	return map[string]any{"manifest": fmt.Sprintf("$%d.manifest", at),
		"name": cmp.Or(strings.ReplaceAll(FileName(card), "-", "_"), "scene")}
}

// addScene adds the call that builds a scene, and returns the card that it is built from.
func (s *Studio) addScene(ctx context.Context, snap *canon.Snapshot, d *draft, said phrase.Reading, a phrase.Act,
	in planRequest) (card string, err error) {
	var open *question
	switch {
	case in.Card != "":
		c, err := findBuildable(ctx, snap, in.Card)
		if err != nil {
			return "", err
		}
		card = c.Name
	case a.Place != "":
		card, open, err = findPlaceInside(ctx, snap, a.Place, a.Words)
	case a.Words != "" && !in.noCard:
		card, open, err = s.findDescribedPlace(ctx, snap, d, a.Words)
	}
	if err != nil {
		return "", err
	}
	if open != nil {
		d.addQuestion(*open)
	}
	with := a.With
	if card != "" {
		with["card"] = card
	}
	if a.Words != "" {
		with["description"] = a.Words
		read, err := sentence.Read(sentence.Brief{Words: withoutWords(a.Words, card+" "+a.Place)})
		if err != nil && !errors.Is(err, sentence.ErrNothing) {
			return "", err
		}
		unknown := strings.Fields(strings.Join(read.Unknown, " "))
		d.Ignored, d.Phrases = append(d.Ignored, read.Unknown...), append(d.Phrases, read.Phrases...)
		for _, text := range read.Assumed() {
			d.addAssumption("%s", text)
		}
		d.unsure = d.unsure || slices.ContainsFunc(unknown, isNoScenery)
		if open == nil && card == "" && (err != nil || isUnknownHead(a.Words, unknown)) {
			d.addQuestion(question{topic: topicDescription, text: fmt.Sprintf(
				"Nothing that can be built is called %q. Describe it with other words, or name a place.", headOf(a.Words))})
		}
	}
	if said.Replace {
		with["replace"] = true
		d.addAssumption("the scene is replaced, which needs confirm; undo_run restores the old one")
	}
	if card == "" && a.Words == "" && len(d.Questions) == 0 {
		d.addQuestion(question{topic: topicDescription, text: "What should be built? Name a place, or describe it."})
	}
	d.Calls = append(d.Calls, PlanCall{Tool: a.Tool, Target: cmp.Or(in.Target, said.Target), With: with})
	return card, nil
}

// headForm matches the start of a description up to its first preposition or mark.
var headForm = lazyregexp.New(`(?i)^(?:[\p{L}\p{N}'’-]+ ?)+?(?:$|[,.;:]|\b(?:with|of|in|at|on|by|for|from|near|under|over|beside|around|and|that|which)\b)`)

// headOf returns the first noun phrase of a description.
func headOf(words string) string {
	head := headForm.FindString(words)
	if i := strings.LastIndexAny(strings.TrimRight(head, " "), " "); i > 0 && head != words {
		head = head[:i]
	}
	return strings.Trim(head, " ,.;:")
}

// sceneKinds are the kinds of nouns that a scene can show, in WordNet.
var sceneKinds = []string{"structure", "artifact", "location", "region", "area", "land", "geological formation",
	"body of water", "plant", "tract", "vegetation", "group", "natural object"}

// placeKinds are the kinds of nouns that name a place.
var placeKinds = []string{"structure", "location", "geological formation", "body of water", "tract", "vegetation", "way"}

// isOneOf reports whether a noun is of one of the kinds.
func isOneOf(noun string, kinds []string) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool { return meaning.IsA(noun, meaning.Noun, kind) })
}

// isUnknownHead reports whether a description is about something that no scene shows: its first noun
// phrase has no word that is known or names a thing of a scene, and at least one that is a word of
// English.
func isUnknownHead(words string, unknown []string) bool {
	odd := false
	for _, w := range nameWord.FindAllString(strings.ToLower(headOf(words)), -1) {
		noun := meaning.Lemma(w, meaning.Noun)
		switch {
		case !slices.Contains(unknown, w):
			if len(w) > 3 {
				return false
			}
		case isOneOf(noun, sceneKinds):
			return false
		default:
			odd = odd || meaning.IsA(noun, meaning.Noun, "entity") || len(meaning.Synonyms(w, meaning.Verb)) > 0
		}
	}
	return odd
}

// isNoScenery reports whether a word is none of a description: no word of English, or neither a thing nor a quality.
func isNoScenery(word string) bool {
	noun := meaning.Lemma(word, meaning.Noun)
	return meaning.Lemma(word, meaning.Adjective) == "" && (noun == "" ||
		!meaning.IsA(noun, meaning.Noun, "physical entity"))
}

// isPlaceNoun reports whether a description without an article begins with the name of a kind of place,
// such as "castle gate, two towers".
func isPlaceNoun(words string) bool {
	list := nameWord.FindAllString(strings.ToLower(headOf(words)), 5)
	if slices.ContainsFunc(list[min(1, len(list)):], meaning.IsFunctionWord) {
		return false // "set the harbour on fire"
	}
	return len(list) > 0 && len(list) < 4 && isOneOf(meaning.Lemma(list[len(list)-1], meaning.Noun), placeKinds)
}

// withoutWords returns a text without the words of a name.
func withoutWords(text, name string) string {
	named := strings.Fields(strings.ToLower(name))
	return strings.Join(slices.DeleteFunc(strings.Fields(text), func(w string) bool {
		return slices.Contains(named, strings.ToLower(strings.Trim(w, ".,;:!?")))
	}), " ")
}

// chooseTarget returns the target of a call: the named one, an engine for tools that work on one,
// else the only one that fits. It asks if the tool needs an engine and there is none.
func (s *Studio) chooseTarget(d *draft, said phrase.Reading, a phrase.Act, in planRequest) (target string, ok bool) {
	named := cmp.Or(in.Target, said.Target)
	t, _ := toolNamed(a.Tool)
	fit := s.adaptersFor(t)
	kind, _, _ := strings.Cut(named, ":")
	engines := slices.DeleteFunc(slices.Clone(fit), func(k string) bool {
		scene, _ := toolNamed("generate_scene")
		return slices.Contains(s.adaptersFor(scene), k)
	})
	onEngine := slices.Contains(engineTools, a.Tool) || said.Engine != "" && a.Tool != "export_asset" &&
		a.Tool != "render_preview"
	switch {
	case named != "" && slices.Contains(fit, kind):
		return named, true
	case len(fit) == 0 && slices.Contains(engineTools, a.Tool):
		d.addQuestion(question{topic: topicEngine, options: []string{leaveOutEngine},
			text: "No engine is configured here; leave out import, behaviour and profile."})
		return "", false
	case len(fit) < 2:
		return "", true
	case onEngine && slices.Contains(engines, said.Engine):
		return said.Engine, true
	case onEngine && len(engines) > 0:
		if len(engines) > 1 {
			d.addAssumption("the engine is %s, of %s", engines[0], strings.Join(engines, ", "))
		}
		return engines[0], true
	}
	return fit[0], true
}

var nameWord = lazyregexp.New(`[\p{L}0-9'’+-]+`)

// codenameForm matches the codename of a card.
var codenameForm = lazyregexp.New(`(?:^|\s)(:[a-z][a-z0-9-]*)`)

// findNames finds the names of places in a request: the longest runs of up to six words. A single
// word without a capital counts behind "the" or a verb, not behind "a".
func findNames(ctx context.Context, snap *canon.Snapshot, in planRequest) (names []phrase.Name, err error) {
	if in.Card != "" || in.noCard {
		return nil, nil
	}
	text := in.Intent
	for _, m := range codenameForm.FindAllStringSubmatchIndex(text, 4) {
		c, ok, err := snap.Exists(ctx, text[m[2]:m[3]])
		if err != nil {
			return nil, err
		}
		if ok && isBuildable(c) {
			names = append(names, phrase.Name{Start: m[2], End: m[3], Card: c.Name})
		}
	}
	spans := nameWord.FindAllStringIndex(text, 60)
	for i := 0; i < len(spans); i++ {
		for n := min(len(spans)-i, 6); n > 0; n-- {
			start, end := spans[i][0], spans[i+n-1][1]
			c, ok, err := snap.Exists(ctx, text[start:end])
			if err != nil {
				return nil, err
			}
			capital := strings.ToLower(text[start:start+1]) != text[start:start+1]
			if !ok || !isBuildable(c) || n == 1 && !capital &&
				!strings.Contains(text[start:end], "-") {
				continue
			}
			names = append(names, phrase.Name{Start: start, End: end, Card: c.Name})
			i += n - 1
			break
		}
	}
	return names, nil
}

// findBuildable finds a card that a scene can be built from. Its error is that of a missing card,
// or a Failure.
func findBuildable(ctx context.Context, snap *canon.Snapshot, name string) (canon.Card, error) {
	c, err := snap.Find(ctx, name)
	if err == nil && !isBuildable(c) {
		err = Fail(Validation, "card: %q is of type %s; a scene is built from a Location or a Realm", c.Name, c.Type)
	}
	return c, err
}

// isBuildable reports whether a scene can be built from a card.
func isBuildable(c canon.Card) bool { return c.Type == "Location" || c.Type == "Realm" }

// findPlaceInside resolves "the tavern of Mosswell" where Mosswell is a place itself: it finds a
// place whose name contains "tavern" and that mentions Mosswell. Without a match the outer place is
// built, with the words as its description.
func findPlaceInside(ctx context.Context, snap *canon.Snapshot,
	outer, words string) (card string, open *question, err error) {
	m := ofForm.FindStringSubmatch(words)
	if m == nil || markup.KeyOf(m[2]) != markup.KeyOf(outer) {
		return outer, nil, nil
	}
	names, err := searchPlaces(ctx, snap, m[1]+" "+m[2], canon.Filter{Type: "Location", NameContains: m[1]})
	switch {
	case err != nil:
		return "", nil, err
	case len(names) == 0:
		return outer, nil, nil
	case len(names) == 1:
		return names[0], nil, nil
	}
	return "", askWhichPlace(m[0], append(names, outer)), nil
}

// searchPlaces returns the names of the first places that match.
func searchPlaces(ctx context.Context, snap *canon.Snapshot, q string, f canon.Filter) ([]string, error) {
	found, err := snap.Search(ctx, canon.SearchQuery{Q: q, InName: true, InContent: f.NameContains == "" ||
		strings.Contains(q, " "),
		Filter: f}, canon.Page{Limit: 4})
	if err != nil {
		return nil, err
	}
	return cardNames(found), nil
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
var ofForm = lazyregexp.New(`\b(?i:the |an? )?([\p{L}]+) (?i:of|in|at) ((?i:the )?\p{Lu}[\p{L}'’]*(?: \p{Lu}[\p{L}'’]*)*)`)

var (
	// knownForm matches the head of "the market": a place that the speaker takes to be known.
	knownForm = lazyregexp.New(`^(?i:the) ([\p{L}]{3,})(?:$|[ ,](?i:with|at|by|and)\b)`)
	// properForm matches a name at the start of a description.
	properForm = lazyregexp.New(`^(?:the )?(\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)*)`)
)

// foreignArticles are words that begin a description and no name.
var foreignArticles = strings.Fields("ein eine einen un une una unos unas le la les el los las der die das")

// findDescribedPlace finds the place that words describe: "the tavern in Mosswell", or "the market"
// where one name has this word. A name that no place has becomes a question.
func (s *Studio) findDescribedPlace(ctx context.Context, snap *canon.Snapshot, d *draft,
	words string) (card string, open *question, err error) {
	meant, query, filter := "", "", canon.Filter{Type: "Location"}
	if m := ofForm.FindStringSubmatch(words); m != nil {
		meant, query = m[0], m[1]+" "+m[2]
	} else if m := properForm.FindStringSubmatch(words); m != nil &&
		!slices.Contains(foreignArticles, strings.ToLower(m[1])) {
		return "", askNoPlace(m[1]), nil
	} else if m := knownForm.FindStringSubmatch(words); m != nil {
		query, filter.NameContains = m[1], m[1]
	} else {
		return "", nil, nil
	}
	names, err := searchPlaces(ctx, snap, query, filter)
	switch {
	case err != nil:
		return "", nil, err
	case len(names) == 0 && meant == "":
		return "", nil, nil
	case len(names) == 0:
		return "", askNoPlace(meant), nil
	case len(names) == 1:
		if meant == "" {
			d.addAssumption("%q is %s", query, names[0])
		}
		return names[0], nil, nil
	}
	return "", askWhichPlace(cmp.Or(meant, query), names), nil
}

// askNoPlace makes a question about a name that no place has.
func askNoPlace(name string) *question {
	return &question{topic: topicCard, optional: true,
		text: fmt.Sprintf("No place matches %q. Name its card with card, or leave the name out to build from the words alone.", name)}
}
