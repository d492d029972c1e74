// Package event delivers the domain events of the canon to their handlers, in every world.
//
// Its invariant: each event is delivered to each handler of its type at least once, and a handler
// that makes its commit with the grant of the delivery makes it once, because the grant's
// idempotency key names the event and the handler. A delivery that fails is tried again after 1,
// 2, 4 and 8 seconds, and then becomes a dead letter.
//
// A handler may be due once in a span of time instead (timer.go).
//
// Deliveries are stored and leased by package job, so that several processes share the work. A
// Dispatcher can also record an event for each change of the cards of a type (change.go). The
// package knows no type of event: the surfaces declare them and decide their payloads.
package event
