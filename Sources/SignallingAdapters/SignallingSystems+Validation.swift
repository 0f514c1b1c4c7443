internal import FoundationEssentials
internal import Media

extension SignallingSystems {
  /// Finds what is wrong with the address of a server before it is connected to: the scheme of a system, a host, and what follows.
  ///
  /// - Parameters:
  ///   - room: The room that was named beside the address, which may name one as well.
  ///   - example: An address for sentences.
  /// - Returns: A sentence; nil if nothing is wrong.
  package func problem(withServer text: String, room: String? = nil, example: String) -> String? {
    if let room, let named = address(of: text).room, named != room {
      return
        "--server names the room \(DisplayText.plain(named, longest: 128)), but --room is \(room); one of them suffices."
    }
    if let system = adapter(of: text), !system.addressIsURL { return nil }
    if let scheme = mediaServerScheme(of: text) {
      return "\"\(text)\" looks like the address of a media server; its address begins with \(scheme)://."
    }
    guard let parts = URLComponents(string: address(of: text).address.description),
      let scheme = parts.scheme?.lowercased()
    else { return "\"\(text)\" is not a server address; one looks like \(example)." }
    guard let system = adapter(of: text) else {
      let schemes = all.flatMap(\.addressPrefixes)
      return
        "The URL of a server must start with \(schemes.dropLast().joined(separator: ", ")) or \(schemes.last ?? ""), not \(scheme)://."
    }
    guard system.addressNamesHost else { return nil }
    guard let host = parts.host, !host.isEmpty else {
      return "\"\(text)\" names no host; an address looks like \(example)."
    }
    if let port = parts.port, !(1...65_535).contains(port) { return "A port is 1 to 65535, not \(port)." }
    return nil
  }

  /// The scheme that was forgotten in the URL of a media server, whose path has the name of its protocol: `whip+https`; nil for other
  /// texts.
  private func mediaServerScheme(of text: String) -> String? {
    guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
      scheme == "http" || scheme == "https"
    else { return nil }
    let path = parts.path.lowercased().split(separator: "/")
    let schemes = all.flatMap(\.schemes)
    return path.lazy.map { "\($0)+\(scheme)" }.first(where: schemes.contains)
  }
}
