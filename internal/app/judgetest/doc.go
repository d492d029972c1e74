// Package judgetest measures how well the product decides by itself: how it reads commands and
// intents, moderates, judges claims, searches, and plans scenes. It also measures how many tasks a model
// solves that picks tools from the default list by their words alone.
//
// Its rule: the author of a rule does not write the cases. Cases come from public data, from
// generators that know no rule, and from mutations of real text. They have two halves. Authors of
// rules may read cases/development. The locked half comes from sources that the development half
// does not touch, and nobody who writes a rule sees it: it is sealed in cases/locked.sealed, and make
// judge opens it, or reads the folder in JUDGE_LOCKED. Each run of the locked half is
// logged in docs/judgement.md. A gap of more than five points between the halves is a finding.
//
// A file of cases has one JSON object a line. Every case has an id, the expected answer, its source
// and its kind. Plain go test asks a sample of the development half only, and fails for malformed
// cases, of all of that half, never for a low figure: the bars are in docs/judgement.md.
package judgetest
