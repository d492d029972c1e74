package command

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// tradeVerbs are the verbs of trade by their words. The grammar reads them as taking and giving.
var tradeVerbs = map[string]Verb{"buy": Buy, "purchase": Buy, "bought": Buy, "buying": Buy, "sell": Sell, "sold": Sell,
	"selling": Sell}

// AsTrade returns the intent as a trade if its words ask for one: to buy is to take for money.
func (i Intent) AsTrade() Intent {
	if i.trade != "" {
		i.Verb = i.trade
	}
	return i
}

//go:embed trade.txt
var tradeText string

// tradePhrases are the phrases of commands about prices, by kind: a question for all wares, the beginning
// and the end of a question for one, a beginning that needs such an end, a verb of haggling, and the words between it
// and the ware.
var tradePhrases = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(tradeText) {
		kind, list, _ := strings.Cut(strings.TrimSpace(line), ": ")
		all[kind] = strings.Split(list, ", ")
	}
	return all
})

// ReadTrade reads a command that asks for prices or haggles. It returns false for any other command.
// The intent of a question without a ware has no object; the partner in haggling is its target.
func ReadTrade(text string) (Intent, bool) {
	words := strings.Trim(strings.Join(strings.Fields(strings.ToLower(text)), " "), ".!? ")
	i := Intent{Verb: Price, Confidence: 1}
	if slices.Contains(tradePhrases()["wares"], words) {
		return i, true
	}
	for _, lead := range tradePhrases()["haggle"] {
		if rest, ok := strings.CutPrefix(words+" ", lead+" "); ok {
			i.Verb = Haggle
			i.DirectObject, i.Targets = splitHaggling(" " + rest)
			return i, true
		}
	}
	for _, kind := range []string{"price", "open"} {
		for _, lead := range tradePhrases()[kind] {
			rest, ok := strings.CutPrefix(words, lead+" ")
			if !ok {
				continue
			}
			name := rest
			for _, tail := range tradePhrases()["cost"] {
				name = strings.TrimSuffix(name, " "+tail)
			}
			i.DirectObject = strings.Join(BareWords(name), " ")
			return i, i.DirectObject != "" && (kind == "price" || name != rest)
		}
	}
	return i, false
}

// splitHaggling splits the words after the verb into the ware and the partner: with Gil over the loaf.
func splitHaggling(words string) (ware string, partner []string) {
	who := ""
	for _, link := range tradePhrases()["over"] {
		if before, after, ok := strings.Cut(words, " "+link+" "); ok {
			words, ware = before, after
			break
		}
	}
	if before, after, ok := strings.Cut(ware, " with "); ok {
		ware, who = before, after
	}
	if _, after, ok := strings.Cut(words, " with "); ok {
		who = after
	}
	bare := func(s string) string { return strings.Join(BareWords(s), " ") }
	if who = bare(who); who != "" {
		partner = []string{who}
	}
	return bare(ware), partner
}
