package lorebook

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
	"loregate/internal/secrecy"
)

// fieldCharacter is the field with the card as written, on the child card for the GM.
const fieldCharacter = "characterCard"

// character is a character card of any version.
type character struct {
	spec string
	data map[string]any
	file string
	// pictures are the paths of the pictures in a CHARX file, the main one first.
	pictures []string
	picture  []byte // of a PNG file
}

// publicTexts are the members of a card that become the text that players read, with their headings.
var publicTexts = [][2]string{{"description", ""}, {"personality", "Personality"}, {"first_mes", "Greeting"}}

// secretTexts are the members that become the text for the GM.
var secretTexts = [][2]string{{"scenario", "Scenario"}, {"system_prompt", "Instructions to a model (imported)"},
	{"post_history_instructions", "Closing instructions to a model (imported)"}, {"mes_example", "Examples"},
	{"creator_notes", "Notes of the creator"}}

// ImportCharacters imports character cards: JSON files of the versions 1 to 3, PNG pictures with a
// card, and the contents of CHARX files. A card becomes a Character with its picture; its prompts,
// examples and notes become a child card for the GM, and its book is imported like any lorebook.
func ImportCharacters(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS,
	o exchange.Options) (exchange.Summary, error) {
	return record.Import(ctx, c, g, "character", o, func(s *record.Source) error {
		s.Relabel("")
		names := sourceFiles(files, o, ".json", ".png")
		if hasFile(files, charxCard) {
			names = []string{charxCard}
		}
		for _, name := range names {
			data, ok := s.ReadBytes(files, name)
			if !ok {
				continue
			}
			ch, err := parseCharacter(name, data)
			switch {
			case err != nil && o.File != "":
				return err
			case err != nil:
				s.AddProblem(name, 0, "%s; left out", err)
				continue
			case ch == nil:
				s.AddProblem(name, 0, "holds no character card; left out")
				continue
			}
			if name == charxCard {
				ch.findPictures(s, files)
			}
			if err := addCharacter(ctx, s, files, ch); err != nil {
				return err
			}
		}
		if !s.HasCards() {
			return s.EmptyError("no file holds a character card")
		}
		return nil
	})
}

// charxCard is the card in a CHARX file.
const charxCard = "card.json"

func hasFile(files fs.FS, name string) bool {
	_, err := fs.Stat(files, name)
	return err == nil
}

// parseCharacter returns the card in a file, or nil if it has none.
func parseCharacter(file string, data []byte) (*character, error) {
	ch := &character{file: file}
	if bytes.HasPrefix(data, pngMagic) {
		card, picture, err := splitPNG(data)
		if err != nil || card == nil {
			return nil, err
		}
		data, ch.picture = card, picture
	}
	m, err := exchange.DecodeObject(file, data)
	if err != nil {
		return nil, err
	}
	ch.spec = decoded.TextOf(m["spec"])
	if inner, ok := m["data"].(map[string]any); ok && (ch.spec != "" || inner["first_mes"] != nil) {
		ch.data = inner
	} else {
		ch.data = m
	}
	if decoded.TextOf(ch.data["name"]) == "" || first(ch.data, "description", "first_mes", "personality") == nil {
		return nil, nil
	}
	return ch, nil
}

// findPictures finds the pictures of a CHARX file and reports the other files.
func (ch *character) findPictures(s *record.Source, files fs.FS) {
	known := map[string]bool{charxCard: true}
	var main []string
	for _, a := range decoded.ObjectsOf(ch.data["assets"]) {
		uri := decoded.TextOf(a["uri"])
		at := strings.TrimPrefix(strings.TrimPrefix(uri, "embeded://"), "embedded://")
		if at == uri || known[at] || !fs.ValidPath(at) || !hasFile(files, at) {
			continue
		}
		known[at] = true
		switch {
		case !exchange.IsPicture(at):
			s.AddProblem(at, 0, "is an asset that is not a picture; left out")
		case a["type"] == "icon" && a["name"] == "main":
			main = append(main, at)
		default:
			ch.pictures = append(ch.pictures, at)
		}
	}
	slices.Reverse(main)
	ch.pictures = append(main, ch.pictures...)
	for _, name := range exchange.NewPeek(files, "").Paths() {
		if !known[name] {
			s.AddProblem(name, 0, "is not named by the card; left out")
		}
	}
}

// addCharacter adds the cards of a character.
func addCharacter(ctx context.Context, s *record.Source, files fs.FS, ch *character) error {
	name := decoded.TextOf(ch.data["name"])
	key := []string{name, decoded.TextOf(ch.data["creator"])}
	fields := map[string]any{}
	for _, m := range []string{"creator", "character_version", "nickname"} {
		if v := decoded.TextOf(ch.data[m]); v != "" {
			fields[m] = v
		}
	}
	if nick := decoded.TextOf(ch.data["nickname"]); nick != "" {
		fields["aliases"] = nameKeys([]string{nick}, name)
	}
	r := record.Card{Key: append([]string{"character"}, key...), File: ch.file, Name: name,
		Suffixes: []string{"character", decoded.TextOf(ch.data["creator"])}, Type: "Character", Form: record.Plain,
		Codename: "character-" + name, Fields: fields, Tags: decoded.ListOf(ch.data["tags"]),
		Text: textsOf(ch.data, publicTexts)}
	r.Narrow(record.Visibility(ch.data))
	sh, err := s.Add(ctx, r)
	if err != nil {
		return err
	}
	if err := addPrompts(ctx, s, sh, ch, key); err != nil {
		return err
	}
	if err := addPictures(ctx, s, files, sh, ch, key); err != nil {
		return err
	}
	m, _ := ch.data["character_book"].(map[string]any)
	if entries, _ := m["entries"].([]any); len(entries) == 0 {
		return nil
	}
	b := readBook(dialectCard, name+" lorebook", m)
	head, err := addBook(ctx, s, ch.file, b)
	if err == nil {
		s.AddEdge(ch.file, "member_of", head, sh, nil)
	}
	return err
}

// addPrompts adds the card with the texts for the GM and with the whole card as data.
func addPrompts(ctx context.Context, s *record.Source, above *exchange.Sheet, ch *character, key []string) error {
	fields := map[string]any{fieldCharacter: map[string]any{"spec": ch.spec, "data": without(ch.data, "character_book")}}
	if len(decoded.EncodeFields(fields)) > canon.MaxFields {
		s.AddProblem(ch.file, 0, "the card's extensions hold more data than a card; left out")
		fields = map[string]any{fieldCharacter: map[string]any{"spec": ch.spec,
			"data": without(ch.data, "character_book", "extensions", "assets")}}
	}
	s.Choices.Decide(secrecy.Mark{Rule: ruleNoMarks, What: hidesPrompts}, ch.file, true)
	text := textsOf(ch.data, secretTexts)
	for _, more := range decoded.ListOf(ch.data["alternate_greetings"]) {
		text = append(text, record.Block{Text: "Other greeting\n\n" + more})
	}
	_, err := s.Add(ctx, record.Card{Key: append([]string{"prompts"}, key...), File: ch.file, Name: exchange.GMPart,
		Above: above, Form: record.Plain, Fields: fields, Level: access.LevelGM, Text: text})
	return err
}

func addPictures(ctx context.Context, s *record.Source, files fs.FS, above *exchange.Sheet, ch *character,
	key []string) error {
	add := func(name, file string, data func() ([]byte, error)) error {
		_, err := s.Add(ctx, record.Card{Key: append([]string{"picture", name}, key...), File: file, Name: name,
			Above: above, Type: canon.TypeImage, Data: data, Fields: map[string]any{"file_name": path.Base(file)}})
		return err
	}
	if ch.picture != nil {
		return add("picture", ch.file, func() ([]byte, error) { return ch.picture, nil })
	}
	for i, file := range ch.pictures {
		name := "picture"
		if i > 0 {
			name = "picture " + stemOf(file)
		}
		if err := add(name, file, exchange.FileData(files, file)); err != nil {
			return err
		}
	}
	return nil
}

// textsOf returns the texts of members, each under its heading.
func textsOf(m map[string]any, members [][2]string) (blocks []record.Block) {
	for _, member := range members {
		text, _ := m[member[0]].(string)
		switch {
		case strings.TrimSpace(text) == "":
			continue
		case member[1] != "":
			text = member[1] + "\n\n" + text
		}
		blocks = append(blocks, record.Block{Text: text})
	}
	return blocks
}

// isCharacter reports whether the shape of a JSON file is that of a character card.
func isCharacter(p *exchange.Shape) bool {
	var inner map[string]json.RawMessage
	_ = json.Unmarshal(p.Members["data"], &inner) // not an object: no card
	return strings.HasPrefix(p.Text("spec"), "chara_card") || inner["first_mes"] != nil ||
		p.Has("name", "first_mes") && (p.Has("description") || p.Has("personality"))
}
