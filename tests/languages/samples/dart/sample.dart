library shop;

import 'dart:async';
import 'package:shop/item.dart' as item;
export 'src/price.dart';

part 'cart.g.dart';

/// The most items that fit.
const maxItems = 50;
final String currency = 'EUR';
var opened = 0;

/// What a customer is about to buy.
@immutable
abstract class Cart<T> extends Base<T> with Logging implements Comparable<Cart> {
  final List<T> items;
  static const String version = '1.0';
  int _count = 0;

  Cart(this.items);

  /// A cart without anything in it.
  const Cart.empty() : items = const [];

  factory Cart.of(Iterable<T> source) {
    return _CartImpl(source.toList());
  }

  /// Adds one item.
  @override
  @mustCallSuper
  Future<void> add(T thing) async {
    final local = thing;
    items.add(local);
    await save(local);
  }

  int get length => items.length;

  set limit(int value) {
    _count = value;
  }

  static bool valid(int n) => n < maxItems;

  double total();

  @override
  bool operator ==(Object other) => other is Cart;
}

mixin Logging on Base {
  void log(String line) {
    print(line);
  }
}

enum Status {
  open,
  paid;

  bool get done => this == paid;
}

extension Doubling on int {
  int twice() => this * 2;
}

typedef Callback = void Function(int);

/// Starts everything.
void main(List<String> args) {
  int local(int x) => x + 1;
  final cart = Cart.of([1, 2]);
  cart.add(local(3));
}

int half(int n) => n ~/ 2;

bool get isOpen => opened > 0;
