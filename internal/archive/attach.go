package archive

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func attachWrites(d *deps) []*op.Operation {
	return []*op.Operation{defineWrite(d, op.Spec{
		Name: "upload_attachment",
		Asked: []string{
			"add a picture to a page", "store an image, map, sound or document", "illustrate an article",
			"keep an enclosed file", "put a portrait with the page", "add a scan or a recording",
			"hang a picture on a page", "put a document into the wiki", "add a drawing", "attach a handout",
		},
		Title: "Attach a file",
		Doc: "Store a file of at most 25 MiB in a card of type File or Image. Other cards can link to it or nest it. If the card already has a file, the new file replaces it. " +
			"The media type is detected from the bytes. Over REST, send the file as the body or in a form.",
		Route: "POST /api/mcp/cards/{name}/file", Target: "name", BodyLimit: canon.MaxFile, Idempotent: true,
		Older: []op.OlderRoute{{Route: "POST /api/mcp/cards/{name}/upload"}},
		Examples: []op.Example{{Title: "A small picture below a card",
			Input: `{"name": "Rent Quay+sign", "filename": "sign.gif", "data": "R0lGODlhAQABAAAAACwAAAAAAQABAAA="}`}},
	}, uploadAttachment)}
}

type uploadIn struct {
	namedCard
	Data     []byte     `json:"data" alias:"file_data" jsonschema:"The file, as base64."`
	FileName string     `json:"filename,omitzero" maxlen:"255" jsonschema:"File name for downloads."`
	Type     string     `json:"type,omitzero" enum:"File,Image" jsonschema:"Type of the card; default Image for pictures, otherwise File."`
	Level    string     `json:"level,omitzero" enum:"user,gm,admin" jsonschema:"Who may see a new card; default user. A game master must say it for a text with marks of secrets."`
	IfMatch  op.ReadTag `json:"if_match,omitzero" jsonschema:"The etag that get_attachment gave of the file that this one replaces. An agent must send it if a file is replaced."`
}

type uploadOut struct {
	writtenCard
	FileName  string `json:"file_name"`
	MediaType string `json:"media_type"`
	Size      int    `json:"size"`
	SHA256    string `json:"sha256"`
	pictureSize

	urls fileURLs
}

func uploadAttachment(ctx context.Context, d *deps, c *op.Call, in uploadIn) (uploadOut, error) {
	media := http.DetectContentType(in.Data)
	picture := strings.HasPrefix(media, "image/")
	var p problems
	if len(in.Data) == 0 {
		p.Add("data", "the file is empty")
	}
	if in.Type == canon.TypeImage && !picture {
		p.Add("type", "the file is not a picture: its media type is %s", media)
	}
	if strings.ContainsFunc(in.FileName, unicode.IsControl) {
		p.Add("filename", "must not contain control characters")
	}
	if in.Type == "" {
		in.Type = canon.TypeFile
		if picture {
			in.Type = canon.TypeImage
		}
	}
	if err := p.Err(); err != nil {
		return uploadOut{}, err
	}
	return surface.Commit(ctx, d.Kit, c, surface.Change[uploadOut]{
		Check: checkNames(in.Name),
		Plan:  func(p *canon.Plan) error { return d.attachFile(ctx, p, c, in) },
		Reply: func(l *canon.Snapshot, r canon.Receipt) (uploadOut, error) {
			w, err := replyWritten(ctx, l, c, r)
			if err != nil {
				return uploadOut{}, err
			}
			if !r.Replayed {
				location, err := cardLocation(ctx, l, w.summary)
				if err != nil {
					return uploadOut{}, err
				}
				c.Reply.Location = location + "/file"
			}
			card, err := targetCard(ctx, l, r, 0)
			stored := canon.Hash(sha256.Sum256(in.Data))
			return uploadOut{writtenCard: w, FileName: cleanName(cmp.Or(in.FileName, card.Name)), MediaType: media,
				Size: len(in.Data), SHA256: stored.String(), pictureSize: d.sizes.noteSize(stored, in.Data),
				urls: urlsOf(c, card)}, err
		},
	})
}

// attachFile plans to store the file in a new card or in an existing one.
func (d *deps) attachFile(ctx context.Context, p *canon.Plan, c *op.Call, in uploadIn) error {
	card, err := onlyCard(ctx, p, in.Name)
	switch {
	case err == nil:
		return d.replaceFile(p, c, card, in)
	case fault.KindOf(err) != fault.NotFound || isHandle(in.Name):
		return err
	}
	var names problems
	if names.checkNewName("name", in.Name); names.Err() != nil {
		return names.Err()
	}
	n := canon.NewCard{Name: in.Name, Type: in.Type, File: in.Data, Fields: fileFields(in)}
	if level, given := access.ParseLevel(in.Level); given {
		label := access.NewLabel(level)
		n.Label = &label
	}
	if n.Parent, err = mostHidden(ctx, p, in.Name); err != nil {
		return err
	}
	if card, err = p.Create(n); err != nil {
		return err
	}
	p.Target(card.ID)
	return d.checkMarked(p, card, in)
}

// maxCompared is the number of bytes of a file in which hidden sentences are looked for.
const maxCompared = 1 << 20

// checkMarked refuses a file with marks of secrets, or a text with a sentence that is hidden in a card, that players
// would read as a whole, unless the game master says its level.
func (d *deps) checkMarked(p *canon.Plan, card canon.Card, in uploadIn) error {
	if in.Level != "" || card.Label.Level >= access.LevelGM || p.View().Level < access.LevelGM || d.marked == nil {
		return nil
	}
	if !d.marked(cmp.Or(in.FileName, in.Name), in.Data) {
		media := http.DetectContentType(in.Data)
		text := strings.ToValidUTF8(string(in.Data[:min(len(in.Data), maxCompared)]), "")
		if !strings.HasPrefix(media, "text/") || !utf8.Valid(in.Data) {
			return nil
		} else if !strings.HasPrefix(media, "text/plain") {
			text = markup.Text(text)
		}
		err := p.CheckNotCopied(card.Label, "", text)
		if f, ok := asFault(err); ok && f.Kind == fault.Rule {
			err = fault.BrokenRule("level", "%s; send level gm to keep the file from players, or level user if they may "+
				"read it", f.Message)
		}
		return err
	}
	return fault.BrokenRule("level", "the file has marks of secrets, and whoever may read a file reads all of it; "+
		"send level gm to keep it from players, or level user if they may read it")
}

// replaceFile plans to replace the file of an existing card. A card that holds text is refused.
func (d *deps) replaceFile(p *canon.Plan, c *op.Call, card canon.Card, in uploadIn) error {
	if canon.TextOf(card.Type) != canon.TextFile {
		return fault.BrokenRule("name",
			"%q is of type %s, whose cards contain text; attach the file to a card below it, such as %s", card.Name,
			card.Type,
			markup.Join(card.Name, "file"))
	}
	held := heldFile(p.Snapshot, card)
	if card.Content == canon.Hash(sha256.Sum256(in.Data)) {
		held.Length = 0 // the same file again: nothing can be lost
	}
	if err := d.tags.Check(c, held, in.IfMatch, true); err != nil {
		return err
	}
	if level, given := access.ParseLevel(in.Level); given && level != card.Own.Level {
		return fault.BrokenRule("level",
			"the card already exists with level %s; change the level with set_card_level", card.Own.Level)
	}
	p.Target(card.ID)
	if _, err := p.Update(card, canon.Edit{Type: &in.Type, File: in.Data, Fields: fileFields(in)}); err != nil {
		return err
	}
	return d.checkMarked(p, card, in)
}

// fileFields returns the card fields that keep the uploaded file's name.
func fileFields(in uploadIn) json.RawMessage {
	if in.FileName == "" {
		return nil
	}
	b, err := json.Marshal(map[string]string{"file_name": markup.Clean(in.FileName)})
	if err != nil {
		return nil // a string always has a JSON form
	}
	return b
}
