import Codecs

/// Sound at 48 kHz that is pulled piece by piece, from the start again after `rewind`. One thread uses it.
protocol SoundInput: AnyObject {
  /// The next piece.
  ///
  /// - Parameter count: ticks of 48 kHz.
  /// - Returns: so many ticks; fewer only at the end, and none after it.
  func read(_ count: Int) throws(InputRefusal) -> Sound

  /// Goes back to the start.
  func rewind() throws(InputRefusal)
}
