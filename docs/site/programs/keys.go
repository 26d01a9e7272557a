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
	ID          string
	Status      string
	AccountID   string `json:"account_id"`
	HolderName  string `json:"holder_name"`
	HolderCheck string `json:"holder_check"`
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

// storedOrder returns the order and its key. Both are stored before the first request, because another look-up gives another holder_check.
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
	phone := "3001112233"
	holder := call("GET", "/payout_recipients?key="+phone, "", "")
	fmt.Println(holder.HolderName)
	// Compare the name with the one that you expect.
	return fmt.Sprintf(`{
		"source_account": %q,
		"destination": {"type": "bre_b_key", "key": %q, "holder_check": %q},
		"amount": {"raw": "150000", "asset": "COPM"}
	}`, source.AccountID, phone, holder.HolderCheck)
}

func main() {
	stored := storedOrder("payout-1043.json", newOrder)
	payout := call("POST", "/payouts", stored.Key, stored.Order)
	isUnderWay := func() bool { return payout.Status == "approved" || payout.Status == "in_progress" }
	for seconds := 0; isUnderWay() && seconds < 600; seconds++ {
		time.Sleep(time.Second)
		payout = call("GET", "/payouts/"+payout.ID, "", "")
	}
	fmt.Println(payout.ID, payout.Status)
}
