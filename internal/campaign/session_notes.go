package campaign

import (
	"encoding/json"

	"loregate/internal/canon"
)

// A session's notes are visible to the GM alone until they are published. Notes that were never
// published, or changed since, are stored in the fields play_notes and actual_notes of Session+GM;
// published notes are stored in the field published of the session. Sessions of earlier program
// versions have the two fields in the session itself: these count as drafts, and the next update
// moves them.

// publishedNotes are the notes that players can read.
type publishedNotes struct {
	Play   string `json:"play_notes"`
	Actual string `json:"actual_notes"`
}

// draftNotes are the notes that players cannot read; nil means no draft.
type draftNotes struct {
	Play   *string `json:"play_notes"`
	Actual *string `json:"actual_notes"`
}

// draftsOf returns the drafts of a session from its GM part, or from the session itself.
func draftsOf(session, part canon.Card) (d draftNotes) {
	for _, fields := range []json.RawMessage{session.Fields, part.Fields} {
		_ = json.Unmarshal(fields, &d) // a card edited by hand may lack fields
	}
	return d
}

// withDrafts returns the notes as the GM reads them: the drafts, else the published notes.
func (n *publishedNotes) withDrafts(d draftNotes) *publishedNotes {
	var out publishedNotes
	if n != nil {
		out = *n
	}
	setIfGiven(&out.Play, d.Play)
	setIfGiven(&out.Actual, d.Actual)
	return &out
}

// applyPublish returns the new published notes and drafts after publishing (true), unpublishing
// (false) or neither (nil).
func (d draftNotes) applyPublish(published *publishedNotes, publish *bool) (*publishedNotes, draftNotes) {
	switch {
	case publish == nil:
		return published, d
	case *publish:
		return published.withDrafts(d), draftNotes{}
	case published == nil:
		return nil, d
	}
	all := published.withDrafts(d)
	return nil, draftNotes{&all.Play, &all.Actual}
}

// fieldChanges returns the fields that turn the drafts was into d, or nil if nothing changes.
func (d draftNotes) fieldChanges(was draftNotes) json.RawMessage {
	changes := map[string]any{}
	for key, note := range map[string][2]*string{"play_notes": {was.Play, d.Play},
		"actual_notes": {was.Actual, d.Actual}} {
		switch before, after := note[0], note[1]; {
		case after == nil && before != nil:
			changes[key] = nil
		case after != nil && (before == nil || *before != *after):
			changes[key] = *after
		}
	}
	if len(changes) == 0 {
		return nil
	}
	b, _ := json.Marshal(changes) // strings and nil always have a JSON form
	return b
}

// mergeFields returns the fields that bring a session's card to the state of r. Drafts of earlier
// program versions and notes that are no longer published are removed.
func (r sessionFields) mergeFields(card canon.Card) (json.RawMessage, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var all, had map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	_ = json.Unmarshal(card.Fields, &had) // unreadable fields are replaced
	for _, key := range []string{"play_notes", "actual_notes", "published"} {
		if had[key] != nil && all[key] == nil {
			all[key] = null
		}
	}
	return json.Marshal(all)
}
