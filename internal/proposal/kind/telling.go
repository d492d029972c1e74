package kind

import (
	"context"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/proposal"
)

// Class is a class of the texts in which a model tells a result that the rules have committed.
type Class string

// The classes of texts.
const (
	Result     Class = "narration"  // the result of the act, kept in the player's scope
	Flavour    Class = "flavour"    // something beside it, kept with it
	Structural Class = "structural" // how the place is made, kept with it
	Hint       Class = "hint"       // shown once
	Ambient    Class = "ambient"    // kept as a layer of the place
)

// classMax has the most characters of a text by class.
var classMax = map[Class]int{Result: 600, Flavour: 160, Structural: 180, Hint: 120, Ambient: 140}

// Classes lists the classes of texts.
func Classes() []Class { return []Class{Result, Flavour, Structural, Hint, Ambient} }

// MaxOf returns the most characters of a text of a class; 0 for an unknown class.
func MaxOf(c Class) int { return classMax[c] }

// telling is a text that tells a player a committed result. It is no proposal of its own: see [proposal.Service.Vet].
type telling struct {
	Class    Class     `json:"class" enum:"narration,flavour,structural,hint,ambient"`
	PlayerID uuid.UUID `json:"playerId"`
	PlaceID  uuid.UUID `json:"locationId"`
	Text     string    `json:"text" minlen:"1" maxlen:"4000"`
	Sources  string    `json:"sources" maxlen:"40000"` // the texts that it may draw on

	cfg Config
}

// TellingKind returns the kind by which the gates judge such texts.
func TellingKind(c Config) *proposal.Kind {
	return proposal.DefineWith(proposal.Kind{Name: "telling", Version: 1, Purpose: proposal.ForNarration,
		Policy: proposal.Auto, Repeats: true}, func(t telling) proposal.Draft { t.cfg = c; return t })
}

func (t telling) Scope() string     { return "player:" + t.PlayerID.String() }
func (t telling) Player() string    { return t.PlayerID.String() }
func (t telling) Sanitized() string { return cleanText(t.Text) }
func (t telling) Texts() []proposal.Text {
	return []proposal.Text{{Field: "text", Text: t.Text, Max: classMax[t.Class]}}
}

// Check judges the claims of the text in the view of the player. No person stands by while a turn is told, so a claim
// that a person would have to settle is refused.
func (t telling) Check(ctx context.Context, s proposal.State) (proposal.Finding, error) {
	i := newInspection(ctx, s)
	i.label = access.NewLabel(s.View().Level)
	i.checkClaims(
		"text",
		t.Text,
		t.cfg.Directions,
		scene{place: canon.CardID(t.PlaceID), listener: canon.CardID(t.PlayerID)},
	)
	if i.review != "" && len(i.issues) == 0 {
		i.add("text", i.review)
	}
	if w := findUngrounded(t.Text, t.Sources); w != "" {
		i.add("text", "speaks of something that the scene does not have: "+w)
	}
	return i.finding()
}

// Plan fails: a telling is kept by the turn that it tells.
func (t telling) Plan(context.Context, *canon.Plan, access.Label) (canon.Event, error) {
	return canon.Event{}, fault.New(fault.Internal, "a telling is not applied as a proposal")
}
