package srd

import (
	"bytes"
	"path"
	"strings"

	"loregate/internal/exchange"
)

// Formats returns the descriptions of the formats of this package.
func Formats() []exchange.Format {
	return []exchange.Format{srdFormat(), open5eFormat()}
}

func open5eFormat() exchange.Format {
	return exchange.Format{Name: "open5e", Title: "Open5e, version 2 (JSON)", Import: ImportOpen5e,
		Recognize: func(p *exchange.Peek) string {
			for _, name := range p.WithSuffix(".json") {
				if bytes.Contains(p.Head(name), []byte(`"api_v2.`)) {
					return path.Base(name) + " has records of Open5e's models"
				}
			}
			return ""
		},
		Page: exchange.Page{
			Get: "Take a document's folder below `data/v2` of open5e/open5e-api, for example " +
				"`wizards-of-the-coast/srd-2024`. Mind the licences of other publishers.",
			Example: "./srd-2024",
			Maps: "Creatures, spells, items, magic items, classes, species, feats and rules become cards with a codename; " +
				"traits, actions, benefits and features sections of their card; weapons and armor fields of their item.",
			Lost:  "Tables of classes, casting options, attacks and cross references, with their counts; licences.",
			Sight: "The format has no secrets of its own: the import's level, and the marks below in its texts.",
			Tried: "srd-2024 of open5e/open5e-api"}}
}

func srdFormat() exchange.Format {
	return exchange.Format{Name: "srd", Title: "5e rules reference (JSON)", Import: Import,
		Recognize: func(p *exchange.Peek) string {
			for _, name := range p.WithSuffix(".json") {
				_, kind, _ := strings.Cut(strings.TrimSuffix(path.Base(name), ".json"), "-SRD-")
				if _, known := recordKinds[kind]; known {
					return path.Base(name) + " is a file of the rules reference"
				}
			}
			return ""
		},
		Page: exchange.Page{
			Get:     "Take the files `5e-SRD-….json` of 5e-bits/5e-database, one or a folder of them.",
			Example: "./5e-srd",
			Maps: "Monsters become creatures, equipment items, magic items artifacts, and spells, classes " +
				"and rules lore with a codename.", Lost: "Nothing: all other members are kept in the field srd.",
			Sight: "The format has no secrets of its own: the import's level, and the marks below in its texts.",
			Tried: "5e-bits/5e-database, edition of 2014"}}
}
