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

type object struct {
	ID        string
	Status    string
	AccountID string `json:"account_id"`
	Cost      string `json:"total_debit_formatted"`
}

func call(method, path, key, contentType, body string) (result object, text string) {
	request, err := http.NewRequest(method, os.Getenv("SVC_URL")+path, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("SVC_TOKEN"))
	request.Header.Set("Idempotency-Key", key)
	request.Header.Set("Content-Type", contentType)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	bytes, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		log.Fatal(response.Status, string(bytes), err)
	}
	json.Unmarshal(bytes, &result) // A file leaves it empty.
	return result, string(bytes)
}

func newKey() string {
	id := make([]byte, 16)
	rand.Read(id)
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

func main() {
	content, err := os.ReadFile("payroll.csv")
	if err != nil {
		log.Fatal(err)
	}
	source, _ := call("GET", "/accounts/lookup?alias=%24acme-treasury", "", "", "")
	var form strings.Builder
	writer := multipart.NewWriter(&form)
	writer.WriteField("source_account", source.AccountID)
	part, _ := writer.CreateFormFile("file", "payroll.csv")
	part.Write(content)
	writer.Close()
	batch, _ := call("POST", "/bonus_batches", newKey(), writer.FormDataContentType(), form.String())
	path := "/bonus_batches/" + batch.ID
	for batch.Status == "validating" {
		time.Sleep(time.Second)
		batch, _ = call("GET", path, "", "", "")
	}
	if batch.Status == "rejected" {
		_, problems := call("GET", path+"/files/errors", "", "", "")
		log.Fatal(problems)
	}

	fmt.Println(batch.Cost) // Review the cost before you execute.
	batch, _ = call("POST", path+"/execute", newKey(), "", "")
	for batch.Status == "executing" {
		time.Sleep(time.Second)
		batch, _ = call("GET", path, "", "", "")
	}
	fmt.Println(batch.ID, batch.Status)
	_, result := call("GET", path+"/files/result", "", "", "")
	fmt.Println(result)
}
