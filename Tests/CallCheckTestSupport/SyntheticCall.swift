package import CallCheck
import Codecs
package import Media
import NIOCore
import Pattern
import Synchronization
import TestSupport

/// A peer that plays the test pattern through real encoders to a judge, with simulated time.
///
/// The fields describe the faults of the call; by default it is a good one.
package struct SyntheticCall: Hashable {
  package static let peer = ParticipantID("peer-1")
  /// The wall clock at the check's start, in milliseconds since 1970.
  package static let wallClock: Int64 = 1_795_280_400_123

  /// The duration of the check, and the start of media, in seconds.
  package var duration = 8.0
  package var begin = 1.0
  package var size = VideoSize(width: 320, height: 240)
  package var framesPerSecond = 30.0
  /// The network delay in seconds.
  package var delay = 0.05
  /// How much later audio is sent than it was captured.
  package var audioDelay = 0.0
  /// The seconds in which the video is black, the audio is silent, or the audio is far too loud.
  package var black: Range<Double>?
  package var silent: Range<Double>?
  package var clipped: Range<Double>?
  /// The seconds in which no frames are sent, and in which the same frame is sent repeatedly.
  package var paused: Range<Double>?
  package var standing: Range<Double>?
  /// When the peer leaves.
  package var leaves: Double?
  /// The numbers of the audio packets that are lost.
  package var lostAudio: Set<Int> = []
  package var hasVideo = true
  package var hasAudio = true
  /// Opus, or PCMU, whose clock is one of 8 kHz.
  package var audioCodec = Codec.opus
  package var bitrate = 800_000

  /// An event for the judge.
  package struct ScriptedEvent {
    package var time: Double
    package var event: CheckEvent

    package init(time: Double, event: CheckEvent) {
      self.time = time
      self.event = event
    }
  }

  package init() {}

  package static let start = ContinuousClock.now

  package static func instant(_ seconds: Double) -> ContinuousClock.Instant {
    start + .nanoseconds(Int64((seconds * 1e9).rounded()))
  }

  /// The options of a judge for this call.
  package var options: CallJudge.Options {
    var options = CallJudge.Options(start: Self.start, room: "100")
    options.wallClock = Double(Self.wallClock)
    options.expected = CheckExpectation(audio: hasAudio, video: hasVideo, pattern: .played)
    return options
  }

  /// The events of earlier calls, cached because encoding takes most of the time.
  private static let known = Mutex<[Self: [ScriptedEvent]]>([:])

  /// Returns all events in order.
  package func participantEvents() throws -> [ScriptedEvent] {
    if let known = Self.known.withLock({ $0[self] }) { return known }
    let participantEvents = try makeEvents()
    Self.known.withLock { $0[self] = participantEvents }
    return participantEvents
  }

  private func makeEvents() throws -> [ScriptedEvent] {
    let all = steps + (hasVideo ? try videoFrames() : []) + (hasAudio ? try audio() : []) + samples + goodbye
    return all.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
  }

  /// Returns a judge that has received all events.
  package func judge(_ change: (inout CallJudge.Options) -> Void = { _ in }) throws -> CallJudge {
    var options = options
    change(&options)
    let judge = CallJudge(options)
    judge.joined(at: Self.instant(0.2))
    for participantEvent in try participantEvents() {
      judge.receive(participantEvent.event, of: Self.peer, at: Self.instant(participantEvent.time))
    }
    return judge
  }

  /// Returns the report at the call's end.
  package func report(_ change: (inout CallJudge.Options) -> Void = { _ in }) throws -> CheckReport {
    try judge(change).report(at: Self.instant(duration))
  }

  // MARK: Events

  private var end: Double { min(duration, leaves ?? duration) }

  private var steps: [ScriptedEvent] {
    let steps: [(Double, CallStep)] = [
      (0.3, .appeared), (0.31, .offerSent), (0.32, .localCandidate(.host)), (0.4, .answerReceived),
      (0.41, .remoteCandidate(.host)), (0.42, .checksBegun), (0.44, .checkAnswered), (0.45, .iceConnected),
      (0.6, .dtlsConnected),
    ]
    return steps.map { ScriptedEvent(time: $0, event: .step($1)) }
  }

  private var goodbye: [ScriptedEvent] {
    leaves.map { [ScriptedEvent(time: $0 + 0.1, event: .step(.departed(.left, "The peer left the room.")))] } ?? []
  }

  private func isIn(_ range: Range<Double>?, _ time: Double) -> Bool { range?.contains(time) ?? false }

  /// Returns a frame that arrives at a time.
  private func frame(_ codec: Codec, ticks: Int64, payload: ByteBuffer, isKeyframe: Bool, at time: Double)
    -> EncodedFrame
  {
    EncodedFrame(
      owner: Self.peer, codec: codec, time: MediaTime(ticks: ticks + 1_000_000, rate: codec.clockRate),
      payload: payload,
      isKeyframe: isKeyframe, size: isKeyframe && codec == .vp8 ? size : nil, arrival: Self.instant(time))
  }

  private func videoFrames() throws -> [ScriptedEvent] {
    var settings = VP8Encoder.Settings(size: size)
    settings.bitrate = bitrate
    settings.framesPerSecond = Int(framesPerSecond)
    let encoder = try VP8Encoder(settings)
    let painter = PatternPainter(size: size, streamID: 7)
    var participantEvents: [ScriptedEvent] = []
    var number = 0
    var standingVideoFrame: VideoFrame?
    while true {
      let made = begin + Double(number) / framesPerSecond
      let arrival = made + delay
      if arrival >= end { break }
      defer { number += 1 }
      if isIn(paused, made) { continue }
      let milliseconds = UInt64(Double(Self.wallClock) + (made * 1_000).rounded())
      var videoFrame = painter.videoFrame(frame: UInt32(number), time: milliseconds)
      if isIn(standing, made) {
        standingVideoFrame = standingVideoFrame ?? videoFrame
        videoFrame = standingVideoFrame ?? videoFrame
      }
      if isIn(black, made) { videoFrame = VideoFrame(size: size) }
      let ticks = Int64((Double(number) * 90_000 / framesPerSecond).rounded())
      guard let output = try encoder.encode(videoFrame, time: ticks) else { continue }
      let frame = frame(.vp8, ticks: ticks, payload: output.payload, isKeyframe: output.isKeyframe, at: arrival)
      participantEvents.append(ScriptedEvent(time: arrival, event: .frame(frame)))
    }
    return participantEvents
  }

  private func audio() throws -> [ScriptedEvent] {
    var settings = OpusEncoder.Settings()
    settings.channels = 1
    settings.bitrate = 48_000
    let encoder = try OpusEncoder(settings)
    let pattern = PatternAudio()
    let length = 960
    var participantEvents: [ScriptedEvent] = []
    var number = 0
    var lost = 0
    while true {
      // A packet can be sent after its last sample was captured.
      let made = begin + Double(number) * 0.02
      let arrival = made + 0.02 + delay + audioDelay
      if arrival >= end { break }
      defer { number += 1 }
      // The encoder's delay is compensated, as this program's camera does.
      let lookahead = audioCodec == .opus ? encoder.lookahead : 0
      let first = Int64((Double(Self.wallClock) + made * 1_000) * 48) + Int64(lookahead)
      var audio = pattern.audio(from: first, count: length)
      if isIn(silent, made) { audio.samples = [Float](repeating: 0, count: length) }
      if isIn(clipped, made) {
        audio.samples = audio.samples.map { min(max($0 * 200, -1), 1) }
      }
      let payload = audioCodec == .opus ? try encoder.encode(audio) : Self.muLaw(audio.samples)
      if lostAudio.contains(number) {
        lost += 1
        continue
      }
      let ticks = Int64(number * length) * Int64(audioCodec.clockRate) / 48_000
      var frame = frame(audioCodec, ticks: ticks, payload: payload, isKeyframe: true, at: arrival)
      if lost > 0 { frame.gap = MediaGap(.lost, packetsLost: lost) }
      lost = 0
      participantEvents.append(ScriptedEvent(time: arrival, event: .frame(frame)))
    }
    return participantEvents
  }

  /// Encodes samples of 48 kHz in G.711, each octet the mean of six of them.
  private static func muLaw(_ samples: [Float]) -> ByteBuffer {
    let octets = stride(from: 0, to: samples.count - 5, by: 6).map { start -> UInt8 in
      let mean = samples[start..<start + 6].reduce(0, +) / 6
      let magnitude = min(Int(abs(mean) * 32_768), 32_635) + 0x84
      // The position of the highest bit, 7 to 14.
      let exponent = Int.bitWidth - 1 - magnitude.leadingZeroBitCount - 7
      let mantissa = magnitude >> (exponent + 3) & 0x0F
      return ~UInt8((mean < 0 ? 0x80 : 0) | exponent << 4 | mantissa)
    }
    return ByteBuffer(bytes: octets)
  }

  /// The counters of the connection, once a second.
  private var samples: [ScriptedEvent] {
    stride(from: begin, through: end, by: 1).map { time in
      var sample = ConnectionSample()
      var track = TrackStatistics()
      track.packetsExpected = UInt64((time - begin) * 100) + 1
      track.packetsReceived = track.packetsExpected
      track.jitter = 0.002
      sample.received = [TrackID(of: Self.peer, kind: .video): track]
      var sent = ConnectionSample.Sent()
      sent.packets = UInt64((time - begin) * 50) + 1
      sent.bytes = sent.packets * 1_000
      sample.sent = sent
      sample.roundTripTime = 0.03
      return ScriptedEvent(time: time, event: .sample(sample))
    }
  }
}

extension CheckReport {
  /// The rules that failed.
  package var failedRules: [String] { results.filter { !$0.holds }.map(\.rule) }

  /// The sentences of the results, for the message of a failed test.
  package var reported: String {
    results.filter { !$0.holds }.map { "\($0.rule): \($0.sentence)" }.joined(separator: "\n")
  }

  package func result(_ rule: String) -> RuleResult? { results.first { $0.rule == rule } }
}
