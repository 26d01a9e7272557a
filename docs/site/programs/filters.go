package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"time"
)

type page struct {
	Items []struct {
		ID     string
		Amount struct{ Raw string }
	}
	NextCursor string `json:"next_cursor"`
}

func main() {
	query := url.Values{
		"created_at[gte]": {"2026-11-01T05:00:00Z"},
		"asset":           {"COPM"},
		"amount[gte]":     {"100000"},
	}
	for {
		request, err := http.NewRequest("GET", os.Getenv("SVC_URL")+"/transfers?"+query.Encode(), nil)
		if err != nil {
			log.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+os.Getenv("SVC_TOKEN"))
		client := http.Client{Timeout: time.Minute}
		response, err := client.Do(request)
		if err != nil {
			log.Fatal(err)
		}
		var transfers page
		err = json.NewDecoder(response.Body).Decode(&transfers)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			log.Fatal(response.Status, err)
		}
		for _, transfer := range transfers.Items {
			fmt.Println(transfer.ID, transfer.Amount.Raw)
		}
		if transfers.NextCursor == "" {
			return
		}
		query.Set("cursor", transfers.NextCursor)
	}
}
