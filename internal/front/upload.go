package front

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/op"
)

type uploadIn struct {
	Name     string `json:"name" minlen:"1" maxlen:"1020" jsonschema:"Page to hold the file."`
	Data     string `json:"data" minlen:"1" jsonschema:"The file as base64."`
	Filename string `json:"filename,omitzero" maxlen:"255" jsonschema:"Name for downloads."`
	Level    string `json:"level,omitzero" enum:"user,gm,admin" jsonschema:"Lowest role that may see a new page; user is everybody."`
	IfMatch  string `json:"if_match,omitzero" maxlen:"200" jsonschema:"etag of get_attachment, to replace a file."`
}

type uploadOut struct {
	Did       string `json:"did"`
	Name      string `json:"name"`
	FileName  string `json:"file_name,omitzero"`
	MediaType string `json:"media_type,omitzero"`
	Size      int    `json:"size,omitzero"`
	Change    string `json:"change_id,omitzero"`
	Proposal  string `json:"proposal,omitzero"`
}

func (f *Front) uploadOp() *op.Operation {
	return define(op.Spec{
		Name: "upload", Title: "Add a file or picture", Effect: access.Write, Target: "name",
		Asked: []string{"put a picture on a page", "keep a document", "attach a map"},
		Doc: "Attach, store or keep a picture, photo, portrait, map, sound, document or other file of at most 25 " +
			"MiB on a new or " +
			"existing page; other pages can show it.",
		Examples: []op.Example{{Title: "A text",
			Input: `{"name": "Tide table", "data": "SGlnaCB3YXRlciBhdCBub29uLg==", "filename": "tides.txt"}`}},
	}, f.upload)
}

func (f *Front) upload(ctx context.Context, c *op.Call, in uploadIn) (out uploadOut, err error) {
	a := args{"name": in.Name, "data": in.Data}
	set(a, "filename", in.Filename)
	set(a, "level", in.Level)
	set(a, "if_match", in.IfMatch)
	answer, err := f.invokeRaw(ctx, c, "upload_attachment", a)
	if err != nil {
		return out, err
	}
	if answer.Reply.Diverted {
		p, err := proposalOf(answer)
		return uploadOut{Did: p.did(), Name: in.Name, Proposal: p.ID}, err
	}
	err = decode(answer.Output, &out)
	out.Did = "stored"
	return out, err
}
