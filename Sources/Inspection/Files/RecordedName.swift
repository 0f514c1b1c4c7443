import Recorder

/// The names of a recording's files (docs/recordings.md, Files and Segments).
package enum RecordedName {
  /// The extensions of files that can be inspected.
  static let endings = RecordingFileKind.allCases.map(\.rawValue) + ["ivf"]

  /// Whether the name of a file in a folder is that of a media file.
  static func isMedia(_ name: String) -> Bool {
    !name.hasPrefix(".") && endings.contains { name.lowercased().hasSuffix(".\($0)") }
  }

  /// Whether a manifest may list the name: it must be in the same folder.
  static func isBeside(_ name: String) -> Bool {
    isMedia(name) && !name.contains("/") && !name.utf8.contains(0)
  }

  /// Whether the path of a file is that of one with video and audio.
  static func hasVideo(_ path: String) -> Bool { RecordingFileKind(fileName: path)?.hasVideo ?? false }

  /// The name without its extension.
  static func stem(_ name: String) -> String {
    name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
  }

  /// The recording's name and the segment's number of a file like `anna.0002.webm`, or nil for any other file.
  static func segment(_ name: String) -> (base: String, number: Int)? {
    let stem = stem(name)
    guard let dot = stem.lastIndex(of: "."), dot != stem.startIndex else { return nil }
    let digits = stem[stem.index(after: dot)...]
    guard digits.utf8.count >= 4, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits)
    else { return nil }
    return (String(stem[..<dot]), number)
  }

  /// Makes a text from outside safe to print in a sentence on a terminal.
  package static func shown(_ text: String) -> String {
    let visible = text.unicodeScalars.map { scalar -> Character in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: "?"
      default: Character(scalar)
      }
    }
    return visible.count > 300 ? String(visible.prefix(299)) + "…" : String(visible)
  }
}
