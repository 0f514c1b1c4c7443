import Synchronization

/// A sequence that is made once and as far as it is requested: media of a kind is the same in every test that wants it, and
/// encoding it again for each takes most of a test's time.
public final class GrowingSequence<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var next: (Int) throws -> Element
  }

  private let state: Mutex<State>

  /// - Parameter make: returns the function that makes the element with a number; it is called in order, from 0.
  public init(_ make: () throws -> sending (Int) throws -> Element) rethrows {
    state = Mutex(State(next: try make()))
  }

  /// The elements with these numbers.
  public subscript(range: Range<Int>) -> [Element] {
    get throws {
      try state.withLock { state in
        while state.elements.count < range.upperBound { state.elements.append(try state.next(state.elements.count)) }
        return Array(state.elements[range])
      }
    }
  }

  /// The first so many elements.
  public func prefix(_ count: Int) throws -> [Element] {
    try self[0..<count]
  }
}

/// Growing sequences by what makes them different.
public final class GrowingSequences<Key: Hashable & Sendable, Element: Sendable>: Sendable {
  private let known = Mutex<[Key: GrowingSequence<Element>]>([:])

  public init() {}

  public subscript(key: Key, make: () throws -> sending (Int) throws -> Element) -> GrowingSequence<Element> {
    get throws {
      try known.withLock { known in
        if let sequence = known[key] { return sequence }
        let sequence = try GrowingSequence(make)
        known[key] = sequence
        return sequence
      }
    }
  }
}
