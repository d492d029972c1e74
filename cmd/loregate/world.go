package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/slicesx"
	"loregate/internal/world"
)

type worldCmd struct {
	Create    worldCreateCmd    `cmd:"" help:"Create a world."`
	List      worldListCmd      `cmd:"" help:"List worlds."`
	Configure worldConfigureCmd `cmd:"" help:"Change a world's title and settings."`
	Member    memberCmd         `cmd:"" help:"Manage the members of a world."`
	Fork      worldForkCmd      `cmd:"" help:"Create a world as a copy of another."`
	Move      worldMoveCmd      `cmd:"" help:"Move a world to another database while it is served."`
	Reset     worldResetCmd     `cmd:"" help:"Reset a playthrough to the state in which it was created."`
}

type worldCreateCmd struct {
	common
	Slug     string `arg:"" help:"Short name: a-z, 0-9 and '-'."`
	Title    string `help:"Title for people."`
	GMRights string `help:"Who renames, deletes and restores cards and sets levels: all (game masters too) or campaign (admins)." name:"gm-rights" enum:"all,campaign" default:"all"`
}

func (w worldCreateCmd) Run(ctx context.Context, out io.Writer) error {
	return w.withApp(ctx, func(a *app.App) error {
		made, err := a.CreateWorld(ctx, canon.NewWorld{Slug: w.Slug, Title: w.Title,
			Settings: canon.Settings{GMRights: w.GMRights}})
		if err != nil {
			return err
		}
		if _, err = fmt.Fprintf(out, "%s\t%s\n", made.Slug, made.ID); err == nil {
			a.Config.PrintConnectHere(os.Stderr, made.Slug)
		}
		return err
	})
}

type worldListCmd struct {
	common
	listing
}

type worldRow struct {
	Slug    string         `json:"slug"`
	Title   string         `json:"title"`
	ID      access.WorldID `json:"id"`
	Created time.Time      `json:"created"`
}

var worldTable = table[worldRow]{"SLUG TITLE ID CREATED", func(w worldRow) []string {
	return []string{w.Slug, w.Title, w.ID.String(), formatMinute(w.Created)}
}}

func (w worldListCmd) Run(ctx context.Context, out io.Writer) error {
	return w.withApp(ctx, func(a *app.App) error {
		worlds, err := a.Canon.Worlds(ctx)
		if err != nil {
			return err
		}
		var rows []worldRow
		for _, world := range worlds {
			rows = append(rows, worldRow{world.Slug, world.Title, world.ID, world.CreatedAt})
		}
		return worldTable.print(out, w.listing, rows)
	})
}

type worldConfigureCmd struct {
	common
	World       string   `arg:"" help:"World by slug or UUID."`
	Title       *string  `help:"Title for people."`
	Description *string  `help:"Description of the world, for the instructions to clients."`
	GMParts     []string `help:"Name parts that make a card visible to game masters only. Default: gm and ai." name:"gm-parts"`
	BatchRole   *string  `help:"Lowest role that may send batches: user, gm or admin."`
	GMRights    *string  `help:"Who renames, deletes and restores cards and sets levels: all (game masters too) or campaign (admins)." name:"gm-rights" placeholder:"WHO"`
	Starter     *string  `help:"Card where players begin." name:"starter-location"`
	Language    string   `help:"Language of the world, by its code, one of ${languages}. A search of the lore then finds all forms of a word." enum:",${languages}" default:"" placeholder:"CODE"`
	ClockRate   string   `help:"Speed of world time relative to real time: 1, or 0 for a clock that a game master advances." name:"clock-rate" placeholder:"NUMBER"`
	Rules       string   `help:"System of rules that settles uncertain acts: srd-5.1, the fifth edition, or freeform. Default: srd-5.1." enum:",srd-5.1,freeform" default:"" placeholder:"SYSTEM"`
	Safety      string   `help:"Safety profile of texts: all-ages, teen or mature." name:"safety-profile" enum:",all-ages,teen,mature" default:"" placeholder:"PROFILE"`
	Generate    string   `help:"Places behind pending exits, when a player wants to go there: off, propose (drafted, and a person decides) or live (drafted, and made if the gates let them through). Default: off." enum:",off,propose,live" default:"" placeholder:"HOW"`
	Drift       string   `help:"Layers over places that the canon denies by now: propose (an agent proposes to end them, and a person decides) or live (they end if the gates let that through). Default: propose." enum:",propose,live" default:"" placeholder:"HOW"`
	DryRun      bool     `help:"Only check, and list the cards that more people would see."`
	Unproven    []string `help:"Kinds of proposals that agents may make without a contextRef: ambience, npc_dialogue, player_action. With none, the default, such proposals wait for a person." name:"unproven" enum:"ambience,npc_dialogue,player_action,none" placeholder:"KIND"`
}

func (w worldConfigureCmd) Run(ctx context.Context, out io.Writer) error {
	if _, ok := world.ParseRate(w.ClockRate); w.ClockRate != "" && !ok {
		return fault.BadField("clock-rate", "must be a number from 0 to 8760, such as 1")
	}
	return w.withApp(ctx, func(a *app.App) error {
		edit := func(title *string, s *canon.Settings) {
			set(title, w.Title)
			set(&s.Description, w.Description)
			set(&s.BatchRole, w.BatchRole)
			set(&s.GMRights, w.GMRights)
			set(&s.Starter, w.Starter)
			if w.GMParts != nil {
				s.GMParts = w.GMParts
			}
			if w.Language != "" {
				app.SetLanguage(s, w.Language)
			}
			if w.Safety != "" {
				app.SetSafetyProfile(s, w.Safety)
			}
			if w.Unproven != nil {
				app.SetUnproven(s, w.Unproven)
			}
			if w.Generate != "" {
				app.SetGenerate(s, w.Generate)
			}
			if w.Drift != "" {
				app.SetDrift(s, w.Drift)
			}
			if w.Rules != "" {
				app.SetRules(s, w.Rules)
			}
			if w.ClockRate != "" {
				app.SetClockRate(s, w.ClockRate)
			}
		}
		r, err := a.ChangeWorld(ctx, app.WorldChange{World: w.World, Edit: edit, DryRun: w.DryRun})
		if err != nil {
			return err
		}
		return printOpened(out, r)
	})
}

// printOpened lists the cards that more people see after a change, or would see after a dry run.
func printOpened(out io.Writer, r canon.Receipt) error {
	verb := "opened"
	if r.DryRun {
		verb = "would open"
	}
	for _, o := range r.Opened {
		if _, err := fmt.Fprintf(out, "%s: %s, from %s to %s\n", verb, o.Name, o.From, o.To); err != nil {
			return err
		}
	}
	return nil
}

func set(at *string, to *string) {
	if to != nil {
		*at = *to
	}
}

type worldForkCmd struct {
	common
	Source string `arg:"" help:"World to copy."`
	Slug   string `arg:"" help:"Short name of the new world."`
	Title  string `help:"Title for people."`
}

func (w worldForkCmd) Run(ctx context.Context, out io.Writer) error {
	return w.withApp(ctx, func(a *app.App) error {
		made, err := a.ForkWorld(ctx, w.Source, canon.NewWorld{Slug: w.Slug, Title: w.Title})
		return printResult(out, err, "%s\t%s\n", made.Slug, made.ID)
	})
}

type worldMoveCmd struct {
	common
	World    string `arg:"" help:"World by slug or UUID."`
	Database string `arg:"" help:"Name of a database of the setting databases, or home."`
}

func (w worldMoveCmd) Run(ctx context.Context, out io.Writer) error {
	return w.withStore(ctx, func(a *app.App) error { return a.MoveWorld(ctx, w.World, w.Database, out) })
}

type memberCmd struct {
	Add    memberAddCmd    `cmd:"" help:"Give a subject a role in a world."`
	Remove memberRemoveCmd `cmd:"" help:"Remove a subject from a world."`
	List   memberListCmd   `cmd:"" help:"List the members of a world."`
	Invite memberInviteCmd `cmd:"" help:"Create an invitation. Its code is shown only once."`
	Accept memberAcceptCmd `cmd:"" help:"Accept an invitation for a subject."`
}

type memberAddCmd struct {
	common
	World   string `arg:"" help:"World by slug or UUID."`
	Subject string `arg:"" help:"Subject: letters, digits and . - _ @"`
	Role    string `help:"user, gm or admin." enum:"user,gm,admin" default:"user"`
	May     string `help:"Rights of a user: read, propose, own (write own cards) or write. Default: as before; new members write." enum:",read,propose,own,write" default:"" placeholder:"RIGHTS"`
	Player  string `help:"Player card that the subject is bound to." placeholder:"CARD"`
}

func (m memberAddCmd) Run(ctx context.Context, _ io.Writer) error {
	role, _ := access.ParseRole(m.Role) // the tag enum allows only roles
	return m.withApp(ctx, func(a *app.App) error {
		spec := app.MemberSpec{Subject: access.Subject(m.Subject), Role: role, Player: m.Player}
		if may, chosen := access.ParseMay(m.May); chosen {
			spec.May = &may
		}
		return a.SetMember(ctx, m.World, spec)
	})
}

type memberRemoveCmd struct {
	common
	World   string `arg:"" help:"World by slug or UUID."`
	Subject string `arg:"" help:"Subject to remove."`
}

func (m memberRemoveCmd) Run(ctx context.Context, _ io.Writer) error {
	return m.withApp(ctx, func(a *app.App) error {
		return a.SetMember(ctx, m.World, app.MemberSpec{Subject: access.Subject(m.Subject)})
	})
}

type memberListCmd struct {
	common
	listing
	World string `arg:"" help:"World by slug or UUID."`
}

type memberRow struct {
	Subject access.Subject `json:"subject"`
	Role    access.Role    `json:"role"`
	May     access.May     `json:"may"`
}

var memberTable = table[memberRow]{"SUBJECT ROLE MAY", func(m memberRow) []string {
	return []string{string(m.Subject), m.Role.String(), m.May.String()}
}}

func (m memberListCmd) Run(ctx context.Context, out io.Writer) error {
	return m.withApp(ctx, func(a *app.App) error {
		members, err := a.Members(ctx, m.World)
		if err != nil {
			return err
		}
		var rows []memberRow
		for _, member := range members {
			if member.Role != access.RoleNone {
				rows = append(rows, memberRow{member.Subject, member.Role, member.May})
			}
		}
		return memberTable.print(out, m.listing, rows)
	})
}

type memberInviteCmd struct {
	common
	World   string        `arg:"" help:"World by slug or UUID."`
	Role    string        `help:"user, gm or admin." enum:"user,gm,admin" default:"user"`
	May     string        `help:"Rights of a user: read (guests), propose, own (write own cards) or write. Default: propose." enum:",read,propose,own,write" default:"" placeholder:"RIGHTS"`
	Expires time.Duration `help:"Time until the code expires." default:"168h"`
}

func (m memberInviteCmd) Run(ctx context.Context, out io.Writer) error {
	role, _ := access.ParseRole(m.Role) // the tag enum allows only roles
	return m.withApp(ctx, func(a *app.App) error {
		may, chosen := access.ParseMay(m.May)
		if !chosen {
			may = access.InvitedMay(role)
		}
		code, err := a.Invite(ctx, m.World, role, may, m.Expires)
		return printResult(out, err, "%s\n", code)
	})
}

type memberAcceptCmd struct {
	common
	Code    string `arg:"" help:"The code that member invite printed."`
	Subject string `arg:"" help:"Subject that accepts: letters, digits and . - _ @"`
}

func (m memberAcceptCmd) Run(ctx context.Context, _ io.Writer) error {
	return m.withApp(ctx, func(a *app.App) error {
		_, err := a.Identity.Accept(ctx, m.Code, access.Subject(m.Subject))
		return err
	})
}

type keyCmd struct {
	Create keyCreateCmd `cmd:"" help:"Create an API key. It is shown only once."`
	List   keyListCmd   `cmd:"" help:"List API keys and passkeys."`
	Tokens keyTokensCmd `cmd:"" help:"List the tokens of players and of seats in games."`
	Revoke keyRevokeCmd `cmd:"" help:"Revoke an API key with its tokens, the play tokens made with it and its open streams; or revoke one play token."`
}

type keyCreateCmd struct {
	common
	Name      string        `arg:"" help:"Name of the key, for people."`
	Subject   string        `help:"Subject that the key acts for. Default: the name, with - for spaces." placeholder:"SUBJECT"`
	Actor     string        `help:"Actor of the calls: person or ai." enum:"person,ai" default:"ai"`
	Role      string        `help:"Highest role: user, gm or admin." enum:"user,gm,admin" default:"user"`
	World     []string      `env:"LOREGATE_WORLD" help:"Worlds that the key opens, by slug or UUID. Default: the only world." placeholder:"WORLD"`
	Tools     []string      `help:"Tools that the key opens: all, default, or those of surfaces such as archive,world." default:"all" aliases:"surface" placeholder:"SET,…"`
	ReadOnly  bool          `help:"Refuse everything that writes or proposes."`
	Operation []string      `help:"Operations that the key opens, from loregate ops. Default: all." placeholder:"NAME"`
	RateClass string        `help:"Profile of rate limits." placeholder:"NAME"`
	Expires   time.Duration `help:"Expire the key after this duration, for example 720h. Default: never." placeholder:"DURATION"`
	Advisory  bool          `help:"Turn all writes with this key into proposals."`
	Approve   bool          `help:"Allow the key to decide on proposals. Only for persons."`
	Operator  bool          `help:"Allow the key to act on the whole instance. Only for persons."`
}

func (k keyCreateCmd) Run(ctx context.Context, out io.Writer) error {
	role, _ := access.ParseRole(k.Role) // the tag enum allows only roles
	if k.Subject == "" {
		k.Subject = subjectOf(k.Name)
	}
	spec := identity.KeySpec{Name: k.Name, Subject: access.Subject(k.Subject), Actor: access.Actor(k.Actor), MaxRole: role,
		Operations: k.Operation, RateClass: k.RateClass, Advisory: k.Advisory, Approve: k.Approve,
		Operator: k.Operator, ReadOnly: k.ReadOnly}
	if k.Expires > 0 {
		spec.Expires = time.Now().Add(k.Expires)
	}
	return k.withApp(ctx, func(a *app.App) error {
		var err error
		if spec.Surfaces, err = a.SurfacesOf(k.Tools); err != nil {
			return err
		}
		secret, id, err := a.CreateKey(ctx, spec, k.World)
		if err != nil {
			return err
		}
		if _, err = fmt.Fprintf(out, "%s\t%s\n", secret, id); err == nil {
			a.Config.PrintConnect(os.Stderr, secret)
		}
		return err
	})
}

// subjectOf makes a subject from a name: its words joined by hyphens. Other characters that a
// subject cannot have stay, and are refused later.
func subjectOf(name string) string {
	return strings.Join(strings.FieldsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || r == ',' }), "-")
}

type keyListCmd struct {
	common
	listing
}

type keyRow struct {
	identity.Key
	Slugs []string `json:"world_slugs"`
	State string   `json:"state"`
}

var keyTable = table[keyRow]{"ID NAME SUBJECT ACTOR ROLE WORLDS EXTRAS STATE", func(k keyRow) []string {
	return []string{k.ID, k.Name, string(k.Subject), string(k.Actor), k.MaxRole.String(),
		cmp.Or(strings.Join(k.Slugs, ","), "-"), cmp.Or(strings.Join(k.describeExtras(), ", "), "-"), k.State}
}}

// describeExtras lists the rights and restrictions of a key apart from its role.
func (k keyRow) describeExtras() (words []string) {
	for _, w := range []struct {
		holds bool
		word  string
	}{{k.Operator, "operator"}, {k.Approve, "approves"}, {k.Advisory, "proposes only"}, {k.ReadOnly, "reads only"},
		{k.Seat != "", "seat " + k.Seat}, {k.Passkey != nil, "passkey"},
		{len(k.Surfaces) > 0, strings.Join(k.Surfaces, "+")}, {len(k.Operations) > 0, strings.Join(k.Operations, "+")},
		{k.RateClass != "", "limits " + k.RateClass}, {!k.Expires.IsZero(), "until " + formatMinute(k.Expires)}} {
		if w.holds {
			words = append(words, w.word)
		}
	}
	return words
}

func (k keyListCmd) Run(ctx context.Context, out io.Writer) error {
	return k.withApp(ctx, func(a *app.App) error {
		keys, err := a.Identity.Keys(ctx)
		if err != nil {
			return err
		}
		worlds, err := a.Canon.Worlds(ctx)
		if err != nil {
			return err
		}
		rows := make([]keyRow, len(keys))
		for i, key := range keys {
			rows[i] = keyRow{Key: key, State: stateOf(key, time.Now())}
			for _, w := range worlds {
				if _, opens := key.Worlds[w.ID]; opens {
					rows[i].Slugs = append(rows[i].Slugs, w.Slug)
				}
			}
		}
		return keyTable.print(out, k.listing, rows)
	})
}

func stateOf(k identity.Key, now time.Time) string {
	switch {
	case !k.Revoked.IsZero():
		return "revoked"
	case !k.Good(now):
		return "expired"
	}
	return "good"
}

type keyTokensCmd struct {
	common
	listing
}

type tokenRow struct {
	app.PlayToken
	State string `json:"state"`
}

var tokenTable = table[tokenRow]{"ID PLAYS WORLD MADE-WITH CREATED UNTIL STATE", func(t tokenRow) []string {
	return []string{t.ID, cmp.Or(replaceControls(t.Plays), t.Player.String()), cmp.Or(t.World, "-"),
		cmp.Or(t.MadeWith, "-"), formatMinute(t.Created), formatMinute(t.Expires), t.State}
}}

func (k keyTokensCmd) Run(ctx context.Context, out io.Writer) error {
	return k.withApp(ctx, func(a *app.App) error {
		tokens, err := a.PlayTokens(ctx)
		if err != nil {
			return err
		}
		rows := slicesx.Map(tokens, func(t app.PlayToken) tokenRow { return tokenRow{t, stateOf(t.Key, time.Now())} })
		return tokenTable.print(out, k.listing, rows)
	})
}

type keyRevokeCmd struct {
	common
	ID string `arg:"" help:"Id of the key, from key list, or id of a play token, from key tokens."`
}

func (k keyRevokeCmd) Run(ctx context.Context, _ io.Writer) error {
	return k.withApp(ctx, func(a *app.App) error { return a.Identity.RevokeKey(ctx, k.ID) })
}

type signingCmd struct {
	Rotate signingRotateCmd `cmd:"" help:"Sign with a new key. The old key verifies tokens until the last of them has expired."`
}

type signingRotateCmd struct{ common }

func (s signingRotateCmd) Run(ctx context.Context, out io.Writer) error {
	return s.withApp(ctx, func(a *app.App) error {
		kid, err := a.Identity.RotateSigningKey(ctx)
		return printResult(out, err, "%s\n", kid)
	})
}
