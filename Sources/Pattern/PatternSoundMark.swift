/// A mark that was found in sound.
package struct PatternSoundMark: Sendable, Hashable {
  /// Where it begins: the sample's number, at 48 kHz, on the time line of the sound that was read.
  package var time: Int64
  /// Which full second of the sender's clock it stands for: seconds since 1970, modulo 256.
  package var second: UInt8
  /// How many of its eight symbols were clear and right, 5 to 8.
  package var symbols: Int

  package init(time: Int64, second: UInt8, symbols: Int) {
    self.time = time
    self.second = second
    self.symbols = symbols
  }
}
