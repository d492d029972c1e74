package vault

import (
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange/exchangetest"
)

// A part that was revealed here stays open when its vault is imported again, where it is marked as before.
func TestARevealedPartStaysOpen(t *testing.T) {
	const item, callout = "- one\n- %%SPY%%\n", "> [!secret] The cook\n> SPY\n"
	for name, text := range map[string]string{"item": item, "callout": callout} {
		for change, next := range map[string]string{"as before": text, "a line more": text + "\nMore.\n",
			"more in the part": strings.Replace(text, "SPY", "SPY and MORE", 1)} {
			s := newScene(t)
			s.importAs("gm", map[string]string{"Inn.md": "An inn.\n\n" + text}, Options{})
			s.Edit("Inn", func(p *canon.Plan, c canon.Card) error {
				parts, err := p.HiddenParts(c)
				if err == nil {
					_, err = p.LabelParts(c, []string{parts[0].ID}, access.NewLabel(access.LevelUser))
				}
				return err
			})
			if got := s.See("user", "Inn"); !strings.Contains(got, "SPY") {
				t.Errorf("%s: after the reveal players read %q", name, got)
			}
			sum := s.importAs("gm", map[string]string{"Inn.md": "An inn.\n\n" + next}, Options{})
			got := s.See("user", "Inn")
			if !strings.Contains(got, "SPY") || strings.Contains(got, "MORE") {
				t.Errorf("%s, %s: players read %q\n%s", name, change, got, sum)
			}
		}
	}
}

// The dry run of an import names the layers and links that the import refuses, because a mark in them would hide
// nothing.
func TestADryRunNamesRefusedMarks(t *testing.T) {
	s := newScene(t)
	note := func(name, level, mark string) string {
		return "---\nloregate: 1\nname: " + name + "\n" + level + "layers:\n - layer: ambient\n   value: 'Wet " + mark +
			"'\nlinks:\n - kind: ally\n   to: Mill\n   attrs: {told: 'by " + mark + "'}\n---\nText.\n"
	}
	files := exchangetest.Files(map[string]string{"Mill.md": "A mill.\n", "Quay.md": note("Quay", "", "%%SPY%%"),
		"Weir.md": note("Weir", "", "boat"), "Cave.md": note("Cave", "level: gm\n", "%%HIDDEN%%"),
		"Den.md": note("Cave+Den", "", "%%BELOW%%")})
	var said []string
	for _, g := range []access.Grant{s.As("gm").DryRun(), s.As("gm")} {
		sum, err := Import(t.Context(), s.Canon, g, files, Options{})
		if err != nil {
			t.Fatal(err)
		}
		text := sum.String()
		if strings.Count(text, "%%SPY%%") != 2 || strings.Count(text, "give it the level gm") != 2 ||
			strings.Contains(text, "BELOW") || strings.Contains(text, "HIDDEN") {
			t.Errorf("dry run %t: the summary is\n%s", sum.DryRun, text)
		}
		sum.DryRun = false
		said = append(said, sum.String())
	}
	if said[0] != said[1] {
		t.Errorf("the dry run says\n%s\nand the import\n%s", said[0], said[1])
	}
}
