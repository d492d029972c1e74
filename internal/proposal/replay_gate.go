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

	"loregate/internal/fault"
	"loregate/internal/prompt"
)

// contextVariable is the template's variable that the context answers stand for.
const contextVariable = "context"

// mismatch is a refusal by the replay gate.
func mismatch(o outcome, format string, args ...any) outcome {
	o.refused = &Rejection{Message: fmt.Sprintf(format, args...)}
	return o
}

// replayRules names the rules of the replay gate. In their first form a provenance needed a
// template and a hash, and an agent a provenance.
const replayRules = "replay/2"

// replayable is the fifth gate: the contexts that the text was made from can be read again,
// and where it names a template, the prompt can be made again, byte for byte. It keeps
// nothing of what it reads but its hash.
//
// Without provenance there is nothing to replay. Whether a person looks at such a proposal
// is for reviewed to say.
func (s *Service) replayable(ctx context.Context, c *candidate) (outcome, error) {
	p := c.common.Provenance
	if p == nil {
		return outcome{input: hashOf([]byte("none"))}, nil
	}
	b, err := json.Marshal(p)
	if err != nil {
		return outcome{}, err
	}
	o := outcome{input: hashOf(b)}
	t, why := s.template(p)
	if why != "" {
		return mismatch(o, "%s", why), nil
	}
	array, why, err := s.context(ctx, c, p)
	if err != nil || why != "" {
		return mismatch(o, "%s", why), err
	}
	if t == nil {
		return o, nil
	}
	text, why := render(t, p, array)
	if why != "" {
		return mismatch(o, "%s", why), nil
	}
	c.prompt, c.rec.Prompt = text, sha256Hex([]byte(text))
	return o, nil
}

// template finds the template that a provenance names, by id, version and hash; nil where it
// names none.
func (s *Service) template(p *Provenance) (*prompt.Template, string) {
	if p.TemplateID == "" && p.TemplateVersion == "" && p.TemplateHash == "" {
		return nil, ""
	}
	if p.TemplateID == "" || p.TemplateVersion == "" || p.TemplateHash == "" {
		return nil, "provenance names a template by templateId, templateVersion and templateHash together; send all three, or none of them"
	}
	t, err := s.cfg.Prompts.Get(p.TemplateID, p.TemplateVersion)
	if err != nil {
		return nil, "the template is not in the registry in this version; list-prompts shows those that are"
	}
	if !strings.EqualFold(p.TemplateHash, t.Hash()) {
		return nil, "templateHash is not the hash of this version; get-prompt gives the right one"
	}
	return t, ""
}

// context reads the answers again that a provenance refers to, and gives them as one
// canonical JSON array. A hash that the provenance states is checked: of the answers, or of
// the answers with the contextRef that each was shown with. One that it does not state is
// added to the record, so that a later replay has it.
func (s *Service) context(ctx context.Context, c *candidate, p *Provenance) ([]byte, string, error) {
	answers := make([]json.RawMessage, 0, len(p.ContextRefs))
	for _, ref := range p.ContextRefs {
		if s.cfg.Contexts == nil {
			return nil, "a contextRef cannot be opened here", nil
		}
		read, err := s.cfg.Contexts.Reread(ctx, c.grant, ref)
		switch fault.KindOf(err) {
		case fault.Invalid, fault.NotFound, fault.Denied, fault.Rule, fault.Unauthorized:
			return nil, "a contextRef does not open; copy the one that your own call of a context tool answered, whole", nil
		}
		if err != nil {
			return nil, "", err
		}
		answers = append(answers, read.Answer)
		c.context, c.rests = max(c.context, read.Level), append(c.rests, citedIn(read.Answer, read.At))
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
		return nil, "contextHash is not the hash of what the contextRefs answer; leave it out: the server hashes what it showed", nil
	}
	return array, "", nil
}

// refMember is the member of a context answer that cites it.
const refMember = "contextRef"

// withRef is an answer as it was shown: an object with its contextRef.
func withRef(answer json.RawMessage, ref string) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(answer, &members) != nil || members == nil {
		return answer
	}
	members[refMember], _ = json.Marshal(ref) // a string always has a JSON form
	b, err := json.Marshal(members)
	if err != nil {
		return answer
	}
	return b
}

// WithoutRef is an answer without the contextRef that it was shown with, which is another
// each time: what hashes and prompts are made of.
func WithoutRef(answer json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(answer, &members) != nil || members[refMember] == nil {
		return answer
	}
	delete(members, refMember)
	b, err := json.Marshal(members)
	if err != nil {
		return answer
	}
	return b
}

// ContextArray is the answers of context tools as one JSON array in the canonical form of
// RFC 8785: what contextHash is taken of, and what a template's [context] stands for.
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

// Render makes the prompt that a provenance describes: the template with the parameters,
// and the context array where the template asks for it.
func Render(t *prompt.Template, parameters map[string]any, array []byte) (string, error) {
	values := make(map[string]string, len(parameters)+1)
	for name, v := range parameters {
		text, ok := v.(string)
		if !ok {
			b, err := json.Marshal(v)
			if err != nil {
				return "", fault.BadField("parameters."+name, "is no JSON")
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

func render(t *prompt.Template, p *Provenance, array []byte) (text, why string) {
	text, err := Render(t, p.Parameters, array)
	if err != nil {
		return "", "the template cannot be filled from parameters: " + issuesOf(err)[0].Field + " " + issuesOf(err)[0].Error
	}
	return text, ""
}
