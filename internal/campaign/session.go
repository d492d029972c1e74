package campaign

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strconv"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func sessionOps(d *deps) []*op.Operation {
	return []*op.Operation{
		defineWrite(d, op.Spec{
			Name: "session_create",
			Asked: []string{
				"schedule the next evening", "our next meeting", "plan game night", "prepare the coming sitting",
				"we meet again on a date", "set down our next game evening", "put another evening into the book",
				"a further evening of ours, with a date", "enter the next game night with my notes",
				"add a session", "record a new evening of play", "plan the next meeting", "enter a game night",
				"prepare our next round", "book of evenings",
			},
			Title: "Plan a session",
			Doc:   "Create the record of a session. For the GM. Without a number it becomes the next session. Players see its number, date, status and recap; only the GM sees its notes.",
			Route: "POST /api/campaigns/{campaign_id}/sessions", Status: 201,
			Examples: []op.Example{
				{Title: "The next one",
					Input: `{"campaign_id": "ashlar-pass", "date": "2026-03-06", "prep_notes": "The doctor will be on the platform."}`},
			},
		}, sessionCreate),
		defineWrite(d, op.Spec{
			Name: "session_update",
			Asked: []string{
				"notes of last night", "write the recap", "the evening is over", "mark a sitting as played",
				"publish happened at the table", "the game evening took place",
				"tell the players happened last time", "put down came to pass",
				"we played last night, for the book", "finish the record of an evening",
				"let the table read the recap", "write the recap of an evening", "notes after the game",
				"mark an evening as played", "publish my notes",
			},
			Title: "Update a session",
			Doc:   "Change the record of a session: its stage while it is prepared and played, its status when it is over, its notes and recap. For the GM. Players read the recap, and play_notes and actual_notes as they were when publish_notes was last set. The players' knowledge as of a session is everything revealed before it was COMPLETED, and everything revealed with its session_id.",
			Route: "PATCH /api/campaigns/{campaign_id}/sessions/{session_id}", Target: "session_id",
			Examples: []op.Example{
				{Title: "It is over",
					Input: `{"campaign_id": "ashlar-pass", "session_id": "01920000-0000-7000-8000-000000000005", "status": "COMPLETED", "stage": "wrap_up", "recap": "They dug out the mail van, and found it locked from inside."}`},
			},
		}, sessionUpdate),
		surface.DefineRead(d.Kit, op.Spec{
			Name: "session_list",
			Asked: []string{
				"past evenings of play", "recaps so far", "happened last time", "when did we meet", "previously",
				"how often have we played", "when do we play next", "became of our last evening",
				"we do on an evening", "we see last time", "recap of an evening", "which evenings have we had",
				"where did we leave off", "our evenings so far", "what did we do last time", "story up to now",
				"diary of the table", "recaps of game nights",
			},
			Title: "List sessions",
			Doc:   "List the sessions of the campaign by number, with their recaps and published notes; the GM gets all notes.",
			Route: "GET /api/campaigns/{campaign_id}/sessions",
			Examples: []op.Example{{Title: "The completed sessions",
				Input: `{"campaign_id": "ashlar-pass", "status": "COMPLETED"}`}},
		}, sessionList),
	}
}

// The statuses of a session that the program itself uses.
const (
	planned   = "PLANNED"
	completed = "COMPLETED"
)

// sessionFields are the fields of a session's card.
type sessionFields struct {
	Number    int             `json:"number"`
	Sort      int             `json:"sort"`
	Date      string          `json:"date"`
	Status    string          `json:"status"`
	Stage     string          `json:"stage"`
	Published *publishedNotes `json:"published,omitempty"`
}

func sessionFieldsOf(fields json.RawMessage) sessionFields {
	r := sessionFields{Status: planned, Stage: "prep"}
	_ = json.Unmarshal(fields, &r) // a card edited by hand may lack fields
	return r
}

// session is a session with the details that its reader may see.
type session struct {
	ID             canon.CardID `json:"id"`
	Number         int          `json:"number"`
	Date           string       `json:"date"`
	Status         string       `json:"status"`
	Stage          string       `json:"stage"`
	PlayNotes      string       `json:"play_notes" jsonschema:"Notes taken during play; players get the published version."`
	ActualNotes    string       `json:"actual_notes" jsonschema:"What actually happened; players get the published version."`
	Recap          string       `json:"recap"`
	PrepNotes      *string      `json:"prep_notes,omitzero" jsonschema:"For the GM."`
	NotesPublished *bool        `json:"notes_published,omitzero" jsonschema:"For the GM: whether players read the present play_notes and actual_notes."`

	open struct { // without hidden parts, as players read them
		publishedNotes
		recap string
	}
}

func sessionFrom(ctx context.Context, l *canon.Snapshot, c canon.Card) (session, error) {
	content, err := l.Content(ctx, c)
	if err != nil {
		return session{}, err
	}
	r := sessionFieldsOf(c.Fields)
	s := session{ID: c.ID, Number: r.Number, Date: markup.Clean(r.Date), Status: markup.Clean(r.Status),
		Stage: markup.Clean(r.Stage), Recap: toMarkdown(ctx, c.TextKind(), content)}
	if l.View().Level < access.LevelGM {
		s.setNotes(r.Published)
		return s, nil
	}
	open, err := l.Body(ctx, c.Content)
	if err != nil {
		return s, err
	}
	if s.open.recap = toMarkdown(ctx, c.TextKind(), open); r.Published != nil {
		s.open.publishedNotes = *r.Published
	}
	part, ok, err := findGMPart(ctx, l, c)
	if err != nil {
		return s, err
	}
	drafts := draftsOf(c, part)
	s.setNotes(r.Published.withDrafts(drafts))
	published := r.Published != nil && drafts.isEmpty()
	s.NotesPublished, s.PrepNotes = &published, new(string)
	if !ok {
		return s, nil
	}
	*s.PrepNotes, err = notesText(ctx, l, part)
	return s, err
}

func (s *session) setNotes(n *publishedNotes) {
	if n != nil {
		s.PlayNotes, s.ActualNotes = markup.Clean(n.Play), markup.Clean(n.Actual)
	}
}

// sessionByID returns the visible session with an id.
func sessionByID(ctx context.Context, l *canon.Snapshot, field string, id ref) (canon.Card, error) {
	c, ok, err := l.ByID(ctx, id.toCardID())
	if err == nil && (!ok || !isType(c, typeSession)) {
		e := absentFault("session", id, "session_list").(*fault.Error)
		e.Fields = []fault.Field{{Field: field, Error: "no such session"}}
		err = e
	}
	return c, err
}

// sessionIn is the input for a session.
type sessionIn struct {
	inCampaign
	Number      *int    `json:"number,omitzero" min:"0" max:"100000" jsonschema:"Number of the session."`
	Date        *string `json:"date,omitzero" maxlen:"100" jsonschema:"Date of play."`
	Status      *string `json:"status,omitzero" enum:"PLANNED,COMPLETED,SKIPPED" jsonschema:"Default PLANNED."`
	Stage       *string `json:"stage,omitzero" enum:"prep,play,wrap_up" jsonschema:"Default prep."`
	PrepNotes   *string `json:"prep_notes,omitzero" maxlen:"50000" jsonschema:"The GM's preparation, in Markdown; players never see it."`
	PlayNotes   *string `json:"play_notes,omitzero" maxlen:"10000" jsonschema:"Notes taken during play; only the GM sees them until they are published."`
	ActualNotes *string `json:"actual_notes,omitzero" maxlen:"10000" jsonschema:"What actually happened, as opposed to the plan; only the GM sees it until it is published."`
	Publish     *bool   `json:"publish_notes,omitzero" jsonschema:"true: publish the present play_notes and actual_notes to the players. false: withdraw them."`
	Recap       *string `json:"recap,omitzero" maxlen:"10000" jsonschema:"Recap for the players, in Markdown."`
	op.Answers
}

// mergeInto returns r with the given values.
func (in sessionIn) mergeInto(r sessionFields) sessionFields {
	setIfGiven(&r.Number, in.Number)
	setIfGiven(&r.Date, in.Date)
	setIfGiven(&r.Status, in.Status)
	setIfGiven(&r.Stage, in.Stage)
	r.Sort = r.Number
	return r
}

// storedRecap returns the recap as content of a kind, or nil if none was given.
func (in sessionIn) storedRecap(ctx context.Context, p *canon.Plan, card canon.Card) (*string, error) {
	if in.Recap == nil {
		return nil, nil
	}
	was := ""
	if !card.ID.IsZero() {
		content, err := p.Content(ctx, card)
		if err != nil {
			return nil, err
		}
		was = toMarkdown(ctx, card.TextKind(), content)
	}
	text, err := source{"recap", was, *in.Recap, card.Label.Level >= access.LevelGM}.storedAs(ctx, p.Grant(), card.TextKind())
	return &text, err
}

func sessionName(number int) string { return "Session " + strconv.Itoa(number) }

// createSession plans a new session.
func (in sessionIn) createSession(ctx context.Context, p *canon.Plan) (canon.Card, error) {
	r := in.mergeInto(sessionFields{Status: planned, Stage: "prep"})
	if in.Number == nil {
		last, err := lastSession(ctx, p.Snapshot)
		if err != nil {
			return canon.Card{}, err
		}
		r.Number, r.Sort = last+1, last+1
	}
	recap, err := in.storedRecap(ctx, p, canon.Card{Type: typeSession})
	if err != nil {
		return canon.Card{}, err
	}
	notes, err := draftNotes{Play: in.PlayNotes, Actual: in.ActualNotes}.applyPublish(p.Grant(), nil, in.Publish)
	if err != nil {
		return canon.Card{}, err
	}
	fields, err := json.Marshal(r)
	if err != nil {
		return canon.Card{}, err
	}
	n := canon.NewCard{Name: sessionName(r.Number), Type: typeSession, Fields: fields, Root: true}
	setIfGiven(&n.Content, recap)
	c, err := p.Create(n)
	if err != nil {
		return c, err
	}
	if c, err = notes.published.writePublished(p, c, false); err != nil {
		return c, err
	}
	return c, writeNotes(ctx, p, c, notesEdit{text: in.PrepNotes, drafts: notes.drafts.fieldChanges(canon.Card{})})
}

// lastSession returns the highest number of a visible session, or 0 if there is none.
func lastSession(ctx context.Context, l *canon.Snapshot) (int, error) {
	last := 0
	for c, err := range allSessions(ctx, l) {
		if err != nil {
			return 0, err
		}
		last = max(last, numberOf(c))
	}
	return last, nil
}

// allSessions yields every visible session, by number.
func allSessions(ctx context.Context, l *canon.Snapshot) iter.Seq2[canon.Card, error] {
	return l.AllCards(ctx, canon.Filter{Type: typeSession, Sort: canon.SortField})
}

func sessionCreate(ctx context.Context, d *deps, c *op.Call, in sessionIn) (session, error) {
	return surface.Commit(ctx, d.Kit, c, surface.Change[session]{
		Plan: func(p *canon.Plan) error {
			card, err := in.createSession(ctx, p)
			p.Target(card.ID)
			return err
		},
		Reply: func(l *canon.Snapshot, r canon.Receipt) (session, error) { return replySession(ctx, l, r) },
	})
}

func replySession(ctx context.Context, l *canon.Snapshot, r canon.Receipt) (session, error) {
	card, err := replyCard(ctx, l, r, "the session")
	if err != nil {
		return session{}, err
	}
	return sessionFrom(ctx, l, card)
}

type sessionUpdateIn struct {
	SessionID ref `json:"session_id" jsonschema:"Id of the session; session_list lists it."`
	sessionIn
}

func sessionUpdate(ctx context.Context, d *deps, c *op.Call, in sessionUpdateIn) (session, error) {
	return surface.Commit(ctx, d.Kit, c, surface.Change[session]{
		Plan: func(p *canon.Plan) error {
			card, err := sessionByID(ctx, p.Snapshot, "session_id", in.SessionID)
			if err != nil {
				return err
			}
			p.Target(card.ID)
			return in.updateSession(ctx, p, card)
		},
		Reply: func(l *canon.Snapshot, r canon.Receipt) (session, error) { return replySession(ctx, l, r) },
	})
}

func (in sessionIn) updateSession(ctx context.Context, p *canon.Plan, card canon.Card) error {
	recap, err := in.storedRecap(ctx, p, card)
	if err != nil {
		return err
	}
	part, _, err := findNotes(ctx, p, card)
	if err != nil {
		return err
	}
	before := sessionFieldsOf(card.Fields)
	after := in.mergeInto(before)
	had := draftsOf(card, part)
	had.Play, had.Actual = cmp.Or(in.PlayNotes, had.Play), cmp.Or(in.ActualNotes, had.Actual)
	notes, err := had.applyPublish(p.Grant(), before.Published, in.Publish)
	if err != nil {
		return err
	}
	after.Published = notes.published
	fields, err := after.mergeFields(card, part)
	if err != nil {
		return err
	}
	updated, err := p.Update(card, canon.Edit{Content: recap, Fields: fields, HidePast: notes.hidesPast})
	if err != nil {
		return err
	}
	if updated, err = after.Published.writePublished(p, updated, notes.hidesPast); err != nil {
		return err
	}
	edit := notesEdit{text: in.PrepNotes, drafts: notes.drafts.fieldChanges(part)}
	if err := writeNotes(ctx, p, updated, edit); err != nil {
		return err
	}
	if after.Number == before.Number {
		return nil
	}
	_, err = p.Rename(updated, sessionName(after.Number))
	return err
}

type sessionListIn struct {
	inCampaign
	Status string `json:"status,omitzero" enum:"PLANNED,COMPLETED,SKIPPED" jsonschema:"Only sessions with this status."`
	page
}

type sessionsOut struct {
	Sessions []session `json:"sessions"`
	paged
}

func sessionList(ctx context.Context, l *canon.Snapshot, _ *op.Call, in sessionListIn) (sessionsOut, error) {
	all, err := canon.Collect(allSessions(ctx, l))
	if err != nil {
		return sessionsOut{}, err
	}
	all = slices.DeleteFunc(all, func(c canon.Card) bool {
		return in.Status != "" && sessionFieldsOf(c.Fields).Status != in.Status
	})
	rows, pg := pageOf(all, in.page)
	out := sessionsOut{Sessions: make([]session, len(rows)), paged: pg}
	for i, c := range rows {
		if out.Sessions[i], err = sessionFrom(ctx, l, c); err != nil {
			return sessionsOut{}, err
		}
	}
	return out, nil
}

// numberOf returns a session's number, or 0 if the card is no session.
func numberOf(c canon.Card) int { return sessionFieldsOf(c.Fields).Number }
