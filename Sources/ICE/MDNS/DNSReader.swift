import NIOCore

/// Reads the names and fixed fields of a DNS message (RFC 1035, 4.1).
struct DNSReader {
  private let buffer: ByteBuffer
  /// The position of the next byte, counted from the start of the message.
  private(set) var offset: Int

  private static let headerLength = 12
  private static let maximumLabels = 128
  /// More than any expected name has.
  private static let maximumPointers = 128
  /// With the length bytes and the root label (RFC 1035, 2.3.4).
  private static let maximumNameLength = 255

  init(_ buffer: ByteBuffer, offset: Int) {
    self.buffer = buffer.slice()
    self.offset = offset
  }

  private var left: Int { buffer.readableBytes - offset }

  /// Returns the bytes at offsets that have been skipped.
  func bytes(_ range: Range<Int>) -> ByteBufferView {
    buffer.viewBytes(at: range.lowerBound, length: range.count) ?? ByteBufferView()
  }

  mutating func skip(_ count: Int) throws(MDNSMessage.ParseError) {
    guard count <= left else { throw .recordTooLong(needed: count, left: left) }
    offset += count
  }

  /// Reads type and class of a question.
  mutating func questionFields() throws(MDNSMessage.ParseError) -> (UInt16, UInt16) {
    guard let fields = buffer.getMultipleIntegers(at: offset, as: (UInt16, UInt16).self) else {
      throw .recordTooLong(needed: 4, left: left)
    }
    offset += 4
    return fields
  }

  /// Reads type, class, time to live and data length of a record.
  mutating func recordFields() throws(MDNSMessage.ParseError) -> (UInt16, UInt16, UInt32, UInt16) {
    guard let fields = buffer.getMultipleIntegers(at: offset, as: (UInt16, UInt16, UInt32, UInt16).self) else {
      throw .recordTooLong(needed: 10, left: left)
    }
    offset += 10
    return fields
  }

  /// Skips a name; a compression pointer ends it and is not followed.
  mutating func skipName() throws(MDNSMessage.ParseError) {
    let start = offset
    for _ in 0...Self.maximumLabels {
      guard let first = buffer.getInteger(at: offset, as: UInt8.self) else { throw .badName(offset: start) }
      switch first {
      case 0:
        offset += 1
        return
      case 1...63 where 1 + Int(first) <= left: offset += 1 + Int(first)
      case 0xC0... where 2 <= left:
        offset += 2
        return
      default: throw .badName(offset: start)
      }
    }
    throw .badName(offset: start)
  }

  /// Returns the name at an offset as `MDNSMessage.AddressRecord.name` describes it; nil for one that is not ASCII: names of
  /// hosts are, and such text takes long to compare.
  ///
  /// A compression pointer must point to before the part of the name that it ends, so there are no loops (RFC 1035,
  /// 4.1.4: a pointer to a prior occurrence). At most 128 labels and 128 pointers are read.
  func name(at start: Int) throws(MDNSMessage.ParseError) -> String? {
    var text: [UInt8] = []
    var partStart = start
    var position = start
    var labels = 0
    var pointers = 0
    var wireLength = 1
    while let first = buffer.getInteger(at: position, as: UInt8.self), first > 0 {
      switch first {
      case 1...63:
        guard let label = buffer.viewBytes(at: position + 1, length: Int(first)) else { throw .badName(offset: start) }
        labels += 1
        wireLength += 1 + label.count
        guard labels <= Self.maximumLabels, wireLength <= Self.maximumNameLength else { throw .badName(offset: start) }
        if !text.isEmpty { text.append(UInt8(ascii: ".")) }
        Self.append(label, to: &text)
        position += 1 + label.count
      case 0xC0...:
        guard let pointer = buffer.getInteger(at: position, as: UInt16.self) else { throw .badName(offset: start) }
        let target = Int(pointer & 0x3FFF)
        pointers += 1
        guard target >= Self.headerLength, target < partStart, pointers <= Self.maximumPointers else {
          throw .badName(offset: start)
        }
        partStart = target
        position = target
      default: throw .badName(offset: start)
      }
    }
    guard position < buffer.readableBytes else { throw .badName(offset: start) }
    return text.allSatisfy { $0 < 0x80 } ? String(decoding: text, as: UTF8.self) : nil
  }

  private static func append(_ label: ByteBufferView, to text: inout [UInt8]) {
    for byte in label {
      switch byte {
      case UInt8(ascii: "."), UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): text.append(byte | 0x20)
      default: text.append(byte)
      }
    }
  }
}
