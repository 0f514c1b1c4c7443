/// Reorders one source's packets: a ring over unwrapped sequence numbers.
///
/// The buffer does not decide about gaps: its user decides whether to wait for the packet that is due or to skip it. Its
/// memory is bounded by its capacity, and grows only as far as packets really run ahead.
package struct ReorderBuffer<Element: Sendable>: Sendable {
  /// The result of inserting a packet.
  package enum Insertion: Sendable, Hashable {
    case stored
    /// A packet with the same sequence number is buffered already.
    case duplicate
    /// The sequence number was emitted or skipped before.
    case late
    /// So far ahead that the buffer would have to give up packets that are due; see ``makeRoom(for:)``.
    case beyond
  }

  /// The sequence number that is due next.
  package private(set) var next: Int64
  /// The highest sequence number seen, or `next - 1` when no packet is buffered.
  package private(set) var highest: Int64
  /// The number of buffered packets.
  package private(set) var count = 0
  /// The number of sequence numbers that the buffer can span.
  package let capacity: Int

  /// The packet that is due. Stored separately, because nearly all packets arrive in order and are removed at once: in the
  /// ring, each would use memory that is no longer in the processor's cache.
  private var front: Element?
  /// The packets buffered after it. Its size is a power of two.
  private var ring: [Element?]

  /// - Parameters:
  ///   - first: the sequence number that is due first.
  ///   - capacity: how many sequence numbers may be buffered; rounded up to a power of two, at least 32.
  package init(first: Int64, capacity: Int) {
    var size = 32
    while size < capacity { size *= 2 }
    self.capacity = size
    next = first
    highest = first &- 1
    ring = Array(repeating: nil, count: 32)
  }

  package var isEmpty: Bool { count == 0 }

  package mutating func insert(_ element: Element, at sequence: Int64) -> Insertion {
    guard sequence >= next else { return .late }
    guard sequence &- next < Int64(capacity) else { return .beyond }
    if sequence == next {
      guard front == nil else { return .duplicate }
      front = element
    } else {
      while sequence &- next >= Int64(ring.count) { grow() }
      let slot = slot(sequence)
      guard ring[slot] == nil else { return .duplicate }
      ring[slot] = element
    }
    count += 1
    highest = max(highest, sequence)
    return .stored
  }

  /// Removes and returns the packet that is due, or nil if it has not arrived.
  package mutating func popNext() -> Element? {
    guard let element = front.take() else { return nil }
    count -= 1
    advance(to: next &+ 1)
    return element
  }

  /// The sequence number of the first buffered packet; nil if there is none.
  package var firstWaiting: Int64? {
    guard count > 0 else { return nil }
    if front != nil { return next }
    return (next...highest).first { ring[slot($0)] != nil }
  }

  /// Skips the gap in front: packets before `sequence` are no longer expected. A buffered packet is not skipped.
  ///
  /// - Returns: How many sequence numbers were skipped.
  @discardableResult
  package mutating func skip(to sequence: Int64) -> Int {
    let end = min(sequence, firstWaiting ?? sequence)
    guard end > next else { return 0 }
    let skipped = Int(end &- next)
    advance(to: end)
    return skipped
  }

  /// Makes an earlier sequence number the one that is due. Only valid before a packet has been emitted.
  ///
  /// - Returns: False if the buffer cannot span that far.
  package mutating func moveBack(to sequence: Int64) -> Bool {
    guard sequence < next else { return true }
    guard highest &- sequence < Int64(capacity) else { return false }
    while highest &- sequence >= Int64(ring.count) { grow() }
    ring[slot(next)] = front.take()
    next = sequence
    return true
  }

  /// Returns the lowest sequence number that must be due for `sequence` to fit.
  package func makeRoom(for sequence: Int64) -> Int64 { sequence &- Int64(capacity) &+ 1 }

  private mutating func advance(to sequence: Int64) {
    next = sequence
    highest = max(highest, next &- 1)
    if count > 0 { front = ring[slot(next)].take() }
  }

  private func slot(_ sequence: Int64) -> Int { Int(truncatingIfNeeded: sequence) & (ring.count - 1) }

  private mutating func grow() {
    var larger = [Element?](repeating: nil, count: ring.count * 2)
    let mask = larger.count - 1
    if count > 0 {
      for sequence in next...highest {
        larger[Int(truncatingIfNeeded: sequence) & mask] = ring[slot(sequence)]
      }
    }
    ring = larger
  }
}
