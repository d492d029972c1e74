package proposal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/prompt"
)

// contextVariable is the template variable that is replaced by the context answers.
const contextVariable = "context"

// sources is the result of reading the sources of a proposal again.
type sources struct {
	input   canon.Hash // hash of the provenance
	refusal string     // why the replay gate refuses them; "" if it does not
	prompt  string     // rendered again from the provenance; "" if that names no template
	level   access.Level
	cites   []citedCards // the cards in the contexts
}

// checkReplay is the fifth gate. The contexts of the text must be readable again, and if the
// provenance names a template, the prompt must be reproducible byte for byte: readSources has tried
// both. The gate itself is quick, since the store's writer is held.
//
// Without provenance there is nothing to replay. reviewReason decides whether a person looks at
// such a proposal.
func (s *Service) checkReplay(_ context.Context, c *candidate) (outcome, error) {
	o := outcome{input: c.sources.input}
	if c.sources.refusal != "" {
		o.refused = &Rejection{Message: c.sources.refusal}
	}
	return o, nil
}

// readSources reads the contexts that a candidate cites again and renders its prompt again. It
// keeps only the hashes of the data that it reads.
func (s *Service) readSources(ctx context.Context, c *candidate) error {
	p := c.common.Provenance
	if p == nil {
		c.sources.input = hashOf([]byte("none"))
		return nil
	}
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	c.sources.input = hashOf(b)
	t, why := s.findTemplate(p)
	var array []byte
	if why == "" {
		array, why, err = s.rereadContexts(ctx, c, p)
	}
	if err == nil && why == "" && t != nil {
		if c.sources.prompt, why = renderPrompt(t, p, array); why == "" {
			c.rec.Prompt = sha256Hex([]byte(c.sources.prompt))
		}
	}
	c.sources.refusal = why
	return err
}

// findTemplate returns the template that a provenance names by id, version and hash. It returns nil
// if the provenance names none.
func (s *Service) findTemplate(p *Provenance) (*prompt.Template, string) {
	if p.TemplateID == "" && p.TemplateVersion == "" && p.TemplateHash == "" {
		return nil, ""
	}
	if p.TemplateID == "" || p.TemplateVersion == "" || p.TemplateHash == "" {
		return nil, "provenance must name a template by templateId, templateVersion and templateHash; send all three or none"
	}
	t, err := s.cfg.Prompts.Get(p.TemplateID, p.TemplateVersion)
	if err != nil {
		return nil, "the registry does not have this version of the template; list-prompts shows the versions that it has"
	}
	if !strings.EqualFold(p.TemplateHash, t.Hash()) {
		return nil, "templateHash is not the hash of this version; get-prompt returns the right one"
	}
	return t, ""
}

// rereadContexts reads the answers again that a provenance refers to and returns them as one
// canonical JSON array. If the provenance has a hash, it must match the answers without or with
// their contextRefs. If it has none, the hash is added to the record for later replays.
func (s *Service) rereadContexts(ctx context.Context, c *candidate, p *Provenance) ([]byte, string, error) {
	answers := make([]json.RawMessage, 0, len(p.ContextRefs))
	for _, ref := range p.ContextRefs {
		if s.cfg.Contexts == nil {
			return nil, "this server cannot open a contextRef", nil
		}
		read, err := s.cfg.Contexts.Reread(ctx, c.grant, ref)
		switch fault.KindOf(err) {
		case fault.Invalid, fault.NotFound, fault.Denied, fault.Rule, fault.Unauthorized:
			return nil, "a contextRef is not valid; copy the complete contextRef that your own call of a context tool returned", nil
		}
		if err != nil {
			return nil, "", err
		}
		answers = append(answers, read.Answer)
		c.sources.level = max(c.sources.level, read.Level)
		c.sources.cites = append(c.sources.cites, citedIn(read.Answer, read.At))
	}
	array, err := ContextArray(answers)
	if err != nil {
		return nil, "", err
	}
	hash := sha256Hex(array)
	switch {
	case p.ContextHash == "":
		stated := *p
		stated.ContextHash = hash
		c.rec.Provenance = &stated
		return array, "", nil
	case strings.EqualFold(p.ContextHash, hash):
		return array, "", nil
	}
	for i, ref := range p.ContextRefs {
		answers[i] = withRef(answers[i], ref)
	}
	if array, err = ContextArray(answers); err != nil {
		return nil, "", err
	}
	if !strings.EqualFold(p.ContextHash, sha256Hex(array)) {
		return nil, "contextHash is not the hash of the answers that the contextRefs name; leave it out, since the server computes it", nil
	}
	return array, "", nil
}

// refMember is the member of a context answer that holds its reference.
const refMember = "contextRef"

// withRef returns an answer as it was shown: an object with its contextRef.
func withRef(answer json.RawMessage, ref string) json.RawMessage {
	b, _ := json.Marshal(ref) // a string always has a JSON form
	return setRef(answer, b)
}

// WithoutRef returns an answer without the contextRef that it was shown with, which differs each
// time. Hashes and prompts use this form.
func WithoutRef(answer json.RawMessage) json.RawMessage { return setRef(answer, nil) }

// setRef sets the contextRef of an object, or removes it for nil. Other values stay as they are.
func setRef(answer, ref json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(answer, &members) != nil || members == nil || ref == nil && members[refMember] == nil {
		return answer
	}
	members[refMember] = ref
	if ref == nil {
		delete(members, refMember)
	}
	b, err := json.Marshal(members)
	if err != nil {
		return answer
	}
	return b
}

// ContextArray returns the answers of context tools as one JSON array in the canonical form of
// RFC 8785. contextHash is the hash of this array, and the array replaces [context] in a template.
func ContextArray(answers []json.RawMessage) ([]byte, error) {
	array := jsontext.Value{'['}
	for i, a := range answers {
		if i > 0 {
			array = append(array, ',')
		}
		array = append(array, a...)
	}
	array = append(array, ']')
	if err := array.Canonicalize(); err != nil {
		return nil, fmt.Errorf("proposal: context answers: %w", err)
	}
	return array, nil
}

func sha256Hex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Render renders the prompt that a provenance describes: the template with the parameters, and the
// context array if the template has that variable.
func Render(t *prompt.Template, parameters map[string]any, array []byte) (string, error) {
	values := make(map[string]string, len(parameters)+1)
	for name, v := range parameters {
		text, ok := v.(string)
		if !ok {
			b, err := json.Marshal(v)
			if err != nil {
				return "", fault.BadField("parameters."+name, "is not JSON")
			}
			text = string(b)
		}
		values[name] = text
	}
	if slices.ContainsFunc(t.Variables, func(v prompt.Variable) bool { return v.Name == contextVariable }) {
		values[contextVariable] = string(array)
	}
	return t.Render(values)
}

func renderPrompt(t *prompt.Template, p *Provenance, array []byte) (text, why string) {
	text, err := Render(t, p.Parameters, array)
	if err != nil {
		return "", "the template cannot be rendered with these parameters: " + issuesOf(err)[0].Field + " " + issuesOf(err)[0].Error
	}
	return text, ""
}
