// Package intent tells the first act that an utterance asks for, by two readings: that of the rules of package command,
// and that of a model which learned from the lines of many authors. Rules know the grammar; the model knows words and
// turns of phrase that no rule lists.
//
// Its invariant: a reading is a pure function of the text, in time and memory bounded by maxTokens.
//
// The weights are data of the program; scripts/intents makes them again. What is done about an unsure reading is up to
// the caller.
package intent
