package mapgen

import (
	"bytes"
	"fmt"
	"strings"

	"loregate/internal/exchange"
)

// Formats returns the descriptions of the formats.
func Formats() []exchange.Format {
	noSecrets := "The format has no secrets of its own: the import's level, and the marks below in its texts."
	return []exchange.Format{
		{Name: "azgaar", Title: "Azgaar's Fantasy Map Generator (.map, full JSON)", Import: ImportAzgaar, Places: true,
			Recognize: recognizeAzgaar, Page: exchange.Page{
				Get:     "In the generator, save the map to your machine (`.map`), or export it as full JSON.",
				Example: "./world.map",
				Maps: "States and provinces become realms, burgs and markers places, cultures, religions, rivers and notes lore; " +
					"routes become exits with travel times (roads 5, trails 3.5, ships 8 km an hour); the map a picture with pins; the era the world's calendar and campaigns events of the timeline.",
				Lost: "Coats of arms, military, zones, biomes and heights. Maps before 1.99 have no routes: their places have " +
					"no exits.", Sight: noSecrets,
				Tried: "maps of 1.95.05 and 1.106.7 (phazingazrael/Terra-Logger), lists of tabone/azgaar-obsidian-plugin"}},
		{Name: "watabou", Title: "Watabou's towns and dwellings (JSON)", Import: ImportWatabou, Places: true,
			Recognize: recognizeWatabou, Page: exchange.Page{
				Get:     "In the generator, open the menu by a right click and export the town or dwelling as JSON.",
				Example: "./town.json",
				Maps: "A town becomes a realm, its districts places with exits where they share a border; the rooms of a dwelling " +
					"places with exits through doors and stairs.",
				Lost:  "Buildings, walls and trees are only counted. The files contain no name of the town: it is the file's.",
				Sight: noSecrets, Tried: "a town and a dwelling of voluminor/maphub"}},
	}
}

func recognizeAzgaar(p *exchange.Peek) string {
	if hasLists(p) {
		return "states.json and burgs.json are lists of a map"
	}
	for _, name := range p.WithSuffix(".map", ".gz", ".json", ".txt") {
		head := p.Head(name)
		first, _, _ := bytes.Cut(head, []byte("\n"))
		switch {
		case bytes.Contains(first, []byte("|")) && bytes.Contains(first, []byte("Fantasy-Map-Generator")):
			return fmt.Sprintf("%s is a map of version %s", name, bytes.SplitN(first, []byte("|"), 2)[0])
		case strings.HasSuffix(strings.ToLower(name), ".map") && len(first) > 0:
			data, err := p.Whole(name)
			if err != nil {
				continue
			}
			if m, err := parseAzgaar(name, data); err == nil {
				return fmt.Sprintf("%s is a map of version %s", name, m.version)
			}
		case strings.HasSuffix(strings.ToLower(name), ".json"):
			if s := p.JSON(name); s.Has("info", "pack") || s.Has("pack", "notes") {
				return name + " is a full export of a map"
			}
		}
	}
	return ""
}

func recognizeWatabou(p *exchange.Peek) string {
	for _, name := range p.WithSuffix(".json") {
		s := p.JSON(name)
		switch {
		case s.Text("type") == "FeatureCollection" && bytes.Contains(s.Members["features"], []byte(`"generator"`)):
			return name + " is a town of a generator"
		case s.Begins("floors", '[') && s.Has("exit"):
			return name + " is a dwelling of a generator"
		}
	}
	return ""
}
