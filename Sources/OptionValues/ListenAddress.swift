/// An address and port to listen on, as in `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`.
package struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
  package var host: String
  /// 0: any free port.
  package var port: UInt16

  package init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  package init(_ text: String) throws(ParseError) {
    guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else { throw ParseError() }
    var host = text[..<colon]
    let digits = text[text.utf8.index(after: colon)...]
    guard !digits.isEmpty, digits.utf8.count <= 5, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let port = UInt16(digits)
    else { throw ParseError() }
    if host.utf8.first == UInt8(ascii: "["), host.utf8.last == UInt8(ascii: "]") {
      host = host.dropFirst().dropLast()
      guard host.utf8.allSatisfy({ Self.isHexadecimal($0) || ":.".utf8.contains($0) }) else { throw ParseError() }
    } else {
      guard host.utf8.allSatisfy({ Self.isLetterOrDigit($0) || ".-".utf8.contains($0) }) else { throw ParseError() }
    }
    guard !host.isEmpty, host.utf8.count <= 253 else { throw ParseError() }
    self.init(host: String(host), port: port)
  }

  package var description: String {
    host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  /// Whether only programs on this machine reach it.
  package var isLoopback: Bool {
    let bytes = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
    return host == "localhost" || host == "::1" || (bytes.count == 4 && !bytes.contains(nil) && bytes[0] == 127)
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte & 0xDF)
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
  }

  package struct ParseError: Error, CustomStringConvertible {
    package var description: String {
      "An address to listen on is a host and a port, like 127.0.0.1:8080 or [::1]:8080."
    }
  }
}
