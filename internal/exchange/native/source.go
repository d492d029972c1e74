package native

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/fault"
)

// Source is the memory of an import of a vault: everything about its files that the cards do not show.
// It is the content of a File card for the GM, as JSON compressed with gzip.
type Source struct {
	Loregate int                              `json:"loregate"`        // 1
	Begun    bool                             `json:"begun,omitempty"` // the import has not ended: some cards may not exist yet
	Notes    map[canon.CardID]*Origin         `json:"notes"`           // by the note's card
	Files    map[canon.CardID]File            `json:"files"`           // by the card of the picture or attachment
	Folders  []canon.CardID                   `json:"folders"`         // cards of folders
	Cards    map[canon.CardID]exchange.Memory `json:"cards"`           // all cards of the import, by the id that it gives
}

// File is a file of a vault as it was at the last import.
type File struct {
	Path string `json:"path"`
	Hash string `json:"hash"` // SHA-256 of its bytes, in hexadecimal
}

// Origin is a note of a vault as it was at the last import, and its card right after that import.
type Origin struct {
	File
	Name   string          `json:"name"` // of the card
	Type   string          `json:"type"`
	Level  access.Level    `json:"level"`
	Head   string          `json:"head,omitempty"` // the byte order mark and the front matter
	Fields json.RawMessage `json:"fields,omitempty"`
	Tags   []string        `json:"tags,omitempty"`
	Open   canon.Hash      `json:"open,omitzero"` // of the card's text
	Parts  []HiddenPart    `json:"parts,omitempty"`
	Hidden canon.CardID    `json:"hidden,omitzero"` // the card with the hidden parts and fields
	Secret canon.Hash      `json:"secret,omitzero"` // of its text
	Under  json.RawMessage `json:"under,omitempty"` // its fields
	CRLF   bool            `json:"crlf,omitempty"`  // all lines end with "\r\n"
	Raw    []byte          `json:"raw,omitempty"`   // the file, if its bytes do not follow from the rest
}

// HiddenPart is a part of a note that its card does not show.
type HiddenPart struct {
	At   int    `json:"at"`             // its offset in the card's text
	From int    `json:"from,omitempty"` // the offset of its beginning in the text of the hidden card
	Text string `json:"text,omitempty"` // its text, if it is not in the hidden card
}

// sourceField marks the card of a Source.
const sourceField = "vault_source"

// SourceID returns the id of the card that holds the Source of the vault with a label.
func SourceID(label string) canon.CardID { return exchange.CardID("markdown", label, "source:") }

// maxSource is the maximum length as JSON, in bytes, of all Sources that a call reads. A note takes
// about 700 bytes, so that 180,000 notes fit.
const maxSource = 128 << 20

// SourceReader reads the Sources of a snapshot. The zero value is one that has read none.
type SourceReader struct{ used int64 }

// Load reads the Source in a card, or an empty one if the card is none. Only a card that players
// cannot see is one.
func (r *SourceReader) Load(ctx context.Context, l *canon.Snapshot, c canon.Card) (*Source, error) {
	s := &Source{Loregate: 1, Notes: map[canon.CardID]*Origin{}, Files: map[canon.CardID]File{},
		Cards: map[canon.CardID]exchange.Memory{}}
	if !isSourceCard(c) {
		return s, nil
	}
	data, err := l.Bytes(ctx, c.Content)
	if err != nil || len(data) == 0 {
		return s, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err == nil {
		left := &io.LimitedReader{R: z, N: maxSource - r.used}
		err = json.NewDecoder(left).Decode(s)
		if r.used = maxSource - left.N; err != nil && left.N == 0 {
			return nil, fault.New(fault.TooLarge, "the memory of imports in the card %q is longer than %d MiB; "+
				"move that card to the trash and import the vault again", c.Name, maxSource>>20)
		}
	}
	if err != nil {
		return nil, fault.New(fault.Invalid, "the memory of an import in the card %q cannot be read; "+
			"move that card to the trash and import the vault again", c.Name).Because(err)
	}
	for id, o := range s.Notes {
		if o == nil || !isVaultPath(o.Path) || !areInOrder(o.Parts) {
			delete(s.Notes, id)
		}
	}
	for id, f := range s.Files {
		if !isVaultPath(f.Path) {
			delete(s.Files, id)
		}
	}
	return s, nil
}

// areInOrder reports whether an import can have cut these parts out of a note, one after the other.
func areInOrder(parts []HiddenPart) bool {
	at, from := 0, 0
	for _, p := range parts {
		if p.At < at || p.Text == "" && p.From < from {
			return false
		}
		if at = p.At; p.Text == "" {
			from = p.From
		}
	}
	return true
}

func isSourceCard(c canon.Card) bool {
	return c.Type == canon.TypeFile && c.Label.Level >= access.LevelGM && strings.Contains(string(c.Fields),
		`"`+sourceField+`":1`)
}

// isVaultPath reports whether an import can have read a file at this path. Files and folders whose
// names begin with a dot, such as .git, are not read.
func isVaultPath(p string) bool {
	return fs.ValidPath(p) && p != "." && !strings.HasPrefix(p, ".") && !strings.Contains(p, "/.") &&
		!strings.Contains(p, `\`)
}

// Sheet returns the sheet of the card that holds the Source.
func (s *Source) Sheet(label string, level access.Level) (*exchange.Sheet, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	if len(text) > maxSource {
		return nil, fault.New(fault.TooLarge, "the paths, front matter and odd bytes of the notes are longer than %d MiB; "+
			"import the folder in parts", maxSource>>20)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	name := "Vault source"
	if label != "" {
		name += " " + exchange.PlainName(label)
	}
	return &exchange.Sheet{File: name, ID: SourceID(label), Name: name, Type: canon.TypeFile,
		Label:  access.NewLabel(max(level, access.LevelGM)),
		Fields: exchange.EncodeFields(map[string]any{sourceField: 1, "file_name": "source.json.gz"}),
		Data:   func() ([]byte, error) { return b.Bytes(), nil }}, nil
}

// HashFile returns the HashOf of a file.
func HashFile(files fs.FS, name string) (string, error) {
	f, err := files.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// HashOf returns the SHA-256 of a file's bytes, in hexadecimal.
func HashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
