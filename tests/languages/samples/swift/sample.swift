import Foundation
import struct UIKit.CGRect
@testable import Shop

/// The most lines there can be.
public let MAX_LINES = 100
private var counter = 0, total: Int = 1

typealias Handler = (Event) -> Void

// Where lines are kept.
public protocol Repository: AnyObject, Sequence where Element == Line {
    associatedtype Key: Hashable
    var size: Int { get }
    static func open(path: String) throws -> Self
    func find(_ key: Key) -> Line?
    init(path: String)
    subscript(index: Int) -> Line { get }
}

/**
 What a customer wants.
 */
@available(iOS 13, *)
open class Cart<T: Line>: Base<T>, Repository, Codable {
    private(set) var lines: [T] = []
    static let shared = Cart()
    @Published var note: String?
    lazy var first: T? = {
        return lines.first
    }()

    var count: Int {
        return lines.count
    }

    // Makes an empty one.
    public init(limit: Int = MAX_LINES) {
        super.init()
        let local = max(1, 2)
    }

    convenience init?(json: Data) {
        self.init(limit: 1)
    }

    deinit {
        close()
    }

    /// Adds a line.
    @discardableResult
    override func add(_ line: T, at index: Int) async throws -> Bool {
        func inner(x: Int) -> Int { x + 1 }
        lines.append(line)
        let cell = UITableViewCell(style: .default)
        return inner(x: 2) == 3
    }

    subscript(index: Int) -> T {
        get { lines[index] }
    }

    static func == (lhs: Cart, rhs: Cart) -> Bool {
        lhs.count == rhs.count
    }

    class Cursor {
        var position = 0
    }
}

struct Line: Hashable, Foo.Bar {
    let name: String, size: Int
    enum CodingKeys: String, CodingKey {
        case name
        case size = "length", weight
    }
}

/// What can go wrong.
indirect enum Problem: Error {
    case full
    case missing(key: String)

    var text: String { "x" }
}

extension Cart: CustomStringConvertible where T: Hashable {
    var description: String { "cart" }
    func clear() {}
}

extension Array.Index {
    struct Slot {}
}

actor Counter {
    var value = 0
    func increment() { value += 1 }
}

infix operator +++: AdditionPrecedence

func +++ (a: Int, b: Int) -> Int { a + b }

@MainActor
func start<T>(with cart: Cart<T>) {
    cart.lines.forEach { print($0) }
}

#if DEBUG
func debug() {}
#endif
