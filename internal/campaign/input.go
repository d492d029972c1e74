package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// campaignRef names a campaign: the UUID or the slug of its world.
type campaignRef string

// Schema holds a campaignRef to its two forms.
func (campaignRef) Schema(s *jsonschema.Schema) {
	s.Pattern = `^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$`
}

// ref is the id of something in a campaign. Only ids are taken, so that what is recorded
// of a call as its target is never a name.
type ref string

// Schema holds a ref to the form of a UUID.
func (ref) Schema(s *jsonschema.Schema) {
	s.Format = "uuid"
}

// card is the ref as the id of a card; its form was checked with the input.
func (r ref) card() canon.CardID {
	id, _ := uuid.Parse(string(r))
	return canon.CardID(id)
}

func (r ref) link() canon.LinkID {
	id, _ := uuid.Parse(string(r))
	return canon.LinkID(id)
}

// within is the campaign of a call.
type within struct {
	CampaignID campaignRef `json:"campaign_id" jsonschema:"Id or slug of the campaign; campaign_list has them."`
}

// mayName is the campaign of a call that can do without: where the key opens only one.
type mayName struct {
	CampaignID campaignRef `json:"campaign_id,omitzero" jsonschema:"Id or slug of the campaign; needed where the key opens several."`
}

// audience is who something is revealed to: all players, or those named.
type audience struct {
	all   bool
	names []access.Subject
}

// Schema says the two forms of an audience.
func (audience) Schema(s *jsonschema.Schema) {
	s.AnyOf = []*jsonschema.Schema{
		{Type: "string", Enum: []any{"all"}},
		{Type: "array", Items: &jsonschema.Schema{Type: "string", MinLength: jsonschema.Ptr(1), MaxLength: jsonschema.Ptr(100)},
			MinItems: jsonschema.Ptr(1), MaxItems: jsonschema.Ptr(50)},
	}
}

// UnmarshalJSON reads "all" or a list of subjects; the schema lets nothing else by.
func (a *audience) UnmarshalJSON(b []byte) error {
	if strings.HasPrefix(string(b), `"`) {
		*a = audience{all: true}
		return nil
	}
	return json.Unmarshal(b, &a.names)
}

// MarshalJSON gives an audience as it is written.
func (a audience) MarshalJSON() ([]byte, error) {
	if a.everybody() {
		return []byte(`"all"`), nil
	}
	return json.Marshal(a.names)
}

// everybody reports whether all players are meant, as they are where nobody is named.
func (a audience) everybody() bool { return a.all || len(a.names) == 0 }

// check refuses names that cannot be subjects.
func (a audience) check(p *problems) {
	for i, s := range a.names {
		if err := access.CheckSubject(s); err != nil {
			p.add(fmt.Sprintf("to[%d]", i), "%v", err)
		}
	}
}

// problems collects what is wrong with an input, by field.
type problems struct{ list []fault.Field }

func (p *problems) add(field, format string, args ...any) {
	p.list = append(p.list, fault.Field{Field: field, Error: fmt.Sprintf(format, args...)})
}

// err is everything that is wrong as one fault; nil where nothing is.
func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	said := make([]string, 0, 3)
	for _, f := range p.list[:min(len(p.list), 3)] {
		said = append(said, f.Field+": "+f.Error)
	}
	return &fault.Error{Kind: fault.Invalid, Message: strings.Join(said, "; "), Fields: p.list}
}

// rule is a fault of well-formed input that the campaign does not allow.
func rule(field, format string, args ...any) *fault.Error {
	e := fault.BadField(field, format, args...)
	e.Kind = fault.Rule
	return e
}

// absent is the one answer for what is not there and for what is hidden.
func absent(what string, id ref, look string) error {
	return fault.New(fault.NotFound, "there is no %s %s in this campaign; find it with %s", what, strings.ToLower(string(id)), look)
}

// atField says at which field of the input an error lies, where it says nothing finer.
func atField(err error, field string) error {
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind == fault.Internal {
		return err
	}
	at := *e
	why := e.Message
	if len(e.Fields) > 0 {
		why = e.Fields[0].Error
	}
	at.Fields, at.Message = []fault.Field{{Field: field, Error: why}}, field+": "+why
	return &at
}
