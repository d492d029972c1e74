package member

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
)

// LedgerKind is the kind of ledger that holds who let whom in or out of a world, one ledger for each world.
const LedgerKind = "members"

// auditNote is the payload of an entry of the audit. Its record holds the time, the subject and the operation.
type auditNote struct {
	About  string `json:"about"`
	Detail string `json:"detail,omitempty"`
}

// Record adds an entry to the audit of the grant's world: that its caller has carried out its operation. about is the
// person, program or invitation that it concerns.
func Record(ctx context.Context, c *canon.Canon, g access.Grant, about, detail string) error {
	payload, err := json.Marshal(auditNote{about, detail})
	if err != nil {
		return err
	}
	_, err = c.UpdateLedger(ctx, g, ledgerOf(g), func(*canon.LedgerTx) ([]canon.Event, error) {
		return []canon.Event{{Type: "Access.Changed", Payload: payload}}, nil
	})
	return err
}

func ledgerOf(g access.Grant) canon.StreamID {
	return canon.LedgerStream(LedgerKind, g.World().String())
}

func auditOps(d *deps) []*op.Operation {
	return []*op.Operation{
		op.Define(declare(op.Spec{
			Name: "audit_members", Title: "Audit who was let in", Effect: access.Read, MinRole: access.RoleAdmin,
			Route: "GET /api/members/audit",
			Doc: "List who changed members, invitations, keys and grants of clients, latest first. Of a longer list, next " +
				"continues as before.",
			Examples: []op.Example{{Title: "The latest", Input: `{"limit": 20}`},
				{Title: "By one subject", Input: `{"by": "ada"}`}},
		}), d.auditMembers),
	}
}

type auditIn struct {
	By     access.Subject `json:"by,omitzero" maxlen:"100" jsonschema:"Only what this subject did."`
	About  string         `json:"about,omitzero" maxlen:"100" jsonschema:"Only what concerns this person, program or invitation."`
	Before int            `json:"before,omitzero" min:"1" jsonschema:"The next of an earlier answer, to continue after it."`
	Limit  int            `json:"limit,omitzero" default:"50" min:"1" max:"100" jsonschema:"Maximum number of entries."`
}

type auditEntry struct {
	At        time.Time      `json:"at"`
	By        access.Subject `json:"by"`
	Operation string         `json:"operation"`
	auditNote

	seq canon.Seq
}

type auditOut struct {
	Entries []auditEntry `json:"entries"`
	Next    int          `json:"next,omitempty" jsonschema:"Value to send as before, if there are earlier entries."`
}

// auditWindow bounds the entries that one call looks through.
const auditWindow = 2000

func (d *deps) auditMembers(ctx context.Context, c *op.Call, in auditIn) (out auditOut, err error) {
	out.Entries = []auditEntry{}
	err = d.Kit.Canon.Follow(ctx, c.Grant, ledgerOf(c.Grant), func(t *canon.LedgerTx) error {
		end := t.Head.Seq + 1
		if in.Before > 0 {
			end = min(end, canon.Seq(in.Before))
		}
		from := canon.Seq(1)
		if end > auditWindow {
			from = end - auditWindow
			out.Next = int(from)
		}
		for rec, err := range t.From(from) {
			if err != nil {
				return err
			}
			if rec.Seq >= end {
				break
			}
			e := auditEntry{At: rec.At, By: rec.By, Operation: rec.Op, seq: rec.Seq}
			if err := json.Unmarshal(rec.Event.Payload, &e.auditNote); err != nil {
				return err
			}
			if (in.By == "" || e.By == in.By) && (in.About == "" || e.About == in.About) {
				out.Entries = append(out.Entries, e)
			}
		}
		slices.Reverse(out.Entries)
		if len(out.Entries) > in.Limit {
			out.Entries, out.Next = out.Entries[:in.Limit], int(out.Entries[in.Limit-1].seq)
		}
		return nil
	})
	return out, err
}
