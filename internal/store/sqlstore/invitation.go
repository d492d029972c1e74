package sqlstore

import (
	"context"
	"time"

	"loregate/internal/access"
	"loregate/internal/identity"
)

const invitationColumns = "SELECT id, hash, world, role, invited_by, subject, state, created, expires, closed, may " +
	"FROM invitations"

func readInvitation(r Row) (identity.Invitation, error) {
	i := identity.Invitation{
		ID: r.Text(0), World: access.WorldID(r.Bytes(2)), Role: access.Role(r.Int(3)), By: access.Subject(r.Text(4)),
		Subject: access.Subject(r.Text(5)), State: identity.InvitationState(r.Text(6)),
		Created: timeFromNanos(r.Int(7)), Expires: timeFromNanos(r.Int(8)), Closed: timeFromNanos(r.Int(9)),
		May: access.May(r.Int(10)),
	}
	copy(i.Hash[:], r.Bytes(1))
	return i, nil
}

// AddInvitation stores an invitation.
func (i identities) AddInvitation(ctx context.Context, v identity.Invitation) error {
	return i.changeCounted(ctx, func(c Conn) (int64, error) {
		if err := checkUnused(ctx, c, "invitations", v.ID, v.Hash); err != nil {
			return 0, err
		}
		return c.Exec(ctx, `INSERT INTO invitations (id, hash, world, role, invited_by, subject, state, created,
				expires, closed, may)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
			v.ID, v.Hash[:], v.World[:], int64(v.Role), string(v.By), string(v.Subject), string(v.State),
			toNanos(v.Created), toNanos(v.Expires), toNanos(v.Closed), int64(v.May))
	})
}

// InvitationByHash returns the invitation with a hash.
func (i identities) InvitationByHash(ctx context.Context, h identity.Hash) (identity.Invitation, bool, error) {
	return findOne(ctx, i.db, readInvitation, invitationColumns+" WHERE hash = $1", h[:])
}

// Invitations lists a world's invitations by creation.
func (i identities) Invitations(ctx context.Context, w access.WorldID) (all []identity.Invitation, err error) {
	err = i.db.Snapshot(ctx, func(c Conn) (err error) {
		all, err = queryAll(ctx, c, readInvitation, invitationColumns+" WHERE world = $1 ORDER BY created, n", w[:])
		return err
	})
	return all, err
}

// ClaimInvitation assigns an open invitation to a subject, unless another subject has it.
func (i identities) ClaimInvitation(ctx context.Context, id string, to access.Subject) (mine bool, err error) {
	err = i.changeCounted(ctx, func(c Conn) (int64, error) {
		n, err := c.Exec(ctx, "UPDATE invitations SET subject = $2 WHERE id = $1 AND state = $3 AND subject IN ('', $2)",
			id, string(to), string(identity.InvitationOpen))
		mine = n > 0
		return n, err
	})
	return mine && err == nil, err
}

// CloseInvitation closes an open invitation.
func (i identities) CloseInvitation(ctx context.Context, id string, as identity.InvitationState,
	at time.Time) (open bool, err error) {
	err = i.changeCounted(ctx, func(c Conn) (int64, error) {
		n, err := c.Exec(ctx, "UPDATE invitations SET state = $2, closed = $3 WHERE id = $1 AND state = $4",
			id, string(as), toNanos(at), string(identity.InvitationOpen))
		open = n > 0
		return n, err
	})
	return open && err == nil, err
}
