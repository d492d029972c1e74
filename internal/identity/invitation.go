package identity

import (
	"context"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Bounds of an invitation's life.
const (
	DefaultInvitationLife = 7 * 24 * time.Hour
	MaxInvitationLife     = 90 * 24 * time.Hour
)

// InvitationSpec holds the fields that the inviter chooses.
type InvitationSpec struct {
	World   access.WorldID
	Role    access.Role
	By      access.Subject
	Subject access.Subject // only this subject may accept; "" is anyone with the code
	Life    time.Duration  // 0 is DefaultInvitationLife
}

// Invite creates an invitation and returns its code, which cannot be shown again. The calling
// operation checks whether By may invite to the world with that role.
func (s *Service) Invite(ctx context.Context, spec InvitationSpec) (Invitation, string, error) {
	if spec.Life == 0 {
		spec.Life = DefaultInvitationLife
	}
	if err := spec.checkFields(); err != nil {
		return Invitation{}, "", err
	}
	code, err := newSecret(codePrefix, s.cfg.Random)
	if err != nil {
		return Invitation{}, "", err
	}
	hash, _ := secretHash(codePrefix, code)
	now := s.cfg.Now().UTC()
	i := Invitation{
		ID: s.cfg.NewID(), Hash: hash, World: spec.World, Role: spec.Role, By: spec.By, Subject: spec.Subject,
		State: InvitationOpen, Created: now, Expires: now.Add(spec.Life),
	}
	if err := s.cfg.Store.AddInvitation(ctx, i); err != nil {
		return Invitation{}, "", newUnavailable(err)
	}
	i.Hash = Hash{}
	return i, code, nil
}

func (i InvitationSpec) checkFields() error {
	var f faults
	f.addUnless(!i.World.IsZero(), "world", "is needed")
	f.addUnless(i.Role >= access.RoleUser && i.Role <= access.RoleAdmin, "role", "must be user, gm or admin")
	f.addError("by", access.CheckSubject(i.By))
	if i.Subject != "" {
		f.addError("subject", access.CheckSubject(i.Subject))
	}
	f.addUnless(i.Life > 0 && i.Life <= MaxInvitationLife, "life", "must be at most 90 days")
	return f.toError()
}

// Invitations lists a world's invitations, by creation, without their hashes.
func (s *Service) Invitations(ctx context.Context, w access.WorldID) ([]Invitation, error) {
	all, err := s.cfg.Store.Invitations(ctx, w)
	if err != nil {
		return nil, newUnavailable(err)
	}
	for n := range all {
		all[n].Hash = Hash{}
	}
	return all, nil
}

// Withdraw ends an open invitation of a world.
func (s *Service) Withdraw(ctx context.Context, w access.WorldID, id string) error {
	all, err := s.Invitations(ctx, w)
	if err != nil {
		return err
	}
	for _, i := range all {
		if i.ID != id {
			continue
		}
		open, err := s.cfg.Store.CloseInvitation(ctx, id, InvitationWithdrawn, s.cfg.Now().UTC())
		if err != nil {
			return newUnavailable(err)
		}
		if open {
			return nil
		}
	}
	return fault.New(fault.NotFound, "no open invitation of this world has this id")
}

// Accept makes a subject a member by an invitation's code, and returns the membership. The error is
// fault.NotFound, with the same text, for a code that is unknown, used, withdrawn, expired or meant
// for another subject. A subject who already has that role or a higher one keeps it. If an
// acceptance fails half way, the same subject can repeat it.
func (s *Service) Accept(ctx context.Context, code string, subject access.Subject) (Membership, error) {
	none := fault.New(fault.NotFound, "this invitation is not open; ask for a new one")
	if err := access.CheckSubject(subject); err != nil {
		return Membership{}, fault.BadField("subject", "%s", err)
	}
	hash, ok := secretHash(codePrefix, code)
	if !ok {
		return Membership{}, none
	}
	if s.cfg.Joiner == nil {
		return Membership{}, fault.New(fault.Rule, "this instance has no invitations; ask its operator for a key")
	}
	now := s.cfg.Now().UTC()
	i, ok, err := s.cfg.Store.InvitationByHash(ctx, hash)
	if err != nil {
		return Membership{}, newUnavailable(err)
	}
	if !sameHash(i.Hash, hash) || !ok || !now.Before(i.Expires) {
		return Membership{}, none
	}
	mine, err := s.cfg.Store.ClaimInvitation(ctx, i.ID, subject)
	if err != nil {
		return Membership{}, newUnavailable(err)
	}
	if !mine {
		return Membership{}, none
	}
	return s.joinWorld(ctx, i, subject, now)
}

func (s *Service) joinWorld(ctx context.Context, i Invitation, subject access.Subject,
	now time.Time) (Membership, error) {
	m := Membership{World: i.World, Subject: subject, Role: i.Role}
	today, err := s.cfg.Worlds.Memberships(ctx, subject)
	if err != nil {
		return Membership{}, newUnavailable(err)
	}
	held := false
	for _, t := range today {
		if t.World == i.World {
			m.Player = t.Player
			if t.Role >= i.Role {
				m, held = t, true
			}
		}
	}
	if !held {
		if err := s.cfg.Joiner.Join(ctx, m, i.By); err != nil {
			return Membership{}, err
		}
	}
	if _, err := s.cfg.Store.CloseInvitation(ctx, i.ID, InvitationAccepted, now); err != nil {
		return Membership{}, newUnavailable(err)
	}
	s.Invalidate()
	return m, nil
}
