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

// Schema restricts a campaignRef to its two forms.
func (campaignRef) Schema(s *jsonschema.Schema) {
	s.Pattern = `^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$`
}

// ref is the id of a card or link in a campaign. Only ids are accepted, so the target in a call's
// record is never a name.
type ref string

// Schema restricts a ref to the form of a UUID.
func (ref) Schema(s *jsonschema.Schema) {
	s.Format = "uuid"
}

// toCardID returns the ref as a card id; the schema has checked its form.
func (r ref) toCardID() canon.CardID {
	id, _ := uuid.Parse(string(r))
	return canon.CardID(id)
}

func (r ref) toLinkID() canon.LinkID {
	id, _ := uuid.Parse(string(r))
	return canon.LinkID(id)
}

// inCampaign is the campaign argument of a call.
type inCampaign struct {
	CampaignID campaignRef `json:"campaign_id" jsonschema:"Id or slug of the campaign; campaign_list lists them."`
}

// maybeCampaign is the campaign argument of a call that may omit it if the key opens only one
// campaign.
type maybeCampaign struct {
	CampaignID campaignRef `json:"campaign_id,omitzero" jsonschema:"Id or slug of the campaign; needed if the key opens several."`
}

// audience is the set of players to which something is revealed: all players, or the named ones.
type audience struct {
	all   bool
	names []access.Subject
}

// Schema sets the two forms of an audience.
func (audience) Schema(s *jsonschema.Schema) {
	s.AnyOf = []*jsonschema.Schema{
		{Type: "string", Enum: []any{"all"}},
		{Type: "array", Items: &jsonschema.Schema{Type: "string", MinLength: jsonschema.Ptr(1),
			MaxLength: jsonschema.Ptr(100)},
			MinItems: jsonschema.Ptr(1), MaxItems: jsonschema.Ptr(50)},
	}
}

// UnmarshalJSON parses "all" or a list of subjects; the schema excludes everything else.
func (a *audience) UnmarshalJSON(b []byte) error {
	if strings.HasPrefix(string(b), `"`) {
		*a = audience{all: true}
		return nil
	}
	return json.Unmarshal(b, &a.names)
}

// MarshalJSON returns "all" or the list of subjects.
func (a audience) MarshalJSON() ([]byte, error) {
	if a.isEverybody() {
		return []byte(`"all"`), nil
	}
	return json.Marshal(a.names)
}

// isEverybody reports whether the audience is all players. That is also so if nobody is named.
func (a audience) isEverybody() bool { return a.all || len(a.names) == 0 }

// checkSubjects reports names that are not valid subjects.
func (a audience) checkSubjects(p *problems) {
	for i, s := range a.names {
		if err := access.CheckSubject(s); err != nil {
			p.Add(fmt.Sprintf("to[%d]", i), "%v", err)
		}
	}
}

// problems collects the faults of an input by field.
type problems struct{ fault.Problems }

// absentFault is the fault for missing and for hidden objects alike.
func absentFault(what string, id ref, look string) error {
	return fault.New(fault.NotFound, "there is no %s %s in this campaign; find it with %s", what,
		strings.ToLower(string(id)), look)
}

// faultAtField sets the field of the input that caused a fault.
func faultAtField(err error, field string) error {
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
