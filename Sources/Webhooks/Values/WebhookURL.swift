/// The address of a receiver: an absolute URL with the scheme `https`, or `http` where private receivers are allowed.
///
/// It has only characters of RFC 3986 and a plain host, so that every reader of it finds the same host.
package struct WebhookURL: Sendable, Hashable {
  /// As it was given.
  package let text: String
  package let isSecure: Bool
  /// A name in small letters, or an IP address without brackets.
  package let host: String
  package let port: Int
  /// The same with the scheme and the host in small letters: what is asked for, so that its host is ``host``.
  package let target: String

  package static let maximumBytes = 2_048

  /// Why an address is refused: a sentence.
  package struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
    package var description: String
  }

  /// - Parameter allowsPrivate: also `http`, and receivers on this machine and in private networks.
  package init(_ text: String, allowsPrivate: Bool) throws(Problem) {
    guard text.utf8.count <= Self.maximumBytes, text.utf8.allSatisfy(Self.isAllowed) else {
      throw Problem(description: "The URL of a receiver has at most \(Self.maximumBytes) characters of RFC 3986.")
    }
    let schemes = allowsPrivate ? ["https://", "http://"] : ["https://"]
    let bytes = Array(text.utf8)
    guard let scheme = schemes.first(where: { Self.lower(bytes.prefix($0.utf8.count)) == Array($0.utf8) }) else {
      throw Problem(description: "The URL of a receiver begins with \(schemes.joined(separator: " or ")).")
    }
    isSecure = scheme == "https://"
    let rest = bytes.dropFirst(scheme.utf8.count)
    guard !rest.contains(UInt8(ascii: "#")) else {
      throw Problem(description: "The URL of a receiver has no fragment.")
    }
    let authority = rest.prefix { !"/?".utf8.contains($0) }
    guard !authority.contains(UInt8(ascii: "@")) else {
      throw Problem(description: "The URL of a receiver has no credentials.")
    }
    guard let (host, port) = Self.split(Array(authority)) else {
      throw Problem(description: "The URL of a receiver needs a host, like https://hooks.example/jobs.")
    }
    self.host = host
    self.port = port ?? (isSecure ? 443 : 80)
    self.text = text
    target = scheme + String(decoding: Self.lower(authority) + rest.dropFirst(authority.count), as: UTF8.self)
    guard allowsPrivate || !isPrivate else {
      throw Problem(description: "The receiver is on this machine or in a private network.")
    }
  }

  /// The scheme, the host and the port: receivers with the same origin are one program.
  package var origin: String {
    "\(isSecure ? "https" : "http")://\(host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host):\(port)"
  }

  /// Whether the host is an address that is not public, or a name that stands for one by convention. Other names are known only when
  /// they are resolved.
  private var isPrivate: Bool {
    if let address = IPAddress(host) { return !address.isPublic }
    let labels = host.utf8.split(separator: UInt8(ascii: ".")).map { String(decoding: $0, as: UTF8.self) }
    let last = labels.last ?? ""
    return labels.count < 2 || ["localhost", "local", "internal", "home", "lan", "intranet", "corp"].contains(last)
      || host.utf8.reversed().starts(with: "home.arpa".utf8.reversed())
  }

  private static func split(_ authority: [UInt8]) -> (host: String, port: Int?)? {
    let hostBytes: [UInt8]
    let portBytes: ArraySlice<UInt8>
    if authority.first == UInt8(ascii: "[") {
      guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
      hostBytes = lower(authority[1..<end])
      portBytes = authority[(end + 1)...]
      guard let address = IPAddress(String(decoding: hostBytes, as: UTF8.self)), address.bytes.count == 16 else {
        return nil
      }
    } else {
      hostBytes = lower(authority.prefix { $0 != UInt8(ascii: ":") })
      portBytes = authority.dropFirst(hostBytes.count)
      let isName = hostBytes.allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || "-._".utf8.contains($0)
      }
      guard isName, (1...253).contains(hostBytes.count), hostBytes.first != UInt8(ascii: "."),
        hostBytes.last != UInt8(ascii: ".")
      else { return nil }
    }
    let host = String(decoding: hostBytes, as: UTF8.self)
    if portBytes.isEmpty { return (host, nil) }
    let digits = portBytes.dropFirst()
    guard portBytes.first == UInt8(ascii: ":"), (1...5).contains(digits.count),
      digits.allSatisfy({ (0x30...0x39).contains($0) }),
      let port = UInt16(String(decoding: digits, as: UTF8.self)), port > 0
    else { return nil }
    return (host, Int(port))
  }

  private static func lower(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "-._~:/?#[]@!$&'()*+,;=%".utf8.contains(byte)
    }
  }
}
