import Foundation
import Media
import TestSupport

/// A pause of a track in a simulated call.
struct Pause: Sendable, CustomStringConvertible {
  var start: Double
  var length: Double
  /// Whether the media clock stands still meanwhile, so that its timestamps go on where they stopped.
  var stopsClock: Bool
  var end: Double { start + length }

  var description: String { "\(stopsClock ? "stop" : "pause") \(start)+\(length)" }
}

extension SimulatedSender.Track {
  /// Pauses the track, which sends nothing meanwhile. Its reports extrapolate the clock during a pause, as those of
  /// libwebrtc do: they show a standstill only after the pause.
  mutating func pause(_ pauses: [Pause]) {
    let (clock, rate, isSent) = (self.clock, Double(codec.clockRate), self.isSent)
    let stops = pauses.filter(\.stopsClock)
    func stopped(before time: Double) -> Double {
      stops.reduce(0) { $0 + min($1.length, max(0, time - $1.start)) }
    }
    self.clock = { captured, number in clock(captured, number) - Int64((stopped(before: captured) * rate).rounded()) }
    reportClock = { time, number in
      let present = stops.first { ($0.start..<$0.end).contains(time) }
      return clock(time, number) - Int64((stopped(before: present?.start ?? time) * rate).rounded())
    }
    self.isSent = { captured in isSent(captured) && !pauses.contains { ($0.start..<$0.end).contains(captured) } }
  }
}

/// A random call of a sender who pauses.
struct PauseSchedule: Sendable, CustomStringConvertible {
  private static let videoSpacing = 1.0 / 15

  var seed: UInt64
  var audio: [Pause] = []
  var video: [Pause] = []
  var length = 0.0
  var spacing = 0.02
  var loss = 0.0
  /// The time in which the audio only signals silence, in packets 400 ms apart.
  var silence = 0.0..<0.0
  /// When the audio's SSRC changes, so that its timestamps are related to the earlier ones by arrival.
  var change: Double?

  init(seed: UInt64) {
    self.seed = seed
    var generator = SeededGenerator(seed: seed)
    spacing = [0.02, 0.02, 0.04, 0.06].randomElement(using: &generator) ?? 0.02
    if Int.random(in: 0..<3, using: &generator) == 0 { loss = 0.05 }
    var time = Double.random(in: 0.4..<4, using: &generator)
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      // From 20 ms to 20 s, each order of magnitude as often as the others; whole frames.
      let isVideo = Int.random(in: 0..<3, using: &generator) == 0
      let frame = isVideo ? Self.videoSpacing : spacing
      let length = (0.02 * pow(1_000, Double.random(in: 0...1, using: &generator)) / frame).rounded(.up) * frame
      let start = ((time / frame).rounded() + 0.5) * frame
      let pause = Pause(start: start, length: length, stopsClock: Int.random(in: 0..<4, using: &generator) > 0)
      if isVideo { video.append(pause) } else { audio.append(pause) }
      time += length + Double.random(in: 0.2..<4, using: &generator)
    }
    length = time + 3
    if Int.random(in: 0..<4, using: &generator) == 0 {
      let start = Double.random(in: 0..<time, using: &generator)
      silence = start..<(start + 3)
    }
    if Int.random(in: 0..<4, using: &generator) == 0 { change = Double.random(in: 1..<time, using: &generator) }
  }

  var description: String {
    "seed \(seed): audio \(audio), video \(video), packets of \(spacing) s, loss \(loss), silent in \(silence), "
      + "another SSRC at \(change ?? 0)"
  }

  /// The call's sender.
  var sender: SimulatedSender {
    var sound = SimulatedSender.Track.audio(spacing: spacing, reports: 5)
    var picture = SimulatedSender.Track.videoFrame(spacing: Self.videoSpacing, reports: 1)
    let (loss, silence, spacing, seed) = (loss, silence, spacing, seed)
    sound.isSent = { captured in
      let number = Int((captured / spacing).rounded())
      if silence.contains(captured) { return number.isMultiple(of: Int(0.4 / spacing)) }
      var generator = SeededGenerator(seed: seed &* 1_000_003 &+ UInt64(number))
      return loss == 0 || Double.random(in: 0..<1, using: &generator) >= loss
    }
    if let change {
      let clock = sound.clock
      var generator = SeededGenerator(seed: seed ^ 0xFFFF)
      let error = Int64.random(in: -900...900, using: &generator)
      sound.clock = { captured, number in clock(captured, number) + (captured >= change ? error : 0) }
    }
    sound.pause(audio)
    picture.pause(video)
    var sender = SimulatedSender(tracks: [sound, picture])
    sender.jitter = 0.015
    sender.reportError = 0.003
    sender.firstReport = 0.5
    sender.generator = SeededGenerator(seed: seed)
    return sender
  }

  /// For how long the clock of a track stood still in all.
  func stopped(_ kind: MediaKind) -> Double {
    (kind == .audio ? audio : video).filter(\.stopsClock).reduce(0) { $0 + $1.length }
  }

  /// The maximum distance of a frame's position from the truth, in seconds: everything is known 2 s after a pause of
  /// either track.
  func tolerance(at captured: Double) -> Double {
    0.04
      + (audio + video).filter { $0.stopsClock && captured >= $0.start && captured < $0.end + 2 }
      .reduce(0) { $0 + $1.length }
  }
}
