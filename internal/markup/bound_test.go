package markup_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loregate/internal/cputest"
	"loregate/internal/markup"
)

// conversions lists the functions that convert or parse a card's text.
var conversions = map[string]func(ctx context.Context, s string) error{
	"ToHTML":        func(ctx context.Context, s string) error { _, err := markup.ToHTML(ctx, s); return err },
	"ToHTMLTrusted": func(ctx context.Context, s string) error { _, err := markup.ToHTMLTrusted(ctx, s); return err },
	"ToMarkdown":    func(ctx context.Context, s string) error { _, err := markup.ToMarkdown(ctx, s); return err },
	"Sanitize":      func(ctx context.Context, s string) error { _, err := markup.Sanitize(ctx, s); return err },
	"Text":          func(_ context.Context, s string) error { markup.Text(s); return nil },
	"Outline":       func(_ context.Context, s string) error { markup.Outline(s); return nil },
	"DropComments":  func(_ context.Context, s string) error { markup.DropComments(s); return nil },
	"Resolve": func(_ context.Context, s string) error {
		for _, r := range markup.Refs(s) {
			markup.Resolve(r.Target, "Rent Quay+History")
		}
		return nil
	},
}

// maxAllocated is the maximum number of bytes that a conversion of a 4 KiB document may allocate in
// total, including garbage.
const maxAllocated = 96 << 20

// No document makes a conversion allocate without bound. Allocated bytes stand in for the number of
// steps, because they do not depend on how busy the machine is.
func TestConversionsOfHostileDocumentsAreBounded(t *testing.T) {
	size := 4 << 10
	if testing.Short() {
		size = 1 << 10
	}
	for name, doc := range hostileDocs(size) {
		for kind, convert := range conversions {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := convert(t.Context(), doc)
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > maxAllocated {
				t.Errorf("%s of %s allocated %d MiB", kind, name, used>>20)
			}
			if err != nil && !markup.Refuses(err) {
				t.Errorf("%s of %s: %v", kind, name, err)
			}
		}
	}
}

// These texts once brought the server down.
func TestTablesAndSpansAreBounded(t *testing.T) {
	wide := strings.Repeat("|a", 4000) + "|\n" + strings.Repeat("|-", 4000) + "|\n" + strings.Repeat("|x|\n", 2000)
	if _, err := markup.ToHTML(t.Context(), wide); !errors.Is(err, markup.ErrTooWide) {
		t.Errorf("a wide table gave %v", err)
	}
	long := strings.Repeat("|a", 200) + "|\n" + strings.Repeat("|-", 200) + "|\n" + strings.Repeat("|x|\n", 400)
	if _, err := markup.ToHTML(t.Context(), long); !errors.Is(err, markup.ErrTooWide) {
		t.Errorf("80,000 cells gave %v", err)
	}
	for _, cell := range []string{`<td colspan="1000000000">`, `<td colspan="99999999999999999999">`,
		`<td rowspan="1000" colspan="100">`} {
		if _, err := markup.ToMarkdown(t.Context(), "<table><tr>"+cell+"x</td></tr></table>"); !errors.Is(err,
			markup.ErrTooWide) {
			t.Errorf("%s gave %v", cell, err)
		}
	}
	got, err := markup.ToMarkdown(t.Context(),
		`<table><tr><th colspan=2>h</th></tr><tr><td rowspan=2>a</td><td>b</td></tr><tr><td>c</td></tr></table>`)
	if err != nil || got != "| h |  |\n|---|---|\n| a | b |\n|  | c |" {
		t.Errorf("ordinary spans gave %q, %v", got, err)
	}
	page := strings.Repeat("| Sword | 10 gp | [[Iron]] and **steel** |\n", 2000)
	if _, err := markup.ToHTML(t.Context(), "| a | b | c |\n|---|---|---|\n"+page); err != nil {
		t.Errorf("a long price list gave %v", err)
	}
}

// A long document is converted completely, although it is converted in pieces.
func TestLongDocumentsAreConvertedWhole(t *testing.T) {
	for _, md := range []string{
		strings.Repeat("Some **words** about the lamp of [[Oda Tarn]].\n\n## Head\n\n", 5000),
		strings.Repeat("- an item of a long list\n", 5000),
		strings.Repeat("one. ", 20_000),
	} {
		html, err := markup.ToHTML(t.Context(), md)
		if err != nil {
			t.Fatal(err)
		}
		back, err := markup.ToMarkdown(t.Context(), html)
		if err != nil {
			t.Fatal(err)
		}
		want, got := strings.Fields(md), strings.Fields(back)
		if len(want) != len(got) {
			t.Errorf("%.30q…: %d words came back as %d", md, len(want), len(got))
		}
	}
	var numbered strings.Builder
	numbered.WriteString("<ol>" + strings.Repeat("<li>x</li>", 3000) + "</ol>")
	if md, err := markup.ToMarkdown(t.Context(), numbered.String()); err != nil || !strings.HasSuffix(md, "3000. x") {
		t.Errorf("a long numbered list ends in %q, %v", md[max(0, len(md)-20):], err)
	}
}

// A conversion ends soon after its context is cancelled. Without that, these documents take
// seconds.
func TestConversionsStopOnCancel(t *testing.T) {
	for name, doc := range map[string]string{
		"links":    strings.Repeat("[a](b) *c* `d` ", 40_000),
		"words":    strings.Repeat("<p>Some <b>words</b> &amp; <i>more</i>.</p>", 20_000),
		"nests":    strings.Repeat(`<a title="{{x}}" href="/y">z</a>`, 30_000),
		"brackets": strings.Repeat("[", 500_000),
	} {
		for _, kind := range []string{"ToHTML", "ToMarkdown", "Sanitize"} {
			gone, cancel := context.WithCancel(t.Context())
			cancel()
			if err := conversions[kind](gone, doc); !errors.Is(err, context.Canceled) {
				t.Errorf("%s of %s went on: %v", kind, name, err)
			}
			leaving, cancel := context.WithCancel(t.Context())
			var left atomic.Int64 // processor time at the leaving
			timer := time.AfterFunc(20*time.Millisecond, func() { left.Store(int64(cputest.Used())); cancel() })
			err := conversions[kind](leaving, doc)
			ended := cputest.Used()
			// A piece takes about 30 ms.
			if at := time.Duration(left.Load()); at > 0 && ended-at > time.Second {
				t.Errorf("%s of %s used the processor for %v after its caller had left: %v", kind, name, ended-at, err)
			}
			timer.Stop()
			cancel()
		}
	}
}
