package shop

import shop.model.*

/** The most lines. */
val MaxLines = 100

enum Status(val code: Int) extends Coded:
  /** In use. */
  case Open extends Status(1)
  case Closed, Lost
  def label = "x"

given intOrd: Ordering[Int] with
  def compare(a: Int, b: Int) = a - b

given Show[Status] = ???

extension (text: String)
  def shout: String = text.toUpperCase

opaque type Money = Long

// Starts it.
@main def run(args: String*): Unit =
  val local = 1
  println(args.map(_.shout))

type Handler = Event => Unit

class Box[T](value: T) derives Show:
  def get: T = value
end Box
