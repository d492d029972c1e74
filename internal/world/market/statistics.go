package market

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"loregate/internal/canon"
)

// Trade is a recorded trade of a player with a seller.
type Trade struct {
	Event     uuid.UUID
	At        time.Time
	Player    canon.CardID
	Seller    canon.CardID
	Place     canon.CardID
	Commodity canon.CardID
	Units     int64 // bought; negative: sold
	Total     int64
}

// UnitPrice returns the price of a unit.
func (t Trade) UnitPrice() float64 { return float64(t.Total) / float64(max(abs(t.Units), 1)) }

func abs(n int64) int64 { return max(n, -n) }

// Bounds of anomalies.
const (
	anomalyScore = 3.5 // Iglewicz and Hoaglin, How to Detect and Handle Outliers (1993)
	minSample    = 5   // values that a score is computed from
	minCircular  = 4   // units that went in a circle
)

// The factors that make the median deviation and the mean deviation comparable to a standard deviation.
const (
	madFactor  = 0.6745
	meanFactor = 0.7979
)

// Score is the place of a value among others: z is its robust distance from their median.
type Score struct {
	Value  float64 `json:"value"`
	Median float64 `json:"median"`
	MAD    float64 `json:"mad" jsonschema:"Median of the absolute distances from the median."`
	Z      float64 `json:"z" jsonschema:"0.6745 × (value − median) / MAD; 0.7979 × (value − median) / mean distance if MAD is 0."`
}

// ScoreAll returns the score of each value. It returns nil if there are too few values for it.
func ScoreAll(values []float64) []Score {
	if len(values) < minSample {
		return nil
	}
	mid := medianOf(values)
	distances, sum := make([]float64, len(values)), 0.0
	for i, v := range values {
		distances[i] = math.Abs(v - mid)
		sum += distances[i]
	}
	mad, mean := medianOf(distances), sum/float64(len(values))
	out := make([]Score, len(values))
	for i, v := range values {
		out[i] = Score{Value: v, Median: mid, MAD: mad}
		switch {
		case mad > 0:
			out[i].Z = madFactor * (v - mid) / mad
		case mean > 0:
			out[i].Z = meanFactor * (v - mid) / mean
		}
	}
	return out
}

// IsAnomaly reports whether the value is far from the median.
func (s Score) IsAnomaly() bool { return math.Abs(s.Z) > anomalyScore }

func medianOf(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// Where is a commodity at a place.
type Where struct{ Commodity, Place canon.CardID }

// groupByWhere groups trades by commodity and place. The keys are in the order of the first trade.
func groupByWhere(trades []Trade) (keys []Where, groups map[Where][]Trade) {
	groups = map[Where][]Trade{}
	for _, t := range trades {
		k := Where{t.Commodity, t.Place}
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], t)
	}
	return keys, groups
}

// PriceAnomaly is a trade at an unusual price.
type PriceAnomaly struct {
	Trade
	Score
}

// FindPriceAnomalies returns the trades whose unit price is far from those of the same commodity, place and
// direction.
func FindPriceAnomalies(trades []Trade) (out []PriceAnomaly) {
	keys, groups := groupByWhere(trades)
	for _, k := range keys {
		for _, bought := range []bool{true, false} {
			var same []Trade
			var prices []float64
			for _, t := range groups[k] {
				if (t.Units > 0) == bought {
					same, prices = append(same, t), append(prices, t.UnitPrice())
				}
			}
			for i, s := range ScoreAll(prices) {
				if s.IsAnomaly() {
					out = append(out, PriceAnomaly{same[i], s})
				}
			}
		}
	}
	return out
}

// VolumeAnomaly is an hour in which an unusual number of units was traded.
type VolumeAnomaly struct {
	Where
	Hour time.Time
	Score
}

// FindVolumeAnomalies returns the hours whose number of units is far from those of the other hours in which
// there were trades of the same commodity at the same place.
func FindVolumeAnomalies(trades []Trade) (out []VolumeAnomaly) {
	keys, groups := groupByWhere(trades)
	for _, k := range keys {
		units := map[time.Time]float64{}
		var hours []time.Time
		for _, t := range groups[k] {
			h := t.At.Truncate(time.Hour)
			if _, known := units[h]; !known {
				hours = append(hours, h)
			}
			units[h] += float64(abs(t.Units))
		}
		values := make([]float64, len(hours))
		for i, h := range hours {
			values[i] = units[h]
		}
		for i, s := range ScoreAll(values) {
			if s.IsAnomaly() {
				out = append(out, VolumeAnomaly{k, hours[i], s})
			}
		}
	}
	return out
}

// WashTrade is a circle of trades: units that players sold to a seller and bought back from it.
type WashTrade struct {
	Commodity, Seller canon.CardID
	Players           [2]canon.CardID // equal if one player did it alone
	Units             int64           // that went in the circle
	Gross             int64           // all that these players traded with the seller
}

// circle is the seller and the commodity that units can go in a circle over.
type circle struct{ Commodity, Seller canon.CardID }

type pair [2]canon.CardID

// FindWashTrades returns the circles that are at least half of the trade of their players. Units that a
// seller gets are taken to be the first that it sells again, so that a circle is found as soon as it closes.
func FindWashTrades(trades []Trade) (out []WashTrade) {
	type lot struct {
		player canon.CardID
		units  int64
	}
	sold, flows := map[circle][]lot{}, map[circle]map[pair]int64{}
	gross := map[circle]map[canon.CardID]int64{}
	var order []circle
	for _, t := range trades {
		c := circle{t.Commodity, t.Seller}
		if gross[c] == nil {
			gross[c], flows[c] = map[canon.CardID]int64{}, map[pair]int64{}
			order = append(order, c)
		}
		gross[c][t.Player] += abs(t.Units)
		if t.Units < 0 {
			sold[c] = append(sold[c], lot{t.Player, -t.Units})
			continue
		}
		for left := t.Units; left > 0 && len(sold[c]) > 0; {
			first := &sold[c][0]
			n := min(left, first.units)
			flows[c][pair{first.player, t.Player}] += n
			left, first.units = left-n, first.units-n
			if first.units == 0 {
				sold[c] = sold[c][1:]
			}
		}
	}
	for _, c := range order {
		out = append(out, findCircles(c, flows[c], gross[c])...)
	}
	return out
}

func findCircles(c circle, flows map[pair]int64, gross map[canon.CardID]int64) (out []WashTrade) {
	for p, n := range flows {
		a, b := p[0], p[1]
		w := WashTrade{Commodity: c.Commodity, Seller: c.Seller, Players: p, Units: n, Gross: gross[a]}
		switch slices.Compare(a[:], b[:]) {
		case 1:
			continue // the pair is counted from its other end
		case -1:
			w.Units, w.Gross = 2*min(n, flows[pair{b, a}]), gross[a]+gross[b]
		}
		if w.Units >= minCircular && 2*2*w.Units >= w.Gross { // each unit was sold and bought
			out = append(out, w)
		}
	}
	slices.SortFunc(out, func(a, b WashTrade) int {
		return cmp.Or(slices.Compare(a.Players[0][:], b.Players[0][:]), slices.Compare(a.Players[1][:], b.Players[1][:]))
	})
	return out
}

// Term is a part of a suggested change.
type Term struct {
	Percent float64 `json:"percent"`
	Why     string  `json:"why"`
}

// The greatest part of each term of a suggestion, and of the whole, in percent.
const (
	maxStockTerm    = 10
	maxFlowTerm     = 5
	maxNeighborTerm = 10
	maxStep         = 15
)

// stepPrice returns a price after a change of a percentage, of at most maxStep percent.
func stepPrice(price int64, percent float64) int64 {
	lowest := (price*(100-maxStep) + 99) / 100
	highest := price * (100 + maxStep) / 100
	to := int64(math.Round(float64(price) * (1 + percent/100)))
	return min(max(to, lowest, 1), highest, MaxPrice)
}
