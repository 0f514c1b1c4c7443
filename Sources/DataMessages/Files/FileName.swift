package import Media

/// A name under which a received file can be stored in a folder, made from an announced name. It is at most 250 bytes
/// of UTF-8 long: file systems allow 255, and `.part` may follow.
///
/// - Refused: a name with `/` or `\`, a hidden one (with a leading dot), one that begins with a drive (`C:`), and one
///   that is empty without its invisible characters.
/// - Removed: control characters and invisible format characters, such as those that change the direction of text and
///   can disguise an extension. The joiners U+200C and U+200D are kept: words and emoji need them.
/// - Changed: white space at the ends and dots at the end are removed, and a leading `-` becomes `_`, because it looks
///   like an option. A long name is cut before its extension. A name that is reserved gets a leading `_`: that of a device of
///   another system (`CON`), those of our own logs in the folder, in any case and normal form, and with any number. A name that
///   ends like one of our unfinished files (`.part`) gets a `_` at its end.
package struct FileName: Sendable, Hashable, CustomStringConvertible {
  /// The maximum size in bytes of UTF-8.
  package static let maximumBytes = 250

  package let description: String

  /// Why an announced name is refused.
  package enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
    case empty
    case hidden
    case pathSeparator
    case drive

    package var description: String {
      switch self {
      case .empty: "The name of the file has no visible characters."
      case .hidden: "The name of the file begins with a dot, which hides files."
      case .pathSeparator: "The name of the file has a path separator (/ or \\)."
      case .drive: "The name of the file begins with the letter of a drive."
      }
    }
  }

  /// - Parameter announced: any text.
  package init(announced: UntrustedText) throws(Problem) {
    var scalars: [Unicode.Scalar] = []
    for scalar in announced.unicodeScalars {
      if scalar == "/" || scalar == "\\" { throw .pathSeparator }
      // The rest of a very long name matters only for its extension.
      if Self.isKept(scalar) { scalars.append(scalar) }
    }
    let start = scalars.firstIndex { !$0.properties.isWhitespace } ?? scalars.count
    let end = scalars.lastIndex { !$0.properties.isWhitespace && $0 != "." } ?? -1
    if start < scalars.count, scalars[start] == "." { throw .hidden }
    guard start <= end else { throw .empty }
    var kept = scalars[start...end]
    if kept.count >= 2, kept[start + 1] == ":", kept[start].isASCII, kept[start].properties.isAlphabetic {
      throw .drive
    }
    if kept[start] == "-" { kept[start] = "_" }
    // Only joiners are not visible.
    guard kept.contains(where: { $0.properties.generalCategory != .format }) else { throw .empty }
    var view = String.UnicodeScalarView()
    view.append(contentsOf: kept)
    let name = FileName(fitting: String(view), suffix: "").description
    let folded = FileNameRules.folded(name)
    let isLog = folded.hasPrefix(Self.logStem) && folded.hasSuffix(Self.logExtension)
    let isReserved = isLog || FileNameRules.isDevice(name)
    let isPart = folded.hasSuffix(Self.partExtension)
    self.init(fitting: (isReserved ? "_" : "") + name + (isPart ? "_" : ""), suffix: "")
  }

  /// The name of the `number`-th log of received files in a folder: `received.jsonl`, `received (2).jsonl`. No received file can
  /// have one of these names.
  package static func log(_ number: Int) -> String {
    logStem + (number <= 1 ? "" : " (\(number))") + logExtension
  }

  private static let logStem = "received"
  private static let logExtension = ".jsonl"
  /// What follows the name of a file that is not complete. No received file has a name with this end.
  package static let partExtension = ".part"

  /// Joins the parts of a name and a suffix after its stem, and cuts the stem if all is too long.
  private init(fitting name: String, suffix: String) {
    let scalars = name.unicodeScalars
    var (stem, ending) = (name, "")
    if let dot = scalars.lastIndex(of: "."), dot != scalars.startIndex,
      name.utf8.distance(from: dot, to: name.utf8.endIndex) <= Self.maximumExtensionBytes
    {
      stem = String(scalars[..<dot])
      ending = String(scalars[dot...])
    }
    let limit = Self.maximumBytes - suffix.utf8.count - ending.utf8.count
    var cut = stem.prefix(utf8Bytes: limit).unicodeScalars
    if suffix.isEmpty, ending.isEmpty {
      // Other systems remove dots and spaces at the end.
      while let last = cut.last, last == "." || last.properties.isWhitespace { cut.removeLast() }
    }
    description = String(cut) + suffix + ending
  }

  /// The longest extension that is kept when a name is cut, with its dot.
  private static let maximumExtensionBytes = 32

  private static func isKept(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
    case .format: scalar == "\u{200C}" || scalar == "\u{200D}"
    default: true
    }
  }

  /// Returns the name for the `number`-th file of this name in a folder: `a (2).png`; number 1 is the name itself.
  package func numbered(_ number: Int) -> FileName {
    number <= 1 ? self : FileName(fitting: description, suffix: " (\(number))")
  }

  /// The extension in lower case without its dot; empty if there is none.
  package var pathExtension: String {
    let scalars = description.unicodeScalars
    guard let dot = scalars.lastIndex(of: "."), dot != scalars.startIndex else { return "" }
    return String(scalars[scalars.index(after: dot)...]).lowercased()
  }
}
