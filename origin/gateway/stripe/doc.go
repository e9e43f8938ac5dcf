// Package stripe takes payments through Stripe's PaymentIntents: the implementation of [origin.Gateway] for real money.
//
// # Calls
//
//	CreateIntent  POST /v1/payment_intents               a card, captured at once, not confirmed
//	Confirm       POST /v1/payment_intents/{id}/confirm  charges
//	Intent        GET  /v1/payment_intents/{id}
//	Cancel        POST /v1/payment_intents/{id}/cancel
//	Refund        POST /v1/refunds                       all of an intent
//
// Each is sent once: repeating is the shop's, with the same key. Every call that changes something has an idempotency key.
//
// # What an answer means
//
//	requires_confirmation                            new
//	requires_payment_method without an error         new
//	requires_payment_method with last_payment_error  declined
//	requires_action, processing, requires_capture    open, and so is a status that nobody has heard of
//	succeeded                                        paid
//	canceled                                         canceled
//
// A refusal (400, 402, 404) that shows the intent is an answer like any other. No answer, one that cannot be read, 409,
// 429 and 5xx leave the outcome unknown, and so does a refusal of the account (401, 403): they are errors.
//
// # Secrets
//
// Errors hold Stripe's codes and the id of the request, by which its dashboard finds the rest, never what was sent or
// answered: that may hold the key of the account or the client secret of an intent.
package stripe
