// Package safety judges text by a versioned policy: which categories it falls into, and
// whether a world of a profile blocks, flags or allows them.
//
// Its invariant: the same policy and text give the same judgement, anywhere and offline.
// What follows from a judgement is the caller's matter, and so is asking another
// moderator besides (see Moderator).
//
// A policy is a file, named by its version ("policy/1.0"), that never changes once it is
// published. Its terms are matched on words, after Fold: each is words in a row, where
// a|b is either, word* is a beginning, and ... is up to four words between. Its patterns
// are RE2 and see the text before words are told apart, without what is invisible.
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

// Action is what a profile does with a category.
type Action string

// The actions, from the mildest.
const (
	Allow Action = "allow"
	Flag  Action = "flag"
	Block Action = "block"
)

// DefaultProfile is a world's that has not chosen.
const DefaultProfile = "teen"

// Current is the version of the policy in force.
const Current = "policy/1.0"

//go:embed policy/*.json
var files embed.FS

// Policy is a policy made ready. It is safe for concurrent use.
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

// pattern is a pattern made ready. marked ones match nothing that holds no mark.
type pattern struct {
	*regexp.Regexp
	marked bool
}

// Published gives a policy of this build by its version.
func Published(version string) (*Policy, error) {
	b, err := fs.ReadFile(files, version+".json")
	if err != nil {
		return nil, fmt.Errorf("safety: there is no %s", version)
	}
	return Load(b)
}

// Load reads a policy's file, and refuses what it would not understand.
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
	p := &Policy{Version: f.Version, Hash: hex.EncodeToString(sum[:]), Profiles: f.Profiles, categories: f.Categories, words: newIndex()}
	for i := range p.categories {
		if err := p.prepare(i); err != nil {
			return nil, fmt.Errorf("safety: %s: category %s: %w", f.Version, p.categories[i].Name, err)
		}
	}
	return p, nil
}

func (p *Policy) prepare(i int) error {
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
		check, ok := checks[name]
		if !ok {
			return fmt.Errorf("there is no check %q", name)
		}
		c.checks = append(c.checks, check)
	}
	return nil
}

// Judgement is what a policy says of a text.
type Judgement struct {
	Action     Action   // the strictest of its categories'
	Categories []string // those blocked or flagged, in the policy's order
}

// Flagged reports whether the text is not simply allowed.
func (j Judgement) Flagged() bool { return j.Action != Allow && j.Action != "" }

// Profile is a profile's name where the policy knows it, else the default.
func (p *Policy) Profile(name string) string {
	if slices.Contains(p.Profiles, name) {
		return name
	}
	return DefaultProfile
}

// Judge judges texts that belong together by a profile; an unknown one is the default.
func (p *Policy) Judge(profile string, texts ...string) Judgement {
	profile = p.Profile(profile)
	met := make([]bool, len(p.categories))
	for _, t := range texts {
		seen := Visible(t)
		for _, form := range forms(seen) {
			p.words.find(form, met)
		}
		p.patterns(seen, met)
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

func (p *Policy) patterns(text string, met []bool) {
	marked := strings.ContainsFunc(text, isMark)
	for i, c := range p.categories {
		if met[i] {
			continue
		}
		met[i] = slices.ContainsFunc(c.patterns, func(re pattern) bool { return (marked || !re.marked) && re.MatchString(text) }) ||
			marked && slices.ContainsFunc(c.checks, func(f func(string) bool) bool { return f(text) })
	}
}

// isMark reports the signs and digits that prose has seldom and most patterns ask for.
func isMark(r rune) bool { return r >= '0' && r <= '9' || strings.ContainsRune("<>[]/#@+_=:|-", r) }

// needsMark reports whether everything that a pattern matches holds a mark.
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
