package com.example
package shop

import scala.collection.mutable
import java.util.{List => JList, Map}
import cats.implicits._

/** Errors of the shop. */
sealed trait ShopError extends Throwable with Product {
  def code: Int
  val retry: Boolean = false
}

// The cart is full.
case object Full extends ShopError { def code = 1 }

final case class Missing(key: String) extends ShopError {
  override def code: Int = 2
}

/**
 * What a customer wants.
 */
@deprecated("use Basket", "1.0")
class Cart[F[_]: Monad, T <: Line](val owner: String, limit: Int = 10)
    extends Base[T](owner)
    with Repository[F]
    with Serializable {

  import Cart._

  private val lines = mutable.Buffer.empty[T]
  lazy val total: Int = lines.map(_.size).sum
  var note = ""
  val (left, right) = (1, 2)
  type Key = String

  // From a list.
  def this(lines: List[T]) = this("x")

  /** Adds a line. */
  @throws[ShopError]
  def add(line: T)(implicit ev: Show[T]): F[Boolean] = {
    val local = compute(1)
    def inner(x: Int): Int = x + local
    inner(2)
    new Cursor[T](this).reset()
  }

  def +(other: Cart[F, T]): Cart[F, T] = this

  protected def visit[R](f: T => R): R

  class Cursor {
    var position = 0
  }
}

object Cart extends Companion {
  val DEFAULT = "x"
  implicit val showCart: Show[Cart] = Show.show(_.toString)
  implicit class Rich(val cart: Cart) extends AnyVal {
    def twice = cart + cart
  }

  def apply(owner: String): Cart = new Cart(owner)

  private[shop] object Internal
}

package object syntax {
  def helper[A](a: A): A = a
}

trait Repository[F[_]] {
  def find(key: String): F[Option[Line]]
  type Row
}
