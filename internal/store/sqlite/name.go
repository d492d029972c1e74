package sqlite

import (
	"database/sql/driver"
	"strings"

	driverlib "modernc.org/sqlite"

	"loregate/internal/markup"
)

// sqlGlob implements lore_glob(pattern, name): 1 if the name matches the pattern.
func sqlGlob(_ *driverlib.FunctionContext, args []driver.Value) (driver.Value, error) {
	pattern, _ := args[0].(string)
	name, _ := args[1].(string)
	return boolToInt(markup.MatchGlob(pattern, name)), nil
}

// nameStart marks the beginning of a name.
const nameStart = "\x02"

// sqlHas implements lore_has(folded text, name): 1 if nameStart plus the folded name contains the
// text.
func sqlHas(_ *driverlib.FunctionContext, args []driver.Value) (driver.Value, error) {
	text, _ := args[0].(string)
	name, _ := args[1].(string)
	return boolToInt(strings.Contains(nameStart+markup.Fold(name), text)), nil
}

func boolToInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
