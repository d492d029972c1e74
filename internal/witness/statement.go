package witness

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// Purpose is the purpose of the signatures.
const Purpose = "loregate-heads"

// Files matches the names of files of statements.
const Files = "heads-*.jsonl"

// maxHeads is the maximum number of heads in one statement. More heads take several.
const maxHeads = 10_000

// maxLine is the maximum size of a line in bytes: a statement of maxHeads with names of up to 200 bytes.
const maxLine = 4 << 20

// Statement is the state of some chains at a time.
type Statement struct {
	At       time.Time       `json:"at"`
	Process  string          `json:"process"`  // id of the process that made it
	Number   int             `json:"number"`   // in its file, from 1
	Previous string          `json:"previous"` // SHA-256 of the statement before it in hexadecimal; "" in the first
	Streams  []streamHead    `json:"streams"`
	Records  *access.LogHead `json:"records,omitempty"` // last segment of the process's access records
}

type streamHead struct {
	Stream canon.StreamID `json:"stream"`
	Seq    canon.Seq      `json:"seq"`
	Hash   canon.Hash     `json:"hash"`
}

// line is a line of a file. The signature is over the exact bytes of the statement.
type line struct {
	Statement json.RawMessage `json:"statement"`
	Signature string          `json:"signature"`
}

func hashText(statement []byte) string {
	h := sha256.Sum256(statement)
	return hex.EncodeToString(h[:])
}
