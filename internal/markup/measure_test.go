package markup_test

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"loregate/internal/markup"
)

func TestMeasure(t *testing.T) {
	if os.Getenv("MEASURE") == "" {
		t.Skip()
	}
	size, _ := strconv.Atoi(os.Getenv("MEASURE"))
	only := os.Getenv("FN")
	for name, doc := range hostileDocs(size) {
		if len(doc) > 4*size+1000 {
			continue
		}
		for fn, convert := range map[string]func(string){
			"ToHTML":     func(s string) { _, _ = markup.ToHTML(context.Background(), s) },
			"ToMarkdown": func(s string) { _, _ = markup.ToMarkdown(context.Background(), s) },
			"Sanitize":   func(s string) { _, _ = markup.Sanitize(context.Background(), s) },
			"Text":       func(s string) { markup.Text(s) },
			"Outline":    func(s string) { markup.Outline(s) },
			"Refs": func(s string) {
				for _, r := range markup.Refs(s) {
					markup.Resolve(r.Target, strings.Repeat("a+", 500))
					markup.ParseNest(r.Target + "|" + r.Text)
				}
			},
			"Items":    func(s string) { markup.AddItems(s, markup.Items(s), nil) },
			"Key":      func(s string) { markup.KeyOf(s) },
			"Fold":     func(s string) { markup.FindAll(s, "a b c", markup.FindOptions{Mode: markup.Phrase, FoldAccents: true}) },
			"Snippet":  func(s string) { markup.Snippet(s, []string{"a", "b"}, markup.SnippetOptions{Max: 160, Mark: true}) },
			"Truncate": func(s string) { markup.Truncate(s, len(s)/2) },
			"Diff":     func(s string) { markup.Diff(s, s[len(s)/3:]) },
			"Clean":    func(s string) { markup.Clean(s) },
		} {
			if only != "" && !strings.Contains(only, fn) {
				continue
			}
			if name == "colspan" && fn == "ToMarkdown" || name == "rowspan" && fn == "ToMarkdown" || name == "spans" && fn == "ToMarkdown" || name == "many spans" && fn == "ToMarkdown" || name == "wide table" {
			}
			var a, b runtime.MemStats
			runtime.ReadMemStats(&a)
			runtime.LockOSThread()
			start := threadCPU()
			convert(doc)
			took := threadCPU() - start
			runtime.UnlockOSThread()
			runtime.ReadMemStats(&b)
			if took > 40*time.Millisecond || b.TotalAlloc-a.TotalAlloc > uint64(200*len(doc)+1<<22) {
				t.Logf("%-12s %-45.45s %8.0f ms %6d MB", fn, name, took.Seconds()*1000, (b.TotalAlloc-a.TotalAlloc)>>20)
			}
		}
	}
}

func threadCPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(1, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
