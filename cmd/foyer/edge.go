package main

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"foyer/config"
	"foyer/proxy"
)

// shopPaths are what concerns a hold or an order one already has: it reaches the embedded shop without a slot, and the
// shop asks for one where it is needed. No webhook waits either, also of a provider that is not the shop's.
var shopPaths = []string{"/api/holds/**", "/api/orders/**", "/webhooks/*"}

// alsoShop are the calls that the shop's page makes. They belong to a gate in front of the shop, where no gate names
// them, whichever of the shop's pages it matches.
var alsoShop = []string{"/api/events", "/api/holds/**", "/api/orders/**"}

// edgeGates are the gates of the configuration in the words of the edge. The shop is the upstream of those that say
// origin.
func edgeGates(cfg *config.Config, rooms []room, shop http.Handler) ([]proxy.Gate, error) {
	gates := make([]proxy.Gate, len(rooms))
	for i, room := range rooms {
		page, err := edgePage(room.Page)
		if err != nil {
			return nil, misuse{fmt.Errorf("read the waiting page of gate %s: %w", room.Name, err)}
		}
		gates[i] = proxy.Gate{
			Name:   room.Name,
			Match:  proxy.Match{Hosts: room.Match.Hosts, Paths: room.Match.Paths},
			Room:   room.Room,
			Bypass: edgeBypass(room.Bypass),
			Page:   page,
			Cookie: edgeCookie(room.Cookie),
		}
		if room.Upstream == config.UpstreamOrigin {
			gates[i].Upstream, gates[i].Ungated = proxy.Upstream{Handler: shop}, shopPaths
			gates[i].Also = alsoPaths(room.Match.Paths)
			continue
		}
		if gates[i].Upstream, err = edgeUpstream(cfg, room.Upstream); err != nil {
			return nil, misuse{err}
		}
	}
	return gates, nil
}

// alsoPaths are the calls that belong to a gate with these paths in front of the shop: of the events whose pages it
// matches, and of holds and orders. A gate without paths matches everything as it is.
func alsoPaths(paths []string) []string {
	if len(paths) == 0 {
		return nil
	}
	also := slices.Clone(alsoShop)
	for _, path := range paths {
		if strings.HasPrefix(path, "/events/") {
			also = append(also, "/api"+path)
		}
	}
	return also
}

// edgeUpstream is a storefront with its tuning.
func edgeUpstream(cfg *config.Config, address string) (proxy.Upstream, error) {
	target, err := url.Parse(address)
	if err != nil {
		return proxy.Upstream{}, fmt.Errorf("read upstream: %w", err)
	}
	tuned := cfg.Upstream(address)
	return proxy.Upstream{URL: target, Timeout: tuned.Timeout, MaxIdleConns: tuned.MaxIdleConns, PreserveHost: tuned.PreserveHost}, nil
}

func edgeBypass(rules []config.Bypass) []proxy.Bypass {
	bypass := make([]proxy.Bypass, len(rules))
	for i, rule := range rules {
		bypass[i] = proxy.Bypass{Paths: rule.Paths, Methods: rule.Methods, CIDRs: rule.CIDRs}
		if rule.Header != nil {
			bypass[i].HeaderName, bypass[i].HeaderValue = rule.Header.Name, string(rule.Header.Value)
		}
	}
	return bypass
}

func edgePage(page config.Page) (proxy.Page, error) {
	made := proxy.Page{Title: page.Title, Languages: page.Languages, Status: page.Status}
	if page.Template == "" {
		return made, nil
	}
	own, err := template.New(filepath.Base(page.Template)).ParseFiles(page.Template)
	made.Template = own
	return made, err
}

func edgeCookie(cookie config.Cookie) proxy.Cookie {
	return proxy.Cookie{
		Secure:   map[string]proxy.Secure{"auto": proxy.SecureAuto, "true": proxy.SecureAlways, "false": proxy.SecureNever}[cookie.Secure],
		SameSite: map[string]http.SameSite{"lax": http.SameSiteLaxMode, "strict": http.SameSiteStrictMode, "none": http.SameSiteNoneMode}[cookie.SameSite],
	}
}
