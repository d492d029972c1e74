package ranvier

import (
	"path"

	"loregate/internal/exchange"
)

// Format returns the description of this format.
func Format() exchange.Format {
	return exchange.Format{Name: "ranvier", Title: "Ranvier areas (YAML)", Import: Import, Places: true,
		Recognize: func(p *exchange.Peek) string {
			for _, name := range p.WithSuffix("manifest.yml") {
				if p.Has(path.Join(path.Dir(name), "rooms.yml")) {
					return name + " is beside a rooms.yml"
				}
			}
			return ""
		},
		Page: exchange.Page{
			Get:     "Take the folder `areas` of a bundle.",
			Example: "./areas",
			Maps: "Areas become realms, rooms places with exits and doors, npcs characters where they are " +
				"placed, items and quests cards.", Lost: "Scripts and loot pools.",
			Sight: "The format has no secrets of its own: the import's level, and the marks below in its texts.",
			Tried: "RanvierMUD/bundle-example-areas"}}
}
