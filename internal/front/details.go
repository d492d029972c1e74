package front

import (
	"context"
	"slices"
	"strconv"

	"loregate/internal/fault"
	"loregate/internal/op"
)

// The names that details of proposals have in the words of people, by the name of the argument.
var (
	cardNames    = []string{"name", "page", "card", "subject", "title"}
	placeNames   = []string{"locationId", "place", "where", "location", "at", "subject"}
	questPlaces  = []string{"locationId", "place", "where", "location"}
	textNames    = []string{"text", "append", "draftText", "line", "words", "sentence", "says", "content"}
	speakerNames = []string{"npcId", "speaker", "npc", "who", "character", "from", "subject"}
	playerNames  = []string{"playerId", "player", "to", "listener", "hero", "whom"}
	reasonNames  = []string{"reason", "why", "because"}
)

// kindOfDetails returns the kind of proposal that details are about.
func kindOfDetails(d args) string {
	_, speaker := firstOf(d, speakerNames[:len(speakerNames)-1])
	_, player := firstOf(d, playerNames)
	_, place := firstOf(d, placeNames[:len(placeNames)-1])
	_, named := firstOf(d, cardNames)
	switch {
	case d["seedSpec"] != nil || d["objectives"] != nil || d["hook"] != nil:
		return "quest"
	case d["payload"] != nil:
		return "event"
	case d["npcId"] != nil, speaker && player:
		return "dialogue"
	case d["layerType"] != nil, place:
		return "ambience"
	case d["actionEnvelope"] != nil, player, speaker && !named:
		return "action"
	}
	return "change"
}

// firstOf returns the first text that details have under one of several names.
func firstOf(d args, names []string) (string, bool) {
	for _, name := range names {
		if text, ok := d[name].(string); ok && text != "" {
			return text, true
		}
	}
	return "", false
}

// rename gives a text that details have under one of several names the first of these names.
func (a args) rename(names []string) {
	text, ok := firstOf(a, names)
	if !ok || a[names[0]] != nil {
		return
	}
	for _, name := range names {
		if a[name] == text {
			delete(a, name)
			break
		}
	}
	a[names[0]] = text
}

// payload returns the arguments of the operation that proposes a kind, from details in the words of
// people. Details that it does not know stay as they are; the operation refuses them.
func (f *Front) payload(ctx context.Context, c *op.Call, kind string, d args) (args, error) {
	switch kind {
	case "change":
		return f.changePayload(ctx, c, d)
	case "ambience":
		d.rename(placeNames)
		d.rename(textNames)
		if d["layerType"] == nil {
			d["layerType"] = "ambient"
		}
	case "dialogue":
		d.rename(speakerNames)
		d.rename(playerNames)
		d.rename([]string{"draftText", "text", "line", "words", "sentence", "says", "content"})
	case "quest":
		if d["seedSpec"] == nil {
			return args{"seedSpec": questSpec(d)}, nil
		}
	case "action":
		d.rename(slices.Concat(playerNames, speakerNames))
		return f.actionPayload(ctx, c, d)
	}
	return d, nil
}

// questSpec returns a quest from details in the words of people: objectives may be sentences, and a place is that
// of the objectives.
func questSpec(d args) map[string]any {
	d.rename([]string{"hook", "text", "story", "description"})
	d.rename([]string{"giverId", "giver", "from", "npcId", "npc", "who"})
	place, hasPlace := firstOf(d, questPlaces)
	for _, name := range questPlaces {
		delete(d, name)
	}
	if goal, ok := d["objectives"].(string); ok {
		d["objectives"] = []any{goal}
	}
	goals, _ := d["objectives"].([]any)
	for i, g := range goals {
		goal, ok := g.(map[string]any)
		if text, isText := g.(string); isText {
			goal, ok = map[string]any{"id": strconv.Itoa(i + 1), "text": text}, true
		}
		if ok && hasPlace && goal["locationId"] == nil {
			goal["locationId"] = place
		}
		if ok {
			goals[i] = goal
		}
	}
	if reward, ok := firstOf(d, []string{"reward", "rewards"}); ok {
		delete(d, "reward")
		d["rewards"] = []any{reward}
	}
	return d
}

// changePayload makes the operation of a change from the name of a card and its new text.
func (f *Front) changePayload(ctx context.Context, c *op.Call, d args) (args, error) {
	d.rename(reasonNames)
	if d["reason"] == nil {
		d["reason"] = "The author gave no reason."
	}
	name, named := firstOf(d, cardNames)
	if d["op"] != nil || !named {
		return d, nil
	}
	find, _ := firstOf(d, []string{"find", "old"})
	replace, _ := firstOf(d, []string{"replace", "new"})
	text, _ := firstOf(d, textNames)
	card, err := f.findCard(ctx, c, name)
	operation, a := "update_card", args{"name": name}
	switch {
	case fault.KindOf(err) == fault.NotFound && text != "":
		operation, a["markdown_content"] = "create_card", text
	case err != nil:
		return nil, err
	case find != "":
		a["patch"] = args{"mode": "find_replace", "find": find, "replace": replace}
	case text != "":
		a["patch"] = args{"mode": "append", "content": text}
	default:
		return nil, fault.BadField("details", "name %q and no change of it; give append, or find and replace; for "+
			"example "+
			"{\"name\": %q, \"append\": \"The nets are dry.\", \"reason\": \"They were wet.\"}", name, name)
	}
	if patch, ok := a["patch"].(args); ok {
		if err := fitPatch(ctx, c.Grant, card, patch); err != nil {
			return nil, err
		}
	}
	return args{"op": args{"name": operation, "arguments": a}, "reason": d["reason"]}, nil
}

// actionPayload reads the words of an act.
func (f *Front) actionPayload(ctx context.Context, c *op.Call, d args) (args, error) {
	text, ok := firstOf(d, append([]string{"command", "act", "action"}, textNames...))
	if d["actionEnvelope"] != nil || !ok {
		return d, nil
	}
	said := args{"text": text}
	set(said, "playerId", nameOf(d["playerId"]))
	said, err := f.withIDs(ctx, c, said)
	if err != nil {
		return nil, err
	}
	envelope, err := invoke[any](ctx, f, c, "parse-command", said)
	return args{"playerId": d["playerId"], "actionEnvelope": envelope}, err
}

// nameOf returns a detail that is a text.
func nameOf(v any) string {
	text, _ := v.(string)
	return text
}
