package prooftest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// wayOfWriting writes a marked text, as somebody who may hide.
type wayOfWriting struct {
	name  string
	forms []textForm
	write func(x *weave, c *planted) error
}

var (
	bothForms    = []textForm{inMarkdown, inHTML}
	markdownOnly = []textForm{inMarkdown}
	htmlOnly     = []textForm{inHTML}
)

func (f textForm) String() string {
	if f == inHTML {
		return "html"
	}
	return "markdown"
}

// cut returns the text before which the marked part belongs.
func (c *planted) cut() string {
	if c.mark.form == inHTML {
		return "<h2>After"
	}
	return "## After"
}

// createOpen creates a card of the open text alone.
func (x *weave) createOpen(c *planted) error {
	return x.rest("gm", "POST", "/api/mcp/cards", fields{"name": c.name, "content": c.open,
		"text_format": c.mark.form.String(), "format": c.mark.form.String()}, nil)
}

// waysOfWriting are the ways of writing a text of one card. They make the calls of clients.
var waysOfWriting = []wayOfWriting{
	{"REST create", bothForms, func(x *weave, c *planted) error {
		return x.rest("gm", "POST", "/api/mcp/cards", fields{"name": c.name, "content": c.text,
			"text_format": c.mark.form.String(), "format": c.mark.form.String()}, nil)
	}},
	{"REST create, of the format of the text alone", markdownOnly, func(x *weave, c *planted) error {
		return x.rest("gm", "POST", "/api/mcp/cards", fields{"name": c.name, "content": c.text,
			"text_format": c.mark.form.String()}, nil)
	}},
	{"REST create below a card", bothForms, func(x *weave, c *planted) error {
		return x.rest("gm", "POST", "/api/mcp/cards", fields{"name": "Family " + c.name, "content": "x",
			"children": list(fields{"name": "+" + c.name, "content": c.text,
				"type": map[textForm]string{inHTML: "RichText",
					inMarkdown: "Markdown"}[c.mark.form]})}, func() { c.name = "Family " + c.name + "+" + c.name })
	}},
	{"REST update", bothForms, func(x *weave, c *planted) error {
		if err := x.createOpen(c); err != nil {
			return err
		}
		return x.rest("gm", "PATCH", x.at(c), fields{"content": c.text, "format": c.mark.form.String()}, nil)
	}},
	{"REST patch append", bothForms, func(x *weave, c *planted) error {
		if err := x.createOpen(c); err != nil {
			return err
		}
		return x.rest("gm", "PATCH", x.at(c), fields{"format": c.mark.form.String(),
			"patch": fields{"mode": "append",
				"content": "\n\n" + c.marked + map[textForm]string{inMarkdown: "\n## More\n\nSeen.\n",
					inHTML: "<h2>More</h2><p>Seen.</p>"}[c.mark.form]}}, nil)
	}},
	{"REST patch find and replace", bothForms, func(x *weave, c *planted) error {
		if err := x.createOpen(c); err != nil {
			return err
		}
		return x.rest("gm", "PATCH", x.at(c), fields{"format": c.mark.form.String(),
			"patch": fields{"mode": "find_replace", "find": c.cut(), "replace": c.marked + c.cut()}}, nil)
	}},
	{"REST patch prepend", bothForms, func(x *weave, c *planted) error {
		if err := x.createOpen(c); err != nil {
			return err
		}
		return x.rest("gm", "PATCH", x.at(c), fields{"format": c.mark.form.String(),
			"patch": fields{"mode": "prepend", "content": c.marked + map[textForm]string{inMarkdown: "\n## Seen\n\n",
				inHTML: "<h2>Seen</h2>"}[c.mark.form]}}, nil)
	}},
	{"REST patch of a section", markdownOnly, func(x *weave, c *planted) error {
		if err := x.createOpen(c); err != nil {
			return err
		}
		return x.rest("gm", "PATCH", x.at(c), fields{"format": "markdown", "patch": fields{"mode": "section",
			"heading":        "After",
			"include_nested": true,
			"content":        "The road " + c.after.word + ".\n\n" + c.marked + "\n## More\n\nSeen.\n"}}, nil)
	}},
	{"REST batch create", bothForms, func(x *weave, c *planted) error {
		return x.rest("gm", "POST", "/api/mcp/cards/batch", fields{"ops": list(fields{"action": "create",
			"name":    c.name,
			"content": c.text, "text_format": c.mark.form.String(), "format": c.mark.form.String()})}, nil)
	}},
	{"REST batch update, all or none", bothForms, func(x *weave, c *planted) error {
		if err := x.createOpen(c); err != nil {
			return err
		}
		return x.rest("gm", "POST", "/api/mcp/cards/batch", fields{"mode": "transactional",
			"ops": list(fields{"action": "update", "name": c.name, "content": c.text,
				"format": c.mark.form.String()})}, nil)
	}},
	{"Markdown in a card of HTML", markdownOnly, func(x *weave, c *planted) error {
		return x.rest("gm", "POST", "/api/mcp/cards", fields{"name": c.name, "markdown_content": c.text}, nil)
	}},
	{"a text that becomes Markdown", htmlOnly, func(x *weave, c *planted) error {
		err := x.rest("gm", "POST", "/api/mcp/cards", fields{"name": c.name, "content": c.text, "text_format": "html",
			"format": "html"}, nil)
		if err != nil {
			return err
		}
		return x.rest("gm", "PATCH", x.at(c), fields{"text_format": "markdown"}, nil)
	}},
	{"a text that becomes HTML", markdownOnly, func(x *weave, c *planted) error {
		err := x.rest("gm", "POST", "/api/mcp/cards", fields{"name": c.name, "content": c.text,
			"text_format": "markdown", "format": "markdown"}, nil)
		if err != nil {
			return err
		}
		return x.rest("gm", "PATCH", x.at(c), fields{"text_format": "html"}, nil)
	}},
	{"MCP create_card", bothForms, func(x *weave, c *planted) error {
		return x.tool("gm", "/mcp/archive", "create_card", fields{"name": c.name, "content": c.text,
			"text_format": c.mark.form.String(), "format": c.mark.form.String()})
	}},
	{"MCP update_card", bothForms, func(x *weave, c *planted) error {
		if err := x.createOpen(c); err != nil {
			return err
		}
		return x.tool("gm", "/mcp/archive", "update_card", fields{"name": c.name, "content": c.text,
			"format": c.mark.form.String()})
	}},
	{"MCP write of a new page", markdownOnly, func(x *weave, c *planted) error {
		return x.tool("gm", "/mcp", "write", fields{"name": c.name, "content": c.text})
	}},
	{"MCP write append", markdownOnly, func(x *weave, c *planted) error {
		if err := x.createOpen(c); err != nil {
			return err
		}
		return x.tool("gm", "/mcp", "write", fields{"name": c.name, "append": c.marked + "\n## More\n\nSeen.\n"})
	}},
	{"MCP write find and replace", markdownOnly, func(x *weave, c *planted) error {
		if err := x.createOpen(c); err != nil {
			return err
		}
		return x.tool("gm", "/mcp", "write", fields{"name": c.name, "find": c.cut(),
			"replace": c.marked + "\n" + c.cut()})
	}},
	{"MCP change_by_operation", bothForms, func(x *weave, c *planted) error {
		return x.tool("gm", "/mcp", "change_by_operation", fields{"operation": "create_card",
			"arguments": fields{"name": c.name,
				"content": c.text, "text_format": c.mark.form.String(), "format": c.mark.form.String()}})
	}},
	{"form of a new card", bothForms, func(x *weave, c *planted) error {
		return x.form("gm", "/new/lendwater", url.Values{"name": {c.name}, "content": {c.text}, "level": {"user"},
			"type": {map[textForm]string{inHTML: "RichText", inMarkdown: "Markdown"}[c.mark.form]}})
	}},
	{"form of an edit", bothForms, func(x *weave, c *planted) error {
		if err := x.createOpen(c); err != nil {
			return err
		}
		return x.form("gm", "/edit/lendwater/"+url.PathEscape(c.name), url.Values{"content": {c.text}})
	}},
	{"replace everywhere", markdownOnly, func(x *weave, c *planted) error {
		if err := x.createOpen(c); err != nil {
			return err
		}
		return x.rest("gm", "POST", "/api/mcp/replace", fields{"find": "quay " + c.before.word + ".",
			"replace": "quay " + c.before.word + ".\n\n" + c.marked, "dry_run": false}, nil)
	}},
	{"proposal by an agent of the game master, approved", bothForms, func(x *weave, c *planted) error {
		if err := x.createOpen(c); err != nil {
			return err
		}
		return x.proposeAndApprove("gmagent", fields{"name": "update_card", "arguments": fields{"name": c.name,
			"content": c.text,
			"format":  c.mark.form.String()}})
	}},
	{"proposal of a new card, approved", bothForms, func(x *weave, c *planted) error {
		return x.proposeAndApprove("gmagent", fields{"name": "create_card", "arguments": fields{"name": c.name,
			"content":     c.text,
			"text_format": c.mark.form.String(), "format": c.mark.form.String()}})
	}},
	{"restored version", bothForms, func(x *weave, c *planted) error {
		err := x.rest("gm", "POST", "/api/mcp/cards", fields{"name": c.name, "content": c.text,
			"text_format": c.mark.form.String(), "format": c.mark.form.String()}, nil)
		if err != nil {
			return err
		}
		if err := x.rest("gm", "PATCH", x.at(c), fields{"content": c.open, "format": c.mark.form.String()},
			nil); err != nil {
			return err
		}
		return x.restoreFirst(c)
	}},
	{"undone removal", bothForms, func(x *weave, c *planted) error {
		err := x.rest("gm", "POST", "/api/mcp/cards", fields{"name": c.name, "content": c.text,
			"text_format": c.mark.form.String(), "format": c.mark.form.String()}, nil)
		if err != nil {
			return err
		}
		if err := x.rest("gm", "PATCH", x.at(c), fields{"content": c.open, "format": c.mark.form.String()},
			nil); err != nil {
			return err
		}
		return x.undoLast("admin")
	}},
	{"entity of the campaign", markdownOnly, func(x *weave, c *planted) error {
		return x.rest("gm", "POST", "/api/campaigns/lendwater/entities", fields{"name": c.name, "entity_type": "npc",
			"description": c.text, "revealed": true, "allow_similar": true}, nil)
	}},
	{"a hidden text that opens", bothForms, func(x *weave, c *planted) error {
		err := x.rest("gm", "POST", "/api/mcp/cards", fields{"name": c.name, "content": c.text, "level": "gm",
			"text_format": c.mark.form.String(), "format": c.mark.form.String()}, nil)
		if err != nil {
			return err
		}
		return x.rest("admin", "PUT", x.at(c)+"/level", fields{"level": "user"}, nil)
	}},
	{"a text that moves out of a hidden card", bothForms, func(x *weave, c *planted) error {
		err := x.rest("gm", "POST", "/api/mcp/cards", fields{"name": "Closed+" + c.name, "content": c.text,
			"text_format": c.mark.form.String(), "format": c.mark.form.String()}, nil)
		if err != nil {
			return err
		}
		if err := x.rest("admin", "PUT", "/api/mcp/cards/"+pathName("Closed+"+c.name)+"/rename",
			fields{"new_name": c.name},
			nil); err != nil {
			return err
		}
		return x.rest("admin", "PUT", x.at(c)+"/level", fields{"level": "user"}, nil)
	}},
	{"X+GM that is renamed", bothForms, func(x *weave, c *planted) error {
		if err := x.rest("gm", "POST", "/api/mcp/cards", fields{"name": "Home " + c.name + "+GM", "content": c.text,
			"text_format": c.mark.form.String(), "format": c.mark.form.String()}, nil); err != nil {
			return err
		}
		if err := x.rest("admin", "PUT", "/api/mcp/cards/"+pathName("Home "+c.name+"+GM")+"/rename",
			fields{"new_name": c.name}, nil); err != nil {
			return err
		}
		return x.rest("admin", "PUT", x.at(c)+"/level", fields{"level": "user"}, nil)
	}},
	{"import of a vault", markdownOnly, func(x *weave, c *planted) error {
		return x.importOne("v.zip", zipOf(x.t, map[string]string{c.name + ".md": c.text}))
	}},
	{"import of a table", bothForms, func(x *weave, c *planted) error {
		return x.importOne("t.jsonl", fmt.Appendf(nil, `{"name":%s,"text":%s}`+"\n"+`{"name":"Other %s","text":"x"}`+"\n", quoted(c.name),
			quoted(c.text), c.name))
	}},
	{"import over the open card", markdownOnly, func(x *weave, c *planted) error {
		if err := x.importOne("v.zip", zipOf(x.t, map[string]string{c.name + ".md": c.open})); err != nil {
			return err
		}
		return x.importOne("v.zip", zipOf(x.t, map[string]string{c.name + ".md": c.text}))
	}},
}

// rest makes a REST call. done is called after it has succeeded.
func (x *weave) rest(who, method, path string, in fields, done func()) error {
	b, err := json.Marshal(in)
	if err != nil {
		return err
	}
	got := x.send(who, request{operation: "write", method: method, path: path, body: string(b)})
	var out struct {
		Change  string `json:"change_id"`
		Results []struct {
			Status any `json:"status"`
			Error  any `json:"error"`
		} `json:"results"`
	}
	_ = json.Unmarshal([]byte(got.body), &out)
	x.lastChange = out.Change
	if got.status >= 300 {
		return fmt.Errorf("%s %s: %d %s", method, path, got.status, clip(got.body, 400))
	}
	for _, r := range out.Results {
		if r.Error != nil {
			return fmt.Errorf("%s %s: %s", method, path, clip(got.body, 400))
		}
	}
	if done != nil {
		done()
	}
	return nil
}

// tool calls a tool of MCP.
func (x *weave) tool(who, surface, name string, in fields) error {
	r := mcpRequest("tools/call", map[string]any{"name": name, "arguments": map[string]any(in)})
	r.path = surface
	got := x.send(who, r)
	if got.status != 200 || strings.Contains(got.body, `"isError":true`) || strings.Contains(got.body, `"error":{"code"`) {
		return fmt.Errorf("%s: %d %s", name, got.status, clip(got.body, 400))
	}
	return nil
}

// form sends a form of the pages.
func (x *weave) form(who, path string, values url.Values) error {
	got := x.send(who, request{operation: "form", method: "POST", path: path, page: true, body: values.Encode(),
		header: []string{"Content-Type: application/x-www-form-urlencoded", "Accept: text/html"}})
	if got.status != 303 && got.status != 302 {
		return fmt.Errorf("POST %s: %d %s", path, got.status, clip(got.body, 600))
	}
	return nil
}

// proposeAndApprove lets somebody propose a change, and the operator approve it.
func (x *weave) proposeAndApprove(who string, change fields) error {
	b, _ := json.Marshal(fields{"reason": "It is wanted.", "op": change})
	got := x.send(who, request{operation: "propose", method: "POST", path: "/api/proposals/canon-change",
		body: string(b)})
	var out struct{ ProposalID, Status string }
	if err := json.Unmarshal([]byte(got.body), &out); err != nil || out.ProposalID == "" {
		return fmt.Errorf("propose: %s", clip(got.body, 400))
	}
	shown, err := x.tryDo(approver, "get-proposal", fields{"proposalId": out.ProposalID})
	if err != nil {
		return err
	}
	if shown["expectedHash"] == nil {
		return nil // it was accepted at once
	}
	_, err = x.doForAnswer(approver, "approve-proposal", fields{"proposalId": out.ProposalID,
		"expectedHash": shown["expectedHash"]})
	return err
}

// importOne imports a file as the game master.
func (x *weave) importOne(name string, data []byte) error {
	o := &oracle{story: &story{stage: x.stage}, finds: newDetector(nil), shown: map[string]map[*mark]bool{}}
	body, _ := json.Marshal(fields{"filename": name, "data": base64.StdEncoding.EncodeToString(data)})
	checked := o.awaitImport(request{operation: "check_import", method: "POST", path: "/api/imports",
		body: string(body)})
	done := o.awaitImport(request{operation: "carry_out_import", method: "POST", path: "/api/imports/" + checked.ID,
		body: "{}"})
	if done.Status != "completed" {
		return fmt.Errorf("import: %+v, %+v", checked, done)
	}
	return nil
}

// pathName returns a card's name as a part of a path.
func pathName(name string) string { return strings.ReplaceAll(url.PathEscape(name), "%2B", "+") }
