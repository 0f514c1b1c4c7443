/// The statuses of consecutive packets in 16 bits.
extension TransportFeedback {
  /// A run of one status, or a vector of several (draft-holmer-rmcat-transport-wide-cc-extensions-01, 3.1.3 and 3.1.4).
  package enum StatusChunk: Sendable, Hashable {
    /// Up to 8,191 packets of the same status.
    case run(Status, count: UInt16)
    /// 14 packets, one bit each, the first in bit 13: received after a small delta, or not received.
    case oneBitVector(UInt16)
    /// 7 packets, two bits each, the first in bits 13 and 12.
    case twoBitVector(UInt16)

    static let oneBitCapacity = 14
    static let twoBitCapacity = 7
    static let runCapacity = 8_191

    /// Reads the chunk as it is sent; every word is a chunk.
    package init(word: UInt16) {
      switch word >> 14 {
      case 0b10: self = .oneBitVector(word & 0x3FFF)
      case 0b11: self = .twoBitVector(word & 0x3FFF)
      default: self = .run(Status(bits: word >> 13), count: word & 0x1FFF)
      }
    }

    /// The chunk as it is sent.
    package var word: UInt16 {
      switch self {
      case .run(let status, let count): UInt16(status.rawValue) << 13 | count & 0x1FFF
      case .oneBitVector(let bits): 0x8000 | bits & 0x3FFF
      case .twoBitVector(let bits): 0xC000 | bits & 0x3FFF
      }
    }

    /// The number of packets that the chunk describes. The last chunk may describe more than the feedback reports on.
    var count: Int {
      switch self {
      case .run(_, let count): Int(count & 0x1FFF)
      case .oneBitVector: Self.oneBitCapacity
      case .twoBitVector: Self.twoBitCapacity
      }
    }

    /// Returns the status of the packet at an index.
    ///
    /// - Parameter index: below `count`.
    package func status(at index: Int) -> Status {
      switch self {
      case .run(let status, _): status
      case .oneBitVector(let bits): Status(bits: bits >> (13 - index) & 1)
      case .twoBitVector(let bits): Status(bits: bits >> (12 - 2 * index))
      }
    }
  }

  /// The status of a packet (3.1.1).
  package enum Status: UInt8, Sendable, Hashable {
    case notReceived = 0
    /// Received, and its delta has one byte: 0 to 63.75 ms.
    case smallDelta = 1
    /// Received, and its delta has two bytes and a sign: it is longer, or negative.
    case largeDelta = 2
    case reserved = 3

    /// Reads the low two bits.
    init(bits: UInt16) {
      self = Status(rawValue: UInt8(bits & 3)) ?? .reserved
    }

    init(delta: Int16) {
      self = (0...255).contains(delta) ? .smallDelta : .largeDelta
    }
  }
}
