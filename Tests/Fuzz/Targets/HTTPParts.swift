import NIOCore
import NIOHTTP1

/// Divides an HTTP message at the first empty line.
func httpParts(_ message: ArraySlice<UInt8>) -> (head: String, body: ByteBuffer) {
  let end = message.indices.first { message[$0...].starts(with: "\r\n\r\n".utf8) }
  let head = String(decoding: message[..<(end ?? message.endIndex)], as: UTF8.self)
  return (head, end.map { ByteBuffer(bytes: message[($0 + 4)...]) } ?? ByteBuffer())
}

/// Reads header fields, `Name: value`. Those that no HTTP parser lets pass are left out: with control characters, or
/// with a name that is not ASCII.
func httpHeaders(_ lines: some Sequence<Substring>) -> HTTPHeaders {
  var headers = HTTPHeaders()
  for line in lines where line.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) {
    let sides = line.split(separator: ": ", maxSplits: 1)
    guard sides.count == 2, sides[0].utf8.allSatisfy({ $0 < 0x80 }) else { continue }
    headers.add(name: String(sides[0]), value: String(sides[1]))
  }
  return headers
}
