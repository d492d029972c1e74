// Package proposal checks changes that agents suggest and lets them into the canon only through
// seven gates, in this order: schema, safety, invariant, duplication, replay, rate, audit. The
// first gate that refuses a proposal ends the check. The policy of its kind decides whether a
// proposal that passes all gates is accepted at once or waits for a person.
//
// Its invariant: no proposal changes the canon before its verdict is durable in the world's ledger
// of proposals. An accepted proposal then changes the canon once, by one commit with its author's
// rights that names the verdict as its cause. Any verdict can be reproduced from the recorded data.
//
// A world's ledger ("proposals:<world>") holds four types of event. Proposal.Judged is a proposal
// with the verdict of every gate that it reached (see judgedEvent). Proposal.Decided is a later
// decision on a proposal (see decidedEvent). Proposal.StandingGranted and Proposal.StandingEnded
// start and end standing approvals. An accepted proposal is in the canon if the world has an event
// with the key "proposal:<id>".
//
// The package knows no surface: each surface registers its kinds (see Kind). Divert turns the
// writes of advisory keys into proposals.
package proposal
