// Package member declares the operations with which people manage a world: its members, the
// invitations to it, and the keys of programs.
//
// Its invariant: nobody gives away more than they have. A role in an invitation or a key is at most the
// caller's own, a key follows the membership of the person who made it, and no key made here can approve
// or is an operator's. All of the operations are for people only, and none is a tool.
//
// The secrets and their storage belong to package identity; memberships are changed by commits.
package member
