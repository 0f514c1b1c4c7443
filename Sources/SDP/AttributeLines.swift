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
