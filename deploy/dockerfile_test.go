package deploy

import (
	"regexp"
	"strings"
	"testing"
)

func TestToolchain_IsTheSameEverywhere(t *testing.T) {
	declared := regexp.MustCompile(`(?m)^toolchain (go\S+)$`).FindSubmatch(read(t, "../go.mod"))
	if declared == nil {
		t.Fatal("go.mod names no toolchain")
	}
	for name, pattern := range map[string]string{"Dockerfile": `GOTOOLCHAIN=(\S+)`, "../Makefile": `GOTOOLCHAIN = (\S+)`} {
		found := regexp.MustCompile(pattern).FindSubmatch(read(t, name))
		if found == nil || string(found[1]) != string(declared[1]) {
			t.Errorf("%s has %q, go.mod %s", name, found, declared[1])
		}
	}
}

func TestDockerfile_RunsAsNobodyInParticularAndAnswersForItsHealth(t *testing.T) {
	text := string(read(t, "Dockerfile"))
	_, final, _ := strings.Cut(text[strings.LastIndex(text, "\nFROM "):], " ")
	if image, _, _ := strings.Cut(final, "\n"); !strings.HasSuffix(image, ":nonroot") {
		t.Errorf("the final image is %s", image)
	}
	if !strings.Contains(final, `CMD ["/usr/bin/foyer", "healthcheck", "--config", "/etc/foyer/foyer.yaml"]`) ||
		!strings.Contains(final, `CMD ["serve", "--config", "/etc/foyer/foyer.yaml"]`) {
		t.Error("there is no health check of what is served")
	}
}
