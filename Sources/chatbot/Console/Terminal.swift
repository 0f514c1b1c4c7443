import Glibc

/// What the status line has to know of the terminal.
enum Terminal {
  /// The width of the terminal behind a descriptor; nil when there is none, so nothing but plain lines may be written.
  static func columns(_ descriptor: Int32) -> Int? {
    guard isatty(descriptor) == 1 else { return nil }
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// Whether text is shown in UTF-8: what the locale says (POSIX, Base Definitions 8.2); where it says nothing, yes.
  static var isUnicode: Bool {
    for name in ["LC_ALL", "LC_CTYPE", "LANG"] {
      guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { continue }
      let upper = value.uppercased()
      return upper.contains("UTF-8") || upper.contains("UTF8")
    }
    return true
  }
}
