package main

import (
	"strings"
	"testing"
)

func TestSimulator_RefusesAWebhookURLThatIsNone(t *testing.T) {
	for _, url := range []string{
		"shop", "127.0.0.1:8080/webhooks/simulator", "ftp://127.0.0.1/", "http:///webhooks/simulator", "http://:8080", "http://%zz",
	} {
		_, err := printed(t, "simulator", "--listen", "127.0.0.1:0", "--webhook-url", url)
		if exitCode(err) != exitMisuse || !strings.Contains(err.Error(), "--webhook-url") || !strings.Contains(err.Error(), "such as http:") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestSimulator_TakesAWebhookURLOrNone(t *testing.T) {
	for _, url := range []string{"", "http://127.0.0.1:8080/webhooks/simulator", "https://shop.example/webhooks/simulator"} {
		if err := checkWebhookURL(url); err != nil {
			t.Errorf("%q: %v", url, err)
		}
	}
}
