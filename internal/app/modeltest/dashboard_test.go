package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	promdata "github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/prometheus/prometheus/promql/parser"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/model/modeltest"
)

// series are the exposed metrics: the sets of labels of each name.
type series map[string][]map[string]string

// scrape reads the metrics as Prometheus does.
func (h *house) scrape() series {
	h.t.Helper()
	res, err := http.Get(h.url + "/metrics")
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	all := series{}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		sample, value, _ := cutLast(strings.TrimSpace(line), " ")
		selector, err := parser.NewParser(parser.Options{}).ParseMetricSelector(sample)
		if err != nil || value == "" {
			h.t.Fatalf("%q: %v", line, err)
		}
		labels, name := map[string]string{}, ""
		for _, m := range selector {
			if m.Name == "__name__" {
				name = m.Value
			} else {
				labels[m.Name] = m.Value
			}
		}
		all[name] = append(all[name], labels)
	}
	return all
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// TestDashboardsShowExposedMetrics checks the dashboards against Grafana's schema, their expressions against the
// parser of Prometheus, and the series in these against a server that has been used.
func TestDashboardsShowExposedMetrics(t *testing.T) {
	fake := modeltest.Serve(t, func(prompt string) string {
		if strings.Contains(prompt, "narration") {
			return phrased("narration", honest)
		}
		return answers(prompt)
	})
	c := config(t, fake)
	c.Model.Uses = append(c.Model.Uses, "narration", "moderation", "intents")
	h := open(t, c)
	h.use()
	all := h.scrape()
	for name, want := range map[string]map[string]string{
		"loregate_turns_total":          {"by": "model"},
		"loregate_judged_total":         {"purpose": "npc_dialogue", "outcome": "accepted"},
		"loregate_model_cost_usd_total": {"purpose": "narration"},
		"loregate_distinct_ratio":       {"text": "dialogue", "words": "3"},
	} {
		if !all.has(name, want) {
			t.Errorf("there is no series %s %v; there are %v", name, want, all[name])
		}
	}
	runtime := cog.NewRuntime()
	runtime.RegisterPanelcfgVariant(timeseries.VariantConfig())
	runtime.RegisterPanelcfgVariant(stat.VariantConfig())
	runtime.RegisterDataqueryVariant(promdata.VariantConfig())
	files, err := filepath.Glob("../../../deploy/grafana/*.json")
	if err != nil || len(files) != 3 {
		t.Fatalf("%v %v", files, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range checkDashboard(b, all) {
			t.Errorf("%s: %s", filepath.Base(file), fault)
		}
		for from, to := range map[string]string{`"title"`: `"titel"`, "sum(": "sum((", "loregate_": "lorgate_",
			`"fieldConfig"`: `"fieldConfigs"`, "le)": "lesser)"} {
			broken := strings.Replace(string(b), from, to, 1)
			if broken != string(b) && len(checkDashboard([]byte(broken), all)) == 0 {
				t.Errorf("%s: nobody notices %s in place of %s", filepath.Base(file), to, from)
			}
		}
	}
}

// use makes calls that are measured: acts of a player, lines of a character, and a question to the model.
func (h *house) use() {
	h.t.Helper()
	mae := h.join("Metric Mae")
	for _, text := range []string{"look", "north", "wares", "inventory", "south"} {
		h.act(mae, text)
	}
	h.do(access.RoleUser, "GET", "/api/lore/search?query=bell&world="+app.SampleWorld, nil, nil)
	h.intent("might you be so kind?")
	for _, line := range []string{"The tide is late, and so are you.", "Mind the third step, it is wet.",
		"Mind the third step, it is wet."} { // the last one is refused as a duplicate
		h.do(access.RoleUser, "POST", "/api/proposals/npc-dialogue?world="+app.SampleWorld,
			object{"npcId": "char-cod", "playerId": mae, "draftText": line}, nil)
	}
}

func (s series) has(name string, want map[string]string) bool {
	return slices.ContainsFunc(s[name], func(labels map[string]string) bool {
		for k, v := range want {
			if labels[k] != v {
				return false
			}
		}
		return true
	})
}

// checkDashboard returns the faults of a dashboard.
func checkDashboard(b []byte, all series) (faults []string) {
	//lint:ignore SA1019 every release of Grafana reads this version of the schema; the next one is for manifests
	var d dashboard.Dashboard
	for _, err := range []error{d.UnmarshalJSONStrict(b), d.Validate()} {
		if err != nil && err.Error() != "" { // the library returns empty lists of errors
			faults = append(faults, err.Error())
		}
	}
	var read struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(b, &read); err != nil {
		return append(faults, err.Error())
	}
	for _, p := range read.Panels {
		if p.Title == "" || len(p.Targets) == 0 {
			faults = append(faults, "a panel has no title or no target")
		}
		for _, q := range p.Targets {
			faults = append(faults, checkExpression(q.Expr, all)...)
		}
	}
	return faults
}

// checkExpression returns the faults of an expression of PromQL.
func checkExpression(text string, all series) (faults []string) {
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(strings.ReplaceAll(text, "$__rate_interval", "5m"))
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", text, err)}
	}
	var names, grouped []string
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			names = append(names, n.Name)
			want := map[string]string{}
			for _, m := range n.LabelMatchers {
				if m.Name != "__name__" {
					want[m.Name] = m.Value
				}
			}
			if !all.has(n.Name, want) {
				faults = append(faults, fmt.Sprintf("%s: no series %s %v is exposed", text, n.Name, want))
			}
		case *parser.AggregateExpr:
			grouped = append(grouped, n.Grouping...)
		}
		return nil
	})
	for _, label := range grouped {
		if !slices.ContainsFunc(names, func(name string) bool {
			return slices.ContainsFunc(all[name], func(labels map[string]string) bool { _, ok := labels[label]; return ok })
		}) {
			faults = append(faults, fmt.Sprintf("%s: no series has the label %s", text, label))
		}
	}
	return faults
}
