package member

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/op"
)

func keyOps(d *deps) []*op.Operation {
	return []*op.Operation{
		op.Define(declare(op.Spec{
			Name: "list_keys", Title: "List keys", Effect: access.Read, MinRole: access.RoleAdmin,
			Route: "GET /api/keys",
			Doc:   "List the keys that open the world, without their secrets.",
		}), d.listKeys),
		op.Define(declare(op.Spec{
			Name: "create_key", Title: "Create a key", Effect: access.Write, MinRole: access.RoleAdmin,
			Route: "POST /api/keys", Status: 201,
			Doc: "Create a key for a program in this world. Its secret is shown once; a call repeated with its " +
				"idempotency key returns the key without it. Its role is at most yours, also later; " +
				"it can neither approve proposals nor create keys.",
			Examples: []op.Example{{Title: "An assistant that only proposes",
				Input: `{"name": "assistant", "role": "gm", "may": "propose", "days": 30}`}},
		}), d.createKey),
		op.Define(declare(op.Spec{
			Name: "rotate_key", Title: "Replace a key's secret", Effect: access.Write, MinRole: access.RoleAdmin,
			Route: "POST /api/keys/{id}/rotate", Status: 201,
			Doc: "Create a new secret with the same rights, and end the old one at once.",
		}), d.rotateKey),
		op.Define(declare(op.Spec{
			Name: "end_key", Title: "End a key", Effect: access.Destroy, MinRole: access.RoleAdmin,
			Route: "DELETE /api/keys/{id}",
			Doc:   "End a key that opens this world only. Its next call, within a second, is refused.",
		}), d.endKey),
	}
}

type key struct {
	ID       string     `json:"id"`
	Name     string     `json:"name"`
	Subject  string     `json:"subject"`
	Actor    string     `json:"actor"`
	Role     string     `json:"role" jsonschema:"The highest role in this world."`
	May      string     `json:"may" jsonschema:"read, propose or write."`
	Surfaces []string   `json:"surfaces" jsonschema:"Surfaces that it opens; empty is all."`
	By       string     `json:"by" jsonschema:"Who made it."`
	Created  time.Time  `json:"created"`
	Expires  *time.Time `json:"expires"`
	Others   bool       `json:"others" jsonschema:"It opens other worlds too, so only the operator can end or replace it."`
}

func showKey(k identity.Key, w access.WorldID) key {
	shown := key{ID: k.ID, Name: k.Name, Subject: string(k.Subject), Actor: string(k.Actor),
		Role: k.Worlds[w].String(), May: k.May(), Surfaces: k.Surfaces, By: string(k.CreatedBy), Created: k.Created,
		Others: len(k.Worlds) > 1}
	if !k.Expires.IsZero() {
		shown.Expires = &k.Expires
	}
	return shown
}

type keysOut struct {
	Keys []key `json:"keys"`
	// Surfaces are those that a new key may be limited to.
	Surfaces []string `json:"surfaces"`
}

func (d *deps) listKeys(ctx context.Context, c *op.Call, _ struct{}) (out keysOut, err error) {
	w := c.Grant.Request().World
	all, err := d.Identity.KeysOfWorld(ctx, w)
	for _, k := range all {
		out.Keys = append(out.Keys, showKey(k, w))
	}
	out.Surfaces = d.Surfaces
	return out, err
}

type keyIn struct {
	Name     string   `json:"name" minlen:"1" maxlen:"100" jsonschema:"A name for people, such as the program's."`
	Role     string   `json:"role,omitzero" enum:"user,gm,admin" default:"user" jsonschema:"Its role, at most yours."`
	May      string   `json:"may,omitzero" enum:"read,propose,write" default:"propose" jsonschema:"Whether it only reads, its writes become proposals, or it writes."`
	Surfaces []string `json:"surfaces,omitzero" maxitems:"32" jsonschema:"Surfaces that it opens; none is all."`
	Days     int      `json:"days,omitzero" min:"1" max:"3650" jsonschema:"Days until it ends; none is never."`
}

type createdKeyOut struct {
	Key    key    `json:"key"`
	Secret string `json:"secret" jsonschema:"Shown only here; empty in the answer to a repeated call."`
}

func (d *deps) createKey(ctx context.Context, c *op.Call, in keyIn) (out createdKeyOut, err error) {
	role, err := roleWithin(c, in.Role)
	if err != nil {
		return out, err
	}
	for _, name := range in.Surfaces {
		if !slices.Contains(d.Surfaces, name) {
			return out, fault.BadField("surfaces", "must be some of %s", strings.Join(d.Surfaces, ", "))
		}
	}
	subject, err := d.Identity.NewSubject(in.Name)
	if err != nil {
		return out, err
	}
	w, maker := c.Grant.Request().World, c.Grant.Caller().Subject
	spec := identity.KeySpec{Name: in.Name, Subject: subject, Actor: access.AI, MaxRole: role,
		Worlds: map[access.WorldID]access.Role{w: role}, Surfaces: in.Surfaces, CreatedBy: maker, Behalf: maker,
		Advisory: in.May == identity.MayPropose, ReadOnly: in.May == identity.MayRead, Once: onceOf(c)}
	if in.Days > 0 {
		spec.Expires = d.Now().Add(time.Duration(in.Days) * 24 * time.Hour)
	}
	k, secret, err := d.Identity.CreateKey(ctx, spec)
	if err == nil && secret != "" { // a repeated call makes no other key
		err = d.record(ctx, c, string(k.Subject), k.Worlds[w].String()+", "+k.May())
	}
	return createdKeyOut{showKey(k, w), secret}, err
}

func (d *deps) rotateKey(ctx context.Context, c *op.Call, in idIn) (out createdKeyOut, err error) {
	old, err := d.findKey(ctx, c, in.ID)
	if err != nil {
		return out, err
	}
	if old.Actor == access.Person && old.Subject != c.Grant.Caller().Subject {
		return out, fault.New(fault.Denied, "only the person whose key this is can see a new secret of it; you can end it")
	}
	k, secret, err := d.Identity.RotateKey(ctx, in.ID)
	if err == nil {
		err = d.record(ctx, c, string(k.Subject), "")
	}
	return createdKeyOut{showKey(k, c.Grant.Request().World), secret}, err
}

func (d *deps) endKey(ctx context.Context, c *op.Call, in idIn) (endedOut, error) {
	k, err := d.findKey(ctx, c, in.ID)
	if err == nil {
		err = d.Identity.RevokeKey(ctx, in.ID)
	}
	if err != nil {
		return endedOut{}, err
	}
	return endedOut(in), d.record(ctx, c, string(k.Subject), k.Name)
}

// onceOf names the call by its caller's idempotency key and its input, so that a repeated call finds what the
// first one made; "" if the caller sent no key. Another caller, another input and another key are other calls.
func onceOf(c *op.Call) string {
	r := c.Grant.Request()
	if r.IdempotencyKey == "" {
		return ""
	}
	return strings.Join([]string{r.Operation, r.World.String(), c.Grant.Caller().Account(), r.IdempotencyKey,
		hex.EncodeToString(r.InputHash[:])}, "\x00")
}

var errNotListed = fault.New(fault.NotFound, "this world's list has no such id; list them to find it")

// findKey returns a key that opens the call's world, and no other unless the caller is the operator.
func (d *deps) findKey(ctx context.Context, c *op.Call, id string) (identity.Key, error) {
	k, err := d.Identity.KeyOf(ctx, id)
	if _, opens := k.Worlds[c.Grant.Request().World]; !opens && (err == nil || errors.Is(err, fault.NotFound)) {
		return k, errNotListed
	}
	if err == nil && (len(k.Worlds) > 1 || k.Operator) && !c.Grant.Caller().Operator {
		err = fault.New(fault.Denied, "this key opens more than this world; ask the operator to change it")
	}
	return k, err
}

// roleWithin returns the role of a name, which is at most the caller's.
func roleWithin(c *op.Call, name string) (access.Role, error) {
	role, _ := access.ParseRole(name) // the schema checked it
	if role > c.Grant.Role() {
		return role, fault.BadField("role", "must be at most your own, %s", c.Grant.Role())
	}
	return role, nil
}
