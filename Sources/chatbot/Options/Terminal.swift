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
}
