package campaign

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func timelineOps(d *deps) []*op.Operation {
	return []*op.Operation{
		surface.DefineRead(d.Kit, op.Spec{
			Name: "timeline_query",
			Asked: []string{
				"happened when", "chronology of a year", "order of past happenings", "dates of the story",
				"before and after the murder", "on which day was it", "when did it happen", "in which year",
				"happened in between", "came first", "in which year did it take place",
				"the date of a happening", "happened that winter", "list of happenings by date",
				"how long ago was that", "chronicle between two years", "order of events", "which day was that",
				"past of a thing",
			},
			Title: "Query the timeline",
			Doc: "List the events of a period or of one entity, earliest first. Dates are in the campaign's calendar, with different precision: " +
				"an event dated 1926 is found in any part of that year. Events without a date come last, and only if no period is given.",
			Route: "GET /api/campaigns/{campaign_id}/timeline",
			Examples: []op.Example{
				{Title: "The winter of the avalanche",
					Input: `{"campaign_id": "ashlar-pass", "start_date": "1929-12", "end_date": "1930-02"}`},
			},
		}, timelineQuery),
		defineWrite(d, op.Spec{
			Name: "timeline_add",
			Asked: []string{
				"write down that something happened on a day", "record a happening with its date",
				"enter into the chronicle", "put on the calendar", "on that day something happened, note it",
				"add a date", "note in the chronicle", "on that date this took place, secretly",
				"add a happening to our history", "enter a date that the table does not know",
				"write a date into the chronicle", "record a happening", "add to the history of the story",
				"on this day something happens",
			},
			Title: "Add to the timeline",
			Doc: "Record an event with its date, in the form of the campaign's calendar, and the precision of the date. For the GM. " +
				"Players do not see it until it is revealed, unless is_player_known is set.",
			Route: "POST /api/campaigns/{campaign_id}/timeline", Status: 201,
			Examples: []op.Example{
				{Title: "A day",
					Input: `{"campaign_id": "ashlar-pass", "date": "1930-01-17", "precision": "exact", "description": "The night train is buried at the third gallery."}`},
			},
		}, timelineAdd),
		defineWrite(d, op.Spec{
			Name: "timeline_update",
			Asked: []string{
				"wrong date of a happening", "correct the chronicle", "move a happening to another day",
				"the date in the chronicle is wrong", "shift an event", "another date for it",
				"put a date right",
			},
			Title: "Correct the timeline",
			Doc:   "Change an event of the timeline: its date, precision, description or entities. For the GM. Change its audience with reveal and unreveal.",
			Route: "PATCH /api/campaigns/{campaign_id}/timeline/{event_id}", Target: "event_id",
			Examples: []op.Example{
				{Title: "It was earlier",
					Input: `{"campaign_id": "ashlar-pass", "event_id": "01920000-0000-7000-8000-000000000007", "date": "1930-01-16"}`},
			},
		}, timelineUpdate),
		defineWrite(d, op.Spec{
			Name: "timeline_delete",
			Asked: []string{
				"strike a happening from the chronicle", "it never happened", "take a date out of the chronicle",
				"remove an event from the history", "erase a date",
			},
			Title:  "Delete from the timeline",
			Doc:    "Move an event of the timeline to the trash. For the GM.",
			Effect: access.Destroy,
			Route:  "DELETE /api/campaigns/{campaign_id}/timeline/{event_id}", Target: "event_id",
			Examples: []op.Example{
				{Title: "It never happened",
					Input: `{"campaign_id": "ashlar-pass", "event_id": "01920000-0000-7000-8000-000000000007"}`},
			},
		}, timelineDelete),
	}
}

type timelineIn struct {
	inCampaign
	StartDate string `json:"start_date,omitzero" maxlen:"100" jsonschema:"Only events that may have happened at or after this date."`
	EndDate   string `json:"end_date,omitzero" maxlen:"100" jsonschema:"Only events that may have happened at or before this date: 1926 means the end of that year."`
	EntityID  ref    `json:"entity_id,omitzero" jsonschema:"Only events in which this entity is involved."`
	page
}

type timelineOut struct {
	Events []event `json:"events"`
	paged
}

func timelineQuery(ctx context.Context, l *canon.Snapshot, _ *op.Call, in timelineIn) (timelineOut, error) {
	cal, err := calendarOf(ctx, l)
	if err != nil {
		return timelineOut{}, err
	}
	p, err := periodOf(cal, in.StartDate, in.EndDate)
	if err != nil {
		return timelineOut{}, err
	}
	cards, pg, err := in.findEvents(ctx, l, p)
	if err != nil {
		return timelineOut{}, err
	}
	events, err := eventsOf(ctx, l, cards)
	return timelineOut{events, pg}, err
}

func (in timelineIn) findEvents(ctx context.Context, l *canon.Snapshot, p period) ([]canon.Card, paged, error) {
	if in.EntityID == "" {
		cards, total, err := p.eventsWithin(ctx, l, in.toCanonPage())
		return cards, pagedAt(in.page, total, len(cards)), err
	}
	c, err := entityOf(ctx, l, in.EntityID)
	if err != nil {
		return nil, paged{}, err
	}
	all, err := p.eventsInvolving(ctx, l, c.ID)
	rows, pg := pageOf(all, in.page)
	return rows, pg, err
}

type timelineAddIn struct {
	inCampaign
	Date          string `json:"date" minlen:"1" maxlen:"100" jsonschema:"Date in the form of the campaign's calendar: 1930-01-17, 1930-01, 1930, 17 January 1930."`
	Precision     string `json:"precision,omitzero" enum:"exact,approximate,month,year,unknown" jsonschema:"Precision of the date, if it is not that of its form; unknown accepts any text as date."`
	Description   string `json:"description" minlen:"1" maxlen:"10000" jsonschema:"What happened, in Markdown."`
	EntityIDs     []ref  `json:"entity_ids,omitzero" maxitems:"100" jsonschema:"Ids of the entities involved."`
	IsPlayerKnown bool   `json:"is_player_known,omitzero" jsonschema:"The players already know it."`
	Sort          *int64 `json:"sort,omitzero" min:"-900719925474099" max:"900719925474099" jsonschema:"Sort key, for a date that is not in the calendar: year, month, day, hour and minute in one number, such as 193001170000."`
	DryRun        bool   `json:"dry_run,omitzero" jsonschema:"Only check."`
	op.Answers
}

func (in timelineAddIn) toEventDraft(cal calendar) (eventDraft, error) {
	draft := eventDraft{eventFields{in.Date, in.Precision, 0}, in.Description, in.EntityIDs, in.IsPlayerKnown}
	return draft, draft.setDate(cal, in.Sort)
}

func timelineAdd(ctx context.Context, d *deps, c *op.Call, in timelineAddIn) (event, error) {
	return surface.Commit(ctx, d.Kit, c, surface.Change[event]{
		Plan: func(p *canon.Plan) error {
			cal, err := calendarOf(ctx, p.Snapshot)
			if err != nil {
				return err
			}
			draft, err := in.toEventDraft(cal)
			if err != nil {
				return err
			}
			card, err := draft.createEvent(ctx, p)
			p.Target(card.ID)
			return err
		},
		Reply: func(l *canon.Snapshot, r canon.Receipt) (event, error) { return replyEvent(ctx, l, r) },
	})
}

// replyEvent describes the event that a call wrote.
func replyEvent(ctx context.Context, l *canon.Snapshot, r canon.Receipt) (event, error) {
	card, err := replyCard(ctx, l, r, "the event")
	if err != nil {
		return event{}, err
	}
	list, err := eventsOf(ctx, l, []canon.Card{card})
	if err != nil {
		return event{}, err
	}
	return list[0], nil
}

type timelineUpdateIn struct {
	inCampaign
	EventID     ref     `json:"event_id" jsonschema:"Id of the event; timeline_query lists it."`
	Date        *string `json:"date,omitzero" minlen:"1" maxlen:"100" jsonschema:"New date."`
	Precision   *string `json:"precision,omitzero" enum:"exact,approximate,month,year,unknown" jsonschema:"New precision."`
	Description *string `json:"description,omitzero" minlen:"1" maxlen:"10000" jsonschema:"New description."`
	EntityIDs   *[]ref  `json:"entity_ids,omitzero" maxitems:"100" jsonschema:"Ids of all entities involved; replaces the present list."`
	Sort        *int64  `json:"sort,omitzero" min:"-900719925474099" max:"900719925474099" jsonschema:"Sort key, for a date that is not in the calendar."`
	op.Answers
}

func timelineUpdate(ctx context.Context, d *deps, c *op.Call, in timelineUpdateIn) (event, error) {
	return surface.Commit(ctx, d.Kit, c, surface.Change[event]{
		Plan: func(p *canon.Plan) error {
			card, err := eventOf(ctx, p.Snapshot, in.EventID)
			if err != nil {
				return err
			}
			p.Target(card.ID)
			return in.planUpdate(ctx, p, card)
		},
		Reply: func(l *canon.Snapshot, r canon.Receipt) (event, error) { return replyEvent(ctx, l, r) },
	})
}

func (in timelineUpdateIn) planUpdate(ctx context.Context, p *canon.Plan, card canon.Card) error {
	content, err := p.Content(ctx, card)
	if err != nil {
		return err
	}
	now, err := eventsOf(ctx, p.Snapshot, []canon.Card{card})
	if err != nil {
		return err
	}
	draft := eventDraft{eventFields: eventFields{now[0].Date, now[0].Precision, sortOf(card)}, description: content}
	setIfGiven(&draft.Date, in.Date)
	setIfGiven(&draft.Precision, in.Precision)
	setIfGiven(&draft.description, in.Description)
	if in.Date != nil || in.Precision != nil || in.Sort != nil {
		cal, err := calendarOf(ctx, p.Snapshot)
		if err != nil {
			return err
		}
		if err := draft.setDate(cal, in.Sort); err != nil {
			return err
		}
	}
	fields, err := draft.fieldsJSON()
	if err != nil {
		return err
	}
	text := markup.Clean(draft.description)
	if card, err = p.Update(card, canon.Edit{Content: &text, Fields: fields}); err != nil {
		return err
	}
	if in.EntityIDs != nil {
		if err := setInvolved(ctx, p, card, *in.EntityIDs); err != nil {
			return err
		}
	}
	open, err := p.Body(ctx, card.Content)
	if err != nil {
		return err
	}
	_, err = retitleEvent(ctx, p, card, cardTitle(draft.Date, open), card.Label)
	return err
}

// setIfGiven sets *to if a value is given.
func setIfGiven[T any](to *T, given *T) {
	if given != nil {
		*to = *given
	}
}

// retitleEvent renames an event's card to its title, with a number if another card with the label has that name.
func retitleEvent(ctx context.Context, p *canon.Plan, card canon.Card, title string, label access.Label) (canon.Card,
	error) {
	if above := markup.Parts(card.Name); !card.Parent.IsZero() {
		title = markup.Join(append(above[:len(above)-1], title)...)
	}
	name, err := freeName(ctx, p, title, label, card.ID)
	if err != nil || name == card.Name {
		return card, err
	}
	return p.Rename(card, name)
}

type timelineDeleteIn struct {
	inCampaign
	EventID ref  `json:"event_id" jsonschema:"Id of the event; timeline_query lists it."`
	DryRun  bool `json:"dry_run,omitzero" jsonschema:"Only check."`
}

func timelineDelete(ctx context.Context, d *deps, c *op.Call, in timelineDeleteIn) (deletedOut, error) {
	return surface.Commit(ctx, d.Kit, c, surface.Change[deletedOut]{
		Plan: func(p *canon.Plan) error {
			card, err := eventOf(ctx, p.Snapshot, in.EventID)
			if err != nil {
				return err
			}
			return p.Trash(card)
		},
		Reply: func(_ *canon.Snapshot, r canon.Receipt) (deletedOut, error) {
			return deletedOut{in.EventID.toCardID().String(), !r.DryRun, r.DryRun}, nil
		},
	})
}
