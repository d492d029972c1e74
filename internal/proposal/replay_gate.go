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

// replayable is the fifth gate: the prompt that the text was made from can be made again,
// byte for byte. It reads the context again and keeps nothing of it.
//
// A diverted write needs no provenance: the call itself is what is replayed, and a person
// looks at it.
func (s *Service) replayable(ctx context.Context, c *candidate) (outcome, error) {
	p := c.common.Provenance
	if p == nil {
		o := outcome{input: hashOf([]byte("none"))}
		if c.rec.Diverted || c.grant.Caller().Actor == access.Person || slices.Contains(s.cfg.Unproven, c.kind.Name) {
			return o, nil
		}
		return mismatch(o, "an agent says what its text was made from: send provenance with template and context, as get-prompt and the context tools give them"), nil
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
	text, why := render(t, p, array)
	if why != "" {
		return mismatch(o, "%s", why), nil
	}
	c.prompt, c.rec.Prompt = text, sha256Hex([]byte(text))
	return o, nil
}

// template finds the template that a provenance names, by id, version and hash.
func (s *Service) template(p *Provenance) (*prompt.Template, string) {
	if p.TemplateID == "" || p.TemplateVersion == "" || p.TemplateHash == "" {
		return nil, "provenance names its template by templateId, templateVersion and templateHash; get-prompt gives them"
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
// canonical JSON array, where it has the hash that the provenance states.
func (s *Service) context(ctx context.Context, c *candidate, p *Provenance) ([]byte, string, error) {
	answers := make([]json.RawMessage, 0, len(p.ContextRefs))
	for _, ref := range p.ContextRefs {
		if s.cfg.Contexts == nil {
			return nil, "a contextRef cannot be opened here", nil
		}
		read, err := s.cfg.Contexts.Reread(ctx, c.grant, ref)
		switch fault.KindOf(err) {
		case fault.Invalid, fault.NotFound, fault.Denied, fault.Rule, fault.Unauthorized:
			return nil, "a contextRef does not open; use those that your own context calls gave", nil
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
	if !strings.EqualFold(p.ContextHash, sha256Hex(array)) {
		return nil, "contextHash is not the hash of what the contextRefs answer; hash the answers just as they came, in order", nil
	}
	return array, "", nil
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
