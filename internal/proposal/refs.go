package proposal

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// identified is a payload with ids in place of the codenames that its author gave, in the
// fields that the kind's Refs name. What has no such card in its author's sight stays as it
// is, and is found wrong as an id that nothing has.
func (s *Service) identified(ctx context.Context, g access.Grant, k *Kind, payload json.RawMessage) (json.RawMessage, error) {
	if len(k.Refs) == 0 {
		return payload, nil
	}
	err := s.cfg.Canon.Read(ctx, g, func(l *canon.Snapshot) (err error) {
		r := resolver{ctx, l, maxRefs}
		for _, path := range k.Refs {
			if payload, err = r.follow(payload, strings.Split(path, ".")); err != nil {
				return err
			}
		}
		return nil
	})
	return payload, err
}

// maxRefs bounds the codenames that are looked up for one payload.
const maxRefs = 100

// resolver puts ids in the place of codenames.
type resolver struct {
	ctx  context.Context
	look *canon.Snapshot
	left int // how many it looks up yet
}

// follow follows a path of members to a string, through every element of a list. What
// nothing is changed in stays as it was written.
func (r *resolver) follow(at json.RawMessage, path []string) (json.RawMessage, error) {
	var list []json.RawMessage
	var object map[string]json.RawMessage
	switch {
	case json.Unmarshal(at, &list) == nil && list != nil:
		changed := false
		for i := range list {
			item, err := r.follow(list[i], path)
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
		return r.identity(at)
	case json.Unmarshal(at, &object) == nil && object[path[0]] != nil:
		item, err := r.follow(object[path[0]], path[1:])
		if err != nil || bytes.Equal(item, object[path[0]]) {
			return at, err
		}
		object[path[0]] = item
		return json.Marshal(object)
	}
	return at, nil
}

// identity is the id of the card that a codename means. Of a scope it is what follows
// "loc:" or "player:".
func (r *resolver) identity(at json.RawMessage) (json.RawMessage, error) {
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
	c, ok, err := r.look.Exists(r.ctx, ":"+code)
	if err != nil || !ok {
		return at, err
	}
	return json.Marshal(kind + c.ID.String())
}
