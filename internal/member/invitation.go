package member

import (
	"context"
	"fmt"
	"time"

	"loregate/internal/access"
	"loregate/internal/identity"
	"loregate/internal/op"
)

func invitationOps(d *deps) []*op.Operation {
	return []*op.Operation{
		op.Define(declare(op.Spec{
			Name: "list_invitations", Title: "List invitations", Effect: access.Read, MinRole: access.RoleGM,
			Route: "GET /api/invitations",
			Doc:   "List the open invitations to the world, with roles up to yours.",
		}), d.listInvitations),
		op.Define(declare(op.Spec{
			Name: "create_invitation", Title: "Invite people", Effect: access.Write, MinRole: access.RoleGM,
			Route: "POST /api/invitations", Status: 201,
			Doc: "Create a code with which people become members of the world. It is shown once; a call " +
				"repeated with its idempotency key returns the invitation without it. The role is at most yours. " +
				"A player proposes changes unless may says otherwise.",
			Examples: []op.Example{{Title: "For a group of players", Input: `{"role": "user", "uses": 5, "days": 7}`},
				{Title: "For one player", Input: `{}`}, {Title: "For a guest, who only reads", Input: `{"may": "read"}`}},
		}), d.createInvitation),
		op.Define(declare(op.Spec{
			Name: "withdraw_invitation", Title: "Withdraw an invitation", Effect: access.Destroy, MinRole: access.RoleGM,
			Route: "DELETE /api/invitations/{id}",
			Doc:   "End an open invitation. People who accepted it stay members.",
		}), d.withdrawInvitation),
	}
}

type invitation struct {
	ID      string    `json:"id"`
	Role    string    `json:"role"`
	May     string    `json:"may" jsonschema:"The right of a player: read, propose, own (writes own cards) or write."`
	By      string    `json:"by"`
	Uses    int       `json:"uses"`
	Used    int       `json:"used"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
}

func showInvitation(i identity.Invitation) invitation {
	return invitation{i.ID, i.Role.String(), i.May.String(), string(i.By), i.Uses, i.Used, i.Created, i.Expires}
}

type invitationsOut struct {
	Invitations []invitation `json:"invitations"`
}

func (d *deps) listInvitations(ctx context.Context, c *op.Call, _ struct{}) (out invitationsOut, err error) {
	open, err := d.openInvitations(ctx, c)
	for _, i := range open {
		out.Invitations = append(out.Invitations, showInvitation(i))
	}
	return out, err
}

// openInvitations returns the open invitations of the call's world with roles up to the caller's.
func (d *deps) openInvitations(ctx context.Context, c *op.Call) (open []identity.Invitation, err error) {
	all, err := d.Identity.Invitations(ctx, c.Grant.Request().World)
	for _, i := range all {
		if i.State == identity.InvitationOpen && d.Now().Before(i.Expires) && i.Role <= c.Grant.Role() {
			open = append(open, i)
		}
	}
	return open, err
}

type inviteIn struct {
	Role string `json:"role,omitzero" enum:"user,gm,admin" default:"user" jsonschema:"The role of those who accept it."`
	May  string `json:"may,omitzero" enum:"read,propose,own,write" jsonschema:"For the role user: read (guests), propose, own (write own cards) or write. Default: propose."`
	Uses int    `json:"uses,omitzero" min:"1" max:"20" default:"1" jsonschema:"How many people may accept it."`
	Days int    `json:"days,omitzero" min:"1" max:"90" default:"7" jsonschema:"Days until it ends."`
}

type invitedOut struct {
	Invitation invitation `json:"invitation"`
	Code       string     `json:"code" jsonschema:"Shown only here; empty in the answer to a repeated call."`
}

func (d *deps) createInvitation(ctx context.Context, c *op.Call, in inviteIn) (out invitedOut, err error) {
	role, err := roleWithin(c, in.Role)
	if err != nil {
		return out, err
	}
	may := access.InvitedMay(role)
	if in.May != "" {
		if may, err = mayOf(in.May, role); err != nil {
			return out, err
		}
	}
	i, code, err := d.Identity.Invite(ctx, identity.InvitationSpec{World: c.Grant.Request().World, Role: role, May: may,
		By: c.Grant.Caller().Subject, Uses: in.Uses, Life: time.Duration(in.Days) * 24 * time.Hour, Once: onceOf(c)})
	if err == nil && code != "" { // a repeated call invites nobody more
		err = d.record(ctx, c, i.ID, fmt.Sprintf("%s, for %d", rightsText(role, may), in.Uses))
	}
	return invitedOut{showInvitation(i), code}, err
}

type idIn struct {
	ID string `json:"id" maxlen:"100" jsonschema:"The id in the list."`
}

type endedOut struct {
	ID string `json:"id"`
}

func (d *deps) withdrawInvitation(ctx context.Context, c *op.Call, in idIn) (endedOut, error) {
	open, err := d.openInvitations(ctx, c)
	if err != nil {
		return endedOut{}, err
	}
	for _, i := range open {
		if i.ID == in.ID {
			if err := d.Identity.Withdraw(ctx, i.World, i.ID); err != nil {
				return endedOut{}, err
			}
			return endedOut(in), d.record(ctx, c, i.ID, i.Role.String())
		}
	}
	return endedOut{}, errNotListed
}
