package op_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

func TestReadResource(t *testing.T) {
	b := newBench(t, nil)
	narrow := as(access.RoleUser)
	narrow.Operations = []string{"get_card"}
	for _, tc := range []struct {
		name string
		c    access.Caller
		uri  string
		want string // text, or "" for not found
	}{
		{"by name", as(access.RoleUser), "archive://card/Rivers", "# Rivers"},
		{"encoded", as(access.RoleUser), "archive://card/A+B%20C%2FD", "# A+B C/D"},
		{"absent", as(access.RoleUser), "archive://card/absent", ""},
		{"hidden", as(access.RoleUser), "archive://card/hidden", ""},
		{"for the GM", as(access.RoleUser), "archive://secrets", ""},
		{"for the GM, by the GM", as(access.RoleGM), "archive://secrets", "# "},
		{"no such", as(access.RoleGM), "archive://nothing", ""},
		{"a part too many", as(access.RoleGM), "archive://card/A/B", ""},
		{"empty", as(access.RoleGM), "archive://card/", ""},
		{"broken escape", as(access.RoleGM), "archive://card/%zz", ""},
		{"a key for one operation", narrow, "archive://card/Rivers", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := len(b.journal.records)
			c, err := b.ReadResource(context.Background(), tc.c, op.ResourceRequest{URI: tc.uri})
			if c.Text != tc.want || (tc.want == "") != (fault.KindOf(err) == fault.NotFound) {
				t.Errorf("got %q, %v", c.Text, err)
			}
			if want := fmt.Sprintf("not_found: there is no resource %q; list the resources and templates to find one",
				tc.uri); tc.want == "" && err.Error() != want {
				t.Errorf("says why: %v", err)
			}
			if tc.want != "" && c.MIME == "" {
				t.Error("no media type")
			}
			if len(b.journal.records) != before+1 {
				t.Error("not recorded once")
			}
		})
	}
}

func TestListResourcesOnceEachRecentLast(t *testing.T) {
	b := newBench(t, nil)
	list := func(c access.Caller, r op.ListRequest) string {
		t.Helper()
		items, err := b.ListResources(context.Background(), c, r)
		if err != nil || len(items) > op.MaxListed {
			t.Fatal(len(items), err)
		}
		var names []string
		for _, i := range items[:min(3, len(items))] {
			names = append(names, i.Name+" "+i.MIME)
		}
		return fmt.Sprint(len(items), ": ", strings.Join(names, ", "))
	}
	if got, want := list(as(access.RoleUser), op.ListRequest{}), "2: A text/markdown, B text/markdown"; got != want {
		t.Errorf("a player: %s, want %s", got, want)
	}
	if got, want := list(as(access.RoleGM), op.ListRequest{}),
		"50: S text/plain, A text/markdown, more text/plain"; got != want {
		t.Errorf("the GM: %s, want %s", got, want)
	}
	if got, want := list(as(access.RoleGM), op.ListRequest{Surfaces: []string{"world"}}), "0: "; got != want {
		t.Errorf("a surface without resources: %s, want %s", got, want)
	}
	mixed := as(access.RoleUser)
	mixed.Roles[worldB] = access.RoleGM
	if got, want := list(mixed, op.ListRequest{Ask: op.Ask{World: "a"}}),
		"2: A text/markdown, B text/markdown"; got != want {
		t.Errorf("the GM's elsewhere, shown here: %s, want %s", got, want)
	}
	if got, want := list(mixed, op.ListRequest{}), "0: "; got != want {
		t.Errorf("a key of several worlds that names none: %s, want %s", got, want)
	}
}

// Using up the limit of one list does not affect the others.
func TestEachKindOfListHasItsLimit(t *testing.T) {
	for _, tc := range []struct {
		spend, ask op.ListCall
	}{
		{op.ListCall{Method: "prompts/list"}, op.ListCall{Method: "tools/list"}},
		{op.ListCall{Method: "tools/list"}, op.ListCall{Method: "prompts/list"}},
		{op.ListCall{Method: "tools/list", Continues: true}, op.ListCall{Method: "tools/list"}},
		{op.ListCall{Method: "prompts/list", Continues: true}, op.ListCall{Method: "prompts/list"}},
		{op.ListCall{Method: "prompts/list"}, op.ListCall{Method: "prompts/list", Continues: true}},
	} {
		limits := access.NewLimits(access.LimitConfig{}, func() time.Time { return time.Unix(0, 0) })
		l, err := op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{Limiter: limits})})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for l.AdmitList(t.Context(), access.Caller{Key: "k"}, tc.spend) == nil {
			n++
		}
		if want := map[bool]int{true: 600, false: 300}[tc.spend.Continues]; n != want {
			t.Errorf("%+v: %d pages, want %d", tc.spend, n, want)
		}
		if err := l.AdmitList(t.Context(), access.Caller{Key: "k"}, tc.ask); err != nil {
			t.Errorf("after all of %+v: %+v: %v", tc.spend, tc.ask, err)
		}
	}
}

func TestPromptsAndCompletions(t *testing.T) {
	b := newBench(t, nil)
	ctx, c := context.Background(), as(access.RoleUser)
	p, err := b.GetPrompt(ctx, c, op.PromptRequest{Name: "summarize-card", Args: map[string]string{"name": "A"}})
	if err != nil || p.Text != "Sum up A" {
		t.Errorf("%+v %v", p, err)
	}
	_, err = b.GetPrompt(ctx, c, op.PromptRequest{Name: "summarize-card", Args: map[string]string{"nam": "A"}})
	if want := "name: is required\nnam: is not known; did you mean \"name\"?"; faultsOf(err) != want {
		t.Errorf("%s", faultsOf(err))
	}
	if v, err := b.Complete(ctx, c, op.CompleteRequest{Template: "archive://card/{name}",
		Variable: "name"}); len(v) != 100 || err != nil {
		t.Errorf("%d %v", len(v), err)
	}
	if v, err := b.Complete(ctx, c, op.CompleteRequest{Prompt: "summarize-card", Variable: "name"}); len(v) != 0 ||
		err != nil {
		t.Errorf("%d %v", len(v), err)
	}
	_, hidden := b.Complete(ctx, c, op.CompleteRequest{Template: "archive://secrets", Variable: "name"})
	_, absent := b.Complete(ctx, c, op.CompleteRequest{Template: "archive://nothing", Variable: "name"})
	if fault.KindOf(hidden) != fault.NotFound || hidden.Error() != absent.Error() {
		t.Errorf("hidden %v, absent %v", hidden, absent)
	}
}
