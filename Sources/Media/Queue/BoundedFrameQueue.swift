package import NIOCore

/// A queue in front of work that may take longer than media takes to arrive: first in, first out, with its bytes counted, and a
/// ``FrameDropper`` at its entrance, so that anyone who brings a frame never waits.
///
/// The owner decides how much room there is, and protects the queue with a lock. To take an element costs the same however many
/// wait.
package struct BoundedFrameQueue<Element: Sendable>: Sendable {
  private var elements = CircularBuffer<(element: Element, bytes: Int)>()
  /// Bytes of all elements that wait.
  package private(set) var bytes = 0
  package var dropper = FrameDropper()

  package init() {}

  package var isEmpty: Bool { elements.isEmpty }
  package var count: Int { elements.count }
  package var first: Element? { elements.first?.element }
  package var last: Element? { elements.last?.element }

  /// Adds an element at the end.
  ///
  /// - Parameter bytes: the memory that it takes.
  package mutating func append(_ element: Element, bytes: Int) {
    elements.append((element, bytes))
    self.bytes += bytes
  }

  /// Takes the first element.
  package mutating func popFirst() -> (element: Element, bytes: Int)? {
    guard let first = elements.popFirst() else { return nil }
    bytes -= first.bytes
    return first
  }

  /// Takes all elements, in order.
  package mutating func takeAll() -> CircularBuffer<(element: Element, bytes: Int)> {
    var taken = CircularBuffer<(element: Element, bytes: Int)>()
    swap(&elements, &taken)
    bytes = 0
    return taken
  }

  /// Gives back what ``takeAll()`` gave when it is done with, so that its memory is used again; more than is needed as a rule
  /// is not kept.
  package mutating func reuse(_ taken: consuming CircularBuffer<(element: Element, bytes: Int)>) {
    guard elements.isEmpty, elements.capacity < taken.capacity, taken.capacity <= Self.reusedCapacity else { return }
    taken.removeAll(keepingCapacity: true)
    elements = taken
  }

  private static var reusedCapacity: Int { 1_024 }
}
