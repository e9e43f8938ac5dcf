package e2e

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"foyer/internal/services"
)

// pageShop is a shop with one slot.
const pageShop = `
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0"}
store: {sqlite: ":memory:", state_file: ""}
tokens: {leeway: 250ms, keys: [{id: one, secret: "0123456789abcdef0123456789abcdef"}]}
gates:
  - {name: shop, upstream: origin, capacity: 1, session: {idle: 60s, claim: 10s}, queue: {poll: {min: 500ms, max: 2s}}}
origin:
  events:
    - {id: final, name: "World Cup Final", capacity: 10, price: {amount: 12000, currency: eur}}
`

// css selects by a CSS selector; a plain string would be looked for in the text of scripts too.
type css = chromedp.CSS

// browser is a Chromium with a profile of its own, which is closed with the test.
func browser(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(services.Chromium(t)), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.WSURLReadTimeout(time.Minute))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	ctx, closeAll := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(closeAll)
	ctx, closeTab := chromedp.NewContext(ctx)
	t.Cleanup(closeTab)
	return ctx
}

// do runs steps in a browser.
func do(t *testing.T, page context.Context, what string, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(page, steps...); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// text reads what is written in an element.
func text(t *testing.T, page context.Context, selector string) string {
	t.Helper()
	found, err := chromedp.Run(page, chromedp.Text(css(selector)))
	if err != nil {
		t.Fatalf("read %s: %v", selector, err)
	}
	return strings.TrimSpace(found)
}

// occupied is a shop whose only slot is taken, by somebody who leaves when he is told to.
func occupied(t *testing.T) (s *server, leave func()) {
	s = serve(t, pageShop)
	first := newPerson(s.Edge, false)
	first.ask(t, http.MethodGet, "/events/final", "").want(t, http.StatusOK)
	return s, func() { first.ask(t, http.MethodPost, "/_foyer/shop/leave", "").want(t, http.StatusNoContent) }
}

// activeAt is how many are inside.
func activeAt(t *testing.T, s *server) int {
	var gate struct{ Active int }
	read(t, s.Admin+"/api/gates/shop", &gate)
	return gate.Active
}

func TestPage_ABrowserWaitsAndBuysByItself(t *testing.T) {
	s, leave := occupied(t)
	page := browser(t)
	do(t, page, "wait in line", chromedp.Navigate(s.Edge+"/events/final"), chromedp.WaitVisible(css("#position")))
	if got := text(t, page, "#position"); got != "1" {
		t.Errorf("position %q", got)
	}
	leave()
	do(t, page, "come in by the page's own script", chromedp.WaitVisible(css("#hold-form")))
	do(t, page, "hold", chromedp.SetValue(css("#quantity"), "2"), chromedp.Click(css("#hold-form button")), chromedp.WaitVisible(css("#checkout")))
	do(t, page, "find the hold after a reload", chromedp.Reload(), chromedp.WaitVisible(css("#checkout")))
	if got := text(t, page, "#amount"); !strings.Contains(got, "240.00") {
		t.Errorf("to pay: %q", got)
	}
	const payButton = "#pay-form button:not([type])"
	do(t, page, "be declined", chromedp.SetValue(css("#method"), "pm_card_declined"), chromedp.Click(css(payButton)), chromedp.WaitVisible(css("#message.bad")))
	if got := text(t, page, "#message"); got != "The payment was declined: Your card was declined." {
		t.Errorf("message %q", got)
	}
	do(t, page, "pay with another card", chromedp.SetValue(css("#method"), "pm_card_3ds"), chromedp.Click(css(payButton)), chromedp.WaitVisible(css("#receipt")))
	order := text(t, page, "#order")
	if quantity := text(t, page, "#order-quantity"); !strings.HasPrefix(order, "ord_") || quantity != "2" {
		t.Errorf("order %q of %q", order, quantity)
	}
	eventually(t, 10*time.Second, "the slot is free", func() bool { return activeAt(t, s) == 0 })
	do(t, page, "keep the receipt", chromedp.Sleep(time.Second), chromedp.WaitVisible(css("#receipt")))
	if left := text(t, page, "#left"); left != "8" || activeAt(t, s) != 0 {
		t.Errorf("%q are left, %d inside: the page of somebody who has paid took a slot again", left, activeAt(t, s))
	}
	newPerson(s.Edge, false).ask(t, http.MethodGet, "/events/final", "").want(t, http.StatusOK)
	do(t, page, "open the receipt while another has the slot", chromedp.Click(css("#receipt a")), chromedp.WaitVisible(css("#paid")))
	if got := text(t, page, "#order"); got != order {
		t.Errorf("the receipt is of %q", got)
	}
}

func TestPage_ABrowserWithoutJavaScriptComesInByRefresh(t *testing.T) {
	s, leave := occupied(t)
	page := browser(t)
	if _, err := chromedp.Call(page, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	do(t, page, "wait in line", chromedp.Navigate(s.Edge+"/events/final"), chromedp.WaitReady(css("#position")))
	leave()
	do(t, page, "come in by Refresh", chromedp.WaitReady(css("#hold-form")), chromedp.WaitReady(css("noscript p")))
}
