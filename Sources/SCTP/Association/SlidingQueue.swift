/// A first-in, first-out queue whose elements are changed in place.
struct SlidingQueue<Element: Sendable>: Sendable {
  private var items: [Element] = []
  private var head = 0

  var isEmpty: Bool { head == items.count }
  var count: Int { items.count - head }
  var first: Element? { isEmpty ? nil : items[head] }
  var indices: Range<Int> { 0..<count }

  /// Accesses an element by its position from the front.
  subscript(position: Int) -> Element {
    get { items[head + position] }
    _modify { yield &items[head + position] }
  }

  mutating func append(_ element: Element) {
    items.append(element)
  }

  /// Removes `number` elements from the front. Their storage is released when half of the array is unused.
  mutating func removeFirst(_ number: Int) {
    head = min(head + number, items.count)
    if head == items.count {
      items.removeAll(keepingCapacity: items.count <= 1_024)
      head = 0
    } else if head >= 32, head * 2 >= items.count {
      items.removeFirst(head)
      head = 0
    }
  }
}
