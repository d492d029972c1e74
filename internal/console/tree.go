package console

import (
	"net/http"
	"strings"

	"loregate/internal/markup"
)

// branch is a card with the cards below it.
type branch struct {
	card
	Label string // the name without that of the branch above
	Below []*branch
}

// showTree lists the cards by name, each below the card that its name begins with.
func (s *server) showTree(v *visit) error {
	list, err := call[cardList](v, "search_cards", v.paged(fields{"sort": "name"}))
	if err != nil {
		return err
	}
	list.Manages = v.may("list_trash")
	return v.write(http.StatusOK, treePage(v.frame("Tree of cards"), list, growTree(list.Cards)))
}

// growTree arranges cards that are sorted by name. A card stands below the nearest card above it in the list; one
// without any is a root.
func growTree(cards []card) (roots []*branch) {
	var open []*branch // from a root down to the last card
	for _, c := range cards {
		for len(open) > 0 && !isBelow(c.Name, open[len(open)-1].Name) {
			open = open[:len(open)-1]
		}
		b := &branch{card: c, Label: c.Name}
		if len(open) == 0 {
			roots = append(roots, b)
		} else {
			above := open[len(open)-1]
			b.Label = markup.Join(markup.Parts(c.Name)[len(markup.Parts(above.Name)):]...)
			above.Below = append(above.Below, b)
		}
		open = append(open, b)
	}
	return roots
}

func isBelow(name, above string) bool {
	return strings.HasPrefix(string(markup.KeyOf(name)), string(markup.KeyOf(above))+"+")
}
