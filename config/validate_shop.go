package config

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	eventID  = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	currency = regexp.MustCompile(`^[a-z]{3}$`)
)

func (v *validator) upstreams(key string, upstreams map[string]Upstream) {
	for name := range upstreams {
		at := fmt.Sprintf("%s[%s]", key, name)
		base, ok := baseURL(name)
		switch used := slices.ContainsFunc(v.cfg.Gates, func(g Gate) bool { return g.Upstream == base }); {
		case strings.Contains(name, "${"):
			v.fail(at, "variables are replaced in values, not in keys", "write the URL")
		case !ok:
			v.fail(at, "must be http(s)://host:port, as a gate names it", "write one such as http://127.0.0.1:3000")
		case !used:
			v.warning(at, "is the upstream of no gate", "")
		}
	}
}

func (v *validator) origin(key string, o *Origin) {
	if o == nil {
		return
	}
	if o.Strategy == "atomic_redis" && v.cfg.Store.Redis == "" && v.sound("store.redis") {
		v.fail(key+".strategy", "atomic_redis needs store.redis", "set store.redis, or write group_commit")
	}
	if v.cfg.Store.Redis != "" && v.cfg.Store.Postgres == "" && v.sound("store") {
		v.warning("store.postgres", "is empty: replicas that share store.redis would each sell from an SQLite ledger of their own",
			"set store.postgres as soon as there is more than one replica")
	}
	v.payment(key+".payment", o.Payment)
	used := false
	for i, gate := range v.cfg.Gates {
		if gate.Upstream != UpstreamOrigin {
			continue
		}
		used = true
		stay := fmt.Sprintf("gates[%d].session.max", i)
		if v.sound(key+".hold_ttl", stay) && o.HoldTTL > gate.Session.Max {
			v.warning(key+".hold_ttl", fmt.Sprintf("is longer than session.max of gate %q (%s): a hold can keep its buyer inside for longer",
				gate.Name, writtenDuration(gate.Session.Max)), "")
		}
	}
	if !used && v.sound("gates") {
		v.warning(key, "no gate leads to the embedded shop", "write upstream: origin in one, or remove the section")
	}
	v.events(key+".events", o.Events)
}

func (v *validator) payment(at string, p Payment) {
	v.httpURL(at+".simulator.url", p.Simulator.URL)
	v.httpURL(at+".stripe.api_base", p.Stripe.APIBase)
	if len(p.Simulator.WebhookSecrets) == 0 {
		v.fail(at+".simulator.webhook_secrets", "is empty", "write at least one, or remove the key")
	}
	v.webhookSecrets(at+".simulator.webhook_secrets", p.Simulator.WebhookSecrets)
	if p.Provider == "stripe" && v.sound(at+".provider") {
		if p.Stripe.SecretKey == "" {
			v.fail(at+".stripe.secret_key", "is needed by provider stripe", `write "${STRIPE_SECRET_KEY}"`)
		}
		if len(p.Stripe.WebhookSecrets) == 0 {
			v.fail(at+".stripe.webhook_secrets", "is needed by provider stripe", `write ["${STRIPE_WEBHOOK_SECRET}"]`)
		}
		v.webhookSecrets(at+".stripe.webhook_secrets", p.Stripe.WebhookSecrets)
	}
	if v.sound(at+".settle", at+".timeout") && p.Settle < p.Timeout {
		v.fail(at+".settle", fmt.Sprintf("is shorter than one call to the gateway may take (%s)", writtenDuration(p.Timeout)),
			"write a longer one, such as "+writtenDuration(max(10*time.Minute, 10*p.Timeout)))
	}
}

func (v *validator) webhookSecrets(key string, secrets []Secret) {
	for i, secret := range secrets {
		if secret == "" {
			v.fail(fmt.Sprintf("%s[%d]", key, i), "is empty, so that anyone could sign a webhook", "write the secret of the webhook's endpoint")
		}
	}
}

// httpURL checks a URL that may be left out.
func (v *validator) httpURL(key, text string) {
	if text == "" {
		return
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		v.fail(key, "must be an http(s) URL", "write one such as http://127.0.0.1:9099")
	}
}

func (v *validator) events(key string, events []Event) {
	if len(events) == 0 {
		v.warning(key, "nothing is on sale", "write at least one event")
	}
	first := map[string]int{}
	for i := range events {
		at, event := fmt.Sprintf("%s[%d]", key, i), &events[i]
		if !eventID.MatchString(event.ID) {
			v.fail(at+".id", "must be 1 to 64 of A-Z a-z 0-9 _ -", "write one such as final")
		}
		if other, twice := first[event.ID]; twice && v.sound(at+".id") {
			line := v.find(fmt.Sprintf("%s[%d].id", key, other)).line
			v.fail(at+".id", fmt.Sprintf("%q is the id of the event in line %d too", event.ID, line), "give each event an id of its own")
		} else if !twice {
			first[event.ID] = i
		}
		if event.Name == "" {
			event.Name = event.ID
		}
		if !currency.MatchString(event.Price.Currency) && v.sound(at+".price.currency") {
			mend := "write one such as eur"
			if lower := strings.ToLower(event.Price.Currency); currency.MatchString(lower) {
				mend = "write " + lower
			}
			v.fail(at+".price.currency", "must be an ISO 4217 code in lower case", mend)
		}
	}
}
