// Package identity determines the caller of a request. It keeps API keys, the tokens they are
// exchanged for, the keys that sign tokens, tokens of outside issuers, invitations, and the sessions
// of people, who may sign in by an outside issuer.
//
// Its invariant: a Caller never has more rights than the API key behind it has today or, for an
// outside issuer, than that issuer's configuration allows. The effective role in a world is the
// lowest of the key's, the token's and, if the subject is a member of that world, the membership's.
// Secrets (API keys, invitation codes) are shown once and stored as SHA-256.
//
// Package access decides on the operations that a Caller may call. Worlds and their members belong
// to the canon, reached through the Worlds port.
package identity
