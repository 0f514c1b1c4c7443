/// Reads what is too long for a message from the shared memory. Another process can change the memory at any moment, so each byte is
/// read once.
struct BulkReader {
  private var rest: Slice<UnsafeRawBufferPointer>

  init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

  mutating func bytes(_ count: Int) throws(MessageError) -> [UInt8] {
    guard count <= rest.count else { throw MessageError("it is cut off") }
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  mutating func skip(_ count: Int) throws(MessageError) { _ = try bytes(count) }

  mutating func number() throws(MessageError) -> Int {
    try bytes(4).reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  mutating func number(upTo maximum: Int) throws(MessageError) -> Int {
    let number = try number()
    guard number <= maximum else { throw MessageError("\(number) is above \(maximum)") }
    return number
  }

  mutating func time() throws(MessageError) -> Int64 {
    Int64(bitPattern: try bytes(8).reversed().reduce(0) { $0 << 8 | UInt64($1) })
  }

  /// Reads a text. Other characters than those of printable ASCII become question marks.
  mutating func text() throws(MessageError) -> String {
    let bytes = try bytes(try number(upTo: MediaLimits.reasonBytes))
    return String(decoding: bytes.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
  }

  /// Reads a text in UTF-8, without what ends it and without other control characters.
  mutating func unicode() throws(MessageError) -> String {
    let text = String(decoding: try bytes(try number(upTo: MediaLimits.titleBytes)), as: UTF8.self)
    return String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }))
  }
}

extension MessageWriter {
  /// Writes a text in UTF-8, as much of it as there is room for, in whole characters.
  mutating func unicode(_ text: String) {
    var text = text
    while text.utf8.count > MediaLimits.titleBytes { text = String(text.unicodeScalars.dropLast()) }
    let bytes = Array(text.utf8)
    number(bytes.count)
    for byte in bytes { self.byte(byte) }
  }
}
