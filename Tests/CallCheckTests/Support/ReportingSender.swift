import CallCheck
import CallCheckTestSupport
import Codecs
import Media
import NIOCore

/// A sender without the pattern, whose audio and video are in sync, and whose sender reports have faults.
///
/// The fields describe the clock of the audio, the reports and the network. Times are in seconds since the check's start,
/// by the sender's wall clock; by default, everything arrives after the same delay, and a little jitter.
struct ReportingSender {
  /// A sender report.
  struct Report {
    var codec: Codec
    var ticks: Int64
    var ntp: UInt64
    var arrival: Double
  }

  private static let begin = 1.0
  private static let delay = 0.05
  private static let firstTicks: Int64 = 1_000_000
  private static let firstNTP: UInt64 = 0xE000_0000_0000_0000

  var duration = 20.0
  /// The pauses of the audio, in order: it is not sent, its clock stands still, and its reports extrapolate the clock.
  var pauses: [(begin: Double, duration: Double)] = []
  /// By how much faster than the wall clock the audio clock runs.
  var drift = 0.0
  /// The time between two reports of the audio.
  var reportInterval = 2.5
  /// Whether the audio is a tone instead of silence.
  var hasTone = false
  /// The time in which nothing arrives; then everything arrives at once.
  var stall: (begin: Double, duration: Double)?
  /// From when on everything that is sent is delayed more, and by how much.
  var furtherDelay: (from: Double, by: Double)?
  /// When the wall clock is set, and by how much.
  var wallClockSet: (at: Double, by: Double)?
  /// Changes a report; by its number among those of its track.
  var change: (Int, inout Report) -> Void = { _, _ in }

  /// Returns what the judge says of the sender.
  func report() throws -> PeerReport {
    let judge = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    for event in try events().sorted(by: { $0.time < $1.time }) {
      judge.receive(event.event, of: SyntheticCall.peer, at: SyntheticCall.instant(event.time))
    }
    guard let peer = judge.report(at: SyntheticCall.instant(duration)).peers.first else { throw NoPeer() }
    return peer
  }

  private struct NoPeer: Error {}

  private func events() throws -> [SyntheticCall.ScriptedEvent] {
    let size = VideoSize(width: 32, height: 32)
    // Each frame is a keyframe, and each packet is 20 ms long.
    let picture = try VP8Encoder(.init(size: size)).encode(VideoFrame(size: size), time: 0, keyframe: true)?.payload
    let packets = try hasTone ? Self.tone() : [ByteBuffer(bytes: [0xF8, 0xFF, 0xFE])]
    let video = frames(.vp8, of: [picture ?? ByteBuffer()], interval: 0.1, pauses: [])
    let audio = frames(.opus, of: packets, interval: 0.02, pauses: pauses)
    return video + audio + reports(.vp8, interval: 1) + reports(.opus, interval: reportInterval)
  }

  /// Returns the packets of one second of a square wave.
  private static func tone() throws -> [ByteBuffer] {
    var settings = OpusEncoder.Settings()
    settings.channels = 1
    // The packets are repeated, and some are left out.
    settings.predicts = false
    let encoder = try OpusEncoder(settings)
    let samples: [Float] = (0..<960).map { $0 / 48 % 2 == 0 ? 0.2 : -0.2 }
    return try (0..<50).map { _ in try encoder.encode(AudioSamples(samples: samples, channels: 1)) }
  }

  /// Returns when something arrives that is sent at a time.
  private func arrival(of time: Double, jitter: Double = 0) -> Double {
    var arrival = time + Self.delay + jitter
    if let furtherDelay, time >= furtherDelay.from { arrival += furtherDelay.by }
    if let stall {
      let waited = arrival - stall.begin
      // The order is kept.
      if waited >= 0, waited < stall.duration + 0.001 { arrival = stall.begin + stall.duration + waited / 10_000 }
    }
    return arrival
  }

  private func frames(
    _ codec: Codec, of payloads: [ByteBuffer], interval: Double, pauses: [(begin: Double, duration: Double)]
  ) -> [SyntheticCall.ScriptedEvent] {
    (0..<Int((duration - Self.begin) / interval) - 5).compactMap { number in
      let time = Self.begin + Double(number) * interval
      if pauses.contains(where: { time >= $0.begin && time < $0.begin + $0.duration }) { return nil }
      let arrival = arrival(of: time, jitter: Double(number * 7 % 9) / 1_000)
      let frame = EncodedFrame(
        owner: SyntheticCall.peer, codec: codec, time: MediaTime(ticks: ticks(at: time, codec), rate: codec.clockRate),
        payload: payloads[number % payloads.count], isKeyframe: true, arrival: SyntheticCall.instant(arrival))
      return SyntheticCall.ScriptedEvent(time: arrival, event: .frame(frame))
    }
  }

  /// Returns the media clock of a track, which runs on in a pause until the track is sent again.
  private func ticks(at time: Double, _ codec: Codec) -> Int64 {
    var running = time - Self.begin
    if codec.kind == .audio {
      for pause in pauses where time >= pause.begin + pause.duration { running -= pause.duration }
      running *= 1 + drift
    }
    return Self.firstTicks + Int64((running * Double(codec.clockRate)).rounded())
  }

  private func reports(_ codec: Codec, interval: Double) -> [SyntheticCall.ScriptedEvent] {
    stride(from: Self.begin + 0.001, to: duration - 0.1, by: interval).enumerated().map { number, time in
      // The audio clock is read with the accuracy of a packet.
      let inaccuracy = codec.kind == .audio && number > 0 ? Int64(number * 7 % 20) * 48 : 0
      let set = wallClockSet.map { time >= $0.at ? $0.by : 0 } ?? 0
      var report = Report(
        codec: codec, ticks: ticks(at: time, codec) - inaccuracy, ntp: Self.ntp(at: time + set),
        arrival: arrival(of: time))
      change(number, &report)
      let clock = ClockReport(
        owner: SyntheticCall.peer, codec: codec, time: MediaTime(ticks: report.ticks, rate: codec.clockRate),
        ntp: report.ntp, arrival: SyntheticCall.instant(report.arrival))
      return SyntheticCall.ScriptedEvent(time: report.arrival, event: .clock(clock))
    }
  }

  static func ntp(at time: Double) -> UInt64 {
    firstNTP &+ UInt64(bitPattern: Int64((time * 4_294_967_296).rounded()))
  }
}
