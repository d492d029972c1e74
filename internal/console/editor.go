package console

import (
	"errors"
	"path"
	"strconv"
	"strings"

	"loregate/internal/fault"
	"loregate/internal/markup"
)

// maxNames is how many names the editor proposes.
const maxNames = 12

// completeName sends the names of cards for the beginning of one: first those that begin so, then those that
// contain it. Without a beginning they are those that changed last.
func (s *server) completeName(v *visit) error {
	found, err := v.findNames(v.r.URL.Query().Get("q"))
	writeJSON(v.w, map[string]any{"names": found}, err)
	return nil
}

func (v *visit) findNames(begun string) ([]cardName, error) {
	if begun == "" {
		return v.searchNames(fields{"sort": "updated_at"})
	}
	found, err := v.searchNames(fields{"prefix": begun, "sort": "name"})
	if err != nil || len(found) == maxNames {
		return found, err
	}
	more, err := v.searchNames(fields{"q": begun, "search_in": "name", "sort": "name"})
	for _, c := range more {
		if len(found) < maxNames && !strings.HasPrefix(string(markup.KeyOf(c.Name)), string(markup.KeyOf(begun))) {
			found = append(found, c)
		}
	}
	return found, err
}

// cardName is a card that the editor proposes.
type cardName struct {
	Name string `json:"name"`
	Type string `json:"type"`
	ID   string `json:"id"`
}

func (v *visit) searchNames(in fields) ([]cardName, error) {
	in["limit"], in["snippets"] = maxNames, false
	list, err := call[struct {
		Cards []cardName `json:"cards"`
	}](v, "search_cards", in)
	return append([]cardName{}, list.Cards...), err
}

// attachPicture stores a picture of the editor in a card of its own, below the card that is written, and sends
// that card's name.
func (s *server) attachPicture(v *visit) error {
	made, err := v.createAttachment()
	writeJSON(v.w, made, err)
	return nil
}

func (v *visit) createAttachment() (made cardName, err error) {
	up, err := v.readUpload()
	if err != nil {
		return made, err
	}
	name, err := v.findFreeName(up.below, strings.TrimSuffix(path.Base(up.name), path.Ext(up.name)))
	if err != nil {
		return made, err
	}
	return callUpload[cardName](v, "upload_attachment", fields{"name": name, "filename": up.name}.with("level",
		up.level), up.file)
}

// findFreeName returns a name for an attachment that no card has: that of its file, with a number if needed.
func (v *visit) findFreeName(below, file string) (string, error) {
	name := strings.Join(markup.Parts(file), " ")
	if below != "" {
		name = markup.Join(below, name)
	}
	const tries = 20 // of pictures that are pasted under one name
	for n := range tries {
		free := name
		if n > 0 {
			free += " " + strconv.Itoa(n+1)
		}
		_, err := call[card](v, "get_card", fields{"name": free})
		if errors.Is(err, fault.NotFound) {
			return free, nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", fault.BadField("file", "has a name that %d cards have already; rename it first", tries)
}
