package member

import (
	"context"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/op"
	"loregate/internal/surface"
)

// Surface is the name of the surface.
const Surface = "members"

// Identity keeps keys and invitations. It is *identity.Service.
type Identity interface {
	Invite(ctx context.Context, spec identity.InvitationSpec) (identity.Invitation, string, error)
	Invitations(ctx context.Context, w access.WorldID) ([]identity.Invitation, error)
	Withdraw(ctx context.Context, w access.WorldID, id string) error
	NewSubject(name string) (access.Subject, error)
	CreateSignIn(ctx context.Context, spec identity.KeySpec) (code string, err error)
	CreateKey(ctx context.Context, spec identity.KeySpec) (identity.Key, string, error)
	RotateKey(ctx context.Context, id string) (identity.Key, string, error)
	RevokeKey(ctx context.Context, id string) error
	KeysOfWorld(ctx context.Context, w access.WorldID) ([]identity.Key, error)
	KeyOf(ctx context.Context, id string) (identity.Key, error)
	Invalidate()
}

// Config has the parts that the operations work on. All are needed but Now.
type Config struct {
	Canon    *canon.Canon
	Identity Identity
	Surfaces []string         // surfaces that a key may be limited to
	Now      func() time.Time // time.Now when nil
}

type deps struct {
	surface.Kit
	Config
}

// New returns the surface.
func New(c Config) op.Surface {
	if c.Now == nil {
		c.Now = time.Now
	}
	d := &deps{surface.Kit{Name: Surface, Canon: c.Canon}, c}
	s := op.Surface{Name: Surface, Title: "Members and keys",
		Doc: "Who is in the world, who is invited, and which programs have a key?"}
	for _, list := range [][]*op.Operation{memberOps(d), invitationOps(d), keyOps(d), auditOps(d)} {
		s.Operations = append(s.Operations, list...)
	}
	return s
}

// declare completes the declaration of an operation of this surface.
func declare(s op.Spec) op.Spec {
	s.Surfaces, s.NoTool, s.People = []string{Surface}, true, true
	return s
}

func memberOps(d *deps) []*op.Operation {
	return []*op.Operation{
		op.Define(declare(op.Spec{
			Name: "list_members", Title: "List members", Effect: access.Read, MinRole: access.RoleAdmin,
			Route: "GET /api/members",
			Doc:   "List the people of the world with their roles.",
		}), d.listMembers),
		op.Define(declare(op.Spec{
			Name: "set_member_role", Title: "Change a member's role", Effect: access.Write, MinRole: access.RoleAdmin,
			Route: "PATCH /api/members/{subject}", Idempotent: true,
			Doc: "Give a member another role, or a player other rights. Sessions, keys and grants that depend on the " +
				"membership have the new rights within a second.",
			Examples: []op.Example{{Title: "Make a game master", Input: `{"subject": "ada", "role": "gm"}`},
				{Title: "Let a player write", Input: `{"subject": "ada", "role": "user", "may": "write"}`}},
		}), d.setRole),
		op.Define(declare(op.Spec{
			Name: "end_membership", Title: "End a membership", Effect: access.Destroy, MinRole: access.RoleAdmin,
			Route: "DELETE /api/members/{subject}",
			Doc:   "Take a person out of the world. The person's sessions, keys and grants no longer open it, within a second.",
		}), d.endMembership),
		op.Define(declare(op.Spec{
			Name: "create_sign_in_link", Title: "Let a member sign in again", Effect: access.Write,
			MinRole: access.RoleAdmin, Route: "POST /api/members/{subject}/sign-in",
			Doc: "Create a code that signs a member in, once, within ten minutes, for a member who has lost the session and " +
				"has no passkey. The session opens this world only.",
		}), d.createSignIn),
	}
}

type member struct {
	Subject string `json:"subject"`
	Role    string `json:"role"`
	May     string `json:"may" jsonschema:"read, propose, own (writes own cards) or write."`
}

type membersOut struct {
	Members []member `json:"members"`
}

func (d *deps) listMembers(ctx context.Context, c *op.Call, _ struct{}) (membersOut, error) {
	return surface.Read(ctx, d.Kit, c, func(s *canon.Snapshot) (out membersOut, err error) {
		list, err := s.Members(ctx)
		for _, m := range list {
			if m.Role > access.RoleNone {
				out.Members = append(out.Members, member{string(m.Subject), m.Role.String(), m.May.String()})
			}
		}
		return out, err
	})
}

type roleIn struct {
	Subject access.Subject `json:"subject" maxlen:"100" jsonschema:"The member."`
	Role    string         `json:"role" enum:"user,gm,admin" jsonschema:"The new role."`
	May     string         `json:"may,omitzero" enum:"read,propose,own,write" jsonschema:"For the role user: read, propose, own (write own cards) or write. Default: as it is."`
}

func (d *deps) setRole(ctx context.Context, c *op.Call, in roleIn) (member, error) {
	role, _ := access.ParseRole(in.Role) // the schema checked it
	if in.May == "" {
		return d.commitRole(ctx, c, in.Subject, role, nil)
	}
	may, err := mayOf(in.May, role)
	if err != nil {
		return member{}, err
	}
	return d.commitRole(ctx, c, in.Subject, role, &may)
}

type subjectIn struct {
	Subject access.Subject `json:"subject" maxlen:"100" jsonschema:"The member."`
}

func (d *deps) endMembership(ctx context.Context, c *op.Call, in subjectIn) (member, error) {
	return d.commitRole(ctx, c, in.Subject, access.RoleNone, nil)
}

// commitRole gives a member a role, and a right unless may is nil. The last admin keeps the role: a world without an
// admin could only be managed by the operator.
func (d *deps) commitRole(ctx context.Context, c *op.Call, subject access.Subject, role access.Role,
	may *access.May) (member, error) {
	defer d.Identity.Invalidate()
	var set canon.MemberImage
	m, err := surface.Commit(ctx, d.Kit, c, surface.Change[member]{
		Plan: func(p *canon.Plan) error {
			list, err := p.Members(ctx)
			if err != nil {
				return err
			}
			m, err := findMember(list, subject)
			if err != nil {
				return err
			}
			if m.Role == access.RoleAdmin && role < access.RoleAdmin && countAdmins(list) == 1 {
				return fault.New(fault.Rule, "this is the only admin; make somebody else an admin first")
			}
			set = canon.MemberImage{Subject: subject, Role: role, May: m.May.For(role), Player: m.Player}
			if may != nil {
				set.May = *may
			}
			return p.SetMember(set)
		},
		Reply: func(*canon.Snapshot, canon.Receipt) (member, error) {
			return member{string(subject), role.String(), set.May.String()}, nil
		},
	})
	if err != nil || c.Reply.Replayed {
		return m, err
	}
	return m, d.record(ctx, c, string(subject), rightsText(role, set.May))
}

// mayOf returns the right of a member with a role, by its name.
func mayOf(name string, role access.Role) (access.May, error) {
	may, _ := access.ParseMay(name) // the schema checked it
	if may != may.For(role) {
		return may, fault.BadField("may", "only players can have less than their role's rights; the role is %s", role)
	}
	return may, nil
}

// rightsText describes rights for the audit, such as "user, propose".
func rightsText(role access.Role, may access.May) string {
	if may == access.MayWrite {
		return role.String()
	}
	return role.String() + ", " + may.String()
}

// record adds the call to the audit of its world.
func (d *deps) record(ctx context.Context, c *op.Call, about, detail string) error {
	return Record(ctx, d.Kit.Canon, c.Grant, about, detail)
}

func countAdmins(list []canon.Member) (n int) {
	for _, m := range list {
		if m.Role == access.RoleAdmin {
			n++
		}
	}
	return n
}

func findMember(list []canon.Member, subject access.Subject) (canon.Member, error) {
	for _, m := range list {
		if m.Subject == subject && m.Role > access.RoleNone {
			return m, nil
		}
	}
	return canon.Member{}, fault.New(fault.NotFound,
		"no member of this world has this name; list the members to find one").
		With("field", "subject")
}

type codeOut struct {
	Code string `json:"code" jsonschema:"Shown only here."`
}

func (d *deps) createSignIn(ctx context.Context, c *op.Call, in subjectIn) (out codeOut, err error) {
	list, err := surface.Read(ctx, d.Kit, c, func(s *canon.Snapshot) ([]canon.Member, error) { return s.Members(ctx) })
	if err != nil {
		return out, err
	}
	if _, err := findMember(list, in.Subject); err != nil {
		return out, err
	}
	spec := identity.PersonSpec(in.Subject)
	spec.Worlds = map[access.WorldID]access.Role{c.Grant.Request().World: access.RoleAdmin} // at most the membership's
	spec.CreatedBy, spec.Vouched = c.Grant.Caller().Subject, true
	if out.Code, err = d.Identity.CreateSignIn(ctx, spec); err != nil {
		return out, err
	}
	return out, d.record(ctx, c, string(in.Subject), "")
}
