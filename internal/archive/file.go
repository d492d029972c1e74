package archive

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/media"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func fileReads(d *deps) []*op.Operation {
	return []*op.Operation{surface.DefineRead(d.Kit, op.Spec{
		Name: "get_file_url",
		Asked: []string{"address to download a picture", "link to the image or document",
			"where can the drawing be fetched", "where does a picture lie"},
		Title:    "Get a file's address",
		Doc:      "Get the address from which the file of a File or Image card can be downloaded with the same key, and the size of a picture.",
		Route:    "GET /api/mcp/cards/{name}/file_url",
		Target:   "name",
		NoTool:   true,
		Examples: []op.Example{{Title: "Of a picture", Input: `{"name": "Map of Lendwater"}`}},
	}, d.getFileURL), surface.DefineRead(d.Kit, op.Spec{
		Name: "get_attachment",
		Asked: []string{
			"look at the picture of a page", "size and kind of an image", "open the map or document",
			"bytes of a picture", "fetch the enclosed file", "open the picture", "in the attached document",
			"open the picture or document of a page", "show me the map", "read an attached file",
			"look at the portrait",
		},
		Title: "Get an attached file",
		Doc: "Get the file of a File or Image card: its kind, size and SHA-256, and the bytes as base64 if there are at most max_bytes. " +
			"Over REST the answer is the file itself.",
		Route:    "GET /api/mcp/cards/{name}/file",
		Target:   "name",
		RESTBody: op.RESTFile, LoadsFile: true,
		Examples: []op.Example{{Title: "A file's kind and size, without its bytes",
			Input: `{"name": "Map of Lendwater", "max_bytes": 0}`}},
	}, d.getAttachment)}
}

type fileURLOut struct {
	Name string `json:"name"`
	fileURLs
	pictureSize
}

func (d *deps) getFileURL(ctx context.Context, l *canon.Snapshot, c *op.Call, in namedCard) (fileURLOut, error) {
	card, err := findCard(ctx, l, in.Name)
	if err != nil {
		return fileURLOut{}, err
	}
	if canon.TextOf(card.Type) != canon.TextFile {
		return fileURLOut{}, noFile(card)
	}
	size, err := d.sizes.findSize(ctx, l, card)
	return fileURLOut{card.Name, urlsOf(c, card), size}, err
}

// noFile is the fault for a request for the file of a card that holds text.
func noFile(card canon.Card) error {
	return fault.New(fault.NotFound, "card %q has no file, its type is %s; read it with get_card", card.Name,
		card.Type)
}

type attachmentIn struct {
	namedCard
	MaxBytes int `json:"max_bytes,omitzero" default:"24576" min:"0" max:"1048576" jsonschema:"Return the bytes only if the file is at most this large."`
}

type attachmentOut struct {
	Name      string     `json:"name"`
	FileName  string     `json:"file_name"`
	MediaType string     `json:"media_type"`
	Size      int        `json:"size"`
	SHA256    string     `json:"sha256"`
	Version   uint32     `json:"version"`
	ETag      op.ReadTag `json:"etag" jsonschema:"Send it as if_match with an upload that replaces this file."`
	Data      []byte     `json:"content_base64,omitempty" jsonschema:"The bytes, if the file is small enough."`
	Note      string     `json:"note,omitzero"`
}

// getAttachment detects the media type from the file's bytes alone; the uploader's statement is not
// trusted.
func (d *deps) getAttachment(ctx context.Context, l *canon.Snapshot, c *op.Call,
	in attachmentIn) (attachmentOut, error) {
	card, err := findCard(ctx, l, in.Name)
	if err != nil {
		return attachmentOut{}, err
	}
	if canon.TextOf(card.Type) != canon.TextFile {
		return attachmentOut{}, noFile(card)
	}
	data, err := l.FileBytes(ctx, card)
	if err != nil {
		return attachmentOut{}, err
	}
	out := attachmentOut{Name: card.Name, FileName: fileName(l, card, data), MediaType: http.DetectContentType(data),
		Size:   len(data),
		SHA256: canon.Hash(sha256.Sum256(data)).String(), Version: card.Version(l.View()), ETag: d.tags.Whole(heldFile(l,
			card))}
	c.Reply.ETag = out.SHA256
	switch {
	case c.SendsFile():
		c.Reply.File = &op.File{Name: out.FileName, Type: out.MediaType, Data: data}
	case len(data) <= in.MaxBytes:
		out.Data = data
	default:
		out.Note = "the file is larger than max_bytes; repeat with a larger value, up to 1048576, or download it from " +
			c.BaseURL + filePath(card.Name)
	}
	return out, nil
}

// fileName returns the file name for a download: the field file_name if the reader sees it, else the card's name with
// the ending of the file's type; in either case without a path.
func fileName(l *canon.Snapshot, c canon.Card, data []byte) string {
	var own struct {
		FileName string `json:"file_name"`
	}
	_ = json.Unmarshal(fieldsOf(l.FieldsOf(c.Type, c.Fields)), &own) // a file_name that is no string is ignored
	return cleanName(cmp.Or(own.FileName, media.FileName(c.Name, data)))
}

// cleanName returns a file name without a path.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:"`, r) || r < ' ' {
			return '_'
		}
		return r
	}, markup.Clean(name))
	return strings.TrimLeft(markup.Clip(name, 200), ".")
}
