/// Reads the numbers of a message, all little-endian.
struct MessageCursor {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) throws(MessageError) {
    guard bytes.count <= MediaLimits.messageBytes else { throw MessageError("it is too long") }
    rest = bytes[...]
  }

  mutating func byte() throws(MessageError) -> UInt8 {
    guard let byte = rest.popFirst() else { throw MessageError("it is cut off") }
    return byte
  }

  mutating func number() throws(MessageError) -> UInt32 {
    var number: UInt32 = 0
    for shift in stride(from: UInt32(0), to: 32, by: 8) { number |= UInt32(try byte()) << shift }
    return number
  }

  mutating func signed() throws(MessageError) -> Int32 { Int32(bitPattern: try number()) }

  mutating func time() throws(MessageError) -> Int64 {
    let low = UInt64(try number())
    return Int64(bitPattern: UInt64(try number()) << 32 | low)
  }

  /// Reads a number of at most `maximum`.
  mutating func number(upTo maximum: Int) throws(MessageError) -> Int {
    let number = Int(try number())
    guard number <= maximum else { throw MessageError("\(number) is above \(maximum)") }
    return number
  }

  mutating func flag() throws(MessageError) -> Bool {
    switch try byte() {
    case 0: false
    case 1: true
    default: throw MessageError("a flag is neither 0 nor 1")
    }
  }

  /// Reads the rest as a text. Other characters than those of printable ASCII become question marks.
  mutating func text() -> String {
    let characters = rest.prefix(MediaLimits.reasonBytes).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }
    rest = []
    return String(decoding: characters, as: UTF8.self)
  }

  func end() throws(MessageError) {
    guard rest.isEmpty else { throw MessageError("it is too long") }
  }
}

/// Writes what ``MessageCursor`` reads.
struct MessageWriter {
  private(set) var bytes: [UInt8] = []

  mutating func byte(_ byte: UInt8) { bytes.append(byte) }

  mutating func number(_ number: UInt32) {
    for shift in stride(from: UInt32(0), to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
  }

  mutating func number(_ number: Int) { self.number(UInt32(clamping: number)) }

  mutating func signed(_ number: Int32) { self.number(UInt32(bitPattern: number)) }

  mutating func time(_ time: Int64) {
    let bits = UInt64(bitPattern: time)
    number(UInt32(truncatingIfNeeded: bits))
    number(UInt32(truncatingIfNeeded: bits >> 32))
  }

  mutating func flag(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

  mutating func text(_ text: String) { bytes.append(contentsOf: text.utf8.prefix(MediaLimits.reasonBytes)) }
}
