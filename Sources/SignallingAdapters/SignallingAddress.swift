internal import FoundationEssentials

/// The address of a signalling server or of a call: a URL whose scheme names the system, such as `whip+https://host/whip/1`, or a
/// scheme and another text, such as `exec:python3 adapter.py`.
package struct SignallingAddress: Sendable, Hashable, CustomStringConvertible {
  /// The text as the user wrote it. It may contain a secret in its query.
  package let description: String

  /// Any text; whether it is an address of a system shows when a client is made.
  package init(_ text: String) {
    description = text
  }

  /// The scheme in lower case, or nil without a colon.
  package var scheme: String? {
    description.firstIndex(of: ":").map { description[..<$0].lowercased() }
  }

  /// What follows the first colon, where an address is no URL: `python3 adapter.py` of `exec:python3 adapter.py`.
  package var opaque: String {
    description.firstIndex(of: ":").map { String(description[description.index(after: $0)...]) } ?? ""
  }

  /// The URL of the server without the name of the system: `https://…` for `whip+https://…`.
  package var url: String {
    guard let end = description.firstRange(of: "://")?.lowerBound,
      let plus = description[..<end].firstIndex(of: "+")
    else { return description }
    return String(description[description.index(after: plus)...])
  }

  /// The URL without what may be secret: the user and the password, the query and the fragment.
  package var withoutSecrets: String {
    let text = description.prefix { $0 != "?" && $0 != "#" }
    guard let start = text.firstRange(of: "://")?.upperBound else { return String(text) }
    let authority = text[start...].prefix { $0 != "/" }
    guard let at = authority.lastIndex(of: "@") else { return String(text) }
    return String(text[..<start] + text[text.index(after: at)...])
  }

  /// The host in the URL, IPv6 without brackets; nil if there is none.
  package var host: String? {
    guard let host = URLComponents(string: description)?.host else { return nil }
    return host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
  }
}
