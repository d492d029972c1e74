package proposal

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/canon"
)

// replaceCodenames replaces the codenames in a payload by ids, in the fields that the kind's Refs
// name. A codename without a card visible to the author stays as it is. The check then refuses it
// like an id that no card has.
func (k *Kind) replaceCodenames(ctx context.Context, snap *canon.Snapshot,
	payload json.RawMessage) (_ json.RawMessage, err error) {
	r := resolver{ctx, snap, maxRefs}
	for _, path := range k.Refs {
		if payload, err = r.resolvePath(payload, strings.Split(path, ".")); err != nil {
			break
		}
	}
	return payload, err
}

// maxRefs bounds the number of codenames that are looked up for one payload.
const maxRefs = 100

// resolver replaces codenames by ids.
type resolver struct {
	ctx      context.Context
	snapshot *canon.Snapshot
	left     int // number of look-ups left
}

// resolvePath resolves the string at a path of members, in every element of a list. JSON without a
// replaced codename keeps its bytes.
func (r *resolver) resolvePath(at json.RawMessage, path []string) (json.RawMessage, error) {
	var list []json.RawMessage
	var object map[string]json.RawMessage
	switch {
	case json.Unmarshal(at, &list) == nil && list != nil:
		changed := false
		for i := range list {
			item, err := r.resolvePath(list[i], path)
			if err != nil {
				return nil, err
			}
			changed = changed || !bytes.Equal(item, list[i])
			list[i] = item
		}
		if changed {
			return json.Marshal(list)
		}
	case len(path) == 0:
		return r.resolveCodename(at)
	case json.Unmarshal(at, &object) == nil && object[path[0]] != nil:
		item, err := r.resolvePath(object[path[0]], path[1:])
		if err != nil || bytes.Equal(item, object[path[0]]) {
			return at, err
		}
		object[path[0]] = item
		return json.Marshal(object)
	}
	return at, nil
}

// resolveCodename returns the id of the card with a codename. In a scope, the codename is the part
// after "loc:" or "player:".
func (r *resolver) resolveCodename(at json.RawMessage) (json.RawMessage, error) {
	var text string
	if json.Unmarshal(at, &text) != nil {
		return at, nil
	}
	kind, code := "", text
	for _, k := range []string{"loc:", "player:"} {
		if rest, ok := strings.CutPrefix(text, k); ok {
			kind, code = k, rest
		}
	}
	if code == "" || len(code) > 100 || uuid.Validate(code) == nil || r.left == 0 {
		return at, nil
	}
	r.left--
	c, ok, err := r.snapshot.Exists(r.ctx, ":"+code)
	if err != nil || !ok {
		return at, err
	}
	return json.Marshal(kind + c.ID.String())
}
