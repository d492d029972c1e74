package campaign

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// previewable are the reads that preview_as can make.
var previewable = []string{"campaign_get", "entity_search", "entity_get", "entity_compare", "relationship_map",
	"relationship_types", "timeline_query", "session_list"}

func isPreviewable(name string) bool { return slices.Contains(previewable, name) }

// previewTool is the name of a read that can be previewed.
type previewTool string

// Schema lists the previewable reads.
func (previewTool) Schema(s *jsonschema.Schema) {
	for _, name := range previewable {
		s.Enum = append(s.Enum, name)
	}
}

type previewIn struct {
	inCampaign
	Tool      previewTool     `json:"tool" jsonschema:"The read to make."`
	Arguments json.RawMessage `json:"arguments,omitzero" jsonschema:"Its arguments, as an object; campaign_id may be omitted."`
	Subject   access.Subject  `json:"subject,omitzero" maxlen:"100" jsonschema:"The player whose view is used; default any player, to whom nothing was revealed by name."`
}

type previewOut struct {
	As     string          `json:"as" jsonschema:"The player's name, or players."`
	Tool   string          `json:"tool"`
	Result json.RawMessage `json:"result,omitzero" jsonschema:"The answer that the player gets."`
	Error  *fault.Body     `json:"error,omitzero" jsonschema:"The error that the player gets instead."`
}

// previewAs runs a read as a player: with the same handler, and with the caller's grant narrowed to
// the cards that both the player and the caller may see.
func (d *deps) previewAs(ctx context.Context, c *op.Call, in previewIn) (previewOut, error) {
	var none previewOut
	if err := requireGM(c, "preview_as"); err != nil {
		return none, err
	}
	if in.Subject != "" {
		if err := access.CheckSubject(in.Subject); err != nil {
			return none, fault.BadField("subject", "%v", err)
		}
	}
	o := d.previews[string(in.Tool)]
	input, err := in.checkedInput(o)
	if err != nil {
		return none, err
	}
	out := previewOut{As: "players", Tool: o.Name}
	if in.Subject != "" {
		out.As = string(in.Subject)
	}
	out.Result, err = o.Run(ctx, &op.Call{Grant: c.Grant.AsPlayer(in.Subject), Transport: c.Transport,
		BaseURL: c.BaseURL}, input)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return none, err
	}
	if err != nil {
		body := fault.Show(err, "").Error
		body.Code = codes[body.Code]
		out.Error = &body
	}
	return out, nil
}

// checkedInput returns the input of the previewed read.
func (in previewIn) checkedInput(o *op.Operation) (json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	if len(in.Arguments) > 0 {
		if err := json.Unmarshal(in.Arguments, &args); err != nil {
			return nil, fault.BadField("arguments", "must be an object")
		}
	}
	var named string
	if given, ok := args["campaign_id"]; ok && (json.Unmarshal(given, &named) != nil ||
		!strings.EqualFold(named, string(in.CampaignID))) {
		return nil, fault.BadField("arguments.campaign_id", "must be the campaign_id of the preview, or be omitted")
	}
	args["campaign_id"] = jsonString(string(in.CampaignID))
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	checked, err := o.Check(raw)
	return checked, fault.Below("arguments.", err)
}
