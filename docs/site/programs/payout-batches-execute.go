package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

type object struct {
	ID         string
	Status     string
	Rows       int
	Cost       string `json:"total_debit_formatted"`
	Payouts    map[string]int
	Duplicates struct {
		Count    int
		SameFile string `json:"same_file_batch_id"`
	}
	Earlier *struct{ Count int } `json:"earlier_payments"`
	Funding struct {
		Sufficient bool
		Shortfall  string
	}
	CanSend bool `json:"can_send"`
}

func call(method, path, key string) (result object) {
	request, err := http.NewRequest(method, os.Getenv("SVC_URL")+path, nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("APPROVER_TOKEN"))
	request.Header.Set("Idempotency-Key", key)
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
	json.Unmarshal(bytes, &result)
	return result
}

// confirm stops the program if the batch may be a mistake or cannot be paid, or if the person does not agree.
func confirm(batch object) {
	switch {
	case batch.Duplicates.SameFile != "":
		log.Fatalf("batch %s has the same file", batch.Duplicates.SameFile)
	case batch.Earlier == nil || batch.Earlier.Count > 0:
		log.Fatalf("rows were paid before: %+v", batch.Earlier)
	case !batch.Funding.Sufficient:
		log.Fatal("the account lacks ", batch.Funding.Shortfall)
	case !batch.CanSend:
		log.Fatal("the account may not send")
	}
	again := fmt.Sprintf("%d to a bank account that is already in the file", batch.Duplicates.Count)
	fmt.Printf("Pay %d rows, %s, for %s? (yes) ", batch.Rows, again, batch.Cost)
	var answer string
	if fmt.Scanln(&answer); answer != "yes" {
		log.Fatal("not confirmed: nothing was paid")
	}
}

func main() {
	path := "/payout_batches/" + os.Getenv("BATCH")
	batch := call("GET", path, "")
	if batch.Status == "ready" {
		confirm(batch)
		// A batch is executed once, so its own id serves as the key of every run.
		batch = call("POST", path+"/execute", batch.ID)
	}

	// The batch ends when every row is a payout. The payouts end when their banks answer.
	isUnderWay := func() bool {
		return batch.Status == "executing" || batch.Payouts["approved"]+batch.Payouts["in_progress"] > 0
	}
	for seconds := 0; isUnderWay() && seconds < 3600; seconds++ {
		time.Sleep(time.Second)
		batch = call("GET", path, "")
	}
	fmt.Println(batch.ID, batch.Status, batch.Payouts)
}
