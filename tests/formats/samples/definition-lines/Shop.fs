module Shop.Core

/// An item of a cart.
type Item =
    { Name: string
      Price: decimal }

let limit = 10

let rec total (items: Item list) =
    match items with
    | [] -> 0m
    | item :: rest -> item.Price + total rest

type Cart() =
    member this.Add(item: Item) =
        ignore item
