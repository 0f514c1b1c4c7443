extension Sequence<UInt8> {
  /// Whether more than `limit` consecutive bytes are not ASCII.
  ///
  /// To compare or hash a string that is not ASCII, Swift normalises it, and sorts each run of combining marks in a
  /// time that grows with the square of the run's length: a minute for 131,000 marks. Text from the network is checked
  /// with this before any of it is compared.
  @inlinable package func hasRunOutsideASCII(over limit: Int) -> Bool {
    var run = 0
    for byte in self {
      run = byte < 0x80 ? 0 : run + 1
      if run > limit { return true }
    }
    return false
  }

  /// Does the same for JSON, where an escape such as `\u0301` also represents a character.
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
