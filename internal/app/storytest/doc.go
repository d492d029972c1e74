// Package storytest plays stories: scripted players with different wishes act in the sample world and in imported
// worlds, with and without a model, and a checker reads the record of what came of it.
package storytest
