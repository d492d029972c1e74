package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"loregate/internal/fault"
	"loregate/internal/loadtest"
	"loregate/internal/slicesx"
)

// benchCmd puts running servers under load. It does not open a store.
type benchCmd struct {
	URL          []string      `help:"Server to put under load. Give several if they share a store." name:"url" default:"http://127.0.0.1:8420" placeholder:"URL"`
	KeyEnv       string        `help:"Environment variable that contains the API key." name:"api-key-env" default:"LOREGATE_KEY" placeholder:"VAR"`
	Role         string        `help:"Role of the calls: user, gm or admin. Default: admin, or gm with --keep." enum:"user,gm,admin," default:""`
	World        string        `help:"World to write to, by slug. Use one that you created for this purpose." required:"" placeholder:"WORLD"`
	Cards        int           `help:"Cards to write before the load begins. Cards of an earlier run with the same seed, number and --keep are used again." default:"200"`
	Clients      int           `help:"Highest number of concurrent calls." default:"8"`
	Rate         float64       `help:"Calls per second. 0: each call follows the last answer at once." default:"0"`
	Duration     time.Duration `help:"Duration of the load." default:"30s"`
	Calls        int           `help:"End after this number of calls. 0: no limit." default:"0"`
	Mix          string        `help:"Weights of the kinds of calls." default:"read=62,search=20,write=16,propose=2" placeholder:"KIND=N,…"`
	Watchers     int           `help:"Number of subscribers whose notifications are timed." default:"2"`
	Seed         uint64        `help:"Seed of the random calls. The same seed makes the same calls." default:"1"`
	Keep         bool          `help:"Leave the cards in the world. Default: move them to its trash."`
	OtherMachine bool          `help:"Confirm that the server is on another machine, which may be put under load." name:"other-machine"`
	JSON         bool          `help:"Print the report as JSON."`
	Row          string        `help:"Print one row of a Markdown table, with this name. The name head prints only the head of the table." placeholder:"NAME"`
	Picture      string        `help:"SVG file to draw the latency over time to." placeholder:"FILE"`
	Title        string        `help:"Title of the drawing." default:"Latency over time"`
}

func (c benchCmd) Run(ctx context.Context, out io.Writer) error {
	if c.Row == "head" {
		_, err := fmt.Fprintln(out, loadtest.RowHead)
		return err
	}
	mix, err := parseMix(c.Mix)
	if err != nil {
		return err
	}
	key := os.Getenv(c.KeyEnv)
	if key == "" {
		return fault.New(fault.Invalid,
			"the variable %s contains no API key; create one with: loregate key create bench --role admin, put it into a "+
				"variable, and name the variable with --api-key-env", c.KeyEnv)
	}
	urls := slicesx.Map(c.URL, func(u string) string { return strings.TrimRight(u, "/") })
	report, err := loadtest.Run(ctx, loadtest.Config{URLs: urls, Key: key, Role: c.Role, World: c.World, Seed: c.Seed,
		Cards: c.Cards, Clients: c.Clients,
		Rate: c.Rate, Duration: c.Duration, Calls: c.Calls, Mix: mix, Watchers: c.Watchers, Keep: c.Keep,
		Strange: c.OtherMachine,
		Say:     func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }})
	if report == nil {
		return err
	}
	return errors.Join(err, c.drawPicture(report), c.print(out, report))
}

func (c benchCmd) drawPicture(r *loadtest.Report) (err error) {
	if c.Picture == "" {
		return nil
	}
	f, err := os.Create(c.Picture)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return r.Picture(f, c.Title)
}

func (c benchCmd) print(out io.Writer, r *loadtest.Report) error {
	switch {
	case c.Row != "":
		_, err := fmt.Fprintln(out, r.Row(c.Row))
		return err
	case !c.JSON:
		return r.Print(out)
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// parseMix reads "read=62,search=20".
func parseMix(text string) (map[loadtest.Kind]int, error) {
	mix := map[loadtest.Kind]int{}
	for part := range strings.SplitSeq(text, ",") {
		kind, weight, ok := strings.Cut(strings.TrimSpace(part), "=")
		n, err := strconv.Atoi(weight)
		if !ok || err != nil {
			return nil, fault.New(fault.Invalid, "mix: %q does not have the form KIND=N; write it as in read=62", part)
		}
		mix[loadtest.Kind(kind)] = n
	}
	return mix, nil
}
