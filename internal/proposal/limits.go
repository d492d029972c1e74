package proposal

import "time"

// Limits are the limits of the gates. Zero fields have their defaults, which are those of the
// contract.
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

// Defaults returns the contract's limits.
func Defaults() Limits {
	const day = 24 * time.Hour
	return Limits{PlayerMinute: 6, PlayerHour: 60, KeyMinute: 30, WorldMinute: 600, TokensDay: 200_000,
		Compared: 500, Within: 30 * day, Distance: 3, Likeness: 0.85, Life: 7 * day}
}

func (l Limits) orDefaults() Limits {
	d := Defaults()
	orInt := func(v *int, or int) {
		if *v <= 0 {
			*v = or
		}
	}
	orInt(&l.PlayerMinute, d.PlayerMinute)
	orInt(&l.PlayerHour, d.PlayerHour)
	orInt(&l.KeyMinute, d.KeyMinute)
	orInt(&l.WorldMinute, d.WorldMinute)
	orInt(&l.TokensDay, d.TokensDay)
	orInt(&l.Compared, d.Compared)
	orInt(&l.Distance, d.Distance)
	if l.Within <= 0 {
		l.Within = d.Within
	}
	if l.Likeness <= 0 {
		l.Likeness = d.Likeness
	}
	if l.Life <= 0 {
		l.Life = d.Life
	}
	return l
}

// Limits returns the limits that the Service applies.
func (s *Service) Limits() Limits { return s.cfg.Limits }
