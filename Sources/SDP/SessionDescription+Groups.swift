extension SessionDescription {
  /// The bundles: for each the mids of the sections that share one transport (RFC 9143, 7). The first names its
  /// transport.
  package var bundles: [[String]] {
    attributes("group").compactMap { value in
      let fields = value.fields()
      return fields.first == "BUNDLE" ? Array(fields.dropFirst()) : nil
    }
  }

  /// The `o=` line.
  package var origin: Origin? {
    for line in lines {
      if case .other("o", let value) = line.content { return Origin(parsing: value) }
    }
    return nil
  }
}
