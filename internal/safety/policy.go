package safety

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Action is a profile's treatment of a category.
type Action string

// The actions, mildest first.
const (
	Allow Action = "allow"
	Flag  Action = "flag"
	Block Action = "block"
)

// DefaultProfile is the profile of a world that has not chosen one.
const DefaultProfile = "teen"

// Current is the version of the policy in use.
const Current = "policy/1.0"

//go:embed policy/*.json
var policyFiles embed.FS

// Policy is a loaded policy. It is safe for concurrent use.
type Policy struct {
	Version  string
	Hash     string // SHA-256 of its file
	Profiles []string

	categories []category
	words      index
}

type category struct {
	Name     string            `json:"name"`
	Doc      string            `json:"doc"`
	Action   map[string]Action `json:"action"`
	Terms    []string          `json:"terms"`
	Patterns []string          `json:"patterns"`
	Checks   []string          `json:"checks"`

	patterns []pattern
	checks   []func(string) bool
}

// pattern is a compiled pattern. If marked is true, it matches only texts that contain a mark.
type pattern struct {
	*regexp.Regexp
	marked bool
}

// Published returns a policy of this build by its version.
func Published(version string) (*Policy, error) {
	b, err := fs.ReadFile(policyFiles, version+".json")
	if err != nil {
		return nil, fmt.Errorf("safety: there is no %s", version)
	}
	return Load(b)
}

// Load loads a policy's file. It refuses a file that it does not fully understand.
func Load(file []byte) (*Policy, error) {
	var f struct {
		Version    string     `json:"version"`
		Profiles   []string   `json:"profiles"`
		Categories []category `json:"categories"`
	}
	d := json.NewDecoder(strings.NewReader(string(file)))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("safety: policy file: %w", err)
	}
	sum := sha256.Sum256(file)
	p := &Policy{Version: f.Version, Hash: hex.EncodeToString(sum[:]), Profiles: f.Profiles, categories: f.Categories,
		words: newIndex()}
	for i := range p.categories {
		if err := p.prepareCategory(i); err != nil {
			return nil, fmt.Errorf("safety: %s: category %s: %w", f.Version, p.categories[i].Name, err)
		}
	}
	return p, nil
}

func (p *Policy) prepareCategory(i int) error {
	c := &p.categories[i]
	for _, profile := range p.Profiles {
		if a := c.Action[profile]; a != Allow && a != Flag && a != Block {
			return fmt.Errorf("profile %s has no action", profile)
		}
	}
	for _, t := range c.Terms {
		if err := p.words.add(t, i); err != nil {
			return err
		}
	}
	for _, t := range c.Patterns {
		re, err := regexp.Compile(t)
		if err != nil {
			return err
		}
		tree, err := syntax.Parse(t, syntax.Perl)
		if err != nil {
			return err
		}
		c.patterns = append(c.patterns, pattern{re, needsMark(tree)})
	}
	for _, name := range c.Checks {
		check, ok := namedChecks[name]
		if !ok {
			return fmt.Errorf("there is no check %q", name)
		}
		c.checks = append(c.checks, check)
	}
	return nil
}

// Judgement is the result of judging texts.
type Judgement struct {
	Action     Action   // the strictest of its categories'
	Categories []string // the blocked or flagged ones, in the policy's order
}

// Flagged reports whether the text is flagged or blocked.
func (j Judgement) Flagged() bool { return j.Action != Allow && j.Action != "" }

// Profile returns name if the policy has that profile, else the default.
func (p *Policy) Profile(name string) string {
	if slices.Contains(p.Profiles, name) {
		return name
	}
	return DefaultProfile
}

// Judge judges texts that belong together by a profile. An unknown profile is the default.
func (p *Policy) Judge(profile string, texts ...string) Judgement {
	profile = p.Profile(profile)
	met := make([]bool, len(p.categories))
	for _, t := range texts {
		seen := Visible(t)
		for _, form := range wordForms(seen) {
			p.words.markMatches(form, met)
		}
		p.matchPatterns(seen, met)
	}
	j := Judgement{Action: Allow}
	for i, c := range p.categories {
		if !met[i] || c.Action[profile] == Allow {
			continue
		}
		j.Categories = append(j.Categories, c.Name)
		if j.Action != Block {
			j.Action = c.Action[profile]
		}
	}
	return j
}

func (p *Policy) matchPatterns(text string, met []bool) {
	marked := strings.ContainsFunc(text, isMark)
	for i, c := range p.categories {
		if met[i] {
			continue
		}
		met[i] = slices.ContainsFunc(c.patterns,
			func(re pattern) bool { return (marked || !re.marked) && re.MatchString(text) }) ||
			marked && slices.ContainsFunc(c.checks, func(f func(string) bool) bool { return f(text) })
	}
}

// isMark reports whether r is a sign or digit that is rare in prose and required by most patterns.
func isMark(r rune) bool { return r >= '0' && r <= '9' || strings.ContainsRune("<>[]/#@+_=:|-", r) }

// needsMark reports whether every match of a pattern contains a mark.
func needsMark(t *syntax.Regexp) bool {
	switch t.Op {
	case syntax.OpLiteral:
		return slices.ContainsFunc(t.Rune, isMark)
	case syntax.OpCharClass:
		for i := 0; i < len(t.Rune); i += 2 {
			for r := t.Rune[i]; r <= t.Rune[i+1]; r++ {
				if !isMark(r) {
					return false
				}
			}
		}
		return true
	case syntax.OpConcat:
		return slices.ContainsFunc(t.Sub, needsMark)
	case syntax.OpAlternate:
		return !slices.ContainsFunc(t.Sub, func(s *syntax.Regexp) bool { return !needsMark(s) })
	case syntax.OpCapture, syntax.OpPlus:
		return needsMark(t.Sub[0])
	case syntax.OpRepeat:
		return t.Min > 0 && needsMark(t.Sub[0])
	}
	return false
}
