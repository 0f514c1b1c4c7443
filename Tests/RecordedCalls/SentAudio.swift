package import Media

/// The audio of a stream of a synthetic call.
package struct SentAudio: Sendable, Hashable {
  /// A sine that is added to the audio.
  package struct Tone: Sendable, Hashable {
    /// In Hz.
    package var frequency: Double
    /// From 0 to 1.
    package var amplitude: Float
    /// When it is heard, in seconds of the call.
    package var spans: [Range<Double>]

    package init(_ frequency: Double, amplitude: Float = 0.3, spans: [Range<Double>]) {
      self.frequency = frequency
      self.amplitude = amplitude
      self.spans = spans
    }
  }

  package var codec: Codec
  package var channels: Int
  /// Bits a second of Opus.
  package var bitrate: Int
  /// Whether it has the marks and the hum of the test pattern; without, all but tones is silence.
  package var isPattern: Bool
  package var tones: [Tone]
  package var gaps: [SentGap]
  /// The interval in which it is sent, in seconds of the call; nil for the whole stay of the user.
  package var span: Range<Double>?

  package init(
    _ codec: Codec = .opus, channels: Int = 1, bitrate: Int = 48_000, isPattern: Bool = true, tones: [Tone] = [],
    gaps: [SentGap] = [], span: Range<Double>? = nil
  ) {
    self.codec = codec
    self.channels = channels
    self.bitrate = bitrate
    self.isPattern = isPattern
    self.tones = tones
    self.gaps = gaps
    self.span = span
  }
}
