package agent

import "strconv"

// ComposeFor composes a text for the n-th of many settings.
func ComposeFor(n int) string {
	hour := []string{"dawn", "morning", "afternoon", "dusk", "night"}[n%5]
	ground := []string{"", "open-plain", "dense-forest", "hilltop", "riverbank", "narrow-corridor"}[n%6]
	sky := []string{"", "rain", "fog", "mist", "snow", "wind", "storm", "clear"}[n%8]
	s := setting{Place: "P", Terrain: ground, TimeOfDay: hour, Weather: sky, Tags: []string{"t"}}
	if n%2 == 1 {
		s.Also = fightPhrases
	}
	return Compose(s, strconv.Itoa(n))
}
