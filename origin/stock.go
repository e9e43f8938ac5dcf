package origin

import (
	"net/http"
	"time"
)

// moment is how a time goes over the wire.
const moment = "2006-01-02T15:04:05.000Z07:00"

// stockBody is an event as JSON shows it.
type stockBody struct {
	Event       string    `json:"event"`
	Name        string    `json:"name"`
	Price       priceBody `json:"price"`
	Capacity    int64     `json:"capacity"`
	Sold        int64     `json:"sold"`
	Held        int64     `json:"held"`
	Remaining   int64     `json:"remaining"`
	MaxPerBuyer int64     `json:"max_per_buyer"`
	AsOf        string    `json:"as_of"`
}

type priceBody struct {
	Amount   int64  `json:"amount"` // minor units
	Currency string `json:"currency"`
}

func newStockBody(s Stock) stockBody {
	return stockBody{
		Event: s.ID, Name: s.Name, Price: priceBody{s.Amount, s.Currency}, Capacity: s.Capacity, Sold: s.Sold,
		Held: s.Held, Remaining: s.Remaining(), MaxPerBuyer: s.MaxPerBuyer, AsOf: wireTime(s.AsOf),
	}
}

func wireTime(t time.Time) string { return t.UTC().Format(moment) }

func (s *Shop) listEvents(w http.ResponseWriter, r *http.Request) {
	stocks, err := s.settings.Ledger.Events(r.Context())
	if err != nil {
		send(w, s.broke("list events", err))
		return
	}
	list := make([]stockBody, 0, len(stocks))
	for _, stock := range stocks {
		list = append(list, newStockBody(stock))
	}
	send(w, success(http.StatusOK, list))
}

func (s *Shop) readEvent(w http.ResponseWriter, r *http.Request) {
	stock, ok, err := s.settings.Ledger.Event(r.Context(), r.PathValue("event"))
	switch {
	case err != nil:
		send(w, s.broke("read event", err))
	case !ok:
		refuse(w, NoSuchEvent, "")
	default:
		send(w, success(http.StatusOK, newStockBody(stock)))
	}
}
