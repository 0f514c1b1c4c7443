/// Numbers every packet that leaves, over all sources of the transport
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01, 2).
package struct TransportSequence: Sendable {
  private var next: UInt16

  package init(first: UInt16 = 1) {
    next = first
  }

  package mutating func take() -> UInt16 {
    defer { next &+= 1 }
    return next
  }
}
