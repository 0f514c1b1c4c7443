extension Unicode.Scalar {
  /// Whether it is a control or format character or a line end: one that acts on a terminal or on the direction of text instead
  /// of being shown.
  package var isInvisible: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}

extension String {
  /// A JSON text in which control characters above ASCII, direction marks and other invisible characters are escaped, so that
  /// it is safe to show in a terminal. It means the same: there are such characters in strings only.
  package var escapingInvisibleInJSON: String {
    if utf8.allSatisfy({ $0 < 0x7F }) { return self }
    var escaped = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      guard scalar.value >= 0x7F, scalar.isInvisible else {
        escaped.append(scalar)
        continue
      }
      for unit in UTF16.encode(scalar) ?? UTF16.EncodedScalar() {
        let digits = String(unit, radix: 16)
        escaped.append(
          contentsOf: ("\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits).unicodeScalars)
      }
    }
    return String(escaped)
  }
}
