/// Lines with attributes among them: a whole session's, or one media section's.
package protocol AttributeLines {
  var lines: [Line] { get set }
}

extension AttributeLines {
  /// The value of the first attribute called `name`; nil if there is none or if it has no value.
  package func attribute(_ name: String) -> String? {
    for line in lines {
      if case .attribute(name, let value?) = line.content { return value }
    }
    return nil
  }

  /// The values of all attributes called `name`, in order.
  package func attributes(_ name: String) -> [String] {
    lines.compactMap { line in
      if case .attribute(name, let value?) = line.content { value } else { nil }
    }
  }

  /// Whether an attribute called `name` is there, with or without a value.
  package func hasAttribute(_ name: String) -> Bool {
    lines.contains { line in
      if case .attribute(name, _) = line.content { true } else { false }
    }
  }

  /// The direction named by `a=sendrecv`, `a=sendonly`, `a=recvonly` or `a=inactive` (RFC 8866, 6.7); the last one
  /// counts.
  package var direction: MediaDirection? {
    lines.reduce(nil) { found, line in
      if case .attribute(let name, nil) = line.content { MediaDirection(rawValue: name) ?? found } else { found }
    }
  }

  /// Adds `a=name` or `a=name:value` at the end.
  package mutating func append(_ name: String, _ value: String? = nil) {
    lines.append(Line(.attribute(name: name, value: value)))
  }

  /// Adds `type=value` at the end.
  package mutating func append(type: Unicode.Scalar, _ value: String) {
    lines.append(Line(.other(type: type, value: value)))
  }
}

/// Which way media flows in a section, seen from the side that wrote the description (RFC 8866, 6.7).
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

  /// The same flow, seen from the other side.
  package var reversed: MediaDirection { MediaDirection(sends: receives, receives: sends) }
}

/// `a=ssrc-group`: RTP sources that belong together (RFC 5576, 4.2).
package struct SourceGroup: Sendable, Hashable {
  /// `FID`: a stream, then its retransmissions (RFC 4588). `SIM`: the layers of a simulcast. `FEC-FR`: a stream, then
  /// its repair.
  package var semantics: String
  package var sources: [UInt32]

  package init(semantics: String, sources: [UInt32]) {
    self.semantics = semantics
    self.sources = sources
  }

  /// Reads for example `FID 689647705 3166182352`; nil if a source is no number.
  package init?(parsing text: String) {
    let fields = text.fields()
    guard let first = fields.first else { return nil }
    semantics = first
    sources = fields.dropFirst().compactMap { UInt32($0) }
    guard sources.count == fields.count - 1 else { return nil }
  }

  package var text: String { ([semantics] + sources.map { String($0) }).joined(separator: " ") }
}

/// `a=setup`: who begins the DTLS handshake (RFC 4145, 4; RFC 8842, 5.2).
package enum SetupRole: String, Sendable, Hashable {
  /// The writer begins.
  case active
  /// The other side begins.
  case passive
  /// Whichever the answer chooses; in offers only.
  case either = "actpass"
  /// Nobody, for now.
  case hold = "holdconn"
}
