/// `a=extmap`: the id of a header extension in RTP packets (RFC 8285, 8).
package struct HeaderExtensionMap: Sendable, Hashable {
  /// 1 to 14 in one-byte headers, 1 to 255 in two-byte headers; larger in offers without a final number.
  package var id: UInt16
  /// The direction of the extension if it differs from that of the section.
  package var direction: MediaDirection?
  /// The URI of the extension.
  package var uri: String
  /// The text after the URI.
  package var attributes: String?

  package init(id: UInt16, direction: MediaDirection? = nil, uri: String, attributes: String? = nil) {
    self.id = id
    self.direction = direction
    self.uri = uri
    self.attributes = attributes
  }

  /// Parses for example `2/recvonly urn:ietf:params:rtp-hdrext:csrc-audio-level`.
  package init?(parsing text: String) {
    let fields = text.fields(maximum: 3)
    guard fields.count >= 2 else { return nil }
    if let (number, direction) = fields[0].cut(at: "/") {
      guard let id = UInt16(number), let direction = MediaDirection(rawValue: direction) else { return nil }
      self.init(id: id, direction: direction, uri: fields[1])
    } else {
      guard let id = UInt16(fields[0]) else { return nil }
      self.init(id: id, uri: fields[1])
    }
    attributes = fields.count > 2 ? fields[2] : nil
  }

  package var text: String {
    var text = "\(id)"
    if let direction { text += "/\(direction.rawValue)" }
    text += " \(uri)"
    if let attributes { text += " \(attributes)" }
    return text
  }
}
