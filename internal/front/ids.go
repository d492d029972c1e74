package front

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/slicesx"
)

// maxNames bounds the names in the arguments of a call that are looked up.
const maxNames = 20

// withIDs returns arguments with the id of a card where an argument that takes an id has the card's
// name, also in lists and in objects.
func (f *Front) withIDs(ctx context.Context, c *op.Call, in args) (args, error) {
	return newLookup(f, c).withIDs(ctx, in)
}

// idLookup looks up the names in the arguments of one call.
type idLookup struct {
	f       *Front
	call    *op.Call
	names   int
	unknown map[string]string // names that no card has, by argument
}

func newLookup(f *Front, c *op.Call) *idLookup {
	return &idLookup{f: f, call: c, unknown: map[string]string{}}
}

func (l *idLookup) withIDs(ctx context.Context, in args) (args, error) {
	out, err := l.replace(ctx, map[string]any(in), false)
	if err != nil {
		return nil, err
	}
	return args(out.(map[string]any)), nil
}

// replace returns a JSON value with ids in the place of names. isID reports whether its texts are
// ids.
func (l *idLookup) replace(ctx context.Context, v any, isID bool) (any, error) {
	switch v := v.(type) {
	case string:
		if isID {
			return l.find(ctx, v)
		}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			one, err := l.replace(ctx, v[i], isID)
			if err != nil {
				return nil, err
			}
			out[i] = one
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for name := range v {
			one, err := l.replaceMember(ctx, name, v[name])
			if err != nil {
				return nil, err
			}
			out[name] = one
		}
		return out, nil
	}
	return v, nil
}

// replaceMember is replace for the member of an object.
func (l *idLookup) replaceMember(ctx context.Context, name string, v any) (any, error) {
	if text, ok := v.(string); ok && name == "proposalId" {
		return l.findProposal(ctx, text)
	}
	id, err := l.replace(ctx, v, takesID(name))
	if text, ok := v.(string); ok && err == nil && takesID(name) && id == v && uuid.Validate(text) != nil {
		l.unknown[name] = text
	}
	return id, err
}

// findProposal returns the id of the proposal about a card: of the only one that waits, or else of the
// latest. Any other text is returned unchanged.
func (l *idLookup) findProposal(ctx context.Context, card string) (string, error) {
	if card == "" || uuid.Validate(card) == nil {
		return card, nil
	}
	if l.names++; l.names > maxNames {
		return "", tooManyNames()
	}
	type proposal struct {
		ID     string `json:"proposalId"`
		Status string `json:"status"`
		What   string `json:"what"`
	}
	list, err := invoke[struct {
		Proposals []proposal `json:"proposals"`
	}](ctx, l.f, l.call, "list-proposals", args{"limit": 100})
	if err != nil {
		return "", err
	}
	about := slicesx.Filter(list.Proposals, func(p proposal) bool { return plain(p.What) == plain(card) })
	waiting := slicesx.Filter(about, func(p proposal) bool { return p.Status == "pending_review" })
	switch {
	case len(waiting) > 1:
		ids := slicesx.Map(waiting, func(p proposal) string { return p.ID })
		return "", fault.BadField("proposalId",
			"%d proposals about %q wait; give the id of one: %s", len(ids), card, joinWords(ids))
	case len(waiting) == 1:
		return waiting[0].ID, nil
	case len(about) > 0:
		return about[0].ID, nil
	}
	return card, nil
}

func tooManyNames() error {
	return fault.BadField("arguments", "hold more than %d names in the place of ids; give ids", maxNames)
}

// find returns the id of the card with a name, and any other text unchanged: it may be a codename, and
// the operation answers.
func (l *idLookup) find(ctx context.Context, name string) (string, error) {
	if name == "" || uuid.Validate(name) == nil {
		return name, nil
	}
	if l.names++; l.names > maxNames {
		return "", tooManyNames()
	}
	card, err := l.f.findCard(ctx, l.call, name)
	switch {
	case err == nil:
		return card.ID, nil
	case isAbsent(err):
		return name, nil
	}
	return "", err
}

// idEnds are the ends of the names of arguments that take ids.
var idEnds = []string{"Id", "Ids", "_id", "_ids", "secret_of"}

// takesID reports whether an argument takes ids of things that may have names of cards. A campaign is a world.
func takesID(name string) bool {
	if name == "campaign_id" {
		return false
	}
	for _, end := range idEnds {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}
