package native

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/fault"
)

// Source is the memory of an import of a vault: everything about its files that the cards do not show.
// It is the content of a File card for the GM, as JSON compressed with gzip.
type Source struct {
	Loregate int                              `json:"loregate"`        // 1
	Begun    bool                             `json:"begun,omitempty"` // the import has not ended: some cards may not exist yet
	Open     []string                         `json:"open,omitempty"`  // decisions about suspicions, as of vault.Options
	Confirm  []string                         `json:"confirm,omitempty"`
	Given    bool                             `json:"given,omitempty"` // the notes say which decisions opened them
	Links    []string                         `json:"links,omitempty"` // answers about links that fit several notes
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
	Name    string           `json:"name"` // of the card
	Type    string           `json:"type"`
	Level   access.Level     `json:"level"`
	Readers []access.Subject `json:"readers,omitempty"` // besides the GM
	Head    string           `json:"head,omitempty"`    // the byte order mark and the front matter
	Fields  json.RawMessage  `json:"fields,omitempty"`
	Tags    []string         `json:"tags,omitempty"`
	Open    canon.Hash       `json:"open,omitzero"` // of the card's text
	Parts   []HiddenPart     `json:"parts,omitempty"`
	Hidden  canon.CardID     `json:"hidden,omitzero"`  // the card with the hidden parts and fields
	Secret  canon.Hash       `json:"secret,omitzero"`  // of its text
	Under   json.RawMessage  `json:"under,omitempty"`  // its fields
	Opened  []string         `json:"opened,omitempty"` // marks of the whole note that decisions opened
	CRLF    bool             `json:"crlf,omitempty"`   // all lines end with "\r\n"
	Raw     []byte           `json:"raw,omitempty"`    // the file, if its bytes do not follow from the rest
}

// HiddenPart is a part of a note that its card does not show.
type HiddenPart struct {
	At   int    `json:"at"`             // its offset in the card's text
	From int    `json:"from,omitempty"` // the offset of its beginning in the text of the hidden card
	Text string `json:"text,omitempty"` // its text, if it is not in the hidden card
}

// Fields of the card of a Source.
const (
	sourceField = "vault_source" // marks it
	labelField  = "vault"        // the label of the vault
)

// VaultFile is the file in which an export names the vaults whose notes it holds, so that an import knows them again.
const VaultFile = ".loregate/vault.json"

// VaultNames is the content of VaultFile.
type VaultNames struct {
	Loregate int       `json:"loregate"`        // 1
	Vaults   []string  `json:"vaults"`          // labels; the first is that of new notes
	World    string    `json:"world,omitempty"` // its id, in an export for game masters
	At       canon.Seq `json:"at,omitempty"`    // the last commit that wrote one of the exported cards
}

// SourceID returns the id of the card that holds the Source of the vault with a label.
func SourceID(label string) canon.CardID { return exchange.CardID("markdown", label, "source:") }

// maxSource is the maximum length as JSON, in bytes, of all Sources that a call reads. A note takes
// about 700 bytes, so that 180,000 notes fit.
const maxSource = 128 << 20

// maxEntries is the maximum number of notes, files and cards of all Sources that a call reads: an entry of few bytes
// takes hundreds in memory.
const maxEntries = 800_000

// SourceReader reads the Sources of a snapshot. The zero value is one that has read none.
type SourceReader struct {
	used    int64
	entries int
}

// Sources returns the cards that hold the Sources of a snapshot, in the order of their ids.
func Sources(ctx context.Context, l *canon.Snapshot) (all []canon.Card, err error) {
	for c, err := range l.AllCards(ctx, canon.Filter{Type: canon.TypeFile}) {
		if err != nil {
			return nil, err
		}
		if IsSourceCard(c) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b canon.Card) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	return all, nil
}

// LabelOf returns the label of the vault whose Source a card holds.
func LabelOf(c canon.Card) string {
	label, _ := decoded.ParseObject(string(c.Fields))[labelField].(string)
	return label
}

// Load reads the Source in a card, or an empty one if the card is none. Only a card that players
// cannot see is one.
func (r *SourceReader) Load(ctx context.Context, l *canon.Snapshot, c canon.Card) (*Source, error) {
	s := &Source{Loregate: 1, Notes: map[canon.CardID]*Origin{}, Files: map[canon.CardID]File{},
		Cards: map[canon.CardID]exchange.Memory{}}
	if !IsSourceCard(c) {
		return s, nil
	}
	data, err := l.Bytes(ctx, c.Content)
	if err != nil || len(data) == 0 {
		return s, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err == nil {
		left := &io.LimitedReader{R: z, N: maxSource - r.used}
		err = r.decode(s, json.NewDecoder(left))
		if r.used = maxSource - left.N; err != nil && (left.N == 0 || r.entries > maxEntries) {
			return nil, fault.New(fault.TooLarge, "the memory of imports in the card %q is longer than %d MiB or %d entries; "+
				"move that card to the trash and import the vault again", c.Name, maxSource>>20, maxEntries)
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

// decode reads a Source entry by entry, so that its text is not held as a whole.
func (r *SourceReader) decode(s *Source, d *json.Decoder) error {
	return eachMember(d, func(key string) error {
		switch key {
		case "notes":
			return decodeMap(r, d, s.Notes)
		case "files":
			return decodeMap(r, d, s.Files)
		case "cards":
			return decodeMap(r, d, s.Cards)
		case "folders":
			return d.Decode(&s.Folders)
		case "open":
			return d.Decode(&s.Open)
		case "confirm":
			return d.Decode(&s.Confirm)
		case "given":
			return d.Decode(&s.Given)
		case "links":
			return d.Decode(&s.Links)
		case "begun":
			return d.Decode(&s.Begun)
		case "loregate":
			return d.Decode(&s.Loregate)
		}
		return d.Decode(new(json.RawMessage))
	})
}

// decodeMap reads an object into a map, and counts its members.
func decodeMap[V any](r *SourceReader, d *json.Decoder, into map[canon.CardID]V) error {
	return eachMember(d, func(key string) error {
		if r.entries++; r.entries > maxEntries {
			return errors.New("too many entries")
		}
		var id canon.CardID
		if err := id.UnmarshalText([]byte(key)); err != nil {
			return err
		}
		var v V
		if err := d.Decode(&v); err != nil {
			return err
		}
		into[id] = v
		return nil
	})
}

// eachMember calls read with the key of each member of an object, or not at all for null. read reads the value.
func eachMember(d *json.Decoder, read func(key string) error) error {
	switch t, err := d.Token(); {
	case err != nil || t == nil:
		return err
	case t != json.Delim('{'):
		return errors.New("not an object")
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string) // the key of an object is a string
		if err := read(key); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
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

// IsSourceCard reports whether a card holds a Source.
func IsSourceCard(c canon.Card) bool {
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
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := s.Encode(&sourceLimit{w: z, left: maxSource}); err != nil {
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
		Fields: decoded.EncodeFields(map[string]any{sourceField: 1, labelField: label, "file_name": "source.json.gz"}),
		Data:   func() ([]byte, error) { return b.Bytes(), nil }}, nil
}

// sourceLimit passes at most maxSource bytes on.
type sourceLimit struct {
	w    io.Writer
	left int
}

func (l *sourceLimit) Write(b []byte) (int, error) {
	if l.left -= len(b); l.left < 0 {
		return 0, fault.New(fault.TooLarge, "the paths, front matter and odd bytes of the notes are longer than %d MiB; "+
			"import the folder in parts", maxSource>>20)
	}
	return l.w.Write(b)
}

// Encode writes the Source as JSON. It encodes one entry after the other: the whole text of a large vault would take
// as much memory as all the rest.
func (s *Source) Encode(w io.Writer) error {
	begun := ""
	if s.Begun {
		begun = `"begun":true,`
	}
	folders, err := json.Marshal(s.Folders)
	if err != nil {
		return err
	}
	decided, err := json.Marshal(struct {
		Open    []string `json:"open,omitempty"`
		Confirm []string `json:"confirm,omitempty"`
		Given   bool     `json:"given,omitempty"`
		Links   []string `json:"links,omitempty"`
	}{s.Open, s.Confirm, s.Given, s.Links})
	if err != nil {
		return err
	}
	if len(decided) > len("{}") {
		begun += string(decided[1:len(decided)-1]) + ","
	}
	if _, err := fmt.Fprintf(w, `{"loregate":%d,%s"notes":`, s.Loregate, begun); err != nil {
		return err
	}
	if err := encodeMap(w, s.Notes); err != nil {
		return err
	}
	if _, err := io.WriteString(w, `,"files":`); err != nil {
		return err
	}
	if err := encodeMap(w, s.Files); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, `,"folders":%s,"cards":`, folders); err != nil {
		return err
	}
	if err := encodeMap(w, s.Cards); err != nil {
		return err
	}
	_, err = io.WriteString(w, "}")
	return err
}

// encodeMap writes a map as a JSON object, its keys in order.
func encodeMap[V any](w io.Writer, m map[canon.CardID]V) error {
	between := "{"
	for _, id := range slices.SortedFunc(maps.Keys(m), func(a, b canon.CardID) int { return bytes.Compare(a[:], b[:]) }) {
		text, err := json.Marshal(m[id])
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, `%s"%s":%s`, between, id, text); err != nil {
			return err
		}
		between = ","
	}
	if between == "{" {
		between = "{}"
	} else {
		between = "}"
	}
	_, err := io.WriteString(w, between)
	return err
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
