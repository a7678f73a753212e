-module(shop).
-export([total/1]).
-record(item, {name, price}).
-define(LIMIT, 10).

%% The sum of all prices.
total([]) ->
    0;
total([Item | Rest]) ->
    Item#item.price + total(Rest).

start(Name,
      Options) ->
    total(Options).
