internal import Media

/// The server of a store.
package struct S3Endpoint: Sendable, Hashable, CustomStringConvertible {
  package var isEncrypted: Bool
  /// A name or an address in small letters; an address of IPv6 in brackets.
  package var host: String
  /// Nil: that of the scheme.
  package var port: Int?

  package init(isEncrypted: Bool = true, host: String, port: Int? = nil) {
    self.isEncrypted = isEncrypted
    self.host = host
    self.port = port == (isEncrypted ? 443 : 80) ? nil : port
  }

  /// - Parameter url: such as `https://s3.example` or `http://127.0.0.1:9000`, with nothing behind but a slash; nil for another one.
  package init?(_ url: String) {
    let text = url.lowercased()
    let isEncrypted = text.utf8.starts(with: "https://".utf8)
    guard text.utf8.count <= 300, isEncrypted || text.utf8.starts(with: "http://".utf8) else { return nil }
    var rest = Substring(text).dropFirst(isEncrypted ? 8 : 7)
    if rest.utf8.last == UInt8(ascii: "/") { rest.removeLast() }
    var host = rest
    var port: Int?
    let end = rest.utf8.lastIndex(of: UInt8(ascii: "]")) ?? rest.utf8.startIndex
    if let colon = rest.utf8[end...].lastIndex(of: UInt8(ascii: ":")) {
      let digits = rest[rest.utf8.index(after: colon)...]
      guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let number = Int(digits), (1...65_535).contains(number)
      else { return nil }
      port = number
      host = rest[..<colon]
    }
    let isAddress =
      host.utf8.first == UInt8(ascii: "[") && host.utf8.last == UInt8(ascii: "]") && host.utf8.count > 3
      && host.utf8.dropFirst().dropLast().allSatisfy(Self.isAddressByte)
    guard !host.isEmpty, isAddress || host.utf8.allSatisfy(Self.isNameByte), host.utf8.first != UInt8(ascii: ".")
    else { return nil }
    self.init(isEncrypted: isEncrypted, host: String(host), port: port)
  }

  private static func isAddressByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x3A, 0x61...0x66, UInt8(ascii: "."): true
    default: false
    }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
    default: false
    }
  }

  /// The value of the header `Host`.
  package var authority: String { host + (port.map { ":\($0)" } ?? "") }

  /// Whether the host is an address, before which no name of a bucket can stand.
  var isAddress: Bool {
    host.utf8.first == UInt8(ascii: "[")
      || host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
  }

  package var description: String { "\(isEncrypted ? "https" : "http")://\(authority)" }
}
