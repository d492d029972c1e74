package textworld

import (
	"bytes"

	"loregate/internal/exchange"
)

// Formats returns the descriptions of the formats.
func Formats() []exchange.Format {
	return []exchange.Format{
		{Name: "circlemud", Title: "CircleMUD and tbaMUD (lib/world)", Import: ImportCircle, Places: true,
			Recognize: func(p *exchange.Peek) string {
				for _, name := range p.WithSuffix(".wld") {
					if head := bytes.TrimSpace(p.Head(name)); len(head) > 0 && head[0] == '#' {
						return name + " is a file of rooms"
					}
				}
				return ""
			}, Page: exchange.Page{
				Get:     "Take the folder `lib/world` of the server.",
				Example: "./lib/world",
				Maps: "Zones become realms, rooms places with exits, doors and keys, mobiles characters where zones put them, " +
					"objects items held by rooms, mobiles and containers. Players begin at room 3001.",
				Lost:  "Scripts, shops, quests, combat values, codes for colours; one character stands for all of its kind in a room.",
				Sight: "Hidden doors (kinds 3 and 4) and rooms of the gods are for the GM, and that a room kills.",
				Tried: "the world of tbamud/tbamud: 12,700 rooms"}},
		{Name: "evennia", Title: "Evennia batch files (.ev)", Import: ImportEvennia, Places: true,
			Recognize: func(p *exchange.Peek) string {
				for _, name := range p.WithSuffix(".ev") {
					return name + " is a batch file"
				}
				return ""
			}, Page: exchange.Page{
				Get:     "Take a file of batch commands of the game.",
				Example: "./world.ev",
				Maps: "The commands dig, open, create, desc, detail and lock are carried out: rooms become places, objects items " +
					"in their room.", Lost: "All other commands are counted; Python in batch files is not run.",
				Sight: "The format has no secrets of its own: the import's level, and the marks below in its texts.",
				Tried: "the tutorial world of evennia/evennia"}},
		{Name: "twee", Title: "Twine stories in Twee 3", Import: ImportTwee, Places: true,
			Recognize: func(p *exchange.Peek) string {
				for _, name := range p.WithSuffix(".twee", ".tw") {
					if bytes.HasPrefix(p.Head(name), []byte(":: ")) || bytes.Contains(p.Head(name), []byte("\n:: ")) {
						return name + " has passages"
					}
				}
				return ""
			}, Page: exchange.Page{
				Get:     "In Twine, build the story as Twee.",
				Example: "./story.twee",
				Maps: "Passages become places with exits to the passages that they link; tags stay; players begin at the start of " +
					"the story.", Lost: "Scripts and style sheets; macros stay as text.",
				Sight: "The format has no secrets of its own: the import's level, and the marks below in its texts.",
				Tried: "the demos of klembot/chapbook"}},
	}
}
