package origin

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// The refusals that come from HTTP, beside those of the shop.
const (
	badRequest        Refusal = "bad-request"
	tooLarge          Refusal = "body-too-large"
	invalidQuantity   Refusal = "invalid-quantity"
	keyMissing        Refusal = "idempotency-key-missing"
	keyInvalid        Refusal = "idempotency-key-invalid"
	keyReused         Refusal = "idempotency-key-reused"
	requestInProgress Refusal = "request-in-progress"
	badSignature      Refusal = "bad-signature"
	crossOrigin       Refusal = "cross-origin"
	notFound          Refusal = "not-found"
	methodNotAllowed  Refusal = "method-not-allowed"
	ledgerUnavailable Refusal = "store-unavailable"
)

// refusalForm is how a refusal looks on the wire.
type refusalForm struct {
	status int
	title  string
	final  bool // determined: kept as the answer of an idempotency key
}

// refusalForms maps every refusal to its answer.
var refusalForms = map[Refusal]refusalForm{
	SoldOut:           {http.StatusConflict, "Not so many are left", true},
	LimitExceeded:     {http.StatusUnprocessableEntity, "More than one buyer may have", true},
	HoldIsExpired:     {http.StatusGone, "The hold has ended", true},
	AlreadyPaid:       {http.StatusConflict, "The hold is paid", true},
	Declined:          {http.StatusPaymentRequired, "The payment was declined", true},
	PaymentPending:    {http.StatusAccepted, "The outcome of the payment is not known yet", false},
	PaymentInProgress: {http.StatusConflict, "The hold is being paid", false},
	CapacityInUse:     {http.StatusConflict, "More than that is sold or held", false},
	NoSuchEvent:       {http.StatusNotFound, "No such event", false},
	NoSuchHold:        {http.StatusNotFound, "No such hold", false},
	NoSuchOrder:       {http.StatusNotFound, "No such order", false},
	badRequest:        {http.StatusBadRequest, "The request cannot be read", false},
	tooLarge:          {http.StatusRequestEntityTooLarge, "The body is too large", false},
	invalidQuantity:   {http.StatusUnprocessableEntity, "The quantity must be an integer of at least 1", false},
	keyMissing:        {http.StatusBadRequest, "An Idempotency-Key is required", false},
	keyInvalid:        {http.StatusBadRequest, "The Idempotency-Key is not usable", false},
	keyReused:         {http.StatusUnprocessableEntity, "The Idempotency-Key was used for another request", false},
	requestInProgress: {http.StatusConflict, "The same request is still running", false},
	badSignature:      {http.StatusBadRequest, "The webhook is not to be believed", false},
	crossOrigin:       {http.StatusForbidden, "Not from another site", false},
	notFound:          {http.StatusNotFound, "Nothing is here", false},
	methodNotAllowed:  {http.StatusMethodNotAllowed, "Not with this method", false},
	ledgerUnavailable: {http.StatusServiceUnavailable, "Try again in a moment", false},
}

// outcome is an answer to be sent, and what else goes with it once.
type outcome struct {
	Answer
	final    bool     // to be kept for the idempotency key
	unbound  bool     // where it is not final: nothing was begun, so the key may be used for another request
	commands []string // Foyer-Command to the proxy in front; never part of a replay
}

// problem makes the answer of a refusal. Members are added to the problem's own, or override its detail.
func problem(refusal Refusal, members map[string]any) outcome {
	form, known := refusalForms[refusal]
	if !known {
		form = refusalForms[ledgerUnavailable]
	}
	body := map[string]any{"type": "urn:foyer:" + string(refusal), "title": form.title, "status": form.status}
	for name, value := range members {
		body[name] = value
	}
	headers := map[string]string{"Content-Type": "application/problem+json"}
	if form.status == http.StatusServiceUnavailable || refusal == requestInProgress {
		headers["Retry-After"] = "1"
	}
	return outcome{Answer: Answer{Status: form.status, Headers: headers, Body: encodeJSON(body)}, final: form.final}
}

// success makes an answer of JSON.
func success(status int, body any) outcome {
	return outcome{
		Answer: Answer{Status: status, Headers: map[string]string{"Content-Type": "application/json"}, Body: encodeJSON(body)},
		final:  status == http.StatusCreated,
	}
}

// send writes an outcome. Nothing of the shop may be kept by a cache.
func send(w http.ResponseWriter, o outcome) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	for name, value := range o.Headers {
		header.Set(name, value)
	}
	for _, command := range o.commands {
		header.Add("Foyer-Command", command)
	}
	if o.Status != http.StatusNoContent {
		header.Set("Content-Length", strconv.Itoa(len(o.Body)))
	}
	w.WriteHeader(o.Status)
	_, _ = w.Write(o.Body) // a client that has gone is told by nobody
}

func refuse(w http.ResponseWriter, refusal Refusal, detail string) {
	var members map[string]any
	if detail != "" {
		members = map[string]any{"detail": detail}
	}
	send(w, problem(refusal, members))
}

func encodeJSON(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // only plain values come here
	}
	return append(body, '\n')
}
