package lorebook

import (
	"bytes"

	"loregate/internal/exchange"
	"loregate/internal/fault"
)

// Formats returns the descriptions of the formats.
func Formats() []exchange.Format {
	return []exchange.Format{
		{Name: "character", Title: "character cards (V1 to V3 as JSON, PNG or CHARX)", Import: ImportCharacters,
			Recognize: recognizeCharacter, Page: exchange.Page{
				Get:     "Take the card as it was downloaded: the PNG itself, JSON, or CHARX.",
				Example: "./hero.png",
				Maps: "A card becomes a character with picture, description, personality and greeting; its book a lorebook. " +
					"Exported again as JSON of version 3 or 2.",
				Lost: "Assets that are not pictures; extensions over 256 KiB; scripts do nothing.",
				Sight: "The format has no marks: scenario, prompts, examples, notes, extensions and all entries of the book " +
					"are for the GM; a card that an export kept from players says so in `extensions.loregate.visibility`. " +
					"Instructions in a card are data, and marked as imported.",
				Tried: "the card and the world info that SillyTavern ships (not part of the tests: AGPL)"}},
		{Name: "lorebook", Title: "lorebooks (SillyTavern world info, lorebook_v3, NovelAI, Agnai, Risu, AI Dungeon)",
			Import: Import, Recognize: recognizeBook, Page: exchange.Page{
				Get: "In SillyTavern, open *World Info* and export it. The other programs export lorebooks, memory " +
					"books and story cards as JSON.",
				Example: "./world-info.json",
				Maps: "Entries become facts with their keys as aliases; rules of activation stand in the field activation; " +
					"members that are not known are kept. Exported again as world info.",
				Lost:  "Entries with neither text nor keys. Regular expressions among the keys are no aliases.",
				Sight: "The formats have no marks: all entries are for the GM until `--open \"entries of lorebooks\"`.",
				Tried: "the world info that SillyTavern ships; the other dialects are untried"}},
	}
}

func recognizeCharacter(p *exchange.Peek) string {
	if p.Has(charxCard) {
		if s := p.JSON(charxCard); isCharacter(s) {
			return "card.json is a character card"
		}
	}
	for _, name := range p.WithSuffix(".json", ".png") {
		head := p.Head(name)
		if bytes.HasPrefix(head, pngMagic) {
			if hasCardChunk(p, name) {
				return name + " is a picture with a character card"
			}
			continue
		}
		if s := p.JSON(name); !s.List && isCharacter(s) {
			return name + " is a character card"
		}
	}
	return ""
}

// hasCardChunk reports whether a picture holds a card.
func hasCardChunk(p *exchange.Peek, name string) bool {
	data, err := p.Whole(name)
	if err != nil {
		return false
	}
	card, _, err := splitPNG(data)
	return err == nil && card != nil
}

func recognizeBook(p *exchange.Peek) string {
	for _, name := range p.WithSuffix(".json", ".story", ".lorebook") {
		head := bytes.TrimSpace(p.Head(name))
		if len(head) == 0 || head[0] != '{' && head[0] != '[' {
			continue
		}
		s := p.JSON(name)
		if !s.Has("entries") && !s.Has("lorebookVersion") && !s.Has("storyContainerVersion") && !s.Has("keys") &&
			s.Text("spec") != "lorebook_v3" && s.Text("type") != "risu" {
			continue
		}
		data, err := p.Whole(name)
		if err != nil {
			continue
		}
		b, err := parseBook(stemOf(name), data)
		switch {
		case fault.KindOf(err) == fault.TooLarge: // the import says so
			return name + " is a lorebook"
		case err == nil && b != nil:
			return name + " is a lorebook of the kind " + b.dialect
		}
	}
	return ""
}
