package archive

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func weeklyWrites(d *deps) []*op.Operation {
	return []*op.Operation{defineWrite(d, op.Spec{
		Name: "create_weekly_summary",
		Asked: []string{
			"digest of edited lately", "report of the last days", "newsletter of the week", "sum up recent work",
			"done this week, written up", "review of the last seven days", "we achieve this week, as a page",
			"write the round-up", "report on the week", "digest of edits", "newsletter about the last days",
			"recap of changes for readers",
		},
		Title: "Sum up a week",
		Doc: "Write a summary of recently changed cards, grouped by their root card, for people to read and complete. " +
			"It names only cards that the readers of its own level can see. By default it only returns the text; with create true it creates the card.",
		Route: "POST /api/mcp/weekly-summary", Idempotent: true,
		Examples: []op.Example{
			{Title: "Show it", Input: `{"days": 7}`},
			{Title: "Make the card", Input: `{"title": "Week of the Ninth Train", "create": true}`},
		},
	}, createWeeklySummary)}
}

type weeklyIn struct {
	op.Answers
	Days    int    `json:"days,omitzero" default:"7" min:"1" max:"92" jsonschema:"Number of days to cover."`
	Parent  string `json:"parent,omitzero" default:"Weekly Summaries" maxlen:"500" jsonschema:"Parent of the new card."`
	Title   string `json:"title,omitzero" maxlen:"200" jsonschema:"Name of the card below parent; default Week and today's date."`
	Summary string `json:"executive_summary,omitzero" maxlen:"20000" jsonschema:"A first paragraph, in Markdown."`
	Level   string `json:"level,omitzero" enum:"user,gm" default:"user" jsonschema:"Who may read it; only cards that they can see are named."`
	Limit   int    `json:"card_limit,omitzero" default:"200" min:"1" max:"500" jsonschema:"Maximum number of cards to name: those changed last."`
	Create  bool   `json:"create,omitzero" alias:"create_card" jsonschema:"Make the card."`
}

type weeklyOut struct {
	Name     string `json:"name"`
	Content  string `json:"content" jsonschema:"Markdown."`
	Changed  int    `json:"changed" jsonschema:"Cards that changed."`
	Named    int    `json:"named" jsonschema:"Number of these that the text names."`
	Created  bool   `json:"created"`
	ChangeID string `json:"change_id,omitzero"`
}

func createWeeklySummary(ctx context.Context, d *deps, c *op.Call, in weeklyIn) (out weeklyOut, err error) {
	now := d.Canon.Now().UTC()
	if in.Title == "" {
		in.Title = "Week " + now.Format(time.DateOnly)
	}
	level, _ := access.ParseLevel(in.Level) // the schema allows nothing else
	out.Name = markup.Join(in.Parent, in.Title)
	var p problems
	if p.checkNewName("title", out.Name); p.Err() != nil {
		return out, p.Err()
	}
	err = d.Canon.Read(ctx, c.Grant, func(l *canon.Snapshot) error {
		if err := checkNameRules(l, out.Name); err != nil {
			return err
		}
		if level > l.View().Level {
			return requireRole(l, access.Role(level), "a summary of that level")
		}
		seen := l.ForReaders(access.NewLabel(level))
		cards, total, err := seen.Cards(ctx, canon.Filter{UpdatedSince: now.AddDate(0, 0, -in.Days), Sort: canon.SortUpdated},
			canon.Page{Limit: in.Limit})
		out.Changed, out.Named = total.Count, len(cards)
		out.Content = weeklyText(in, cards, total.Count)
		return err
	})
	if err != nil || !in.Create {
		return out, err
	}
	return surface.Commit(ctx, d.Kit, c, surface.Change[weeklyOut]{
		Check: checkNames(out.Name),
		Plan: func(p *canon.Plan) error {
			s := sheet{name: out.Name, typ: "Markdown", text: textIn{Content: &out.Content}, level: level}
			w := newWriter(ctx, d, c, p)
			card, err := w.createCard(&s, out.Name)
			w.setTargets(card)
			return err
		},
		Reply: func(_ *canon.Snapshot, r canon.Receipt) (weeklyOut, error) {
			out.Created, out.ChangeID = true, changeID(r)
			return out, nil
		},
	})
}

// weeklyText lists the cards under the name of their root card.
func weeklyText(in weeklyIn, cards []canon.Card, total int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", in.Title)
	if in.Summary != "" {
		b.WriteString(strings.TrimSpace(in.Summary) + "\n\n")
	}
	fmt.Fprintf(&b, "%d cards changed in %d days.", total, in.Days)
	if len(cards) < total {
		fmt.Fprintf(&b, " The last %d are named.", len(cards))
	}
	b.WriteString("\n")
	groups := map[string][]canon.Card{}
	var order []string
	for _, c := range cards {
		top := markup.Parts(c.Name)[0]
		if groups[top] == nil {
			order = append(order, top)
		}
		groups[top] = append(groups[top], c)
	}
	slices.Sort(order)
	for _, top := range order {
		fmt.Fprintf(&b, "\n## %s\n\n", top)
		for _, c := range groups[top] {
			fmt.Fprintf(&b, "- [[%s]], %s\n", c.Name, c.UpdatedAt.UTC().Format(time.DateOnly))
		}
	}
	b.WriteString("\n## Next\n\n- \n")
	return b.String()
}
