Rails.application.routes.draw do
  get "/login", to: "sessions#new"
  post "login" => "sessions#create"
  resources :users
end
