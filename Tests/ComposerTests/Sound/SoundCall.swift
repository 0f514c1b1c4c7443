import Codecs
import Composition
import Foundation
import Inspection
import InspectionTestSupport
import Media
import NIOCore
import Recorder
import TestSupport

/// The sound that a user sends in a call, packet by packet.
struct SoundPeer {
  var id: String
  /// When the first packet is sent, in seconds of the call.
  var from: Double
  var codec: Codec
  /// Packets of 20 ms in order, nil for those that are missing, and the reason of the gap before the next one.
  var packets: [ByteBuffer?]
  var reason = MediaGap.Reason.lost
  /// The ticks of the codec's clock in a packet.
  var ticks: Int64 { codec == .opus ? 960 : 160 }

  /// Opus of one or two channels.
  ///
  /// - Parameter sample: the value at a time in seconds from the first packet.
  static func opus(
    _ id: String, from: Double = 0, seconds: Double, channels: Int = 1, _ sample: (Double) -> [Double]
  ) throws -> SoundPeer {
    var settings = OpusEncoder.Settings()
    settings.channels = channels
    settings.bitrate = 96_000
    let encoder = try OpusEncoder(settings)
    let packets = try (0..<Int((seconds * 50).rounded())).map { number -> ByteBuffer? in
      let samples = (number * 960..<(number + 1) * 960).flatMap { index in
        sample(Double(index) / 48_000).map { Float($0) }
      }
      return try encoder.encode(AudioSamples(samples: samples, channels: channels))
    }
    return SoundPeer(id: id, from: from, codec: .opus, packets: packets)
  }

  /// A tone of one channel.
  static func tone(
    _ id: String, from: Double = 0, seconds: Double, frequency: Double = 440, level: Double = 0.3
  ) throws -> SoundPeer {
    try opus(id, from: from, seconds: seconds) { [level * sin(2 * .pi * frequency * $0)] }
  }

  /// A tone of G.711 or G.722, encoded by ffmpeg.
  static func telephone(
    _ id: String, _ codec: Codec, from: Double = 0, seconds: Int, frequency: Int = 440
  ) throws -> SoundPeer {
    let (name, format, rate) = codec == .g722 ? ("g722", "g722", 16_000) : ("pcm_mulaw", "mulaw", 8_000)
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let result = try ExternalTool.run(
      "ffmpeg",
      [
        "-v", "error", "-f", "lavfi", "-i", "sine=frequency=\(frequency):sample_rate=\(rate):duration=\(seconds)",
        "-c:a",
        name, "-ac", "1", "-f", format, path,
      ])
    if result.status != 0 { throw ToolFailure(errors: "\(result.errors)") }
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let packets = stride(from: 0, to: bytes.count - 159, by: 160).map { ByteBuffer(bytes: bytes[$0..<$0 + 160]) }
    return SoundPeer(id: id, from: from, codec: codec, packets: packets)
  }

  struct ToolFailure: Error {
    let errors: String
  }

  /// Leaves packets out, as seconds from the first one.
  func without(_ range: Range<Double>, _ reason: MediaGap.Reason = .lost) -> SoundPeer {
    var peer = self
    peer.reason = reason
    for number in packets.indices where range.contains((Double(number) + 0.5) / 50) { peer.packets[number] = nil }
    return peer
  }

  fileprivate var arrivals: [(at: Double, event: MediaEvent)] {
    var missing = 0
    var arrivals: [(at: Double, event: MediaEvent)] = []
    for (number, payload) in packets.enumerated() {
      guard let payload else {
        missing += 1
        continue
      }
      let time = from + Double(number) / 50
      var frame = EncodedFrame(
        owner: ParticipantID(id), stream: 1, codec: codec,
        time: MediaTime(ticks: Int64(number) * ticks + 1_000_000, rate: codec.clockRate), payload: payload,
        isKeyframe: true, size: nil, arrival: SyntheticPeer.instant(time + 0.01))
      if missing > 0 { frame.gap = MediaGap(reason, packetsLost: reason == .lost ? missing : 0) }
      missing = 0
      arrivals.append((time + 0.01, .frame(frame)))
    }
    return arrivals
  }
}

extension RecordedFolder {
  /// Records a call of sound alone, faster than real time.
  func record(_ peers: [SoundPeer]) async throws {
    var configuration = RoomRecorder.Configuration(folder: path, room: "100")
    configuration.verifies = false
    configuration.usesSystemClock = false
    let recorder = try RoomRecorder(configuration)
    var all: [(at: Double, peer: ParticipantID, event: MediaEvent)] = []
    for peer in peers {
      let id = ParticipantID(peer.id)
      recorder.begin(id, now: SyntheticPeer.beginning, wallClock: Self.wallClock)
      all += peer.arrivals.map { ($0.at, id, $0.event) }
    }
    var look = 0.0
    for arrival in all.enumerated().sorted(by: { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }) {
      while look + 0.1 < arrival.element.at {
        look += 0.1
        await recorder.advance(now: MonotonicInstant(SyntheticPeer.instant(look)))
      }
      recorder.receive(
        arrival.element.event, of: arrival.element.peer, now: SyntheticPeer.instant(arrival.element.at))
    }
    let end = SyntheticPeer.instant((all.map(\.at).max() ?? 0) + 0.05)
    await recorder.advance(now: MonotonicInstant(end))
    for peer in peers { recorder.end(ParticipantID(peer.id), reason: .left, now: end) }
    await recorder.finish(now: end)
  }

  /// The plan of all recordings, aligned by their session, users in the order of their starts.
  ///
  /// - Parameter range: what is composed, in seconds from the first recording's start.
  func soundPlan(_ range: Range<Double>? = nil) -> CompositionPlan {
    var search = RecordingSearch()
    search.add(path)
    let found = search.recordings
    func units(_ seconds: Double) -> Int64 { Int64((seconds * 1_000).rounded()) * 720 }
    func offset(_ recording: FoundRecording) -> Int64 { units(recording.manifest?.content.session?.offset ?? 0) }
    let zero = found.map(offset).min() ?? 0
    let ends = found.map { offset($0) - zero + units($0.manifest?.content.duration ?? 0) }
    let whole = range.map { units($0.lowerBound)..<units($0.upperBound) } ?? 0..<(ends.max() ?? 0)
    var plan = CompositionPlan(room: "100", start: 0, duration: whole.upperBound - whole.lowerBound)
    for (index, recording) in found.enumerated() {
      let start = offset(recording) - zero
      let part = (start..<max(start, ends[index])).clamped(to: whole)
      let moved = part.lowerBound - whole.lowerBound..<part.upperBound - whole.lowerBound
      let id = recording.manifest?.content.user ?? "\(index)"
      plan.users.append(PlannedUser(ids: [UntrustedText(id)], name: nil, label: id, presence: [moved]))
      plan.sounds.append(
        PlannedSound(
          user: index, stream: 1,
          recordings: [
            PlannedRecording(
              recording: recording, offset: start - whole.lowerBound, range: moved,
              alignment: RecordingAlignment(source: .session, error: 0))
          ], gaps: []))
    }
    return plan
  }
}

/// The samples of both channels.
struct Stereo {
  var left: [Float]
  var right: [Float]

  /// - Parameter samples: interleaved.
  init(_ samples: [Float]) {
    left = stride(from: 0, to: samples.count - 1, by: 2).map { samples[$0] }
    right = stride(from: 1, to: samples.count, by: 2).map { samples[$0] }
  }

  /// A file as another decoder decodes it, libopus of ffmpeg.
  init(decoding path: String) throws {
    let output = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: output) }
    let result = try ExternalTool.run(
      "ffmpeg", ["-v", "error", "-c:a", "libopus", "-i", path, "-ac", "2", "-f", "s16le", output])
    if result.status != 0 { throw SoundPeer.ToolFailure(errors: "\(result.errors)") }
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: output)))
    self.init(
      stride(from: 0, to: bytes.count - 1, by: 2).map { index in
        Float(Int16(bitPattern: UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8)) / 32_768
      })
  }

  /// The largest difference of both channels in units of the last bit of 16.
  func difference(from other: Stereo, in range: Range<Int>) -> Float {
    var largest: Float = 0
    for index in range {
      largest = max(largest, abs(left[index] - other.left[index]), abs(right[index] - other.right[index]))
    }
    return largest * 32_768
  }
}

extension [Float] {
  /// The root mean square of a part.
  func level(in range: Range<Int>) -> Double {
    let sum = self[range].reduce(0.0) { $0 + Double($1) * Double($1) }
    return (sum / Double(Swift.max(1, range.count))).squareRoot()
  }

  /// By how many samples a tone is later than one that has phase 0 at sample 0, within half a period.
  func delay(ofTone frequency: Double, in range: Range<Int>) -> Double {
    var (cosine, sine) = (0.0, 0.0)
    for index in range {
      let angle = 2 * Double.pi * frequency * Double(index) / 48_000
      cosine += Double(self[index]) * cos(angle)
      sine += Double(self[index]) * sin(angle)
    }
    return -atan2(cosine, sine) / (2 * .pi * frequency) * 48_000
  }
}
