package op

import (
	"context"
	"slices"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// withReach returns the caller of a part. A key that names the surface of the whole call among its
// surfaces opens what that surface's operations reach, so its surfaces do not restrict the part. Its
// operations do.
func withReach(c access.Caller, whole access.Grant) access.Caller {
	if slices.Contains(c.Surfaces, whole.Request().Surface) {
		c.Surfaces = nil
	}
	return c
}

// partError is the error of a part of a call. It is shown with the codes of the part's surface.
type partError struct {
	error
	operation string
}

func (e *partError) Unwrap() error { return e.error }

func errorOfPart(operation string, err error) error {
	if err == nil {
		return nil
	}
	return &partError{err, operation}
}

// needsCampaign reports whether the operation's input must name a campaign.
func (o *Operation) needsCampaign() bool { return slices.Contains(o.In().Required, campaignField) }

// campaignField is the input field by which operations of a campaign name their world.
const campaignField = "campaign_id"

// soleCampaign returns the id of the world that a call belongs to if its input names none; "" if
// the caller must name one.
func (l *Local) soleCampaign(ctx context.Context, c access.Caller, asked string) (string, error) {
	world, err := l.selectWorld(ctx, c, asked)
	switch {
	case err == nil:
		return world.String(), nil
	case fault.KindOf(err).IsOurs():
		return "", err
	}
	return "", nil
}

// fillIn completes an input by data that the request holds beside it: the only campaign that the
// caller could mean, and the provenance.
func (o *Operation) fillIn(n *node, in *input, r Request) {
	if v := n.member(campaignField); r.sole != "" && v == nil {
		n.kids = append(n.kids, member{campaignField, node{kind: '"', text: r.sole}})
		in.world = r.sole
	}
	if r.Provenance == nil || !o.declaresField("provenance") || n.member("provenance") != nil {
		return
	}
	if v, err := parseJSON(r.Provenance); err == nil {
		n.kids = append(n.kids, member{"provenance", v})
	}
}
