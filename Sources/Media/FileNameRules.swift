/// Rules for names of files that are made from text of others: the ids of users, and the names of files that they send.
package enum FileNameRules {
  /// Whether a name, with or without an extension, is that of a device on another system: there `CON.txt` cannot be copied.
  ///
  /// Source: Microsoft, "Naming Files, Paths, and Namespaces".
  package static func isDevice(_ name: String) -> Bool {
    var stem = Array(name.utf8.prefix { $0 != UInt8(ascii: ".") })
    while stem.last == UInt8(ascii: " ") { stem.removeLast() }
    let upper = stem.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) ? $0 & 0xDF : $0 }
    if devices.contains(where: { $0.utf8.elementsEqual(upper) }) { return true }
    let hasPort = upper.starts(with: "COM".utf8) || upper.starts(with: "LPT".utf8)
    let number = upper.dropFirst(3)
    // The digits one, two and three as superscripts count too.
    return hasPort
      && (number.count == 1 && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(number[3])
        || ["\u{B9}", "\u{B2}", "\u{B3}"].contains { $0.utf8.elementsEqual(number) })
  }

  private static let devices = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"]

  /// Returns the form of a name that is the same for all names that some file system takes for one: without regard to case and
  /// normal form (strings are compared without regard to that), without dots and spaces at the end and without joiners. For short
  /// names: comparing takes long for others.
  package static func folded(_ name: String) -> String {
    // Some small letters, such as the long s, have the capital of another one.
    var view = name.uppercased().lowercased().unicodeScalars
    view.removeAll { $0 == "\u{200C}" || $0 == "\u{200D}" }
    while let last = view.last, last == "." || last == " " { view.removeLast() }
    return String(view)
  }
}
