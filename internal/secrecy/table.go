package secrecy

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"
)

// marksFile is the table of marks that imports know.
//
//go:embed data/marks.yaml
var marksFile []byte

// table is the content of marksFile, with its patterns compiled.
type table struct {
	Rules []Rule   `yaml:"rules"`
	Exact []string `yaml:"exact"` // patterns of texts that can only mean a secret
	Words []struct {
		Language string   `yaml:"language"`
		Strong   []string `yaml:"strong"`
		// Weak are titles of the game's leader that also have other meanings. They count only in names, not
		// in keys.
		Weak []string `yaml:"weak"`
	} `yaml:"words"`
	Whole string `yaml:"whole"`
	Keys  struct {
		Readers, Subjects, Ambiguous, Open, Player, Title []string
	} `yaml:"keys"`
	Values struct{ Everybody, No, Yes []string } `yaml:"values"`
	HTML   struct {
		Unshown, Unended, Fallback, Styles, Revealed []string
		CroppedStyles                                []string `yaml:"cropped_styles"`
		DoubtfulStyles                               []string `yaml:"doubtful_styles"`
		OpenClasses                                  []string `yaml:"open_classes"`
	} `yaml:"html"`
	Forum    []string                      `yaml:"forum"`
	Brackets struct{ Begin, End []string } `yaml:"brackets"`

	exact, strong, all, whole  *regexp.Regexp
	word                       *regexp.Regexp // a text that is a strong word
	unshown, unended, fallback map[string]bool
	hiding, dimming, cropping  *regexp.Regexp // declarations of styles
}

// marks returns the table. It is read when it is first used.
var marks = sync.OnceValue(func() *table {
	t := &table{}
	if err := yaml.Unmarshal(marksFile, t); err != nil {
		panic("secrecy: data/marks.yaml: " + err.Error()) // a fault of the build, which any test finds
	}
	var strong, all []string
	for _, w := range t.Words {
		strong = append(strong, w.Strong...)
		all = append(append(all, w.Strong...), w.Weak...)
	}
	t.exact = regexp.MustCompile(`^(?:` + strings.Join(t.Exact, "|") + `)$`)
	t.strong = regexp.MustCompile(` (` + strings.Join(strong, "|") + `) `)
	t.all = regexp.MustCompile(` (` + strings.Join(all, "|") + `) `)
	t.word = regexp.MustCompile(`^(?:` + strings.Join(strong, "|") + `)$`)
	t.whole = regexp.MustCompile(`^` + t.Whole + `$`)
	t.unshown, t.unended, t.fallback = setOf(t.HTML.Unshown...), setOf(t.HTML.Unended...), setOf(t.HTML.Fallback...)
	t.hiding = regexp.MustCompile(`^(?:` + strings.Join(t.HTML.Styles, "|") + `)$`)
	t.cropping = regexp.MustCompile(`^(?:` + strings.Join(t.HTML.CroppedStyles, "|") + `)$`)
	t.dimming = regexp.MustCompile(`^(?:` + strings.Join(t.HTML.DoubtfulStyles, "|") + `)$`)
	return t
})
