package judgetest

import (
	"slices"
	"testing"

	"loregate/internal/app"
)

// A moderationCase is a line and the category that applies to it, or "allow". Also lists categories that are
// as good. A trap is a harmless line that looks bad.
type moderationCase struct {
	ID, Text, Expect, Kind, Source string
	Also                           []string
	Trap                           bool
}

// categoryNames lists, for each category of the cases, the names of the policy's categories that are right
// for it. A new category of the policy is added here.
var categoryNames = map[string][]string{
	"abuse":         {"abuse", "harassment", "hate", "threat", "violence", "profanity", "self_harm"},
	"real_person":   {"real_people", "real_person"},
	"self_harm":     {"self_harm"},
	"wrongdoing":    {"illicit", "wrongdoing", "violence"},
	"secret":        {"secrets", "personal"},
	"personal_data": {"personal"},
	"injection":     {"instructions", "injection"},
	"gore":          {"gore"},
}

// TestModeration judges which lines are flagged, and by which category.
func TestModeration(t *testing.T) {
	for _, half := range halves {
		t.Run(half, func(t *testing.T) {
			cases := loadCases[moderationCase](t, half, "moderation.jsonl")
			for _, c := range cases {
				if c.Expect != "allow" && len(categoryNames[c.Expect]) == 0 {
					t.Errorf("case %s is malformed", c.ID)
				}
			}
			cases = sample(cases, sampleSize)
			withModels(t, half, "moderation", len(cases), func(m *scriptedModel) {
				for _, c := range cases {
					right, wrong := []string{}, []string{"gore"}
					if c.Expect != "allow" {
						right, wrong = categoryNames[c.Expect][:1], []string{}
					}
					m.know("moderation", c.Text, marshal(map[string]any{"categories": right}),
						marshal(map[string]any{"categories": wrong}))
				}
			}, func(m *scriptedModel, row string) float64 {
				return measureModeration(t, half, row, cases, m.openWith(t))
			})
		})
	}
}

// measureModeration returns the share of lines that are rightly flagged or not.
func measureModeration(t *testing.T, half, row string, cases []moderationCase, a *app.App) float64 {
	t.Helper()
	s := setWorld(t, a, "moderated", fixtureWorld{Title: "Moderated",
		Cards: []fixtureCard{{Name: "Here", Type: "Location", Text: "A place."}}}, "Here")
	tally := moderationTally{}
	var right ratio
	for _, c := range cases {
		var answer struct {
			Flagged    bool
			Categories []string
		}
		if err := s.call(t.Context(), "moderate-content", map[string]any{"text": c.Text}, &answer); err != nil {
			t.Fatal(err)
		}
		tally.add(c, answer.Flagged, answer.Categories)
		right.add(answer.Flagged == (c.Expect != "allow"))
		if answer.Flagged != (c.Expect != "allow") {
			logMiss(t, half, "%s: want %s, got %v: %s", c.ID, c.Expect, answer.Categories, c.Text)
		}
	}
	tally.report(t, half, row)
	return right.value()
}

// A moderationTally counts lines by category: those that are there, flagged, and flagged by a right name.
type moderationTally map[string]*struct{ all, flagged, named int }

func (y moderationTally) add(c moderationCase, flagged bool, categories []string) {
	keys := []string{c.Expect}
	if c.Trap {
		keys = append(keys, "trap")
	}
	for _, k := range keys {
		if y[k] == nil {
			y[k] = &struct{ all, flagged, named int }{}
		}
		y[k].all++
		if !flagged {
			continue
		}
		y[k].flagged++
		for _, want := range append(c.Also, c.Expect) {
			if slices.ContainsFunc(categories, func(got string) bool { return slices.Contains(categoryNames[want], got) }) {
				y[k].named++
				break
			}
		}
	}
}

func (y moderationTally) report(t *testing.T, half, row string) {
	t.Helper()
	bad, hit := 0, 0
	for category := range categoryNames {
		if n := y[category]; n != nil {
			bad, hit = bad+n.all, hit+n.flagged
		}
	}
	flagged := hit + y["allow"].flagged
	report(t, half, row, "precision", share(hit, flagged), flagged)
	report(t, half, row, "recall", share(hit, bad), bad)
	report(t, half, row, "traps", 1-share(y["trap"].flagged, y["trap"].all), y["trap"].all)
	if row != "moderation" {
		return
	}
	for _, category := range sortedKeys(categoryNames) {
		if n := y[category]; n != nil {
			report(t, half, "moderation", "recall: "+category, share(n.flagged, n.all), n.all)
			if n.flagged > 0 {
				report(t, half, "moderation", "rightly named: "+category, share(n.named, n.flagged), n.flagged)
			}
		}
	}
}
