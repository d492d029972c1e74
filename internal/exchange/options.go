package exchange

import "loregate/internal/access"

// Options configure an import. The zero value makes the cards visible to everyone.
type Options struct {
	// Label names the source, for example by its folder's base name. Card ids are derived from it:
	// importing under another label creates other cards.
	Label string
	// Level is the minimum level of imported cards; zero means user.
	Level access.Level
	// File is the only file of the folder to read; "" means all files.
	File string
	// Starter is the place where players begin. If it is "" and the world has no starter, the
	// import chooses one.
	Starter string
	// Open and Confirm are the user's decisions about suspicions: those that players may see, and
	// those that are secret.
	Open, Confirm []string
	// History also imports the older versions of each card, in the formats that have them.
	History bool
	// Shelf keeps the texts of an import between the reading of its files and its commits. Nil keeps them in memory.
	Shelf *Shelf `json:"-"`
	// Progress, if set, is called after every batch. total is 0 if it is unknown.
	Progress func(done, total int) `json:"-"`
}

// CardLabel returns the label of a card that the source does not hide.
func (o Options) CardLabel() access.Label { return access.NewLabel(max(o.Level, access.LevelUser)) }
