/// A list of lines with attributes: those of the session or of one media section.
package protocol AttributeLines {
  var lines: [Line] { get set }
}

extension AttributeLines {
  /// Returns the value of the first attribute called `name`, or nil if there is none or it has no value.
  package func attribute(_ name: String) -> String? {
    for line in lines {
      if case .attribute(name, let value?) = line.content { return value }
    }
    return nil
  }

  /// Returns the values of all attributes called `name`, in order.
  package func attributes(_ name: String) -> [String] {
    lines.compactMap { line in
      if case .attribute(name, let value?) = line.content { value } else { nil }
    }
  }

  /// Whether there is an attribute called `name`, with or without a value.
  package func hasAttribute(_ name: String) -> Bool {
    lines.contains { line in
      if case .attribute(name, _) = line.content { true } else { false }
    }
  }

  /// The direction in `a=sendrecv`, `a=sendonly`, `a=recvonly` or `a=inactive` (RFC 8866, 6.7); the last one counts.
  package var direction: MediaDirection? {
    lines.reduce(nil) { found, line in
      if case .attribute(let name, nil) = line.content { MediaDirection(rawValue: name) ?? found } else { found }
    }
  }

  /// Appends `a=name` or `a=name:value`.
  package mutating func append(_ name: String, _ value: String? = nil) {
    lines.append(Line(.attribute(name: name, value: value)))
  }

  /// Appends `type=value`.
  package mutating func append(type: Unicode.Scalar, _ value: String) {
    lines.append(Line(.other(type: type, value: value)))
  }
}

/// The direction of media in a section, as seen by the side that wrote the description (RFC 8866, 6.7).
package enum MediaDirection: String, Sendable, Hashable, CaseIterable {
  case sendAndReceive = "sendrecv"
  case sendOnly = "sendonly"
  case receiveOnly = "recvonly"
  case inactive

  package init(sends: Bool, receives: Bool) {
    switch (sends, receives) {
    case (true, true): self = .sendAndReceive
    case (true, false): self = .sendOnly
    case (false, true): self = .receiveOnly
    case (false, false): self = .inactive
    }
  }

  package var sends: Bool { self == .sendAndReceive || self == .sendOnly }
  package var receives: Bool { self == .sendAndReceive || self == .receiveOnly }

  /// The same direction as seen by the other side.
  package var reversed: MediaDirection { MediaDirection(sends: receives, receives: sends) }
}

/// `a=ssrc-group`: RTP sources that belong together (RFC 5576, 4.2).
package struct SourceGroup: Sendable, Hashable {
  /// `FID`: a stream, then its retransmissions (RFC 4588). `SIM`: the layers of a simulcast. `FEC-FR`: a stream, then
  /// its repair stream.
  package var semantics: String
  package var sources: [UInt32]

  package init(semantics: String, sources: [UInt32]) {
    self.semantics = semantics
    self.sources = sources
  }

  /// Parses for example `FID 689647705 3166182352`; nil if a source is not a number.
  package init?(parsing text: String) {
    let fields = text.fields()
    guard let first = fields.first else { return nil }
    semantics = first
    sources = fields.dropFirst().compactMap { UInt32($0) }
    guard sources.count == fields.count - 1 else { return nil }
  }

  package var text: String { ([semantics] + sources.map { String($0) }).joined(separator: " ") }
}

/// `a=setup`: the side that starts the DTLS handshake (RFC 4145, 4; RFC 8842, 5.2).
package enum SetupRole: String, Sendable, Hashable {
  /// The writer of the description starts.
  case active
  /// The other side starts.
  case passive
  /// The side that the answer chooses; in offers only.
  case actpass
  /// Neither side for now.
  case holdconn
}

/// `a=ssrc`: an attribute of one RTP source (RFC 5576, 4.1).
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

  /// Parses for example `382514311 cname:U34KB/l9IcTp0+RS`.
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
