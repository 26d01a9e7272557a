package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log"
	random "math/rand"
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

func send(method, path, key, contentType, body string) (code int, text, retryAfter string, err error) {
	request, err := http.NewRequest(method, os.Getenv("SVC_URL")+path, strings.NewReader(body))
	if err != nil {
		return 0, "", "", err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("SVC_TOKEN"))
	request.Header.Set("Idempotency-Key", key)
	request.Header.Set("Content-Type", contentType)
	client := http.Client{Timeout: time.Minute}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", "", err
	}
	defer response.Body.Close()
	bytes, err := io.ReadAll(response.Body)
	return response.StatusCode, string(bytes), response.Header.Get("Retry-After"), err
}

func call(method, path, key, contentType, body string) (result object, text string) {
	for pause := time.Second; ; pause *= 2 {
		code, text, retryAfter, err := send(method, path, key, contentType, body)
		if err != nil {
			log.Print("no response: ", err)
		} else if code < 300 {
			json.Unmarshal([]byte(text), &result) // A file leaves it empty.
			return result, text
		} else if code < 500 && code != 429 {
			log.Fatal(text)
		}
		// The result is unknown: repeat the same request with the same key.
		if pause > time.Minute {
			pause = time.Minute
		}
		wait, _ := time.ParseDuration(retryAfter + "s")
		if wait < pause {
			wait = pause
		}
		time.Sleep(wait + time.Duration(random.Int63n(int64(wait))))
	}
}

const keysFile = "payroll.keys.json"

type keys struct{ Upload, Execute string }

// storedKeys returns the keys of this payroll, which a program that was interrupted finds again.
func storedKeys() (own keys) {
	if _, err := os.Stat(keysFile); os.IsNotExist(err) {
		text, _ := json.Marshal(keys{newKey(), newKey()})
		file, err := os.Create(keysFile + ".new")
		check(err)
		_, err = file.Write(text)
		check(err)
		check(file.Sync())
		check(file.Close())
		check(os.Rename(keysFile+".new", keysFile))
	}
	text, err := os.ReadFile(keysFile)
	check(err)
	check(json.Unmarshal(text, &own))
	return own
}

// end keeps the keys beside those of the next payroll.
func end(batch object) {
	check(os.Rename(keysFile, batch.ID+".keys.json"))
}

func newKey() string {
	id := make([]byte, 16)
	rand.Read(id)
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	content, err := os.ReadFile("payroll.csv")
	check(err)
	keys := storedKeys()
	source, _ := call("GET", "/accounts/lookup?alias=%24acme-treasury", "", "", "")
	var form strings.Builder
	writer := multipart.NewWriter(&form)
	writer.WriteField("source_account", source.AccountID)
	part, _ := writer.CreateFormFile("file", "payroll.csv")
	part.Write(content)
	writer.Close()
	batch, _ := call("POST", "/bonus_batches", keys.Upload, writer.FormDataContentType(), form.String())
	path := "/bonus_batches/" + batch.ID
	for batch.Status == "validating" {
		time.Sleep(time.Second)
		batch, _ = call("GET", path, "", "", "")
	}
	if batch.Status == "rejected" {
		end(batch)
		_, problems := call("GET", path+"/files/errors", "", "", "")
		log.Fatal(problems)
	}

	fmt.Println(batch.Cost) // Review the cost before you execute.
	batch, _ = call("POST", path+"/execute", keys.Execute, "", "")
	for batch.Status == "executing" {
		time.Sleep(time.Second)
		batch, _ = call("GET", path, "", "", "")
	}
	fmt.Println(batch.ID, batch.Status)
	_, result := call("GET", path+"/files/result", "", "", "")
	fmt.Println(result)
	end(batch)
}
