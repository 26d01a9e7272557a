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
	AccountID string `json:"account_id"`
	Status    string
	NextRunAt string `json:"next_run_at"`
	Items     []object
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

// storedOrder returns the order and its key. Both are stored before the first request, because the order says another month later on.
func storedOrder(name string, newOrder func() string) (stored struct{ Key, Order string }) {
	if bytes, err := os.ReadFile(name); err == nil {
		if err := json.Unmarshal(bytes, &stored); err != nil {
			log.Fatal(err)
		}
		return stored
	}
	stored.Key, stored.Order = newKey(), newOrder()
	file, err := os.Create(name)
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(json.NewEncoder(file).Encode(stored), file.Sync(), file.Close()); err != nil {
		log.Fatal(err)
	}
	return stored
}

func newOrder() string {
	source := call("GET", "/accounts/lookup?alias=%24acme-treasury", "", "")
	landlord := call("GET", "/accounts/lookup?alias=%24bruno", "", "")
	now := time.Now().UTC()
	first := time.Date(now.Year(), now.Month()+1, 1, 14, 0, 0, 0, time.UTC)
	return fmt.Sprintf(`{
		"transfer": {
			"source_account": %q,
			"destination": {"type": "account", "account_id": %q},
			"amount": {"raw": "900000", "asset": "COPM"},
			"description": "Rent"
		},
		"starts_at": %q,
		"every": {"unit": "month", "count": 1},
		"max_runs": 12
	}`, source.AccountID, landlord.AccountID, first.Format(time.RFC3339))
}

func main() {
	stored := storedOrder("rent.json", newOrder)
	rent := call("POST", "/schedules", stored.Key, stored.Order)
	fmt.Println(rent.ID, rent.Status, rent.NextRunAt)
	for _, one := range call("GET", "/transfers?schedule="+rent.ID, "", "").Items {
		fmt.Println(one.ID, one.Status)
	}
}
