package light

import (
	"fmt"

	"loregate/internal/exchange"
)

// Format returns the description of this format.
func Format() exchange.Format {
	return exchange.Format{Name: "light", Title: "LIGHT text worlds (JSON)", Import: Import, Places: true,
		Recognize: func(p *exchange.Peek) string {
			for _, name := range p.WithSuffix(".json") {
				if s := p.JSON(name); !s.List && s.Begins("nodes", '{') {
					return fmt.Sprintf("%s has nodes by id", name)
				}
			}
			return ""
		},
		Page: exchange.Page{
			Get:     "Take the JSON of a world, one file or a folder of them.",
			Example: "./light",
			Maps: "Rooms become places with exits, agents characters in their room, objects items held by " +
				"a room, an agent or a container.", Lost: "Exits beyond twelve of one room; nodes that are not a room, an agent " +
				"or an object.", Sight: "The format has no secrets of its own: the import's level, and the marks below in " +
				"its texts.",
			Tried: "the worlds of facebookresearch/LIGHT"}}
}
