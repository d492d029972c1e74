package archive

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
)

// filterForm is a filter among the words of a query: type:Character or in:"Rent Quay".
var filterForm = lazyregexp.New(`(?i)(?:^|\s)(type|tag|level|in):(?:"([^"]*)"|([^\s"]+))`)

// maxWordFilters is the number of filters of a query that count; each may cost a listing.
const maxWordFilters = 8

// asked is a query by relevance without its filters, and the filters.
type asked struct {
	canon.SearchQuery
	named []string // the filters as typed
	notes []string
}

// parseAsked splits the filters from a query. A misspelt value is replaced by the nearest visible one;
// a filter whose value resembles none is left out. The notes say so.
func parseAsked(ctx context.Context, l *canon.Snapshot, q string) (a asked, err error) {
	a.Mode = canon.MatchRelevance
	for _, m := range filterForm.FindAllStringSubmatch(q, maxWordFilters) {
		value := strings.TrimSpace(m[2] + m[3])
		if markup.KeyOf(value) == "" {
			continue
		}
		a.named = append(a.named, strings.TrimSpace(m[0]))
		if err := a.addFilter(ctx, l, strings.ToLower(m[1]), value); err != nil {
			return a, err
		}
	}
	a.Q = strings.TrimSpace(filterForm.ReplaceAllString(q, " "))
	return a, nil
}

func (a *asked) addFilter(ctx context.Context, l *canon.Snapshot, name, value string) error {
	switch name {
	case "level":
		level, ok := access.ParseLevel(strings.ToLower(value))
		if !ok || level == access.LevelNone {
			a.notes = append(a.notes, fmt.Sprintf("There is no level %q: the levels are user, gm and admin.", value))
			return nil
		}
		a.Level = level
	case "type":
		types, err := typesInUse(ctx, l)
		a.Filter.Type = a.knownValue("type", value, types)
		return err
	case "tag":
		tags, _, err := l.Tags(ctx, "", canon.Page{Limit: canon.CountCap})
		list := slicesx.Map(tags, func(t canon.TagCount) tag { return tag{t.Name, t.Count} })
		a.Filter.Tag = a.knownValue("tag", value, list)
		return err
	case "in":
		return a.addPlace(ctx, l, value)
	}
	return nil
}

// addPlace restricts the query to the cards below a card.
func (a *asked) addPlace(ctx context.Context, l *canon.Snapshot, name string) error {
	c, ok, err := l.ByKey(ctx, markup.KeyOf(name))
	if err != nil {
		return err
	}
	if !ok {
		near, err := l.Near(ctx, markup.Clip(name, 255), 1)
		if err != nil {
			return err
		}
		if len(near) == 0 {
			a.notes = append(a.notes, fmt.Sprintf("There is no card %q to look in.", name))
			return nil
		}
		a.notes = append(a.notes, fmt.Sprintf("There is no card %q; looked in %s.", name, near[0]))
		if c, ok, err = l.ByKey(ctx, markup.KeyOf(near[0])); err != nil || !ok {
			return err
		}
	}
	a.Filter.Below = c.Key
	return nil
}

// knownValue returns the known value that a filter names, or the nearest one; "" if none is near.
func (a *asked) knownValue(name, value string, known []tag) string {
	key, letters := markup.KeyOf(value), []rune(markup.Fold(value))
	nearest, least := "", 1+len(letters)/4
	for _, k := range known {
		if markup.KeyOf(k.Name) == key {
			return k.Name
		}
		if slips := markup.Slips(letters, []rune(markup.Fold(k.Name)), least); slips < least ||
			slips == least && nearest == "" {
			nearest, least = k.Name, slips
		}
	}
	if nearest == "" {
		a.notes = append(a.notes, fmt.Sprintf("No card has the %s %q; the filter was left out.", name, value))
	} else {
		a.notes = append(a.notes, fmt.Sprintf("No card has the %s %q; searched with %s.", name, value, nearest))
	}
	return nearest
}

// searchAsked answers a query by relevance. If no card passes its filters, it answers without them,
// and notes that.
func searchAsked(ctx context.Context, l *canon.Snapshot, a asked, p canon.Page) (canon.SearchResult, []string, error) {
	if a.Q == "" {
		result, err := listAsked(ctx, l, a, p)
		return result, a.notes, err
	}
	result, err := l.Search(ctx, a.SearchQuery, p)
	if err != nil {
		return result, nil, err
	}
	notes := slices.Clone(a.notes)
	if result.Total.Count == 0 && (a.Filter.Narrows() || a.Level != 0) {
		notes = append(notes, fmt.Sprintf("No card found passes %s; this is the answer without it.",
			strings.Join(a.named, " ")))
		a.Filter, a.Level = canon.Filter{}, 0
		if result, err = l.Search(ctx, a.SearchQuery, p); err != nil {
			return result, nil, err
		}
	}
	note, err := noteOf(ctx, l, a.Q, result)
	if note != "" {
		notes = append(notes, note)
	}
	return result, notes, err
}

// listAsked lists the cards that pass the filters of a query without words.
func listAsked(ctx context.Context, l *canon.Snapshot, a asked, p canon.Page) (out canon.SearchResult, err error) {
	cards, total, err := l.Cards(ctx, a.Filter, canon.Page{Limit: 50 * p.Limit})
	for _, c := range cards {
		if a.Level == 0 || c.Label.Level == a.Level {
			out.Hits = append(out.Hits, canon.Hit{Card: c})
		}
	}
	out.Hits = out.Hits[:min(len(out.Hits), p.Limit)]
	out.Total = total
	return out, err
}
