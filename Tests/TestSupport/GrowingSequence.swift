import Synchronization

/// A sequence that is generated once, as far as it is needed: media of a kind is the same in every test that uses it, and
/// encoding it again for each would take most of a test's time.
public final class GrowingSequence<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var next: (Int) throws -> Element
  }

  private let state: Mutex<State>

  /// - Parameter make: Returns the function that generates the element with a number; it is called in order, from 0.
  public init(_ make: () throws -> sending (Int) throws -> Element) rethrows {
    state = Mutex(State(next: try make()))
  }

  /// The elements with the given numbers.
  public subscript(range: Range<Int>) -> [Element] {
    get throws {
      try state.withLock { state in
        while state.elements.count < range.upperBound { state.elements.append(try state.next(state.elements.count)) }
        return Array(state.elements[range])
      }
    }
  }

  /// Returns the first elements.
  public func prefix(_ count: Int) throws -> [Element] {
    try self[0..<count]
  }
}

/// Growing sequences by a key that identifies their content.
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
