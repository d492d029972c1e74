package kind

import (
	"context"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/proposal"
)

// dialogue is the payload of propose-npc-dialogue.
type dialogue struct {
	NPCID     string `json:"npcId" pattern:"^[0-9A-Za-z._-]{1,100}$" jsonschema:"Id or codename of the character who speaks."`
	PlayerID  string `json:"playerId" pattern:"^[0-9A-Za-z._-]{1,100}$" jsonschema:"Id or codename of the player to whom the character speaks."`
	DraftText string `json:"draftText" minlen:"1" maxlen:"4000" jsonschema:"The line, at most 500 characters."`

	cfg Config
}

func dialogueKind(c Config) *proposal.Kind {
	return proposal.DefineWith(proposal.Kind{
		Name: "npc_dialogue", Version: 1, Purpose: proposal.ForDialogue, Policy: proposal.Auto,
		Refs: []string{"npcId", "playerId"},
		Tool: proposal.Tool{Name: "propose-npc-dialogue", ID: "WorldMutation-proposeNPCDialogue",
			Asked: []string{
				"put words into somebody's mouth", "a character says to a hero", "let a shopkeeper speak",
				"line for somebody to say", "greet the player", "somebody tells the player something",
				"have a person speak", "answer of a person in the story", "let the innkeeper say something",
				"a person tells a hero", "give somebody a line", "put words in a character mouth",
				"offer a sentence of dialogue", "let a figure speak", "reply of a character to a hero",
			},
			Title: "Propose a line of dialogue",
			Doc: "Have a character say a line to a player, at most 500 characters. A rumour may be told as a rumour; a new exit, thing, arrival or death must not be claimed as fact. " +
				"Read get-location-context or get-player-context first and send the contextRef of its answer.",
			Examples: []op.Example{{Title: "A greeting",
				Input: `{"npcId": "01900000-0000-7000-8000-000000000000", "playerId": "01900000-0000-7000-8000-000000000001", "draftText": "You're early. The tide isn't."}`}}},
		Fallbacks: []string{
			"They look at you as if about to speak, and think better of it.", "A shrug is all the answer you get.",
			"They have turned away before the words come.",
			"Whatever they say is lost in the noise.",
		},
	}, func(d dialogue) proposal.Draft { d.cfg = c; return d })
}

func (d dialogue) Scope() string {
	return "player:" + strings.ToLower(d.PlayerID) + "/" + strings.ToLower(d.NPCID)
}
func (d dialogue) Player() string    { return strings.ToLower(d.PlayerID) }
func (d dialogue) Sanitized() string { return cleanText(d.DraftText) }
func (d dialogue) Texts() []proposal.Text {
	return []proposal.Text{{Field: "draftText", Text: d.DraftText, Max: 500}}
}

func (d dialogue) Check(ctx context.Context, s proposal.State) (proposal.Finding, error) {
	i := newInspection(ctx, s)
	npc, ok := i.checkCard("npcId", d.NPCID, "character", speakers...)
	player, known := i.checkCard("playerId", d.PlayerID, "player", typePlayer)
	if ok && isUnseen(npc.Label) {
		i.add("npcId", "is a character that no player can see, so nobody would hear the line; reveal it to the players "+
			"first, or choose a character whom they see")
	}
	if known && isUnseen(player.Label) {
		i.add("playerId",
			"is a hidden player, so nobody would hear the line; reveal it first, or choose another player")
	}
	if ok {
		i.checkClaims("draftText", d.DraftText, d.cfg.Directions, scene{speaker: npc.ID, listener: player.ID})
	}
	return i.finding()
}

// Conflicts implements proposal.Reviewer.
func (d dialogue) Conflicts(ctx context.Context, s proposal.State) ([]proposal.Issue, error) {
	return findConflicts(ctx, s, d.cfg.Directions, d.Texts()[0],
		scene{speaker: cardIDOf(d.NPCID), listener: cardIDOf(d.PlayerID)})
}

// isUnseen reports whether no player sees cards with a label. The author does see them.
func isUnseen(l access.Label) bool { return l.Level > access.LevelUser && len(l.Subjects) == 0 }

// Plan records the line as an event between the player and the author, and changes nothing else.
func (d dialogue) Plan(ctx context.Context, p *canon.Plan, label access.Label) (canon.Event, error) {
	player, _, err := p.ByID(ctx, cardIDOf(d.PlayerID))
	if err != nil {
		return canon.Event{}, err
	}
	private := d.cfg.Private(player)
	label = label.Meet(access.NewLabel(private.Level, append(private.Subjects, p.View().Subject)...))
	e, err := eventOf(d.cfg.Dialogue, "player:"+strings.ToLower(d.PlayerID), label,
		map[string]any{"npcId": strings.ToLower(d.NPCID), "playerId": strings.ToLower(d.PlayerID), "text": d.Sanitized()})
	e.Actor = canon.EventActor{Kind: "npc", ID: strings.ToLower(d.NPCID)}
	return e, err
}
