package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"time"
)

const file = `country,bank_code,account_type,account_number,holder_name,holder_document,amount,asset,reference
CO,0007,savings,4567891234099,Luz Rojas,79456123,150000,COPM,INV-2041
CO,0007,checking,0012345678099,Papelera Andina,900555001-1,175000,COPM,INV-2042
`

type object struct {
	ID        string
	Status    string
	AccountID string `json:"account_id"`
	Cost      string `json:"total_debit_formatted"`
	Payouts   map[string]int
}

func call(method, path, key, token, contentType, body string) object {
	request, err := http.NewRequest(method, os.Getenv("SVC_URL")+path, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv(token))
	request.Header.Set("Idempotency-Key", key)
	request.Header.Set("Content-Type", contentType)
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

func get(path string) object {
	return call("GET", path, "", "SVC_TOKEN", "", "")
}

func newKey() string {
	id := make([]byte, 16)
	rand.Read(id)
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

func main() {
	source := get("/accounts/lookup?alias=%24acme-treasury")
	var form strings.Builder
	writer := multipart.NewWriter(&form)
	writer.WriteField("source_account", source.AccountID)
	part, _ := writer.CreateFormFile("file", "suppliers.csv")
	part.Write([]byte(file))
	writer.Close()
	// Store both keys with the file first; repeat each request with the same key.
	upload, execute := newKey(), newKey()
	batch := call("POST", "/payout_batches", upload, "SVC_TOKEN", writer.FormDataContentType(), form.String())
	path := "/payout_batches/" + batch.ID
	for batch.Status == "validating" {
		time.Sleep(time.Second)
		batch = get(path)
	}
	if batch.Status == "rejected" {
		log.Fatal("rejected: download the errors file")
	}
	fmt.Println(batch.Cost)

	// The other member's program, after the review.
	batch = call("POST", path+"/execute", execute, "APPROVER_TOKEN", "", "")

	// The batch ends when every row is a payout. The payouts end when their banks answer.
	for batch.Status == "executing" || batch.Payouts["approved"]+batch.Payouts["in_progress"] > 0 {
		time.Sleep(time.Second)
		batch = get(path)
	}
	fmt.Println(batch.ID, batch.Status, batch.Payouts["completed"])
}
