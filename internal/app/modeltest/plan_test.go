package modeltest

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/model/modeltest"
)

// planned is an answer of plan_create.
type planned struct {
	Plan struct {
		ID     string `json:"plan_id"`
		Intent string
		Calls  []struct {
			Tool string
			With object
		}
	}
	Source, Asked string
	Questions     []string
	Valid         bool
	Skipped       string `json:"model_skipped"`
	Fault         string `json:"model_fault"`
}

func (h *house) plan(in object) (p planned) {
	h.t.Helper()
	h.do(access.RoleGM, "POST", "/api/studio/plans?world="+app.SampleWorld, in, &p)
	return p
}

const dusk = `{"name": "The inn", "doc": "As wanted.", "calls": [{"tool": "generate_scene", "with": {"card": "The Dry Anchor", "style": "dusk"}}]}`

// TestAModelProposesPlans checks that a model configured for plans proposes them. After a bad
// answer the rules' plan is used, and the answer says why. The model gets no data that the
// audience may not read.
func TestAModelProposesPlans(t *testing.T) {
	fake := modeltest.Serve(t, func(string) string { return dusk })
	c := config(t, fake)
	c.Model.Uses = []string{"plans"}
	h := open(t, c)
	h.do(access.RoleGM, "POST", "/api/mcp/cards?world="+app.SampleWorld,
		object{"name": "SECRETMARK Vault", "type": "Location", "content": "<p>SECRETMARK</p>", "level": "gm"}, nil)
	got := h.plan(object{"intent": "furbish The Dry Anchor cosily, UTTERANCEMARK", "audience": "user"})
	if got.Source != "model:fake-1" || !got.Valid || len(got.Plan.Calls) != 1 ||
		got.Plan.Calls[0].With["card"] != "The Dry Anchor" || got.Skipped != "" {
		t.Errorf("%+v", got)
	}
	asked := len(fake.Requests())
	if again := h.plan(object{"intent": "furbish The Dry Anchor cosily, UTTERANCEMARK",
		"audience": "user"}); again.Source != got.Source || len(fake.Requests()) != asked {
		t.Errorf("asked %d times: %+v", len(fake.Requests())-asked+1, again)
	}
	for _, row := range []struct {
		answer, skipped, say string
		in                   object
	}{
		{`{"name": "x", "calls": [{"tool": "rm_rf"}]}`, "unusable", "rm_rf", nil},
		{"Gladly! What inn?", "unusable", "cannot be read", nil},
		{"", "unavailable", "", nil},
		{dusk, "over_budget", "", object{"tokens": 100}},
		{dusk, "over_budget", "", object{"money": 0.00001}},
	} {
		fake.Answer(func(string) string { return row.answer })
		in := object{"intent": "build Rent Quay at dusk, UTTERANCEMARK " + row.skipped + row.say, "audience": "user"}
		if row.in != nil {
			in["budget"] = row.in
		}
		got := h.plan(in)
		if got.Source != "rules" || got.Skipped != row.skipped || !strings.Contains(got.Fault, row.say) ||
			len(got.Plan.Calls) == 0 || got.Plan.Calls[0].With["card"] != "Rent Quay" {
			t.Errorf("%q: %+v", row.answer, got)
		}
	}
	if got := h.plan(object{"intent": "build Rent Quay at night, UTTERANCEMARK", "audience": "user",
		"budget": object{"tokens": 100000, "money": 1}}); got.Skipped != "unavailable" && got.Source == "rules" {
		t.Errorf("within its budget: %+v", got)
	}
	h.checkRequests(fake)
}

// TestAPlansQuestionReachesThePerson checks that the served product asks a client that can be
// asked, in both eras.
func TestAPlansQuestionReachesThePerson(t *testing.T) {
	h := open(t, config(t, nil))
	for _, name := range []string{"Salt Chapel of Rent Quay", "Rope Chapel of Rent Quay"} {
		h.do(access.RoleGM, "POST", "/api/mcp/cards?world="+app.SampleWorld,
			object{"name": name, "type": "Location", "content": "<p>A chapel.</p>"}, nil)
	}
	for _, era := range []string{"2025-11-25", "2026-07-28"} {
		for action, want := range map[string]string{"accept": `"card":"Rope Chapel of Rent Quay"`,
			"decline": `"asked":"declined"`, "cancel": "CANCELLED"} {
			var seen *mcp.ElicitParams
			client := mcp.NewClient(&mcp.Implementation{Name: "gm", Version: "1"}, &mcp.ClientOptions{
				ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					seen = r.Params
					if action != "accept" {
						return &mcp.ElicitResult{Action: action}, nil
					}
					return &mcp.ElicitResult{Action: action, Content: object{"card": "Rope Chapel of Rent Quay"}}, nil
				}})
			s, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: h.url + "/mcp/studio", MaxRetries: -1,
				HTTPClient: &http.Client{Transport: bearer(h.keys[access.RoleGM])}},
				&mcp.ClientSessionOptions{ProtocolVersion: era})
			if err != nil {
				t.Fatal(err)
			}
			res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "plan_create",
				Arguments: object{"intent": "build the chapel of Rent Quay", "world": app.SampleWorld}})
			_ = s.Close()
			if err != nil || seen == nil {
				t.Fatalf("%s, %s: %v, asked %v", era, action, err, seen)
			}
			if got := res.Content[0].(*mcp.TextContent).Text; !strings.Contains(got, want) ||
				res.IsError != (action == "cancel") {
				t.Errorf("%s, %s: %s", era, action, got)
			}
		}
	}
}
