module Main exposing (main)

type alias Item =
    { name : String }

total : List Item -> Int
total items =
    List.length items
