"""Asking for a route by name: the line that answers it is found first, whatever framework it is written in."""

from __future__ import annotations

from pathlib import Path

import pytest

from dowse import Engine, SearchOptions

LURE = """\
# Login

How a user logs in: POST the name and password to /login. The login handler checks both, login fails
after three attempts, and where login is handled the session begins.
"""

TREES = {
    "flask": ("app/views.py", '''
from flask import Flask
app = Flask(__name__)

@app.route("/login", methods=["GET"])
def login_form():
    return page("login")

@app.route("/login", methods=["POST"])
def open_session():
    return start()
''', 8),
    "fastapi": ("app/api.py", '''
from fastapi import APIRouter
router = APIRouter(prefix="/auth")

@router.get("/me")
def me():
    return 1

@router.post("/login")
async def open_session():
    return 2
''', 8),
    "django": ("shop/urls.py", '''
from django.urls import path
from . import views
urlpatterns = [
    path("cart/", views.cart),
    path("login", views.open_session),
]
''', 5),
    "express": ("src/server.js", '''
const express = require("express")
const app = express()
app.get("/login", showForm)
app.post("/login", limit, openSession)
''', 4),
    "nestjs": ("src/auth.controller.ts", '''
import { Controller, Get, Post } from "@nestjs/common"

@Controller()
export class AuthController {
  @Get("login")
  form() { return 1 }

  @Post("login")
  openSession() { return 2 }
}
''', 8),
    "spring": ("src/AuthController.java", '''
package shop;

@RestController
public class AuthController {
    @GetMapping("/login")
    public String form() { return "form"; }

    @PostMapping("/login")
    public String openSession() { return "ok"; }
}
''', 8),
    "rails": ("config/routes.rb", '''
Rails.application.routes.draw do
  get "login", to: "sessions#new"
  post "login", to: "sessions#create"
end
''', 3),
    "net-http": ("main.go", '''
package main

import "net/http"

func main() {
	http.HandleFunc("GET /login", form)
	http.HandleFunc("POST /login", openSession)
}

func openSession(w http.ResponseWriter, r *http.Request) {}
''', 7),
    "gin": ("main.go", '''
package main

import "github.com/gin-gonic/gin"

func main() {
	r := gin.Default()
	r.GET("/login", form)
	r.POST("/login", openSession)
}
''', 8),
    "chi": ("main.go", '''
package main

import "github.com/go-chi/chi/v5"

func main() {
	r := chi.NewRouter()
	r.Get("/login", form)
	r.Post("/login", openSession)
}
''', 8),
    "laravel": ("routes/web.php", '''<?php

use Illuminate\\Support\\Facades\\Route;

Route::get('/login', [SessionController::class, 'form']);
Route::post('/login', [SessionController::class, 'open']);
''', 6),
}  # fmt: skip
"""By framework a file, its text, and the line (counted from the first with text) of the route POST /login."""


@pytest.mark.parametrize("framework", TREES)
def test_where_a_route_is_handled(framework: str, tmp_path: Path) -> None:
    path, text, line = TREES[framework]
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text.removeprefix("\n"), encoding="utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "login.md").write_text(LURE, encoding="utf-8")
    (tmp_path / "login.py").write_text("def login_handler(login):\n    return login\n", encoding="utf-8")
    with Engine.open(tmp_path, allow_home=True) as engine:
        engine.index()
        for query in ("where is POST /login handled", "POST /login"):
            first = engine.search(query, SearchOptions(limit=5)).results[0]
            assert first.path == path, query
            assert first.start_line <= line <= first.end_line, query
        listed = engine.search("kind:route", SearchOptions(limit=5)).results
        assert any(hit.path == path for hit in listed)
