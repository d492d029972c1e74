package console

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"loregate/internal/fault"
)

// proposalView holds the parts of a proposal that pages show.
type proposalView struct {
	ID       string          `json:"proposalId"`
	Kind     string          `json:"kind"`
	Status   string          `json:"status"`
	Author   string          `json:"author"`
	Actor    string          `json:"actor"`
	Created  time.Time       `json:"createdUtc"`
	Expires  *time.Time      `json:"expiresUtc"`
	What     string          `json:"what"`
	Change   string          `json:"change"`
	Payload  json.RawMessage `json:"payload"`
	Issues   []fault.Field   `json:"issues"`
	Refused  *rejection      `json:"rejection"`
	Verdicts []verdict       `json:"verdicts"`
	Preview  []previewItem   `json:"preview"`
	Hash     string          `json:"expectedHash"`
	Decision *decision       `json:"decision"`
	Repeats  []repeat        `json:"mayRepeat"`
	Denied   []fault.Field   `json:"conflicts"`
	Origin   *provenance     `json:"provenance"`
	MayRenew bool            `json:"-"` // the person may make it again
	Replayed *replayed       `json:"-"` // the verdict, computed again; nil if nobody asked
}

// provenance tells from what a program wrote the text.
type provenance struct {
	Model    string   `json:"model"`
	Template string   `json:"templateId"`
	Version  string   `json:"templateVersion"`
	Contexts []string `json:"contextRefs"`
}

// replayed is the result of judging a proposal again.
type replayed struct {
	Identical  bool `json:"identical"`
	Difference *struct {
		At  string `json:"at"`
		Was string `json:"was"`
		Now string `json:"now"`
	} `json:"difference"`
}

// shownToPlayers returns the parts of the change that players will see.
func (p proposalView) shownToPlayers() (list []previewItem) {
	for _, x := range p.Preview {
		if x.Level == "" || x.Level == "user" {
			list = append(list, x)
		}
	}
	return list
}

// repeat is a text that the proposal may repeat in other words. Model is what a language model says of it, if it was asked.
type repeat struct{ Name, Text, Model string }

// opinion returns the model's opinion in words for a person.
func (r repeat) opinion() string {
	return map[string]string{"same": " (a model reads the same in it)", "other": " (a model reads something else in it)"}[r.Model]
}

// rejection tells why a proposal was refused.
type rejection struct {
	Message string `json:"message"`
}

// verdict is the verdict of one gate.
type verdict struct {
	Gate   string   `json:"gate"`
	Passed bool     `json:"passed"`
	Code   string   `json:"code"`
	Flags  []string `json:"flags"`
}

// previewItem is one change that the proposal would make.
type previewItem struct {
	Act   string `json:"act"`
	What  string `json:"what"`
	Type  string `json:"type"`
	Level string `json:"level"`
	Text  string `json:"text"`
	Diff  string `json:"diff"`
}

type decision struct {
	By   string    `json:"by"`
	At   time.Time `json:"atUtc"`
	Note string    `json:"note"`
}

// proposalList is a page of proposals of one status.
type proposalList struct {
	Proposals []proposalView `json:"proposals"`
	Next      string         `json:"next"`
	Status    string         `json:"-"`
}

// showProposals lists those that wait, or those of another status.
func (s *server) showProposals(v *visit) error {
	status := cmp.Or(v.r.URL.Query().Get("status"), "pending_review")
	in := fields{"status": status, "limit": 30}.with("before", v.r.URL.Query().Get("before"))
	list, err := call[proposalList](v, "list-proposals", in)
	if err != nil {
		return err
	}
	list.Status = status
	if v.r.URL.Query().Get("view") == "all" && v.decides() {
		return v.reviewAll(list)
	}
	return v.write(http.StatusOK, proposalsPage(v.frame("Proposals"), list, v.decides()))
}

// reviewedAtOnce is the number of proposals that are shown in full to be decided together.
const reviewedAtOnce = 10

// reviewAll shows the first proposals of a list in full, so that several can be decided exactly as they are shown.
// They are read side by side, as each may wait for a model.
func (v *visit) reviewAll(list proposalList) error {
	all := make([]proposalView, min(len(list.Proposals), reviewedAtOnce))
	var reads errgroup.Group
	for i := range all {
		reads.Go(func() (err error) {
			all[i], err = call[proposalView](v, "get-proposal", fields{"proposalId": list.Proposals[i].ID})
			return err
		})
	}
	if err := reads.Wait(); err != nil {
		return err
	}
	return v.write(http.StatusOK, reviewPage(v.frame("Proposals"), all))
}

// decideAll decides the chosen proposals one after another. Those that have changed since they were shown stay.
func (s *server) decideAll(v *visit) error {
	form := v.r.PostForm
	operation := map[string]string{"approve": "approve-proposal", "reject": "reject-proposal"}[form.Get("do")]
	if operation == "" {
		return errNothingHere
	}
	for _, id := range form["proposal"] {
		in := fields{"proposalId": id}.with("note", form.Get("note"))
		if operation == "approve-proposal" {
			in["expectedHash"] = form.Get("hash-" + id)
		}
		if _, err := call[proposalView](v, operation, in); err != nil {
			return err
		}
	}
	return v.redirect(addressOf("proposals", v.world))
}

// showProposal shows a proposal. With view=players it shows what players will see of it, with view=replay also the
// verdict computed again.
func (s *server) showProposal(v *visit) error {
	in := fields{"proposalId": v.r.PathValue("id")}
	p, err := call[proposalView](v, "get-proposal", in)
	if err != nil {
		return err
	}
	p.MayRenew = (p.Status == "outdated" || p.Status == "expired") &&
		(p.Author == string(v.caller.Subject) || managesWorlds(v.caller))
	view := v.r.URL.Query().Get("view")
	switch view {
	case "players":
		p.Preview = p.shownToPlayers()
	case "replay":
		r, err := call[replayed](v, "replay-proposal", in)
		if err != nil {
			return err
		}
		p.Replayed = &r
	}
	return v.write(http.StatusOK, proposalPage(v.frame("Proposal"), p, v.decides(), view))
}

// decideProposal accepts a proposal exactly as the page showed it, or rejects it.
func (s *server) decideProposal(v *visit) error {
	if v.r.PathValue("do") == "renew" {
		return v.renewProposal()
	}
	in := fields{"proposalId": v.r.PathValue("id")}.with("note", v.r.PostFormValue("note"))
	var err error
	switch v.r.PathValue("do") {
	case "approve":
		in["expectedHash"] = v.r.PostFormValue("hash")
		_, err = call[proposalView](v, "approve-proposal", in)
	case "reject":
		_, err = call[proposalView](v, "reject-proposal", in)
	case "ask-again":
		in["note"] = strings.TrimSpace("Please propose it again. " + v.r.PostFormValue("note"))
		_, err = call[proposalView](v, "reject-proposal", in)
	default:
		err = errNothingHere
	}
	if err != nil {
		return err
	}
	return v.redirect(addressOf("proposals", v.world, v.r.PathValue("id")))
}

// renewProposal makes a proposal again, and shows the new one.
func (v *visit) renewProposal() error {
	made, err := call[proposalView](v, "renew-proposal", fields{"proposalId": v.r.PathValue("id")})
	if err != nil {
		return err
	}
	return v.redirect(addressOf("proposals", v.world, made.ID))
}
