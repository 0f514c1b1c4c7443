/// Sound that was found good and can be opened as often as it is to be played.
struct CheckedSound: Sendable {
  /// What it is, for example `WAV, 44100 Hz, stereo, 24 bit`.
  var summary: String
  /// What comes out: 1 or 2.
  var channels: Int
  var extent: Extent
  var remarks: [String] = []
  var open: @Sendable (CameraClock) throws(InputRefusal) -> any SoundInput
}
