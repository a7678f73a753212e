type
  Item* = object
    name: string

## Adds an item.
proc add*(cart: var seq[Item], item: Item) =
  cart.add item

template twice(body: untyped) =
  body
