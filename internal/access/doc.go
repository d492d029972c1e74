// Package access decides whether a call is allowed: it holds callers with their roles, labels and
// views, the Guard that admits a call, and the Grant that it returns.
//
// Its invariant: only a Guard that admitted a call makes a Grant, and the Grant opens no more than
// the role of that call in that world. Package identity authenticates callers. Package canon
// enforces grants.
package access
