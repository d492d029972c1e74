package builder

import (
	"slices"
	"strings"
)

// Unknown returns the words of a description that the recipes do not know, each once. They change
// nothing in the scene.
func Unknown(words string) ([]string, error) {
	lib, err := loadRecipes()
	if err != nil {
		return nil, err
	}
	var list []string
	for _, w := range wordForm.FindAllString(strings.ToLower(words), 4000) {
		if len(w) > 2 && !slices.Contains(list, w) && !slices.Contains(plainWords, w) && !lib.knows(w) {
			list = append(list, w)
		}
	}
	return list, nil
}

// knows reports whether a word is in a recipe.
func (lib *library) knows(w string) bool {
	if lib.thingByWord[toSingular(w)] != "" || lib.Numbers[w] > 0 || w[0] >= '0' && w[0] <= '9' {
		return true
	}
	for _, p := range lib.Places {
		if slices.Contains(p.Words, w) {
			return true
		}
	}
	return slices.ContainsFunc(lib.Styles, func(s style) bool { return slices.Contains(s.Words, w) })
}

// plainWords are words that say nothing about the things of a scene.
var plainWords = strings.Fields("the and with without from into for its his her their this that these those two three " +
	"four five six seven eight nine ten near beside behind under over above below between around along through has have are is " +
	"some any all each every ein eine einem einer einen une una unos des del los las")
