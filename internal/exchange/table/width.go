package table

// maxFields is the number of cells of one row that are read. A reader of CSV holds all cells of a row at once.
const maxFields = 2 * maxColumns

// isTooWide reports whether a row of a file of CSV may have more than maxFields cells. It counts no cell less than the
// reader: a quotation mark within a cell that does not begin with one is a letter for both.
func isTooWide(data []byte, separator byte) bool {
	cells, begins, quoted := 0, true, false
	for i, c := range data {
		switch {
		case quoted:
			// The cell ends with a mark before a separator or the end of a line. Two marks are one letter.
			if c == '"' {
				quoted = i+1 < len(data) && data[i+1] != separator && data[i+1] != '\n' && data[i+1] != '\r'
			}
		case c == separator:
			if cells++; cells > maxFields {
				return true
			}
			begins = true
		case c == '\n':
			cells, begins = 0, true
		case c == '"' && begins:
			quoted, begins = true, false
		case c != ' ' || separator == '\t':
			begins = false
		}
	}
	return false
}
