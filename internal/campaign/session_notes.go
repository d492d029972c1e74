package campaign

import (
	"encoding/json"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// A session's notes are visible to the GM alone until they are published. Notes that were never
// published, or changed since, are stored in the fields play_notes and actual_notes of Session+GM;
// published notes are stored in the field published of the session. If marks hide parts of them, the
// session has the open part, and the field published_whole of Session+GM all of them. Sessions of
// earlier program versions have the two fields in the session itself, or marked notes in the field
// published of Session+GM: these count as drafts, and the next update moves them.

// publishedNotes are the notes that players can read.
type publishedNotes struct {
	Play   string `json:"play_notes"`
	Actual string `json:"actual_notes"`
}

// wholeNotes are published notes with their hidden parts.
type wholeNotes struct {
	publishedNotes
	Of publishedNotes `json:"of"` // the open part, without which they count no longer
}

// draftNotes are the notes that players cannot read; nil means no draft.
type draftNotes struct {
	Play   *string     `json:"play_notes"`
	Actual *string     `json:"actual_notes"`
	Whole  *wholeNotes `json:"published_whole"`
}

// draftsOf returns the drafts of a session from its GM part, or from the session itself.
func draftsOf(session, part canon.Card) (d draftNotes) {
	if held := sessionFieldsOf(part.Fields).Published; held != nil && sessionFieldsOf(session.Fields).Published == nil {
		d.Play, d.Actual = &held.Play, &held.Actual
	}
	for _, fields := range []json.RawMessage{session.Fields, part.Fields} {
		_ = json.Unmarshal(fields, &d) // a card edited by hand may lack fields
	}
	return d
}

// isEmpty reports whether the GM reads nothing else than the published notes.
func (d draftNotes) isEmpty() bool { return d.Play == nil && d.Actual == nil }

// withDrafts returns the notes as the GM reads them: the drafts, else the published notes.
func (n *publishedNotes) withDrafts(d draftNotes) *publishedNotes {
	var out publishedNotes
	if n != nil {
		out = *n
	}
	if d.Whole != nil && d.Whole.Of == out {
		out = d.Whole.publishedNotes
	}
	setIfGiven(&out.Play, d.Play)
	setIfGiven(&out.Actual, d.Actual)
	return &out
}

// notesState are a session's notes after an update.
type notesState struct {
	published *publishedNotes
	drafts    draftNotes
	hidesPast bool // players no longer read a text that they read before
}

// applyPublish returns the notes after publishing (true), unpublishing (false) or neither (nil).
func (d draftNotes) applyPublish(g access.Grant, published *publishedNotes, publish *bool) (notesState, error) {
	switch all := published.withDrafts(d); {
	case publish == nil, !*publish && published == nil:
		return notesState{published, d, false}, nil
	case !*publish:
		return notesState{nil, draftNotes{Play: &all.Play, Actual: &all.Actual}, true}, nil
	default:
		return all.publish(g, published)
	}
}

// publish returns the notes after the open part of n has taken the place of the published notes.
func (n *publishedNotes) publish(g access.Grant, was *publishedNotes) (out notesState, err error) {
	if was == nil {
		was = &publishedNotes{}
	}
	play, hidPlay, err := canon.OpenPart(g, "play_notes", was.Play, n.Play)
	if err != nil {
		return out, err
	}
	actual, hidActual, err := canon.OpenPart(g, "actual_notes", was.Actual, n.Actual)
	out = notesState{published: &publishedNotes{play, actual}, hidesPast: hidPlay || hidActual}
	if *out.published != *n {
		out.drafts.Whole = &wholeNotes{*n, *out.published}
	}
	return out, err
}

// fieldChanges returns the fields of a GM part that turn its drafts into d, or nil if nothing changes.
func (d draftNotes) fieldChanges(part canon.Card) json.RawMessage {
	var was draftNotes
	_ = json.Unmarshal(part.Fields, &was) // unreadable fields are replaced
	changes := map[string]any{}
	setChange(changes, "play_notes", was.Play, d.Play)
	setChange(changes, "actual_notes", was.Actual, d.Actual)
	setChange(changes, "published_whole", was.Whole, d.Whole)
	if len(changes) == 0 {
		return nil
	}
	b, _ := json.Marshal(changes) // notes and nil always have a JSON form
	return b
}

// setChange sets a field that has another value before than after, to nil if there is none after.
func setChange[T comparable](changes map[string]any, key string, before, after *T) {
	switch {
	case after == nil && before != nil:
		changes[key] = nil
	case after != nil && (before == nil || *before != *after):
		changes[key] = *after
	}
}

// mergeFields returns the fields, without the published notes, that bring a session's card to the state of r. Drafts of
// earlier program versions and notes that are no longer published are removed.
func (r sessionFields) mergeFields(card, part canon.Card) (json.RawMessage, error) {
	stays := r.Published != nil && sessionFieldsOf(card.Fields).Published != nil
	r.Published = nil
	b, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	all, had := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	_ = json.Unmarshal(card.Fields, &had) // unreadable fields are replaced
	for _, key := range []string{"play_notes", "actual_notes"} {
		if had[key] != nil {
			all[key] = null
		}
	}
	if !stays && (had["published"] != nil || sessionFieldsOf(part.Fields).Published != nil) {
		all["published"] = null
	}
	return json.Marshal(all)
}

// writePublished plans the published notes of a session, in which no mark hides any more.
func (n *publishedNotes) writePublished(p *canon.Plan, c canon.Card, hidesPast bool) (canon.Card, error) {
	if n == nil {
		return c, nil
	}
	var was publishedNotes
	if old := sessionFieldsOf(c.Fields).Published; old != nil {
		was = *old
	}
	if err := p.CheckNotCopied(c.Label, was.Play+"\n"+was.Actual, n.Play+"\n"+n.Actual); err != nil {
		return c, err
	}
	fields, err := json.Marshal(map[string]any{"published": n})
	if err != nil {
		return c, err
	}
	return p.Update(c, canon.Edit{Fields: fields, Undivided: true, HidePast: hidesPast})
}
