package foundry

import (
	"path"
	"strings"

	"loregate/internal/exchange"
)

// Format returns the description of this format.
func Format() exchange.Format {
	return exchange.Format{Name: "foundry", Title: "Foundry VTT (worlds, compendia, exported JSON; v10 to v13)",
		Import: Import, Recognize: recognize, Places: true, Page: exchange.Page{
			Get: "Close the world in Foundry and copy its folder `Data/worlds/WORLD`, or the folder `packs` of a " +
				"module. A document's menu has *Export Data* for its JSON.",
			Example: "./my-world",
			Maps: "Journals and their pages become documents, actors characters and creatures, items items and lore, " +
				"scenes places with pins, tables documents; folders become tags; links by UUID become wiki links.",
			Lost: "Macros, playlists, decks, walls and effects; pictures outside the source; positions of tokens. Databases " +
				"without MANIFEST are recovered, with a warning.",
			Sight: "`ownership` of a world folder: text from observer on, name and picture of an actor from limited on. " +
				"Packs: `ownership.PLAYER` of their manifest. Exported JSON and other packs: for the GM until `--open`. An " +
				"ownership that a page states itself counts in all of them. Items that players have not identified show the " +
				"name and " +
				"text that players see; the true ones are for the GM. Secret sections, unless revealed, and the other marks " +
				"below " +
				"are for the GM. Users and settings are never read.",
			Tried: "13 packs of Cairn (yochaigal/Cairn-FoundryVTT), 5 of azure-campaign-compendia"}}
}

func recognize(p *exchange.Peek) string {
	for _, name := range p.Paths() {
		base := path.Base(name)
		switch {
		case isLevelName(base) && (p.Has(path.Join(path.Dir(name), "LOCK")) || p.Has(path.Join(path.Dir(name), "CURRENT"))):
			return path.Dir(name) + " is a LevelDB folder, as Foundry packs are"
		case strings.HasPrefix(base, "fvtt-") && strings.HasSuffix(base, ".json"):
			return base + " is named like an exported document"
		case strings.HasSuffix(base, ".db") && (p.Has("world.json") || p.Has("module.json") || p.Has("system.json")):
			return base + " is beside the manifest of a world or module"
		}
	}
	for _, name := range p.WithSuffix(".json") {
		if s := p.JSON(name); strings.HasPrefix(s.Text("_key"), "!") || s.Has("_stats", "ownership", "name") {
			return name + " is an exported document"
		}
	}
	return ""
}

func isLevelName(base string) bool {
	_, ok := parseLevelName(base)
	return ok
}
