@file:JvmName("Shop")

package com.example.shop

import kotlin.math.max
import java.util.*
import com.example.store.Store as Backend

/** The most lines there can be. */
const val MAX_LINES = 100
private var counter: Int = 0
val rate by lazy { 1.5 }
val String.words: Int get() = split(" ").size

typealias Handler = (Event) -> Unit

// Where lines are kept.
interface Repository<T> : Closeable, Iterable<T> {
    val size: Int
    fun find(key: String): T?
    fun close() {}
}

/**
 * What a customer wants.
 */
@Serializable
@Table("carts")
open class Cart<T : Line>(
    private val owner: String,
    limit: Int = MAX_LINES,
) : Base<T>(owner), Repository<T> by backend, Comparable<Cart<T>> {

    private val lines = mutableListOf<T>()
    @Volatile
    var total: Int = 0
        private set

    init {
        register(this)
    }

    // From a list.
    constructor(lines: List<T>) : this("x") {
        this.lines.addAll(lines)
    }

    /** Adds a line. */
    @Throws(Full::class)
    override suspend fun add(line: T): Boolean {
        val local = max(1, 2)
        fun inner(x: Int) = x + local
        lines.forEach { l -> inner(l.size) }
        return lines.add(line)
    }

    operator fun plus(other: Cart<T>) = this

    abstract fun <R> visit(visitor: Visitor<R>): R

    companion object {
        const val DEFAULT = "x"

        fun create(): Cart<Line> = Cart("y")
    }

    companion object Factory : Maker

    inner class Cursor {
        var position = 0
    }
}

data class Line(val name: String, var size: Int = 1)

sealed interface Event
fun interface Listener {
    fun changed(event: Event)
}

annotation class Table(val name: String)

enum class Status(val code: Int) : Coded {
    /** In use. */
    OPEN(1),
    CLOSED(0) {
        override fun label() = "closed"
    };

    open fun label() = name
}

object Registry : Service() {
    val entries = HashMap<String, Cart<*>>()

    fun register(cart: Cart<*>) {
        entries["x"] = cart
    }
}

@JvmInline
value class Money(val cents: Long)

/** Extends text. */
fun String.shout(): String = uppercase() + "!"
fun <T> Cart<T>.merge(other: Cart<T>) {
    val listener = object : Listener {
        override fun changed(event: Event) {}
    }
}

fun main(args: Array<String>) {
    println(args.first().shout())
}
