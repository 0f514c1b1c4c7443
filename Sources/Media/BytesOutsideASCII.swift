extension Sequence<UInt8> {
  /// Whether more than so many bytes in a row are not ASCII.
  ///
  /// To compare or hash a string that is not ASCII, Swift normalises it, and sorts each run of combining marks in a time that grows
  /// with the square of the run's length: a minute for 131,000 marks. Text from outside is looked at by this before any of it is
  /// compared.
  @inlinable package func hasRunOutsideASCII(over limit: Int) -> Bool {
    var run = 0
    for byte in self {
      run = byte < 0x80 ? 0 : run + 1
      if run > limit { return true }
    }
    return false
  }

  /// The same for JSON, in which also an escape such as `\u0301` stands for a character.
  @inlinable package func hasRunOutsideASCII(overInJSON limit: Int) -> Bool {
    var run = 0
    var isEscape = false
    var digits = 0
    for byte in self {
      if digits > 0 {
        digits -= 1
      } else if isEscape {
        isEscape = false
        if byte == UInt8(ascii: "u") { (digits, run) = (4, run + 2) } else { run = 0 }
      } else if byte == UInt8(ascii: "\\") {
        isEscape = true
      } else {
        run = byte < 0x80 ? 0 : run + 1
      }
      if run > limit { return true }
    }
    return false
  }
}
