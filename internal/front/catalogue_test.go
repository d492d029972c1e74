package front

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/access"
	"loregate/internal/op"
)

// declare makes an operation that takes nothing.
func declare(s op.Spec) *op.Operation {
	none := func() (*jsonschema.Schema, error) { return &jsonschema.Schema{}, nil }
	return op.DefineLoose(s, none, func(context.Context, *op.Call, json.RawMessage) (struct{}, error) {
		return struct{}{}, nil
	})
}

func TestOperationsAreFoundByWaysToAsk(t *testing.T) {
	t.Parallel()
	operation := func(name, doc string, e access.Effect, asked ...string) *op.Operation {
		return declare(op.Spec{Name: name, Title: name, Doc: doc, Effect: e, Asked: asked})
	}
	all := []*op.Operation{
		operation("delete_card", "Move a card to the trash.", access.Destroy, "throw a page away"),
		operation("list_trash", "List the deleted cards.", access.Read, "thrown away pages", "contents of the bin"),
		operation("reveal", "Let players know of entities.", access.Write, "tell the table of a discovery"),
	}
	for words, want := range map[string]string{
		"throw this page away": "delete_card", "which pages were thrown away?": "list_trash",
		"inform the table of their discovery": "reveal", "list trash": "list_trash",
	} {
		hits := new(catalogue).rank(all, words)
		if len(hits) == 0 || hits[0].o.Name != want {
			t.Errorf("%q finds %v, want %s", words, hits, want)
		}
	}
	if hits := new(catalogue).rank(all, "zzyzx"); len(hits) != 0 {
		t.Errorf("a word without meaning finds %v", hits)
	}
	if hits := new(catalogue).rank(all, "contents of the bin"); hits[0].asked != "contents of the bin" {
		t.Errorf("the way to ask is %q", hits[0].asked)
	}
}

// Each sentence of a text may be the one that an operation fits.
func TestOperationsAreFoundByOneSentence(t *testing.T) {
	t.Parallel()
	all := []*op.Operation{
		declare(op.Spec{Name: "word_count", Title: "Count words", Doc: "Count the words of a page.", Effect: access.Read}),
		declare(op.Spec{Name: "leak_check", Title: "Check for leaks", Doc: "Check whether a secret is public.",
			Effect: access.Write}),
	}
	k := new(catalogue)
	if hits, unknown := k.rankParts(all, "The page has so many words on a page. Is a secret public?"); unknown || len(hits) != 2 {
		t.Errorf("two sentences find %v", hits)
	}
	if _, unknown := k.rankParts(all, "Check for leaks. Who sold seven geese?"); !unknown {
		t.Error("a question with none of the operations' words is known")
	}
	for text, want := range map[string]string{
		"Let Oda Tarn go to the inn.": "Let somebody go to the inn.", "Tell Mira's mother.": "Tell somebody's mother.",
		"Hide the page.": "Hide the page.", "Rename Tag": "Rename Tag", "Is it done? Show it.": "Is it done? Show it.",
	} {
		if got := withoutNames(text); got != want {
			t.Errorf("%q without names is %q, want %q", text, got, want)
		}
	}
}

func TestQuestsAreReadFromTheWordsOfPeople(t *testing.T) {
	t.Parallel()
	got := questSpec(args{"title": "A bell", "text": "It is gone.", "where": "Quay", "reward": "a coin",
		"objectives": []any{"Find it.", map[string]any{"id": "ring", "text": "Ring it."}}})
	want := map[string]any{"title": "A bell", "hook": "It is gone.", "rewards": []any{"a coin"}, "objectives": []any{
		map[string]any{"id": "1", "text": "Find it.", "locationId": "Quay"},
		map[string]any{"id": "ring", "text": "Ring it.", "locationId": "Quay"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the quest is %v, want %v", got, want)
	}
}

func TestKindsOfProposalsFollowFromTheirDetails(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		details args
		want    string
	}{
		{args{"name": "Quay", "append": "Wet."}, "change"},
		{args{"subject": "Quay", "text": "Wet."}, "change"},
		{args{"where": "Quay", "text": "Gulls."}, "ambience"},
		{args{"speaker": "Oda", "to": "Mira", "line": "Good day."}, "dialogue"},
		{args{"npcId": "oda", "draftText": "Good day."}, "dialogue"},
		{args{"title": "A bell", "hook": "It is gone.", "objectives": []any{}}, "quest"},
		{args{"player": "Mira", "text": "go north"}, "action"},
		{args{"who": "Mira", "text": "go north"}, "action"},
		{args{"type": "NPC.Tick", "payload": map[string]any{}}, "event"},
	} {
		if got := kindOfDetails(row.details); got != row.want {
			t.Errorf("%v is a proposal of kind %s, want %s", row.details, got, row.want)
		}
	}
}
