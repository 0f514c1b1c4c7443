/// What the name of a recording's media file says.
enum MediaName {
  /// A media file's name without its ending; nil for any other name, and for whatever leads elsewhere.
  static func stem(of name: String) -> String? {
    if name.contains("/") || name.utf8.contains(0) || name.hasPrefix(".") { return nil }
    for ending in [WebMFile.ending, OggFile.ending] where name.hasSuffix(".\(ending)") {
      let stem = name.dropLast(ending.count + 1)
      return stem.isEmpty ? nil : String(stem)
    }
    return nil
  }

  /// Whether `SafeFileName.file` makes the name from this base.
  static func isMedia(_ name: String, of base: String) -> Bool {
    guard !base.isEmpty, let stem = stem(of: name) else { return false }
    return stem == base || segment(of: name, base: base) != nil
  }

  /// The number of a segment's file; nil for every other one.
  static func segment(of name: String, base: String) -> Int? {
    guard let stem = stem(of: name), !base.isEmpty, stem.hasPrefix("\(base).") else { return nil }
    let digits = stem.dropFirst(base.count + 1)
    guard digits.utf8.count >= 4, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(digits)
  }

  /// What the names of a recording's files have in common, by the name of one of them.
  ///
  /// - Parameter isSegment: whether it is one of several segments' files.
  static func base(of name: String, isSegment: Bool) -> String? {
    guard let stem = stem(of: name) else { return nil }
    guard isSegment else { return stem }
    let shorter = stem.split(separator: ".", omittingEmptySubsequences: false).dropLast().joined(separator: ".")
    return segment(of: name, base: shorter) == nil ? stem : shorter
  }
}
