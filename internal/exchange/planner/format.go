package planner

import (
	"bytes"
	"strings"

	"loregate/internal/decoded"
	"loregate/internal/exchange"
)

// Formats returns the descriptions of the formats.
func Formats() []exchange.Format {
	return []exchange.Format{
		{Name: "kanka", Title: "Kanka (export of a campaign, JSON)", Import: ImportKanka, Places: true,
			Recognize: recognizeKanka, Page: exchange.Page{
				Get: "In Kanka, open the campaign's *Export*, ask for one, and download the zip. Do not choose " +
					"Markdown.",
				Example: "./kanka.zip",
				Maps: "Entities become cards of the type of their module, posts parts of the text, attributes fields, relations " +
					"relationships, places and parents links, markers of maps pins, mentions wiki links, pictures of the gallery pictures. " +
					"The first calendar becomes the world's calendar, reminders and dated events become events of the timeline.",
				Lost: "Other calendars' dates, moons, seasons, inventories, abilities, dashboards; settings are never read; the Markdown export is read as markdown.",
				Sight: "`is_private` of entities and attributes, the visibility of posts and relations. Permissions of roles are not in " +
					"the export, so public entities are for the GM until `--open \"public entities\"`.", Tried: ""}},
		{Name: "fantasy-calendar", Title: "Fantasy-Calendar (JSON)", Import: ImportFantasyCalendar,
			Recognize: func(p *exchange.Peek) string {
				for _, name := range p.WithSuffix(".json") {
					if s := p.JSON(name); s.Has("static_data", "dynamic_data") {
						return name + " has static_data and dynamic_data"
					}
				}
				return ""
			}, Page: exchange.Page{
				Get:     "Export the calendar as JSON.",
				Example: "./calendar.json",
				Maps: "The calendar becomes the world's calendar (codename `calendar`): its months, intercalary days, weekdays and " +
					"eras date the timeline. Events with one date become events of the timeline.",
				Lost:  "Recurring events, leap days, moons, seasons, the clock and the weather.",
				Sight: "Hidden events are for the GM.", Tried: "the Gregorian preset of fantasycalendar/Fantasy-Calendar"}},
		{Name: "legendkeeper", Title: "LegendKeeper (.lk)", Import: ImportLegendKeeper, Places: true,
			Recognize: func(p *exchange.Peek) string {
				for _, name := range p.WithSuffix(".lk") {
					return name + " has the ending of an export"
				}
				for _, name := range p.WithSuffix(".json") {
					if s := p.JSON(name); s.Has("resources", "version") && s.Begins("resources", '[') {
						return name + " has a list of resources"
					}
				}
				return ""
			}, Page: exchange.Page{
				Get:     "Export the project as `.lk`.",
				Example: "./world.lk",
				Maps: "Resources become cards, their pages text, mentions wiki links, parents links, pins of maps links; " +
					"properties of the sidebar fields, and their links relationships.",
				Lost:  "Calendars, timelines, boards and pictures, which the file only names; they are counted.",
				Sight: "`isHidden` of a resource with everything below it, of a document, property and pin; secret blocks.",
				Tried: ""}},
		{Name: "scabard", Title: "Scabard (JSON)", Import: ImportScabard, Places: true,
			Recognize: func(p *exchange.Peek) string {
				for _, name := range p.WithSuffix(".json") {
					if s := p.JSON(name); s.Has("pages", "conns") {
						return name + " has pages and conns"
					}
				}
				return ""
			}, Page: exchange.Page{
				Get:     "Export the campaign as JSON.",
				Example: "./scabard.json",
				Maps:    "Pages become cards, connections relationships.", Lost: "Pictures, maps.",
				Sight: "`isSecret`, `secrets` and `gmSecrets` are for the GM, and secret connections.", Tried: ""}},
		{Name: "worldanvil", Title: "World Anvil (articles as JSON)", Import: ImportWorldAnvil, Places: true,
			Recognize: func(p *exchange.Peek) string {
				for _, name := range p.WithSuffix(".json") {
					if s := p.JSON(name); s.Has("title", "slug") && (s.Has("templateType") || s.Has("entityClass")) {
						return name + " is an article"
					}
				}
				return ""
			}, Page: exchange.Page{
				Get:     "Save the articles as JSON, in the form in which World Anvil's programming interface answers.",
				Example: "./articles",
				Maps:    "Articles become cards of the type of their template; BBCode becomes HTML, mentions wiki links.",
				Lost:    "All fields except the content and the fields for the GM; maps, timelines, statblocks.",
				Sight: "Private articles, drafts and articles for groups are for the GM, also secrets and notes of " +
					"notebooks, whether " +
					"or not they are public, `[secret]` and `[subcontainer]` in texts, `seeded` and fields `ggm…`. Made from the names of " +
					"fields alone.", Tried: ""}},
		{Name: "decko", Title: "Decko wikis (cards-export.ndjson)", Import: ImportDecko, Places: true,
			Recognize: func(p *exchange.Peek) string {
				for _, name := range p.WithSuffix(".ndjson", ".jsonl") {
					line, _, _ := strings.Cut(string(p.Head(name)), "\n")
					head := p.Head(name)
					m := decoded.ParseObject(line)
					long := m == nil && bytes.HasPrefix(head, []byte("{")) && bytes.Contains(head, []byte(`"content"`))
					if m["name"] != nil && m["type"] != nil && m["content"] != nil ||
						long && bytes.Contains(head, []byte(`"name"`)) && bytes.Contains(head, []byte(`"type"`)) {
						return name + " has lines with name, type and content"
					}
				}
				return ""
			}, Page: exchange.Page{
				Get:     "Export the cards as JSON lines, one card on a line.",
				Example: "./cards-export.ndjson",
				Maps:    "Cards keep their compound names, types, codenames and contents.",
				Lost:    "Rules, accounts, files, the trash and the history.",
				Sight:   "`+GM` and `+AI` in a name, and `+*self+*read` rules; otherwise the import's level.", Tried: ""}},
	}
}

func recognizeKanka(p *exchange.Peek) string {
	if p.Has("campaign.json") && p.Has("info.json") {
		return "campaign.json is beside an info.json"
	}
	for _, name := range p.WithSuffix(".json") {
		if s := p.JSON(name); s.Has("entity") && s.Begins("entity", '{') {
			return name + " holds an entity"
		}
	}
	return ""
}
