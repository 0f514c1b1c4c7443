import Glibc

/// The addresses that a host's name leads to.
enum HostAddresses {
  /// Asks the system's resolver, which may take some seconds where no name server answers.
  ///
  /// - Parameter host: a name or an address.
  /// - Returns: numeric addresses; none if the name is not known.
  static func of(_ host: String) -> [String] {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var first: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &first) == 0 else { return [] }
    defer { freeaddrinfo(first) }
    var found: [String] = []
    var next = first
    while let entry = next?.pointee {
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let result = getnameinfo(
        entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
      if result == 0 {
        found.append(
          text.withUnsafeBufferPointer {
            String(decoding: $0.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
          })
      }
      next = entry.ai_next
    }
    return found
  }
}
