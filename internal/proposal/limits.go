package proposal

import (
	"cmp"
	"time"
)

// Limits are the limits of the gates. A field that is not positive has the default that stands beside it.
type Limits struct {
	PlayerMinute int `yaml:"player_minute"` // proposals of one purpose for one player per minute: 6
	PlayerHour   int `yaml:"player_hour"`   // the same per hour: 60
	KeyMinute    int `yaml:"key_minute"`    // of one key: 30
	WorldMinute  int `yaml:"world_minute"`  // in a world: 600
	TokensDay    int `yaml:"tokens_day"`    // of one purpose in a world, counted over its texts: 200,000

	Compared int           `yaml:"compared"` // accepted ones of the same kind and scope: 500
	Within   time.Duration `yaml:"within"`   // at most this old: 30 days
	Distance int           `yaml:"distance"` // of SimHash-64, at most: 3
	Likeness float64       `yaml:"likeness"` // Jaccard, at least: 0.85
	Life     time.Duration `yaml:"life"`     // of a pending proposal: 7 days
}

func (l Limits) orDefaults() Limits {
	const day = 24 * time.Hour
	l.PlayerMinute = cmp.Or(max(l.PlayerMinute, 0), 6)
	l.PlayerHour = cmp.Or(max(l.PlayerHour, 0), 60)
	l.KeyMinute = cmp.Or(max(l.KeyMinute, 0), 30)
	l.WorldMinute = cmp.Or(max(l.WorldMinute, 0), 600)
	l.TokensDay = cmp.Or(max(l.TokensDay, 0), 200_000)
	l.Compared = cmp.Or(max(l.Compared, 0), 500)
	l.Within = cmp.Or(max(l.Within, 0), 30*day)
	l.Distance = cmp.Or(max(l.Distance, 0), 3)
	l.Likeness = cmp.Or(max(l.Likeness, 0), 0.85)
	l.Life = cmp.Or(max(l.Life, 0), 7*day)
	return l
}

// Limits returns the limits that the Service applies.
func (s *Service) Limits() Limits { return s.cfg.Limits }
