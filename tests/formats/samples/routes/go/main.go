package main

func routes(r *chi.Mux) {
	r.Get("/users/{id}", getUser)
	r.Post("/users", h.Create)
	http.HandleFunc("/health", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
	})
	mux.HandleFunc("DELETE /users/{id}", deleteUser)
}

func getUser() {}

func deleteUser() {}
