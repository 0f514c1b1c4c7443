package import NIOCore

/// A queue in front of work that may be slower than media arrives: first in, first out, with a count of its bytes, and
/// a ``FrameDropper`` at its entrance, so that the producer never waits.
///
/// The owner decides how much room there is, and protects the queue with a lock. Removing an element takes the same
/// time however many are queued.
package struct BoundedFrameQueue<Element: Sendable>: Sendable {
  private var elements = CircularBuffer<(element: Element, bytes: Int)>()
  /// The bytes of all queued elements.
  package private(set) var bytes = 0
  package var dropper = FrameDropper()

  package init() {}

  package var isEmpty: Bool { elements.isEmpty }
  package var count: Int { elements.count }
  package var first: Element? { elements.first?.element }
  package var last: Element? { elements.last?.element }

  /// Appends an element.
  ///
  /// - Parameter bytes: the memory that it uses.
  package mutating func append(_ element: Element, bytes: Int) {
    elements.append((element, bytes))
    self.bytes += bytes
  }

  /// Removes the first element.
  package mutating func popFirst() -> (element: Element, bytes: Int)? {
    guard let first = elements.popFirst() else { return nil }
    bytes -= first.bytes
    return first
  }

  /// Removes all elements, in order.
  package mutating func takeAll() -> CircularBuffer<(element: Element, bytes: Int)> {
    var taken = CircularBuffer<(element: Element, bytes: Int)>()
    swap(&elements, &taken)
    bytes = 0
    return taken
  }

  /// Returns the buffer of ``takeAll()`` after use, so that its memory is reused. A buffer larger than usually needed
  /// is freed.
  package mutating func reuse(_ taken: consuming CircularBuffer<(element: Element, bytes: Int)>) {
    guard elements.isEmpty, elements.capacity < taken.capacity, taken.capacity <= Self.reusedCapacity else { return }
    taken.removeAll(keepingCapacity: true)
    elements = taken
  }

  private static var reusedCapacity: Int { 1_024 }
}
