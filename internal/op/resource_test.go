package op_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

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
			if want := fmt.Sprintf("not_found: there is no resource %q; list the resources and templates to see what there is", tc.uri); tc.want == "" && err.Error() != want {
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

func TestListResourcesPages(t *testing.T) {
	b := newBench(t, nil)
	all := func(c access.Caller) string {
		var uris []string
		for offset := 0; ; {
			p, err := b.ListResources(context.Background(), c, op.ListRequest{Offset: offset})
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range p.Items {
				uris = append(uris, i.Name+" "+i.MIME)
			}
			if offset = p.Next; offset == 0 {
				return strings.Join(uris, ", ")
			}
		}
	}
	if got, want := all(as(access.RoleUser)), "A text/markdown, B text/markdown"; got != want {
		t.Errorf("a player: %s, want %s", got, want)
	}
	if got, want := all(as(access.RoleGM)), "A text/markdown, B text/markdown, A text/plain, B text/plain"; got != want {
		t.Errorf("the GM: %s, want %s", got, want)
	}
	mixed := as(access.RoleUser)
	mixed.Roles[worldB] = access.RoleGM
	p, err := b.ListResources(context.Background(), mixed, op.ListRequest{Ask: op.Ask{World: "a"}, Offset: 1 << 40})
	if err != nil || len(p.Items) != 0 {
		t.Errorf("the GM's elsewhere, shown here: %+v %v", p, err)
	}
	if _, err := b.ListResources(context.Background(), as(access.RoleGM), op.ListRequest{Offset: -1}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a negative offset: %v", err)
	}
	if p, err := b.ListResources(context.Background(), as(access.RoleGM), op.ListRequest{Offset: 1 << 60}); err != nil || len(p.Items) != 0 {
		t.Errorf("an offset beyond all: %v %v", p, err)
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
	if v, err := b.Complete(ctx, c, op.CompleteRequest{Template: "archive://card/{name}", Variable: "name"}); len(v) != 100 || err != nil {
		t.Errorf("%d %v", len(v), err)
	}
	if v, err := b.Complete(ctx, c, op.CompleteRequest{Prompt: "summarize-card", Variable: "name"}); len(v) != 0 || err != nil {
		t.Errorf("%d %v", len(v), err)
	}
	_, hidden := b.Complete(ctx, c, op.CompleteRequest{Template: "archive://secrets", Variable: "name"})
	_, absent := b.Complete(ctx, c, op.CompleteRequest{Template: "archive://nothing", Variable: "name"})
	if fault.KindOf(hidden) != fault.NotFound || hidden.Error() != absent.Error() {
		t.Errorf("hidden %v, absent %v", hidden, absent)
	}
}
