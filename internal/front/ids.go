package front

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/fault"
	"loregate/internal/op"
)

// maxNames bounds the names in the arguments of a call that are looked up.
const maxNames = 20

// withIDs returns arguments with the id of a card where an argument that takes an id has the card's
// name, also in lists and in objects.
func (f *Front) withIDs(ctx context.Context, c *op.Call, in args) (args, error) {
	l := idLookup{f: f, call: c}
	out, err := l.replace(ctx, map[string]any(in), false)
	if err != nil {
		return nil, err
	}
	return args(out.(map[string]any)), nil
}

// idLookup looks up the names in the arguments of one call.
type idLookup struct {
	f     *Front
	call  *op.Call
	names int
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
			one, err := l.replace(ctx, v[name], takesID(name))
			if err != nil {
				return nil, err
			}
			out[name] = one
		}
		return out, nil
	}
	return v, nil
}

// find returns the id of the card with a name, and any other text unchanged: it may be a codename, and
// the operation answers.
func (l *idLookup) find(ctx context.Context, name string) (string, error) {
	if name == "" || uuid.Validate(name) == nil {
		return name, nil
	}
	if l.names++; l.names > maxNames {
		return "", fault.BadField("arguments", "hold more than %d names in the place of ids; give ids", maxNames)
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

// takesID reports whether an argument takes ids of things that may have names.
func takesID(name string) bool {
	for _, end := range idEnds {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}
