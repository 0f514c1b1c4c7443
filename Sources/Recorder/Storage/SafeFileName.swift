internal import Media

/// A file name without extension, made from untrusted text.
///
/// Letters and digits of all scripts are kept, as are `-`, `_` and inner dots; everything else becomes `_`. The result
/// is never empty, hidden, similar to an option or reserved by other systems, and is at most 100 bytes long, so that it
/// fits into the limits of file systems with an extension and a number.
package struct SafeFileName: Sendable, Hashable, CustomStringConvertible {
  package static let maximumLength = 100

  package let description: String

  /// - Parameters:
  ///   - text: any text.
  ///   - maximumLength: in bytes.
  package init(of text: String, maximumLength: Int = Self.maximumLength) {
    var name = ""
    var bytes = 0
    for scalar in text.unicodeScalars {
      let kept = Self.isKept(scalar) ? Character(scalar) : "_"
      bytes += String(kept).utf8.count
      if bytes > maximumLength { break }
      name.append(kept)
    }
    if let first = name.first, first == "." || first == "-" { name = "_" + name.dropFirst() }
    if name.last == "." { name = name.dropLast() + "_" }
    if name.isEmpty { name = "user" }
    if FileNameRules.isDevice(name) { name = "_" + name }
    description = name
  }

  static func isKept(_ scalar: Unicode.Scalar) -> Bool {
    if scalar == "-" || scalar == "_" || scalar == "." { return true }
    if scalar.isASCII { return scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter, .decimalNumber: return true
    default: return false
    }
  }
}

extension SafeFileName {
  /// Returns the wanted name of the recording of a further stream.
  ///
  /// - Parameters:
  ///   - base: the name of the recording of the participant's first stream.
  ///   - stream: the stream's number.
  static func base(_ base: String, stream: Int) -> String { "\(base).\(stream)" }

  /// Returns the name of a recording's media file.
  ///
  /// - Parameters:
  ///   - base: the recording's name.
  ///   - segment: from 1; names sort correctly up to 9,999. Nil when there is only one.
  static func file(_ base: String, segment: Int?, ending: String) -> String {
    guard let segment else { return "\(base).\(ending)" }
    let digits = "\(segment)"
    return "\(base).\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits).\(ending)"
  }

  /// Returns the name of a draft that will be renamed to `name` when it has its first content.
  ///
  /// - Parameter token: distinguishes it from other drafts of the same file.
  static func draft(of name: String, token: UInt32) -> String {
    let digits = String(token, radix: 16)
    return ".\(name).\(String(repeating: "0", count: 8 - digits.count))\(digits).part"
  }

  /// Returns the final name of a draft; nil for a name that is not a draft.
  static func final(ofDraft draft: String) -> String? {
    let parts = draft.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count >= 4, parts[0].isEmpty, parts.last == "part", parts[parts.count - 2].utf8.count == 8,
      UInt32(parts[parts.count - 2], radix: 16) != nil
    else { return nil }
    return parts[1..<(parts.count - 2)].joined(separator: ".")
  }
}
