package main

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestShop_TakesWebhooksPastEveryGate(t *testing.T) {
	for provider, others := range map[string][]string{"stripe": {"simulator", "none"}, "simulator": {"stripe", "none"}} {
		yaml := strings.Replace(strings.Replace(shopYAML, "SQLITE", `":memory:"`, 1), "capacity: 5}", "capacity: 5, mode: paused}", 1)
		a := startApp(t, yaml+"  payment: {provider: "+provider+", stripe: {secret_key: sk_test_1, webhook_secrets: [whsec_1]}}\n")
		buyer := newVisitor(t, a.Edge)
		if status, body := buyer.ask(http.MethodPost, "/webhooks/"+provider, "{}"); status != http.StatusBadRequest || body["type"] != "urn:foyer:bad-signature" {
			t.Errorf("%s: %d %v", provider, status, body)
		}
		for _, other := range others {
			if status, body := buyer.ask(http.MethodPost, "/webhooks/"+other, "{}"); status != http.StatusNotFound {
				t.Errorf("%s, of %s: %d %v", provider, other, status, body)
			}
		}
		if status, body := buyer.ask(http.MethodGet, "/api/events/final", ""); status != http.StatusTooManyRequests {
			t.Errorf("the gate lets pass: %d %v", status, body)
		}
	}
}

// A payment that is settled after its answer gives its slot to the next, as one that is paid at once does.
func TestShop_FreesTheSlotOfAPaymentSettledLater(t *testing.T) {
	yaml := strings.Replace(strings.Replace(shopYAML, "SQLITE", `":memory:"`, 1), "capacity: 5}",
		"capacity: 1, session: {idle: 2m, claim: 5s}, queue: {poll: {min: 200ms, max: 1s}}}", 1)
	a := startApp(t, yaml)
	first, second := newVisitor(t, a.Edge), newVisitor(t, a.Edge)
	_, hold := first.ask(http.MethodPost, "/api/events/final/holds", `{"quantity":1}`)
	path := "/api/holds/" + hold["hold"].(string)
	if status, body := second.ask(http.MethodGet, "/api/events/final", ""); status != http.StatusTooManyRequests {
		t.Fatalf("the second comes in: %d %v", status, body)
	}
	if status, body := first.ask(http.MethodPost, path+"/pay", `{"payment_method":"pm_card_3ds"}`); status != http.StatusAccepted {
		t.Fatalf("pay: %d %v", status, body)
	}
	deadline := time.Now().Add(20 * time.Second) // far below the lease
	for status := 0; status != http.StatusOK; {
		if time.Now().After(deadline) {
			t.Fatalf("the second waits: %d", status)
		}
		<-time.After(200 * time.Millisecond)
		status, _ = second.ask(http.MethodGet, "/api/events/final", "")
	}
	if _, body := first.ask(http.MethodGet, path, ""); body["state"] != "sold" {
		t.Errorf("the first has %v", body)
	}
}

// A gate that is opened to everybody, or closed again, in mid-sale takes no hold from its buyer.
func TestShop_KnowsItsBuyersWhateverTheModeOfTheGate(t *testing.T) {
	a := startApp(t, strings.Replace(shopYAML, "SQLITE", `":memory:"`, 1))
	buyer, operator := newVisitor(t, a.Edge), newVisitor(t, a.Admin)
	holds := []string{}
	for _, mode := range []string{"on", "off", "on", "shadow"} {
		if status, body := operator.ask(http.MethodPatch, "/api/gates/shop", `{"mode":"`+mode+`"}`); status != http.StatusOK {
			t.Fatalf("mode %s: %d %v", mode, status, body)
		}
		deadline := time.Now().Add(5 * time.Second)
		for got := any(""); got != mode && time.Now().Before(deadline); <-time.After(20 * time.Millisecond) {
			_, gate := operator.ask(http.MethodGet, "/api/gates/shop", "")
			got = gate["mode"]
		}
		for _, someone := range []*visitor{buyer, newVisitor(t, a.Edge)} {
			status, hold := someone.ask(http.MethodPost, "/api/events/final/holds?"+mode, `{"quantity":1}`)
			if status != http.StatusCreated {
				t.Fatalf("hold in mode %s: %d %v", mode, status, hold)
			}
			path := "/api/holds/" + hold["hold"].(string)
			if status, body := someone.ask(http.MethodGet, path, ""); status != http.StatusOK {
				t.Errorf("read it in mode %s: %d %v", mode, status, body)
			}
			if someone == buyer {
				holds = append(holds, path)
			}
		}
		for i, path := range holds {
			if status, body := buyer.ask(http.MethodGet, path, ""); status != http.StatusOK {
				t.Errorf("hold %d in mode %s: %d %v", i, mode, status, body)
			}
		}
	}
}

// E14: a hold carries its slot further than an idle visitor keeps one, so that the buyer may take his time at the till.
func TestShop_AHoldKeepsTheSlotWhileTheBuyerTypes(t *testing.T) {
	yaml := strings.Replace(strings.Replace(shopYAML, "SQLITE", `":memory:"`, 1), "capacity: 5}",
		"capacity: 1, session: {idle: 1s, claim: 1s}, queue: {poll: {min: 200ms, max: 1s}}}", 1)
	yaml = "tokens: {leeway: 200ms}" + strings.Replace(yaml, "origin:\n", "origin:\n  hold_ttl: 20s\n", 1)
	a := startApp(t, yaml)
	first, second := newVisitor(t, a.Edge), newVisitor(t, a.Edge)
	_, hold := first.ask(http.MethodPost, "/api/events/final/holds", `{"quantity":1}`)
	for typing := time.Now(); time.Since(typing) < 3*time.Second; <-time.After(100 * time.Millisecond) {
		if status, body := second.ask(http.MethodGet, "/api/events/final", ""); status != http.StatusTooManyRequests {
			t.Fatalf("the second comes in: %d %v", status, body)
		}
	}
	for _, path := range []string{"/api/events/final", "/events/final"} {
		if status, body := first.ask(http.MethodGet, path, ""); status != http.StatusOK {
			t.Errorf("%s answers the first with %d %v", path, status, body)
		}
	}
	if status, body := first.ask(http.MethodPost, "/api/holds/"+hold["hold"].(string)+"/pay", `{"payment_method":"pm_card_visa"}`); status != http.StatusCreated {
		t.Errorf("pay: %d %v", status, body)
	}
	deadline := time.Now().Add(10 * time.Second)
	for status := 0; status != http.StatusOK; <-time.After(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the slot of who has paid is not given to the second")
		}
		status, _ = second.ask(http.MethodGet, "/api/events/final", "")
	}
}
