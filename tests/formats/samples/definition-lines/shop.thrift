include "k.thrift"

struct Item {
  1: string name
}

service Shop {
  i32 total(1: list<Item> items)
}
