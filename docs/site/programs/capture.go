package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"time"
)

type object struct {
	ID        string
	Status    string
	AccountID string `json:"account_id"`
	Captured  struct{ Raw string }
}

func call(method, path, key, body string) object {
	request, err := http.NewRequest(method, os.Getenv("SVC_URL")+path, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("SVC_TOKEN"))
	request.Header.Set("Idempotency-Key", key)
	request.Header.Set("Content-Type", "application/json")
	client := http.Client{Timeout: time.Minute}
	response, err := client.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	bytes, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		log.Fatal(response.Status, string(bytes), err)
	}
	var result object
	json.Unmarshal(bytes, &result)
	return result
}

func newKey() string {
	id := make([]byte, 16)
	rand.Read(id)
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// keysOf returns the order's keys, stored before the first request. In your program, the order's row takes the place of the file.
func keysOf(name string) (keys struct{ Authorise, Capture string }) {
	if stored, err := os.ReadFile(name); err == nil {
		if err := json.Unmarshal(stored, &keys); err != nil {
			log.Fatal(err)
		}
		return keys
	}
	keys.Authorise, keys.Capture = newKey(), newKey()
	file, err := os.Create(name)
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(json.NewEncoder(file).Encode(keys), file.Sync(), file.Close()); err != nil {
		log.Fatal(err)
	}
	return keys
}

func main() {
	source := call("GET", "/accounts/lookup?alias=%24acme-treasury", "", "")
	shop := call("GET", "/accounts/lookup?alias=%24bruno", "", "")
	order := fmt.Sprintf(`{
		"source_account": %q,
		"destination": {"type": "account", "account_id": %q},
		"amount": {"raw": "500000", "asset": "COPM"},
		"capture": "manual",
		"capture_within_s": 259200
	}`, source.AccountID, shop.AccountID)
	keys := keysOf("order-1042.json")
	transfer := call("POST", "/transfers", keys.Authorise, order)
	fmt.Println(transfer.ID, transfer.Status)

	// When you deliver, with what you delivered.
	delivered := `{"amount": {"raw": "350000", "asset": "COPM"}}`
	transfer = call("POST", "/transfers/"+transfer.ID+"/capture", keys.Capture, delivered)
	fmt.Println(transfer.Status, transfer.Captured.Raw)
}
