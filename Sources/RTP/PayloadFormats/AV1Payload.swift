package import Bitstream
package import NIOCore

/// An RTP payload of AV1: OBUs, or parts of them, after an aggregation header (AV1 RTP specification 1.0, 4.4).
package struct AV1Payload: Sendable, Hashable {
  /// An OBU, or a part of one. Its header usually tells no size: it takes the whole element, or all elements of its parts.
  package struct Element: Sendable, Hashable {
    /// Whether it continues the last element of the packet before.
    package var continues: Bool
    /// Whether it continues in the next packet.
    package var isContinued: Bool
    package var bytes: ByteBuffer

    package init(continues: Bool, isContinued: Bool, bytes: ByteBuffer) {
      self.continues = continues
      self.isContinued = isContinued
      self.bytes = bytes
    }
  }

  /// The maximum number of elements that are read: to read each takes a part of the time to receive a packet.
  package static let maximumElements = 128

  /// Z: whether the first element continues that before.
  package let continues: Bool
  /// Y: whether the last element continues in the next packet.
  package let isContinued: Bool
  /// N: whether the packet is the first one of a coded video sequence.
  package let startsSequence: Bool
  /// W: the number of elements, 1 to 3, of which the last one has no length; 0 if all have one.
  private let count: UInt8
  private var rest: ByteBuffer
  private var index = 0

  /// Parses the aggregation header; ``nextElement()`` parses what follows.
  package init(parsing payload: ByteBuffer) throws(ParseError) {
    var rest = payload
    guard let header = rest.readInteger(as: UInt8.self), rest.readableBytes > 0 else {
      throw .tooShort("An AV1 payload", needs: 2, found: payload.readableBytes)
    }
    continues = header & 0x80 != 0
    isContinued = header & 0x40 != 0
    count = header >> 4 & 0x03
    startsSequence = header & 0x08 != 0
    self.rest = rest
    guard !startsSequence || !continues else {
      throw .wrongValue("The Z bit of an AV1 payload with the N bit", expected: "0", found: 1)
    }
  }

  /// Removes and returns the next element; nil after the last one.
  package mutating func nextElement() throws(ParseError) -> Element? {
    guard rest.readableBytes > 0 else {
      guard index >= Int(count) else {
        throw .wrongValue("An AV1 payload's number of elements", expected: "\(count)", found: index)
      }
      return nil
    }
    index += 1
    guard index <= (count == 0 ? Self.maximumElements : Int(count)) else {
      throw .wrongValue(
        "An AV1 payload's number of elements", expected: "at most \(Self.maximumElements)", found: index)
    }
    let isLast = index == Int(count)
    let length = isLast ? rest.readableBytes : try LEB128.read("The length of an OBU element", from: &rest)
    guard let bytes = rest.readSlice(length: length) else {
      throw .tooShort("An OBU element", needs: length, found: rest.readableBytes)
    }
    return Element(
      continues: continues && index == 1, isContinued: isContinued && rest.readableBytes == 0, bytes: bytes)
  }
}
