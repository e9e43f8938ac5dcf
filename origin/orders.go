package origin

import "net/http"

// orderBody is an order as JSON shows it.
type orderBody struct {
	Order    string `json:"order"`
	Hold     string `json:"hold"`
	Event    string `json:"event"`
	Quantity int64  `json:"quantity"`
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
	Charge   string `json:"charge"`
	State    string `json:"state"`
	Refunded int64  `json:"refunded,omitempty"`
}

func newOrderBody(o Order) orderBody {
	body := orderBody{
		Order: o.ID, Hold: o.Hold, Event: o.Event, Quantity: o.Quantity, Amount: o.Amount, Currency: o.Currency,
		Charge: o.Charge, State: "paid", Refunded: o.Refunded,
	}
	if o.Refunded > 0 {
		body.State = "refunded"
	}
	return body
}

// readOrder shows an order, and to a browser its receipt.
func (s *Shop) readOrder(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept")
	caller := s.buyers.Load().identify(r)
	order, ok, err := s.settings.Ledger.Order(r.Context(), r.PathValue("order"))
	switch {
	case err != nil:
		send(w, s.broke("read order", err))
	case wantsPage(r) && !(ok && caller.is(order.Buyer)):
		s.sendPage(w, http.StatusNotFound, pageData{Missing: "No such order"})
	case wantsPage(r):
		s.sendPage(w, http.StatusOK, pageData{Order: &order})
	case !ok || !caller.is(order.Buyer):
		refuse(w, NoSuchOrder, "")
	default:
		send(w, success(http.StatusOK, newOrderBody(order)))
	}
}
