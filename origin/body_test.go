package origin

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// TestReadQuantity_TakesOnlyWhatIsMeant is the table E4 of the scenarios, as far as the form goes.
func TestReadQuantity_TakesOnlyWhatIsMeant(t *testing.T) {
	cases := []struct {
		body string
		want Refusal
	}{
		{`{"quantity":1}`, NotRefused},
		{" {\n\"quantity\" : 4 }\n", NotRefused},
		{`{"quantity":1000000000}`, NotRefused},
		{`{"quantity":0}`, invalidQuantity},
		{`{"quantity":-1}`, invalidQuantity},
		{`{"quantity":-0}`, invalidQuantity},
		{`{"quantity":1000000001}`, invalidQuantity},
		{`{"quantity":9223372036854775808}`, invalidQuantity},
		{`{"quantity":99999999999999999999999999}`, invalidQuantity},
		{`{}`, invalidQuantity},
		{`{"quantity":1.5}`, badRequest},
		{`{"quantity":2.0}`, badRequest},
		{`{"quantity":1e2}`, badRequest},
		{`{"quantity":"2"}`, badRequest},
		{`{"quantity":null}`, badRequest},
		{`{"quantity":true}`, badRequest},
		{`{"quantity":[1]}`, badRequest},
		{`{"quantity":{"quantity":1}}`, badRequest},
		{`{"Quantity":2}`, badRequest},
		{`{"quantity":1,"quantity":2}`, badRequest},
		{`{"quantity":1,"price":0}`, badRequest},
		{`{"quantity":1} {}`, badRequest},
		{`{"quantity":1}x`, badRequest},
		{`{"quantity":1`, badRequest},
		{`[1]`, badRequest},
		{`1`, badRequest},
		{`null`, badRequest},
		{``, badRequest},
		{`quantity=1`, badRequest},
		{`{"quantity":1,"x":"` + strings.Repeat("x", maxBody) + `"}`, tooLarge},
		{`{"quantity":1}` + strings.Repeat(" ", maxBody), tooLarge},
		{`{"quantity":` + strings.Repeat("[", 20_000), badRequest},
	}
	for _, c := range cases {
		r := httptest.NewRequest("POST", "/", strings.NewReader(c.body))
		if _, got, detail := readQuantity(httptest.NewRecorder(), r); got != c.want {
			t.Errorf("%.60q: got %q (%s), want %q", c.body, got, detail, c.want)
		}
	}
}

func TestReadMethod_TakesOnlyAWord(t *testing.T) {
	cases := []struct {
		body string
		want Refusal
	}{
		{`{"payment_method":"pm_card_visa"}`, NotRefused},
		{`{"payment_method":""}`, badRequest},
		{`{"payment_method":7}`, badRequest},
		{`{"payment_method":null}`, badRequest},
		{`{"payment_method":"a\u0000b"}`, badRequest},
		{`{"payment_method":"` + strings.Repeat("x", longestMethod+1) + `"}`, badRequest},
		{`{}`, badRequest},
	}
	for _, c := range cases {
		r := httptest.NewRequest("POST", "/", strings.NewReader(c.body))
		if _, got, _ := readMethod(httptest.NewRecorder(), r); got != c.want {
			t.Errorf("%.60q: got %q, want %q", c.body, got, c.want)
		}
	}
}

func FuzzParseFields_NeverTakesMoreThanAllowed(f *testing.F) {
	f.Add([]byte(`{"quantity":1}`))
	f.Add([]byte(`{"quantity":1,"Quantity":2}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		found, err := parseFields(body, []string{"quantity"})
		if err != nil {
			return
		}
		if len(found) > 1 {
			t.Fatalf("took %v", found)
		}
		if n, refusal, _ := found.quantity("quantity"); refusal == NotRefused && (n < 1 || n > maxQuantity) {
			t.Fatalf("took the quantity %d", n)
		}
	})
}

func TestParseFields_NamesTheMembersItTakes(t *testing.T) {
	for body, want := range map[string]string{
		`{"kapacity":80}`: `unknown member "kapacity": the body takes capacity`,
		`[80]`:            "the body is not one JSON object with capacity",
		`capacity=80`:     "the body is not one JSON object with capacity",
	} {
		if _, err := parseFields([]byte(body), []string{"capacity"}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}
