import Codecs
import Foundation
import Media
import NIOCore
import NetworkEmulation
import Pattern
import PeerEngine
import PeerEngineTestSupport
import Recorder
import Synchronization
import TestSupport

/// A call of a guest whose recording is paused, through an impaired network, in simulated time. What is sent shows when it was
/// sent: video by the numbers of its frames, audio by its tone.
final class PausedCall {
  /// When the recording is paused and resumed, in seconds from the first frame.
  struct Pause {
    var start: Double
    var end: Double
  }

  /// What is sent this long after a pause began and before it ended is of the pause for certain.
  static let margin = 0.2
  static let allowed = 440.0
  static let forbidden = 1_800.0
  private static let size = VideoSize(width: 320, height: 240)
  private static let framesPerSecond = 15.0

  let pauses: [Pause]
  let length: Double
  /// When each frame of the pattern was sent, by its number.
  private(set) var sentFrames: [Double] = []
  /// The packets of audio that were sent.
  private(set) var sentPackets: [ByteBuffer] = []
  private let call = DemultiplexerCall(seed: 11)
  private let guest = ParticipantID("anna")
  private let painter = PatternPainter(size: PausedCall.size)
  private let videoEncoder: VP8Encoder
  private let audioEncoder: OpusEncoder
  private var phase = 0.0
  private var answered = 0

  init(seed: UInt64, pauses count: Int) throws {
    var generator = SeededGenerator(seed: seed)
    var time = 4.0
    pauses = (0..<count).map { _ in
      let start = time + Double.random(in: 1.5..<3.5, using: &generator)
      let end = start + Double.random(in: 0.5..<3, using: &generator)
      time = end
      return Pause(start: start, end: end)
    }
    length = time + 3
    var settings = VP8Encoder.Settings(size: Self.size)
    settings.bitrate = 300_000
    videoEncoder = try VP8Encoder(settings)
    var opus = OpusEncoder.Settings()
    opus.channels = 1
    opus.bitrate = 32_000
    opus.isForSpeech = true
    opus.correctsErrors = true
    opus.expectedLoss = 20
    audioEncoder = try OpusEncoder(opus)
  }

  /// Plays the call to a recorder.
  func run(to recorder: RoomRecorder) async throws -> RecordingSummary? {
    try call.enter(
      guest.text, host: 1,
      line: .init(
        loss: 0.05, delay: .milliseconds(40), jitter: .milliseconds(10), reorder: 0.05,
        reorderDelay: .milliseconds(5)...(.milliseconds(60)))
    ) { $0.policy.media = .init(keyframeResponse: .requestFromSource) }
    try call.connect(guest.text)
    let requested = Mutex(0)
    let requests = Task { for await _ in recorder.keyframeRequests { requested.withLock { $0 += 1 } } }
    recorder.begin(guest, now: call.now, wallClock: TestFolder.wallClock)
    let begin = call.now
    var (next, look, passed) = (0, 0.0, 0)
    var changes = pauses.flatMap { [(at: $0.start, isPause: true), (at: $0.end, isPause: false)] }
    while (call.now - begin) / .seconds(1) < length {
      let time = (call.now - begin) / .seconds(1)
      if let change = changes.first, time >= change.at {
        changes.removeFirst()
        _ =
          change.isPause
          ? recorder.pause(at: begin + .seconds(change.at)) : recorder.resume(at: begin + .seconds(change.at))
      }
      try send(at: time, number: next)
      next += 1
      call.run(for: .milliseconds(5))
      let events = call.guests[guest]?.events ?? []
      for (at, event) in events[passed...] {
        if case .media(let event) = event { recorder.receive(event, of: guest, now: at) }
      }
      passed = events.count
      if time >= look {
        look += 0.1
        await recorder.advance(now: call.now)
        await Task.yield()
      }
      while requested.withLock({ $0 > answered }) {
        answered += 1
        call.demultiplexer.requestKeyframe(of: guest, now: call.now)
      }
    }
    recorder.end(guest, reason: .left, now: call.now)
    let summary = await recorder.finish(now: call.now).first
    requests.cancel()
    var all: [RecordingSummary] = []
    for await summary in recorder.summaries { all.append(summary) }
    return summary ?? all.first
  }

  /// When the first frame was sent, by the recorder's clock.
  private(set) var begin: MonotonicInstant?

  /// Sends what is due in a step of 5 ms: a packet of audio in each fourth, a frame in each 13th.
  private func send(at time: Double, number: Int) throws {
    begin = begin ?? call.now
    if number.isMultiple(of: 4) {
      let samples = (0..<960).map { index -> Float in
        let time = time + Double(index) / 48_000
        let isForbidden = pauses.contains { time >= $0.start + Self.margin && time < $0.end - Self.margin }
        phase += 2 * .pi * (isForbidden ? Self.forbidden : Self.allowed) / 48_000
        return Float(0.4 * sin(phase))
      }
      let payload = try audioEncoder.encode(AudioSamples(samples: samples, channels: 1))
      sentPackets.append(payload)
      send(payload, codec: .opus, ticks: Int64(number / 4) * 960)
    }
    if number.isMultiple(of: 13) {
      let ticks = Int64(number / 13) * 5_850
      let isWanted = sentFrames.isEmpty || takeRequest()
      let picture = painter.videoFrame(frame: UInt32(sentFrames.count), time: UInt64(time * 1_000))
      guard let output = try videoEncoder.encode(picture, time: ticks, keyframe: isWanted) else { return }
      sentFrames.append(time)
      send(output.payload, codec: .vp8, ticks: ticks, isKeyframe: output.isKeyframe)
    }
  }

  private func takeRequest() -> Bool {
    defer { call.guests[guest]?.keyframeRequests = 0 }
    return call.guests[guest]?.keyframeRequests ?? 0 > 0
  }

  private func send(_ payload: ByteBuffer, codec: Codec, ticks: Int64, isKeyframe: Bool = true) {
    let frame = EncodedFrame(
      owner: ParticipantID("bot"), codec: codec, time: MediaTime(ticks: ticks, rate: codec.clockRate), payload: payload,
      isKeyframe: isKeyframe, size: codec == .vp8 && isKeyframe ? Self.size : nil, arrival: call.now)
    call.guests[guest]?.engine.send(frame, now: call.now)
  }
}

/// Finds the tone of a pause in Opus packets, also in the copies of earlier packets that they contain.
struct ToneSearch {
  /// The amplitude above which the tone is there; it is sent with 0.4.
  static let threshold: Float = 0.05

  private let plain: OpusDecoder
  private let copies: OpusDecoder
  /// The packets in which the tone was found, by decoding or in the copy.
  private(set) var found: [Int] = []
  private(set) var foundInCopy: [Int] = []
  /// The packets in which the other tone was found.
  private(set) var allowed = 0
  private var count = 0

  init() throws {
    plain = try OpusDecoder(channels: 1)
    copies = try OpusDecoder(channels: 1)
  }

  mutating func add(_ packet: ByteBuffer) throws {
    defer { count += 1 }
    // Packets without audio fill gaps.
    if packet.readableBytes <= 2 {
      _ = try plain.decode(packet)
      return
    }
    let copy = try copies.recover(duration: 960, before: packet)
    if Self.amplitude(PausedCall.forbidden, in: copy.samples) > Self.threshold { foundInCopy.append(count) }
    _ = try copies.decode(packet)
    let audio = try plain.decode(packet)
    if Self.amplitude(PausedCall.forbidden, in: audio.samples) > Self.threshold { found.append(count) }
    if Self.amplitude(PausedCall.allowed, in: audio.samples) > 0.2 { allowed += 1 }
  }

  /// The amplitude of a frequency in samples at 48 kHz, with a Hann window.
  static func amplitude(_ frequency: Double, in samples: [Float]) -> Float {
    var (real, imaginary) = (0.0, 0.0)
    for (index, sample) in samples.enumerated() {
      let window = 1 - cos(2 * .pi * Double(index) / Double(samples.count))
      let angle = 2 * .pi * frequency * Double(index) / 48_000
      real += Double(sample) * window * cos(angle)
      imaginary += Double(sample) * window * sin(angle)
    }
    return Float(2 * (real * real + imaginary * imaginary).squareRoot() / Double(max(1, samples.count)))
  }
}

/// The Opus packets of an Ogg file.
struct OggPackets {
  private(set) var payloads: [ByteBuffer] = []

  init(_ bytes: [UInt8]) {
    var rest = ByteBuffer(bytes: bytes)
    var packet = ByteBuffer()
    while let page = OggPage(parsing: rest) {
      let segments = Int(page.bytes.getInteger(at: 26, as: UInt8.self) ?? 0)
      var offset = OggPage.headerLength + segments
      for length in page.bytes.getBytes(at: OggPage.headerLength, length: segments) ?? [] {
        if let part = page.bytes.getSlice(at: offset, length: Int(length)) { packet.writeImmutableBuffer(part) }
        offset += Int(length)
        if length == 255 { continue }
        payloads.append(packet)
        packet = ByteBuffer()
      }
      rest.moveReaderIndex(forwardBy: page.length)
    }
    // The two headers.
    payloads.removeFirst(min(2, payloads.count))
  }
}
