package safety

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"sync"
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
const Current = "policy/1.6"

// policyFiles has Current, and, compressed, the policy that it extends and earlier ones, which only replays of old
// proposals read.
//
//go:embed policy/*.json policy/*.json.gz
var policyFiles embed.FS

// readPolicyText returns the file of a version.
func readPolicyText(version string) ([]byte, error) {
	b, err := fs.ReadFile(policyFiles, version+".json")
	if !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}
	packed, err := policyFiles.Open(version + ".json.gz")
	if err != nil {
		return nil, err
	}
	defer func() { _ = packed.Close() }()
	r, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Policy is a loaded policy. It is safe for concurrent use.
type Policy struct {
	Version  string
	Hash     string // SHA-256 of its file, after the file that it extends
	Profiles []string

	format     int
	marks      []pattern // of hidden text
	categories []category
	words      *vocabulary
	terms      *index // of all categories
	outside    *index // of all categories, for words outside fiction
	harmless   *index
	fiction    *index
	real       *index
	scales     *scales // nil before format 3
}

type category struct {
	Name     string            `json:"name"`
	Doc      string            `json:"doc"`
	Action   map[string]Action `json:"action"`
	Terms    []string          `json:"terms"`
	Outside  []string          `json:"outside_fiction"` // terms that do not count in fiction
	Patterns []string          `json:"patterns"`
	Checks   []string          `json:"checks"`

	patterns []pattern
	checks   []func(string) bool
}

// InUse returns the current policy. It is loaded at its first use, which takes a tenth of a second.
func InUse() *Policy { return loadCurrent() }

var loadCurrent = sync.OnceValue(func() *Policy {
	p, err := Published(Current)
	if err != nil {
		panic("safety: the policy in this program is damaged: " + err.Error())
	}
	return p
})

// Published loads a policy of this build by its version.
func Published(version string) (*Policy, error) {
	b, err := readPolicyText(version)
	if err != nil {
		return nil, fmt.Errorf("safety: there is no %s", version)
	}
	return Load(b)
}

// policyFile is a policy as its file has it.
type policyFile struct {
	Version    string              `json:"version"`
	Extends    string              `json:"extends"` // version of the policy that has all that the file leaves out
	Format     int                 `json:"format"`
	Profiles   []string            `json:"profiles"`
	Sets       map[string][]string `json:"sets"`
	Harmless   []string            `json:"harmless"`
	Fiction    []string            `json:"fiction"`
	Real       []string            `json:"real"`
	Marks      []string            `json:"marks"` // patterns of marks of hidden text, which are not judged
	Categories []category          `json:"categories"`
	Scales     scaleFile           `json:"scales"`
}

// decode reads a file into f. It keeps the members of f that the file leaves out.
func (f *policyFile) decode(file []byte) error {
	d := json.NewDecoder(bytes.NewReader(file))
	d.DisallowUnknownFields()
	if err := d.Decode(f); err != nil {
		return fmt.Errorf("safety: policy file: %w", err)
	}
	return nil
}

// readPolicyFile decodes a policy's file and the one that it extends. all has the bytes of both, the base first.
func readPolicyFile(file []byte) (f policyFile, all []byte, err error) {
	if err := f.decode(file); err != nil || f.Extends == "" {
		return f, file, err
	}
	base, err := readPolicyText(f.Extends)
	if err != nil {
		return f, nil, fmt.Errorf("safety: there is no %s, which %s extends", f.Extends, f.Version)
	}
	f = policyFile{}
	err = errors.Join(f.decode(base), f.decode(file))
	return f, slices.Concat(base, file), err
}

// Load loads a policy's file. It refuses a file that it does not fully understand.
func Load(file []byte) (*Policy, error) {
	f, all, err := readPolicyFile(file)
	if err != nil {
		return nil, err
	}
	if f.Format < 0 || f.Format > 3 {
		return nil, fmt.Errorf("safety: %s has the unknown format %d", f.Version, f.Format)
	}
	sum := sha256.Sum256(all)
	p := &Policy{Version: f.Version, Hash: hex.EncodeToString(sum[:]), Profiles: f.Profiles, categories: f.Categories,
		format: f.Format, words: newVocabulary()}
	if p.marks, err = newPatterns(f.Marks); err != nil {
		return nil, fmt.Errorf("safety: %s: marks: %w", f.Version, err)
	}
	newTerms := func() *index { return newIndex(p.words, f.Sets) }
	p.terms, p.outside, p.harmless, p.fiction, p.real = newTerms(), newTerms(), newTerms(), newTerms(), newTerms()
	for i := range p.categories {
		if err := p.prepareCategory(i); err != nil {
			return nil, fmt.Errorf("safety: %s: category %s: %w", f.Version, p.categories[i].Name, err)
		}
	}
	for _, frame := range []struct {
		into  *index
		terms []string
	}{{p.harmless, f.Harmless}, {p.fiction, f.Fiction}, {p.real, f.Real}} {
		if err := frame.into.addAll(frame.terms, 0); err != nil {
			return nil, fmt.Errorf("safety: %s: %w", f.Version, err)
		}
	}
	if p.format >= 3 {
		if err := p.loadScales(f.Scales, f.Sets); err != nil {
			return nil, fmt.Errorf("safety: %s: scales: %w", f.Version, err)
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
	if err := errors.Join(p.terms.addAll(c.Terms, i), p.outside.addAll(c.Outside, i)); err != nil {
		return err
	}
	var err error
	if c.patterns, err = newPatterns(c.Patterns); err != nil {
		return err
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
	// Unsure: there is no strong evidence for a category, and no score is far from its border. The caller may
	// ask another moderator, who may also clear the text.
	Unsure bool
}

// Borders of evidence, set on the development cases. Above weakScore a score is strong evidence of its category, and a
// term is where the score of its category is above weakTerm. Below unsureAbove, no score speaks for a category.
const (
	unsureAbove = -4
	weakTerm    = 0.5
	weakScore   = 1
)

// evidence is what speaks for each category in a passage.
type evidence struct {
	met    []bool // a term or pattern was found
	strong []bool // a pattern was found, or a term that the scales do not doubt
	scores []float64
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
	n := len(p.categories)
	found := evidence{make([]bool, n), make([]bool, n), slices.Repeat([]float64{math.Inf(-1)}, n)}
	for _, t := range texts {
		seen := p.dropMarks(Visible(t))
		p.matchTerms(seen, &found)
		p.matchPatterns(seen, &found)
		if plain := unmaskSigns(seen); p.format > 1 && plain != seen {
			p.matchPatterns(plain, &found)
		}
	}
	j := Judgement{Action: Allow}
	strong, weak, greatest := false, false, math.Inf(-1)
	for i, c := range p.categories {
		if c.Action[profile] == Allow {
			continue
		}
		greatest = max(greatest, found.scores[i])
		strong = strong || found.strong[i] || found.scores[i] >= weakScore
		weak = weak || found.met[i]
		if !found.met[i] && found.scores[i] <= 0 {
			continue
		}
		j.Categories = append(j.Categories, c.Name)
		if j.Action != Block {
			j.Action = c.Action[profile]
		}
	}
	j.Unsure = !strong && (weak || greatest > unsureAbove)
	return j
}
