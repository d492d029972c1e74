package console

import (
	"cmp"
	"encoding/json"
	"net/http"
	"time"

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
}

// repeat is a text that the proposal may repeat in other words.
type repeat struct{ Name, Text string }

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
	return v.write(http.StatusOK, proposalsPage(v.frame("Proposals"), list))
}

func (s *server) showProposal(v *visit) error {
	p, err := call[proposalView](v, "get-proposal", fields{"proposalId": v.r.PathValue("id")})
	if err != nil {
		return err
	}
	return v.write(http.StatusOK, proposalPage(v.frame("Proposal"), p, v.caller.Approve))
}

// decideProposal accepts a proposal exactly as the page showed it, or rejects it.
func (s *server) decideProposal(v *visit) error {
	in := fields{"proposalId": v.r.PathValue("id")}.with("note", v.r.PostFormValue("note"))
	var err error
	switch v.r.PathValue("do") {
	case "approve":
		in["expectedHash"] = v.r.PostFormValue("hash")
		_, err = call[proposalView](v, "approve-proposal", in)
	case "reject":
		_, err = call[proposalView](v, "reject-proposal", in)
	default:
		err = errNothingHere
	}
	if err != nil {
		return err
	}
	return v.redirect(addressOf("proposals", v.world, v.r.PathValue("id")))
}
