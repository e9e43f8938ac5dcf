// Package simulator is a payment gateway to develop and test against: a real HTTP server with the shape of Stripe's
// PaymentIntents and its rules for idempotency keys, signed webhooks with redelivery, faults on demand, and the client
// of it that implements [origin.Gateway].
//
// # Calls
//
//	POST /v1/payment_intents               amount, currency, payment_method, metadata[attempt], metadata[hold]
//	POST /v1/payment_intents/{id}/confirm
//	POST /v1/payment_intents/{id}/cancel
//	GET  /v1/payment_intents/{id}
//	POST /v1/refunds                       payment_intent, amount
//	GET  /_simulator/charges               what was really charged: ?hold= or ?attempt= narrows it
//	POST /_simulator/redeliver             sends the webhooks of a hold again: hold=, times=
//
// # Idempotency keys
//
// A key replays the answer that was first given with it, a 500 as well; used with other parameters it is an error, and
// while its first call is running it is a 409.
//
// # Payment methods
//
//	pm_card_visa      succeeds
//	pm_card_declined  declines
//	pm_card_slow      succeeds after 3 s
//	pm_card_timeout   charges and never answers
//	pm_card_error     answers 500 without charging
//	pm_card_3ds       succeeds a second later, told only by webhook
//
// What it remembers is bounded: the oldest payments and keys are forgotten, the totals are not.
package simulator
