import Codecs

/// Audio at 48 kHz that is pulled piece by piece, from the start again after `rewind`. One thread uses it.
protocol AudioInput: AnyObject {
  /// The next piece.
  ///
  /// - Parameter count: ticks of 48 kHz.
  /// - Returns: so many ticks; fewer only at the end, and none after it.
  func read(_ count: Int) throws(InputError) -> AudioSamples

  /// What could not be decoded until now.
  var undecodable: Undecodable { get }

  /// Goes back to the start.
  func rewind() throws(InputError)
}

extension AudioInput {
  var undecodable: Undecodable { Undecodable() }
}

/// Audio that was found good and can be opened as often as it is to be played.
struct CheckedAudio: Sendable {
  /// What it is, for example `WAV, 44100 Hz, stereo, 24 bit`.
  var summary: String
  /// What comes out: 1 or 2.
  var channels: Int
  var extent: Extent
  var remarks: [String] = []
  var open: @Sendable (CameraClock) throws(InputError) -> any AudioInput
}
