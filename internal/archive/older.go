package archive

import (
	"strings"
	"time"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/slicesx"
	"loregate/internal/surface"
)

// The methods Older add members to REST answers under the names that the card wiki's own client
// reads. They add no new information, only those names. A version's number serves as the id of the
// act that wrote it.

// Older adds the card's address, and whether the card is empty and only holds a place for cards
// below it.
func (o fullCard) Older() any {
	return struct {
		URL     string `json:"url"`
		Virtual bool   `json:"virtual_card"`
	}{o.url, o.ContentLength == 0 && canon.TextOf(o.Type) != canon.TextFile && (len(o.Fields) == 0 || string(o.Fields) == "{}")}
}

// Older adds the card's address.
func (o writtenCard) Older() any {
	return struct {
		URL string `json:"url"`
	}{o.url}
}

type olderChild struct {
	child
	UpdatedAt surface.Stamp `json:"updated_at"`
}

// Older adds the time of each child's last change.
func (o childrenOut) Older() any {
	list := slicesx.Map(o.Children, func(c child) olderChild { return olderChild{c, c.updated} })
	return struct {
		Children []olderChild `json:"children"`
	}{list}
}

type olderHeading struct {
	heading
	Position int    `json:"position"`
	Format   string `json:"format"`
}

// Older adds the card's type, and the position and format of each heading.
func (o outlineOut) Older() any {
	format := "html"
	if o.kind == canon.TextMarkdown {
		format = "markdown"
	}
	list := slicesx.Map(o.Headings, func(h heading) olderHeading { return olderHeading{h, h.Offset, format} })
	return struct {
		Card     string         `json:"card"`
		Type     string         `json:"type"`
		Headings []olderHeading `json:"headings"`
	}{o.Name, o.typ, list}
}

type olderMatch struct {
	textMatch
	Position int    `json:"position"`
	Context  string `json:"context"`
}

// Older adds the query, and each match as one text with its context.
func (o findOut) Older() any {
	list := make([]olderMatch, len(o.Matches))
	for i, m := range o.Matches {
		list[i] = olderMatch{m, m.Offset, strings.Join(strings.Fields(m.Before+" "+m.Match+" "+m.After), " ")}
	}
	return struct {
		Card    string       `json:"card"`
		Query   string       `json:"query"`
		Count   int          `json:"match_count"`
		Length  int          `json:"content_length"`
		Matches []olderMatch `json:"matches"`
	}{o.Name, o.query, o.Total, o.length, list}
}

// act is a version in the form of the act that wrote it.
type act struct {
	ID      uint32         `json:"act_id"`
	At      surface.Stamp  `json:"acted_at"`
	Actor   access.Subject `json:"actor"`
	Action  string         `json:"action"`
	Changes []string       `json:"changes"`
	Comment *string        `json:"comment"`
}

func (v version) toAct() act {
	action := "update"
	switch {
	case v.Trashed:
		action = "delete"
	case v.Version == 1:
		action = "create"
	}
	changes := v.changes
	if changes == nil {
		changes = []string{}
	}
	return act{ID: v.Version, At: v.At, Actor: v.By, Action: action, Changes: changes}
}

// Older adds the versions as acts.
func (o historyOut) Older() any {
	list := slicesx.Map(o.Versions, version.toAct)
	return struct {
		Card      string `json:"card"`
		Revisions []act  `json:"revisions"`
		InTrash   bool   `json:"in_trash"`
	}{o.Name, list, o.inTrash}
}

type snapshot struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Content string `json:"content"`
}

// Older adds the version as the snapshot that an act left, with all of its content.
func (o revisionOut) Older() any {
	return struct {
		Card string `json:"card"`
		act
		Snapshot snapshot `json:"snapshot"`
	}{o.card, o.toAct(), snapshot{o.Name, o.Type, o.whole}}
}

// Older adds the version from which the card was restored.
func (o restoreOut) Older() any {
	type from struct {
		ID uint32        `json:"act_id"`
		At surface.Stamp `json:"acted_at"`
	}
	out := struct {
		Success bool   `json:"success"`
		Card    string `json:"card"`
		From    *from  `json:"restored_from"`
		Message string `json:"message"`
	}{true, o.Name, nil, "the card was restored from the trash"}
	if o.version > 0 {
		out.From, out.Message = &from{o.version, o.writtenAt}, "the card was reverted to that version"
	}
	return out
}

type olderTrashed struct {
	trashedCard
	At surface.Stamp  `json:"deleted_at"`
	By access.Subject `json:"deleted_by"`
}

// Older adds the time of each card's deletion and the subject who deleted it.
func (o trashOut) Older() any {
	list := slicesx.Map(o.Cards, func(c trashedCard) olderTrashed { return olderTrashed{c, c.TrashedAt, c.By} })
	return struct {
		Cards []olderTrashed `json:"cards"`
	}{list}
}

// Older adds the card under its new name.
func (o renameOut) Older() any {
	return struct {
		Status  string  `json:"status"`
		NewName string  `json:"new_name"`
		Updated bool    `json:"updated_referers"`
		Card    summary `json:"card"`
	}{"renamed", o.Name, o.followed, o.summary}
}

// Older adds the items as results.
func (o queryOut) Older() any {
	return struct {
		Results []queryItem `json:"results"`
	}{o.Items}
}

// olderQuery is the object in which older clients send the filters of run_query. A time is given as
// [">=", "2026-01-31"] or ["between", from, to].
type olderQuery struct {
	Name      string   `json:"name,omitzero" maxlen:"255"`
	Content   string   `json:"content,omitzero" maxlen:"500"`
	Type      string   `json:"type,omitzero" maxlen:"255"`
	Prefix    string   `json:"prefix,omitzero" maxlen:"1020"`
	NotName   string   `json:"not_name,omitzero" maxlen:"1020"`
	Tag       string   `json:"tag,omitzero" maxlen:"255"`
	Since     string   `json:"updated_since,omitzero" maxlen:"64"`
	Before    string   `json:"updated_before,omitzero" maxlen:"64"`
	UpdatedAt []string `json:"updated_at,omitzero" maxitems:"3" maxlen:"64"`
	CreatedAt []string `json:"created_at,omitzero" maxitems:"3" maxlen:"64"`
}

// fillSelection copies the filters to a selection.
func (q olderQuery) fillSelection(s *selection) (err error) {
	s.Name, s.Content = q.Name, q.Content
	s.Type, s.Prefix, s.NotName, s.Tag = q.Type, q.Prefix, q.NotName, q.Tag
	for _, t := range []struct {
		field, text string
		to          *time.Time
	}{{"updated_since", q.Since, &s.UpdatedSince}, {"updated_before", q.Before, &s.UpdatedBefore}} {
		if t.text == "" {
			continue
		}
		if *t.to, err = parseTime(t.text); err != nil {
			return badTime("query." + t.field)
		}
	}
	if err := parseTimeSpan("query.updated_at", q.UpdatedAt, &s.UpdatedSince, &s.UpdatedBefore); err != nil {
		return err
	}
	return parseTimeSpan("query.created_at", q.CreatedAt, &s.CreatedSince, &s.CreatedBefore)
}

func badTime(field string) error {
	return fault.BadField(field,
		`must be times such as 2026-01-31, as in [">=", "2026-01-31"] or ["between", "2026-01-01", "2026-01-31"]`)
}

// parseTimeSpan parses a comparison of times. A bound that is a date means that whole day.
func parseTimeSpan(field string, words []string, since, before *time.Time) error {
	if len(words) == 0 {
		return nil
	}
	var at [2]time.Time
	for i, w := range words[1:] {
		t, err := parseTime(w)
		if err != nil {
			return badTime(field)
		}
		at[i] = t
	}
	next := func(i int) time.Time { // the first instant after bound i
		if len(words[i+1]) == len(time.DateOnly) {
			return at[i].AddDate(0, 0, 1)
		}
		return at[i].Add(time.Millisecond)
	}
	switch {
	case len(words) == 2 && words[0] == ">=":
		*since = at[0]
	case len(words) == 2 && words[0] == ">":
		*since = next(0)
	case len(words) == 2 && words[0] == "<":
		*before = at[0]
	case len(words) == 2 && words[0] == "<=":
		*before = next(0)
	case len(words) == 3 && words[0] == "between":
		*since, *before = at[0], next(1)
	default:
		return badTime(field)
	}
	return nil
}

type olderSuggestion struct {
	linkSuggestion
	Card string `json:"matching_card"`
}

// Older adds the target card of each suggestion, and the text with all links.
func (o linkOut) Older() any {
	type stats struct {
		Terms int `json:"terms_in_index"`
		Found int `json:"suggestions_found"`
		Cards int `json:"unique_cards_referenced"`
	}
	list := slicesx.Map(o.Suggestions, func(s linkSuggestion) olderSuggestion { return olderSuggestion{s, s.Target} })
	return struct {
		Card        string            `json:"card_name"`
		Scope       string            `json:"scope"`
		Shortest    int               `json:"min_term_length"`
		Stats       stats             `json:"stats"`
		Suggestions []olderSuggestion `json:"suggestions"`
		Preview     string            `json:"preview,omitzero"`
	}{o.Name, o.in.Scope, o.in.MinTermLength, stats{o.terms, o.Total, o.Total}, list, o.preview}
}

// Older adds the scope and the number of terms of the scan.
func (o spoilerOut) Older() any {
	return struct {
		Scope string `json:"scope"`
		Terms int    `json:"terms_checked"`
	}{o.scope, o.terms}
}

// relationKinds are the relations that have a route of their own.
var relationKinds = []string{"referers", "linked_by", "links", "nests", "nested_in"}

func relationRoutes() []op.OlderRoute {
	var list []op.OlderRoute
	for _, kind := range relationKinds {
		list = append(list, op.OlderRoute{Route: "GET /api/mcp/cards/{name}/" + kind, Input: `{"kind":"` + kind + `"}`})
	}
	return list
}

// Older adds the cards and their number under the name of the kind.
func (o relationsOut) Older() any {
	return map[string]any{o.Kind: o.Cards, o.Kind + "_count": o.Total}
}

// fileURLs are the download addresses of a file.
type fileURLs struct {
	File   string            `json:"file_url"`
	Images map[string]string `json:"image_urls,omitempty" jsonschema:"By size; a picture is kept in its own size alone."`
}

func urlsOf(c *op.Call, card canon.Card) fileURLs {
	u := fileURLs{File: c.BaseURL + filePath(card.Name)}
	if markup.KeyOf(card.Type) == markup.KeyOf(canon.TypeImage) {
		u.Images = map[string]string{"original": u.File}
	}
	return u
}

// Older adds the download addresses of the file.
func (o uploadOut) Older() any { return o.urls }

// tagQuery parses a query for tags alone: "tags:A AND tags:B", or with OR. any is true for OR; ok
// is false for all other queries.
func tagQuery(q string) (tags []string, any, ok bool) {
	if !strings.Contains(q, "tags:") || utf8.RuneCountInString(q) > 500 {
		return nil, false, false
	}
	joint := " AND "
	if strings.Contains(q, " OR ") {
		joint, any = " OR ", true
	}
	for part := range strings.SplitSeq(q, joint) {
		name, isTag := strings.CutPrefix(strings.TrimSpace(part), "tags:")
		if name = strings.TrimSpace(name); !isTag || markup.KeyOf(name) == "" || strings.Contains(name, "tags:") {
			return nil, false, false
		}
		tags = append(tags, name)
	}
	return tags, any, true
}
