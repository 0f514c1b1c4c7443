internal import Media

/// The deadlines of items: the earliest is at hand, and setting one takes O(log n). A binary heap.
///
/// An item has a slot from ``add(_:)`` to ``remove(_:)``, also while it has no deadline.
struct DeadlineHeap<Item> {
  private struct Node {
    var due: MonotonicInstant
    var slot: Int
  }

  private struct Slot {
    /// Nil in a free slot.
    var item: Item?
    /// The index of the item's node; nil without a deadline.
    var index: Int?
  }

  /// A parent is due before its children, which are at twice its index plus 1 and plus 2, or at the same time.
  private var nodes: [Node] = []
  private var slots: [Slot] = []
  private var freeSlots: [Int] = []

  /// The earliest deadline; nil if no item has one.
  var earliest: MonotonicInstant? { nodes.first?.due }

  /// The number of items, with and without a deadline.
  var count: Int { slots.count - freeSlots.count }

  /// Adds an item without a deadline, and returns its slot.
  mutating func add(_ item: Item) -> Int {
    if let slot = freeSlots.popLast() {
      slots[slot].item = item
      return slot
    }
    slots.append(Slot(item: item, index: nil))
    return slots.count - 1
  }

  /// Removes an item; another one may get its slot.
  mutating func remove(_ slot: Int) {
    set(nil, of: slot)
    slots[slot].item = nil
    freeSlots.append(slot)
  }

  /// Sets an item's deadline; nil for none.
  mutating func set(_ due: MonotonicInstant?, of slot: Int) {
    switch (slots[slot].index, due) {
    case (nil, nil):
      break
    case (nil, let due?):
      nodes.append(Node(due: due, slot: slot))
      moveUp(from: nodes.count - 1)
    case (let index?, nil):
      removeNode(at: index)
    case (let index?, let due?):
      let former = nodes[index].due
      guard due != former else { return }
      nodes[index].due = due
      if due < former { moveUp(from: index) } else { moveDown(from: index) }
    }
  }

  /// Returns the item with the earliest deadline if that has come, and removes the deadline.
  mutating func takeDue(now: MonotonicInstant) -> Item? {
    guard let first = nodes.first, first.due <= now else { return nil }
    removeNode(at: 0)
    return slots[first.slot].item
  }

  private mutating func removeNode(at index: Int) {
    let removed = nodes[index]
    slots[removed.slot].index = nil
    let last = nodes.removeLast()
    if index == nodes.count { return }
    nodes[index] = last
    if last.due < removed.due { moveUp(from: index) } else { moveDown(from: index) }
  }

  private mutating func moveUp(from start: Int) {
    let node = nodes[start]
    var index = start
    while index > 0 {
      let parent = (index - 1) / 2
      guard node.due < nodes[parent].due else { break }
      put(nodes[parent], at: index)
      index = parent
    }
    put(node, at: index)
  }

  private mutating func moveDown(from start: Int) {
    let node = nodes[start]
    var index = start
    while true {
      var child = 2 * index + 1
      guard child < nodes.count else { break }
      if child + 1 < nodes.count, nodes[child + 1].due < nodes[child].due { child += 1 }
      guard nodes[child].due < node.due else { break }
      put(nodes[child], at: index)
      index = child
    }
    put(node, at: index)
  }

  private mutating func put(_ node: Node, at index: Int) {
    nodes[index] = node
    slots[node.slot].index = index
  }
}
