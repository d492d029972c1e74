package srd

import (
	"path"
	"strings"

	"loregate/internal/exchange"
)

// Format returns the description of this format.
func Format() exchange.Format {
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
			Sight: "The format has no secrets: the import's level.", Tried: "5e-bits/5e-database, edition of 2014"}}
}
