package meaning

import "strings"

// functionWords are words that carry no meaning of their own. Negations are not among them.
var functionWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields("a an the and or but if so as than that this these those there then such " +
		"i me my mine we us our you your he him his himself she her hers it its itself they them their one ones who whom whose " +
		"which what when where why how " +
		"am is are was were be been being do does did done doing have has had having will would shall should can could may might must " +
		"of at by for from in into on onto to with about also just too very some any all each every") {
		m[w] = true
	}
	return m
}()

// IsFunctionWord reports whether a word, in lower case, carries no meaning of its own: an article, a pronoun, a
// preposition, a form of be, have or do.
func IsFunctionWord(word string) bool { return functionWords[word] }
