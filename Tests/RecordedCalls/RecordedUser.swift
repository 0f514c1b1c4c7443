import Media

/// One stay of a user in a synthetic call. Someone who comes again has two.
package struct RecordedUser: Sendable {
  package var id: String
  package var name: String?
  /// When the user is there, in seconds of the call.
  package var stay: Range<Double>
  package var camera: SentVideo?
  package var microphone: SentAudio?
  /// The video of a second stream.
  package var screen: SentVideo?
  package var screenAudio: SentAudio?
  /// The id in the code of the pattern of the camera; that of the screen is 100 more.
  package var pattern: UInt16
  /// How much the clock of the user's pattern, in audio and video, is ahead of the call, in milliseconds.
  package var shift: Int
  /// How fast the user's clock is: 1.000080 gains 80 µs a second. All that the user sends follows it.
  package var speed: Double
  /// How far the wall clock of the recorder was set before the user came, in seconds.
  package var wallClockShift: Double
  /// The process that records the user: each number is a session of its own.
  package var session: Int
  package var endReason: RecordedUser.EndReason

  package enum EndReason: Sendable {
    case left
    case connectionLost
    /// The process that records is killed at the end of the stay: the recording stays unfinished. Then all users of its session
    /// must end so, at the same time.
    case killed
  }

  package init(
    _ id: String, name: String? = nil, _ stay: Range<Double>, camera: SentVideo? = SentVideo(),
    microphone: SentAudio? = SentAudio(), screen: SentVideo? = nil, screenAudio: SentAudio? = nil, pattern: UInt16 = 0,
    shift: Int = 0, speed: Double = 1, wallClockShift: Double = 0, session: Int = 0, endReason: EndReason = .left
  ) {
    self.id = id
    self.name = name
    self.stay = stay
    self.camera = camera
    self.microphone = microphone
    self.screen = screen
    self.screenAudio = screenAudio
    self.pattern = pattern
    self.shift = shift
    self.speed = speed
    self.wallClockShift = wallClockShift
    self.session = session
    self.endReason = endReason
  }

  /// The moments of a user who is there at a time of the call, by the user's own clock.
  var clock: SenderClock { SenderClock(speed: speed, shift: shift) }
}
