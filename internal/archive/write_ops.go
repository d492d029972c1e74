package archive

import (
	"cmp"
	"context"
	"strconv"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

// writeOperations returns the operations that change cards or start jobs about them.
func writeOperations(d *deps) []*op.Operation {
	var all []*op.Operation
	for _, area := range []func(*deps) []*op.Operation{
		cardWrites, partWrites, batchWrites, attachWrites, restoreWrites, stepWrites, adminWrites, markedWrites,
		renameWrites, linkWrites, spoilerWork, jobWork, backupWork,
		backupFiles, healthWork, replaceWrites, tagWrites, weeklyWrites, fetchWrites,
	} {
		all = append(all, area(d)...)
	}
	return all
}

// defineWrite declares an operation that commits. Effect is Write and MinRole is the user role
// unless s says otherwise.
func defineWrite[In, Out any](d *deps, s op.Spec,
	handle func(ctx context.Context, d *deps, c *op.Call, in In) (Out, error)) *op.Operation {
	s.Surfaces = []string{Surface}
	s.Effect = cmp.Or(s.Effect, access.Write)
	if !s.NoWorld {
		s.MinRole = max(s.MinRole, access.RoleUser)
	}
	return op.Define(s, func(ctx context.Context, c *op.Call, in In) (Out, error) { return handle(ctx, d, c, in) })
}

// checkNames returns a check of the name arguments of a change against the name rules.
func checkNames(names ...string) func(*canon.Snapshot) error {
	return func(l *canon.Snapshot) error {
		for _, n := range names {
			if err := checkNameRules(l, n); err != nil {
				return err
			}
		}
		return nil
	}
}

// targetCard is surface.TargetCard for a caller that needs the card: a card that is not visible
// gives fault.NotFound.
func targetCard(ctx context.Context, l *canon.Snapshot, r canon.Receipt, n int) (canon.Card, error) {
	if c, ok, err := surface.TargetCard(ctx, l, r, n); err != nil || ok {
		return c, err
	}
	return l.Find(ctx, "~"+r.Targets[n].String())
}

// writtenCard is a card after a write.
type writtenCard struct {
	summary
	ETag     op.ReadTag  `json:"etag,omitzero" jsonschema:"After a write of the whole content: send it as if_match with the next such write."`
	Codename string      `json:"codename,omitzero"`
	ChangeID string      `json:"change_id,omitzero" jsonschema:"Id of the change; undo_change reverts it. Absent if nothing changed."`
	Children []childName `json:"children,omitzero" jsonschema:"Child cards that were written too."`
	Homonyms []summary   `json:"homonyms,omitzero" jsonschema:"Other cards of this name at other levels; request them as ~ID."`
	DryRun   bool        `json:"dry_run,omitzero" jsonschema:"Nothing was changed."`
	hiding
	OpenText string `json:"open_text,omitzero" jsonschema:"Of a dry run, for game masters: the text without its hidden parts, as those read it who only see the card."`

	Matches int    `json:"matches,omitzero" jsonschema:"Of a dry run: number of places that the patch would replace."`
	Diff    string `json:"diff,omitzero" jsonschema:"Of a dry run: diff of the content."`

	url string // REST address of the card
}

// replyWritten describes the first target, and the other targets as its children.
func replyWritten(ctx context.Context, l *canon.Snapshot, c *op.Call, r canon.Receipt) (writtenCard, error) {
	if c, ok := surface.CommittedCard(r, 0); ok && !r.DryRun {
		// The homonyms of the card are needed below. The snapshot caches them, which saves looking
		// up the card itself by id.
		if _, err := l.Homonyms(ctx, c.Key); err != nil {
			return writtenCard{}, err
		}
	}
	card, err := targetCard(ctx, l, r, 0)
	if err != nil {
		return writtenCard{}, err
	}
	out := writtenCard{summary: summaryFromCard(l, card), Codename: card.Codename, ChangeID: changeID(r), DryRun: r.DryRun,
		url: c.BaseURL + cardPath(card.Name)}
	if r.DryRun {
		now, there, err := l.ByID(ctx, card.ID)
		if err != nil {
			return writtenCard{}, err
		}
		if there {
			out.Version = now.Version(l.View()) // nothing was changed
		}
	}
	for n := range r.Targets[1:] {
		child, ok, err := surface.TargetCard(ctx, l, r, n+1)
		if err != nil {
			return writtenCard{}, err
		}
		if ok {
			out.Children = append(out.Children, childName{child.Name, child.Type, child.ID})
		}
	}
	same, err := l.Homonyms(ctx, card.Key)
	if err != nil {
		return writtenCard{}, err
	}
	for _, o := range same {
		if o.ID != card.ID {
			out.Homonyms = append(out.Homonyms, summaryFromCard(l, o))
		}
	}
	if out.hiding, err = hidingOf(ctx, l, card, r); err != nil {
		return writtenCard{}, err
	}
	if out.OpenText, err = openText(ctx, l, card, r); err != nil {
		return writtenCard{}, err
	}
	if len(out.Hidden) > 0 && !r.DryRun {
		text, err := l.Content(ctx, card)
		if err != nil {
			return writtenCard{}, err
		}
		out.ContentLength = utf8.RuneCountInString(text)
	}
	if !r.DryRun {
		c.Reply.ETag = strconv.FormatUint(uint64(out.Version), 10)
	}
	return out, nil
}

// openText returns the text that those would read after a dry run who see a card and none of its hidden parts.
func openText(ctx context.Context, l *canon.Snapshot, c canon.Card, r canon.Receipt) (string, error) {
	if !r.DryRun || l.View().Level < access.LevelGM || canon.TextOf(c.Type) == canon.TextFile {
		return "", nil
	}
	text, err := l.Body(ctx, c.Content)
	return markup.Clean(text), err
}

func changeID(r canon.Receipt) string {
	if r.Change == [16]byte{} {
		return ""
	}
	return r.Change.String()
}

// cardLocation returns the path of a card: by name, or by id if the name means another card to this
// caller.
func cardLocation(ctx context.Context, l *canon.Snapshot, c summary) (string, error) {
	found, ok, err := l.Exists(ctx, c.Name)
	if ok && found.ID == c.ID {
		return cardPath(c.Name), err
	}
	return cardPath("~" + c.ID.String()), err
}

// requireRole refuses a part of a call that needs a higher role.
func requireRole(l *canon.Snapshot, role access.Role, what string) error {
	if l.Grant().Role() >= role {
		return nil
	}
	return deniedFor(role, l.Grant().Role(), what)
}
