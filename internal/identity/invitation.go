package identity

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Bounds of an invitation's life.
const (
	DefaultInvitationLife = 7 * 24 * time.Hour
	MaxInvitationLife     = 90 * 24 * time.Hour
	MaxInvitationUses     = 20
)

// InvitationSpec holds the fields that the inviter chooses.
type InvitationSpec struct {
	World   access.WorldID
	Role    access.Role
	May     access.May // of RoleUser
	By      access.Subject
	Subject access.Subject // only this subject may accept; "" is anyone with the code
	Life    time.Duration  // 0 is DefaultInvitationLife
	Uses    int            // people who may accept it; 0 is one, at most MaxInvitationUses
	Once    string         // as KeySpec.Once
}

// Invite creates an invitation and returns its code, which cannot be shown again. The calling
// operation checks whether By may invite to the world with that role. An invitation for several
// people is stored as one for each of them; see placeHash.
func (s *Service) Invite(ctx context.Context, spec InvitationSpec) (Invitation, string, error) {
	spec.Life = cmp.Or(spec.Life, DefaultInvitationLife)
	spec.Uses = cmp.Or(spec.Uses, 1)
	if err := spec.checkFields(); err != nil {
		return Invitation{}, "", err
	}
	code, err := newSecret(codePrefix, s.cfg.Random)
	if err != nil {
		return Invitation{}, "", err
	}
	now := s.cfg.Now().UTC()
	i := Invitation{
		ID: s.newIDOnce(spec.Once), World: spec.World, Role: spec.Role, May: spec.May.For(spec.Role),
		By: spec.By, Subject: spec.Subject,
		State: InvitationOpen, Created: now, Expires: now.Add(spec.Life), Uses: spec.Uses,
	}
	for n := range spec.Uses {
		place := i
		place.ID, place.Hash = placeID(i.ID, n), placeHash(code, n)
		err := s.cfg.Store.AddInvitation(ctx, place)
		if n == 0 && spec.Once != "" && errors.Is(err, ErrExists) {
			return s.findRepeated(ctx, i)
		}
		if err != nil {
			return Invitation{}, "", newUnavailable(err)
		}
	}
	return i, code, nil
}

// findRepeated returns the invitation that an earlier request made, without its code.
func (s *Service) findRepeated(ctx context.Context, i Invitation) (Invitation, string, error) {
	all, err := s.Invitations(ctx, i.World)
	if err != nil {
		return Invitation{}, "", err
	}
	for _, first := range all {
		if first.ID == i.ID && first.State == InvitationOpen && i.Created.Before(first.Expires) {
			return first, "", nil
		}
	}
	return Invitation{}, "", errRepeated
}

// placeID returns the id under which place n of an invitation is stored.
func placeID(id string, n int) string {
	if n == 0 {
		return id
	}
	return id + "." + strconv.Itoa(n)
}

// placeHash returns the hash under which place n of an invitation is stored: that of its code and, but
// for the first, "." and n.
func placeHash(code string, n int) Hash { return sha256.Sum256([]byte(placeID(code, n))) }

func (i InvitationSpec) checkFields() error {
	var f faults
	f.addUnless(!i.World.IsZero(), "world", "is needed")
	f.addUnless(i.Role >= access.RoleUser && i.Role <= access.RoleAdmin, "role", "must be user, gm or admin")
	f.addError("by", access.CheckSubject(i.By))
	if i.Subject != "" {
		f.addError("subject", access.CheckSubject(i.Subject))
	}
	f.addUnless(i.Life > 0 && i.Life <= MaxInvitationLife, "life", "must be at most 90 days")
	f.addUnless(i.Uses >= 1 && i.Uses <= MaxInvitationUses, "uses", "must be 1 to 20")
	return f.toError()
}

// Invitations lists a world's invitations, by creation, without their hashes. An invitation for several
// people is open while one of its places is.
func (s *Service) Invitations(ctx context.Context, w access.WorldID) ([]Invitation, error) {
	places, err := s.cfg.Store.Invitations(ctx, w)
	if err != nil {
		return nil, newUnavailable(err)
	}
	all, at := []Invitation{}, map[string]int{}
	for _, p := range places {
		p.Hash, p.Uses = Hash{}, 1
		if p.State == InvitationAccepted {
			p.Used = 1
		}
		id, _, _ := strings.Cut(p.ID, ".")
		n, known := at[id]
		if !known {
			at[id] = len(all)
			p.ID = id
			all = append(all, p)
			continue
		}
		i := &all[n]
		i.Uses, i.Used = i.Uses+1, i.Used+p.Used
		if p.State == InvitationOpen {
			i.State, i.Closed = p.State, time.Time{}
		}
	}
	return all, nil
}

// Withdraw ends the open places of an invitation of a world.
func (s *Service) Withdraw(ctx context.Context, w access.WorldID, id string) error {
	places, err := s.cfg.Store.Invitations(ctx, w)
	if err != nil {
		return newUnavailable(err)
	}
	withdrawn := false
	for _, p := range places {
		if first, _, _ := strings.Cut(p.ID, "."); first != id {
			continue
		}
		open, err := s.cfg.Store.CloseInvitation(ctx, p.ID, InvitationWithdrawn, s.cfg.Now().UTC())
		if err != nil {
			return newUnavailable(err)
		}
		withdrawn = withdrawn || open
	}
	if !withdrawn {
		return fault.New(fault.NotFound, "no open invitation of this world has this id")
	}
	return nil
}

var errNoInvitation = fault.New(fault.NotFound, "this invitation is not open; ask for a new one")

// FindInvitation returns the invitation of a code if somebody can still accept it, without its hash. The
// error is that of Accept.
func (s *Service) FindInvitation(ctx context.Context, code string) (Invitation, error) {
	for n := range MaxInvitationUses {
		i, err := s.findPlace(ctx, code, n)
		if err != nil {
			return Invitation{}, err
		}
		if i.State == InvitationOpen && i.Subject == "" {
			i.Hash = Hash{}
			return i, nil
		}
	}
	return Invitation{}, errNoInvitation
}

// findPlace returns place n of the invitation of a code, if it exists and has not expired.
func (s *Service) findPlace(ctx context.Context, code string, n int) (Invitation, error) {
	if _, ok := secretHash(codePrefix, code); !ok {
		return Invitation{}, errNoInvitation
	}
	hash := placeHash(code, n)
	i, ok, err := s.cfg.Store.InvitationByHash(ctx, hash)
	if err != nil {
		return Invitation{}, newUnavailable(err)
	}
	if !sameHash(i.Hash, hash) || !ok || !s.cfg.Now().UTC().Before(i.Expires) {
		return Invitation{}, errNoInvitation
	}
	return i, nil
}

// Join makes a new person a member by an invitation's code and opens a session for that person. The
// subject is the name that the person chose and random characters, so that nobody can take over the
// subject of somebody else, or learn whether it exists. The session's rights are those of the person's
// memberships.
func (s *Service) Join(ctx context.Context, code, name string) (m Membership, token string, err error) {
	subject, err := s.NewSubject(name)
	if err != nil {
		return m, "", err
	}
	if m, err = s.Accept(ctx, code, subject); err != nil {
		return m, "", err
	}
	_, token, err = s.addSession(ctx, s.cfg.NewID(), PersonSpec(subject), "")
	return m, token, err
}

// PersonSpec returns the rights of a person's session: at each call, those of the memberships of then.
func PersonSpec(subject access.Subject) KeySpec {
	return KeySpec{Name: "session", Subject: subject, Actor: access.Person, MaxRole: access.RoleAdmin, Approve: true}
}

// NewSubject returns a subject that nobody has, made of the letters and digits of a name and random
// characters.
func (s *Service) NewSubject(name string) (access.Subject, error) {
	var f faults
	f.checkName("name", name)
	if err := f.toError(); err != nil {
		return "", err
	}
	secret, err := newSecret("", s.cfg.Random)
	if err != nil {
		return "", err
	}
	word := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r) && r <= 0x2fff, unicode.IsDigit(r) && r < 0x80, r == '.', r == '_':
			return unicode.ToLower(r)
		}
		return '-'
	}, name)
	for len(word) > 60 {
		_, size := utf8.DecodeLastRuneInString(word)
		word = word[:len(word)-size]
	}
	return access.Subject(strings.Trim(word, "-") + "-" + secret[:subjectChars]), nil
}

// subjectChars are the random characters at the end of a new subject: 40 bits.
const subjectChars = 8

// Accept makes a subject a member by an invitation's code, and returns the membership. The error is
// fault.NotFound, with the same text, for a code that is unknown, used, withdrawn, expired or meant
// for another subject. A subject who already has that role with those rights, or more, keeps it. If an
// acceptance fails half way, the same subject can repeat it.
func (s *Service) Accept(ctx context.Context, code string, subject access.Subject) (Membership, error) {
	if err := access.CheckSubject(subject); err != nil {
		return Membership{}, fault.BadField("subject", "%s", err)
	}
	if _, err := s.findPlace(ctx, code, 0); err != nil {
		return Membership{}, err
	}
	if s.cfg.Joiner == nil {
		return Membership{}, fault.New(fault.Rule, "this instance has no invitations; ask its operator for a key")
	}
	for n := range MaxInvitationUses {
		i, err := s.findPlace(ctx, code, n)
		if err != nil {
			return Membership{}, err
		}
		if i.State == InvitationAccepted && i.Subject == subject {
			return Membership{}, errNoInvitation
		}
		mine, err := s.cfg.Store.ClaimInvitation(ctx, i.ID, subject)
		if err != nil {
			return Membership{}, newUnavailable(err)
		}
		if mine {
			return s.joinWorld(ctx, i, subject, s.cfg.Now().UTC())
		}
	}
	return Membership{}, errNoInvitation
}

func (s *Service) joinWorld(ctx context.Context, i Invitation, subject access.Subject,
	now time.Time) (Membership, error) {
	m := Membership{World: i.World, Subject: subject, Role: i.Role, May: i.May}
	today, err := s.cfg.Worlds.Memberships(ctx, subject)
	if err != nil {
		return Membership{}, newUnavailable(err)
	}
	held := false
	for _, t := range today {
		if t.World == i.World {
			m.Player = t.Player
			if t.Role > i.Role || t.Role == i.Role && t.May <= i.May {
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
