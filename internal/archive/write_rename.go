package archive

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func renameWrites(d *deps) []*op.Operation {
	return []*op.Operation{defineWrite(d, op.Spec{
		Name: "rename_card",
		Asked: []string{
			"give a page another title", "call it something else", "move a page under another one",
			"change an article is called", "from now on it is called", "new heading for a page",
			"put a page under another", "give it a different name", "shall go by another name",
			"the inn is now called otherwise, here and in all texts", "correct the spelling of a title",
			"new title everywhere", "file it elsewhere", "new title for a page",
			"call an article something else", "the name is wrong", "change a heading and all links to it",
		},
		Title: "Rename or move a card",
		Doc: "Rename a card, or move it below another card. The cards below it move with it, and links and nests to them are rewritten in cards whose readers can all see the card. " +
			"The card is still found by its old name, and stays hidden from those to whom it was hidden. dry_run shows the changes.",
		Route: "PUT /api/mcp/cards/{name}/rename", Target: "name", MinRole: access.RoleAdmin, Manages: true,
		Examples: []op.Example{
			{Title: "Rename", Input: `{"name": "Rent Quay", "new_name": "Lease Quay"}`},
			{Title: "Preview a move",
				Input: `{"name": "Rent Quay", "new_name": "Lendwater+Rent Quay", "dry_run": true}`},
		},
	}, renameCard)}
}

type renameIn struct {
	namedCard
	NewName        string `json:"new_name" minlen:"1" maxlen:"1020" jsonschema:"The full new name."`
	UpdateReferers bool   `json:"update_referers,omitzero" default:"true" jsonschema:"Rewrite links and nests that name the card or one below it. Relative ones, such as [[+child]], stay as they are."`
	DryRun         bool   `json:"dry_run,omitzero" jsonschema:"Only show the changes."`
}

type renameOut struct {
	writtenCard
	OldName       string      `json:"old_name"`
	Moved         []childName `json:"moved" jsonschema:"Cards below it that move with it, at most 100, by their new names."`
	MovedCount    int         `json:"moved_count"`
	Referers      []childName `json:"referers" jsonschema:"Cards whose links were rewritten, at most 100."`
	ReferersCount int         `json:"referers_count"`

	followed bool // links are to be rewritten
}

func renameCard(ctx context.Context, d *deps, c *op.Call, in renameIn) (renameOut, error) {
	var p problems
	if p.checkNewName("new_name", in.NewName); p.Err() != nil {
		return renameOut{}, p.Err()
	}
	old := ""
	return surface.Commit(ctx, d.Kit, c, surface.Change[renameOut]{
		Check: checkNames(in.Name, in.NewName),
		Plan: func(p *canon.Plan) error {
			card, err := onlyCard(ctx, p, in.Name)
			if err != nil {
				return err
			}
			old = card.Name
			p.Target(card.ID)
			if err := p.CheckManages(card.ID); err != nil {
				return err
			}
			return planRename(ctx, p, card, in)
		},
		Reply: func(l *canon.Snapshot, r canon.Receipt) (renameOut, error) {
			out, err := replyRenamed(ctx, l, c, r)
			if err != nil {
				return renameOut{}, err
			}
			out.followed = in.UpdateReferers
			if out.OldName = old; r.Change != (uuid.UUID{}) {
				out.OldName, err = nameBefore(ctx, l, r)
			}
			return out, err
		},
	})
}

// planRename plans the rename and its consequences: links in other cards, and the type of all cards
// if the card is a type.
func planRename(ctx context.Context, p *canon.Plan, card canon.Card, in renameIn) error {
	var sources []canon.CardID
	var err error
	if in.UpdateReferers {
		if sources, err = findReferers(ctx, p.Snapshot, card); err != nil {
			return err
		}
	}
	instances, err := cardsOfType(ctx, p.Snapshot, card)
	if err != nil {
		return err
	}
	moved, err := p.Rename(card, in.NewName)
	if err != nil {
		return err
	}
	for _, c := range instances {
		if _, err := p.Update(c, canon.Edit{Type: &moved.Name}); err != nil {
			return err
		}
	}
	for _, id := range sources {
		if err := rewriteReferer(ctx, p, id, card, moved); err != nil {
			return err
		}
	}
	return nil
}

// cardsOfType returns the cards of the type that the card typ defines, or none if it defines no
// type.
func cardsOfType(ctx context.Context, l *canon.Snapshot, typ canon.Card) ([]canon.Card, error) {
	if markup.KeyOf(typ.Type) != markup.KeyOf(canon.TypeCardtype) {
		return nil, nil
	}
	return canon.Collect(l.AllCards(ctx, canon.Filter{Type: typ.Name}))
}

// findReferers returns the cards whose content names a card or one below it, each once.
func findReferers(ctx context.Context, l *canon.Snapshot, card canon.Card) (list []canon.CardID, err error) {
	below, err := allDescendants(ctx, l, card.ID)
	if err != nil {
		return nil, err
	}
	seen := map[canon.CardID]bool{}
	for _, target := range append([]canon.Card{card}, below...) {
		for r, err := range l.AllRefs(ctx, canon.RefQuery{Target: target.Key}) {
			if err != nil {
				return nil, err
			}
			if !seen[r.Ref.From] {
				seen[r.Ref.From] = true
				list = append(list, r.Ref.From)
			}
		}
	}
	return list, nil
}

// rewriteReferer rewrites the references to the old name in one card. It leaves a card unchanged if
// some of its readers cannot see the renamed card: the new name would be revealed to them, and for
// them the old name may mean another card.
func rewriteReferer(ctx context.Context, p *canon.Plan, id canon.CardID, old, moved canon.Card) error {
	source, ok, err := p.Has("~" + id.String())
	if err != nil || !ok || !source.Label.Meet(moved.Label).Equal(source.Label) {
		return err
	}
	before, err := p.Text(source)
	if err != nil {
		return err
	}
	means, err := p.Referred(ctx, source)
	if err != nil {
		return err
	}
	after := redirectRefs(source, before, old.Name, moved.Name, means)
	if after == before {
		return nil
	}
	p.Target(id)
	_, err = p.Update(source, canon.Edit{Content: &after, Follows: true})
	return err
}

// redirectRefs renames the targets of links, nests and listed items, including names below the old
// one. Link texts and everything else stay byte for byte the same. References in means lead to their cards whatever
// these are called.
func redirectRefs(source canon.Card, content, old, now string, means map[string]canon.Card) string {
	turn := func(target string) (string, bool) {
		parts := markup.Parts(target)
		whole := markup.Join(parts...)
		n := len(markup.Parts(old))
		if len(parts) < n || markup.Resolve(target, source.Name) != whole ||
			markup.KeyOf(markup.Join(parts[:n]...)) != markup.KeyOf(old) {
			return "", false
		}
		return markup.Join(append([]string{now}, parts[n:]...)...), true
	}
	rewrite := markup.RewriteRefs
	if source.TextKind() == canon.TextMarkdown {
		rewrite = markup.RewriteMarkdownRefs
	}
	content = rewrite(content, func(r markup.Ref) (string, bool) {
		if _, meant := means[r.Path]; r.External || meant {
			return "", false
		}
		return turn(r.Target)
	})
	if canon.TextOf(source.Type) != canon.TextItems && markup.PartKey(markup.Right(source.Name)) != "tag" {
		return content
	}
	return redirectItems(content, turn)
}

// redirectItems does the same for items that are listed without brackets.
func redirectItems(content string, turn func(string) (string, bool)) string {
	var b strings.Builder
	for line := range strings.Lines(content) {
		if !strings.Contains(line, "[[") {
			for _, item := range markup.Items(line) {
				if to, ok := turn(item); ok {
					line = strings.Replace(line, item, to, 1)
				}
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

// nameBefore returns the target's name before a commit. It is read from the history, so that a
// repeated call can return it too.
func nameBefore(ctx context.Context, l *canon.Snapshot, r canon.Receipt) (string, error) {
	versions, _, err := l.Versions(ctx, r.Targets[0], canon.Page{Limit: 100})
	for _, v := range versions {
		if v.From < r.Seq {
			return v.Name, err
		}
	}
	return "", err
}

func replyRenamed(ctx context.Context, l *canon.Snapshot, c *op.Call, r canon.Receipt) (renameOut, error) {
	w, err := replyWritten(ctx, l, c, r)
	if err != nil {
		return renameOut{}, err
	}
	out := renameOut{writtenCard: w, Referers: w.Children, ReferersCount: len(w.Children)}
	out.Children = nil
	out.Referers = out.Referers[:min(len(out.Referers), maxListed)]
	below, err := allDescendants(ctx, l, r.Targets[0])
	if err != nil {
		return renameOut{}, err
	}
	for i := range below {
		if r.DryRun { // not moved yet
			parts := markup.Parts(below[i].Name)
			was, err := l.Find(ctx, "~"+r.Targets[0].String())
			if err != nil {
				return renameOut{}, err
			}
			below[i].Name = markup.Join(append([]string{out.Name}, parts[len(markup.Parts(was.Name)):]...)...)
		}
	}
	out.Moved, out.MovedCount = childNames(below), len(below)
	return out, nil
}
