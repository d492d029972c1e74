package markup

import "strings"

// singularOf returns the singular of a lower-case word as word[:keep]+tail. A word whose singular
// has another singular is a name, not a plural (Matthias would become matthia, then matthium), and
// stays unchanged. So does a word whose singular would be empty.
//
// The rules are those of Rails' ActiveSupport, on which Decko's keys are based. They are written
// out here and not taken from a library, because stored keys depend on them: changing a rule
// requires a migration of every store.
func singularOf(word string) (keep int, tail string) {
	keep, tail = singularOnce(word)
	if keep == len(word) && tail == "" || keep+len(tail) == 0 {
		return len(word), ""
	}
	once := word[:keep]
	if tail != "" {
		once += tail
	}
	if again, more := singularOnce(once); once[:again]+more != once {
		return len(word), ""
	}
	return keep, tail
}

// suffixRule replaces a suffix: it replaces the last cut bytes of a word that ends in suffix by
// tail.
type suffixRule struct {
	suffix string
	cut    int
	tail   string
}

// irregular lists the suffixes that are tried before all others.
var irregular = []suffixRule{
	{"people", 5, "erson"},
	{"men", 2, "an"},
	{"children", 3, ""},
	{"sexes", 2, ""},
	{"moves", 1, ""},
	{"zombies", 1, ""},
}

// singularRules are tried in order; the first matching suffix counts.
var singularRules = []suffixRule{
	{"databases", 1, ""},
	{"quizzes", 3, ""},
	{"matrices", 3, "x"},
	{"vertices", 4, "ex"}, {"indices", 4, "ex"},
	{"aliases", 2, ""}, {"statuses", 2, ""}, {"alias", 0, ""}, {"status", 0, ""},
	{"octopus", 0, ""}, {"virus", 0, ""}, {"octopi", 1, "us"}, {"viri", 1, "us"},
	{"crisis", 0, ""}, {"testis", 0, ""}, {"crises", 2, "is"}, {"testes", 2, "is"},
	{"shoes", 1, ""},
	{"oes", 2, ""},
	{"buses", 2, ""}, {"bus", 0, ""},
	{"xes", 2, ""}, {"ches", 2, ""}, {"sses", 2, ""}, {"shes", 2, ""},
	{"cookies", 1, ""},
	{"movies", 1, ""},
	{"series", 0, ""},
}

// greekRules are tried after those for -ies and -ves.
var greekRules = []suffixRule{
	{"analyses", 2, "is"}, {"bases", 2, "is"}, {"diagnoses", 2, "is"}, {"parentheses", 2, "is"},
	{"prognoses", 2, "is"}, {"synopses", 2, "is"}, {"theses", 2, "is"},
	{"analysis", 0, ""}, {"basis", 0, ""}, {"diagnosis", 0, ""}, {"parenthesis", 0, ""},
	{"prognosis", 0, ""}, {"synopsis", 0, ""}, {"thesis", 0, ""},
	{"ta", 1, "um"}, {"ia", 1, "um"},
	{"news", 0, ""},
	{"ss", 0, ""},
	{"s", 1, ""},
}

func singularOnce(word string) (keep int, tail string) {
	switch word {
	case "equipment", "information", "rice", "money", "species", "series", "fish", "sheep", "jeans", "police",
		"this": // has no plural; Decko's own example gives This Name the key this_name
		return len(word), ""
	case "mice", "lice":
		return 1, "ouse"
	case "axes":
		return 2, "is"
	case "axis":
		return len(word), ""
	case "oxen":
		return 2, ""
	}
	switch word[max(len(word)-1, 0):] {
	case "s", "n", "e", "i", "a":
	default:
		return len(word), "" // no rule ends in another letter
	}
	if keep, tail, ok := bySuffix(word, irregular); ok {
		return keep, tail
	}
	if keep, tail, ok := bySuffix(word, singularRules); ok {
		return keep, tail
	}
	if keep, tail, ok := iesAndVes(word); ok {
		return keep, tail
	}
	if keep, tail, ok := bySuffix(word, greekRules); ok {
		return keep, tail
	}
	return len(word), ""
}

func bySuffix(word string, rules []suffixRule) (keep int, tail string, ok bool) {
	for _, r := range rules {
		if strings.HasSuffix(word, r.suffix) {
			return len(word) - r.cut, r.tail, true
		}
	}
	return 0, "", false
}

// iesAndVes handles the endings -ies and -ves: cities city, soliloquies soliloquy, wolves wolf,
// natives native, hives hive, knives knife.
func iesAndVes(word string) (keep int, tail string, ok bool) {
	stem := len(word) - 3
	if stem < 1 {
		return 0, "", false
	}
	before := word[stem-1]
	switch {
	case strings.HasSuffix(word, "ies"):
		if strings.IndexByte("aeiouy", before) < 0 || strings.HasSuffix(word[:stem], "qu") {
			return stem, "y", true
		}
	case strings.HasSuffix(word, "ves"):
		switch {
		case before == 'l' || before == 'r':
			return stem, "f", true
		case strings.HasSuffix(word, "tives") || strings.HasSuffix(word, "hives"):
			return stem + 2, "", true
		case before != 'f':
			return stem, "fe", true
		}
	}
	return 0, "", false
}
