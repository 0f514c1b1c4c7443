/// `a=ssrc`: something said of one RTP source (RFC 5576, 4.1).
package struct SourceAttribute: Sendable, Hashable {
  package var ssrc: UInt32
  /// For example `cname` or `msid`.
  package var name: String
  package var value: String?

  package init(ssrc: UInt32, name: String, value: String? = nil) {
    self.ssrc = ssrc
    self.name = name
    self.value = value
  }

  /// Reads for example `382514311 cname:U34KB/l9IcTp0+RS`.
  package init?(parsing text: String) {
    guard let (number, rest) = text.cut(at: " "), let ssrc = UInt32(number) else { return nil }
    let trimmed = rest.trimmed
    guard !trimmed.isEmpty else { return nil }
    if let (name, value) = trimmed.cut(at: ":") {
      self.init(ssrc: ssrc, name: name, value: value)
    } else {
      self.init(ssrc: ssrc, name: trimmed)
    }
  }

  package var text: String { "\(ssrc) \(name)" + (value.map { ":\($0)" } ?? "") }
}
