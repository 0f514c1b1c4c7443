import Bitstream
import Codecs
import Foundation
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

@Suite("Repair of lost audio")
struct LossConcealmentTests {
  /// The recorder's output for a stream with losses.
  private struct Result {
    var timestamped: [TimestampedFrame] = []
    var track = RecordingManifest.Track(codec: .opus)

    var kinds: [FrameRepair: Int] {
      Dictionary(timestamped.compactMap { $0.repair.map { ($0, 1) } }, uniquingKeysWith: +)
    }

    /// All packets, decoded in sequence as a player does.
    func decoded(channels: Int = 1) throws -> [Float] {
      let decoder = try OpusDecoder(channels: channels)
      return try timestamped.flatMap { try decoder.decode($0.frame.payload).samples }
    }

    /// Whether each packet begins where the one before it ends.
    var isSeamless: Bool {
      zip(timestamped, timestamped.dropFirst()).allSatisfy { first, second in
        let ticks = (try? OpusPacket(parsing: first.frame.payload))?.duration ?? 0
        return second.position - first.position == Duration(opusTicks: Int64(ticks))
      }
    }
  }

  /// - Parameter lost: the numbers of packets that do not arrive.
  private func record(
    _ pieces: [TestMedia.Piece], lost: Set<Int>, reason: MediaGap.Reason = .lost, counted: Int? = nil
  ) throws -> Result {
    let pipeline = FramePipeline(alignmentDelay: .seconds(3), verification: VerificationPool(threads: 0))
    var result = Result()
    var missing = 0
    for (index, piece) in pieces.enumerated() {
      if lost.contains(index) {
        missing += 1
        continue
      }
      let arrival = Script.beginning + .seconds(Double(piece.ticks) / 48_000 + 0.02)
      let frame = EncodedFrame(
        owner: ParticipantID("anna"), codec: .opus, time: MediaTime(ticks: 1_000_000 + piece.ticks, rate: 48_000),
        payload: piece.payload, isKeyframe: true, arrival: arrival,
        gap: missing > 0 ? MediaGap(reason, packetsLost: counted ?? missing) : nil)
      missing = 0
      pipeline.receive(.frame(frame), now: arrival)
      result.timestamped += pipeline.release(now: arrival)
    }
    result.timestamped += pipeline.release(now: Script.beginning + .seconds(1_000), everything: true)
    result.track = try #require(
      pipeline.tracks(clock: WallClock(moment: Script.beginning, secondsSince1970: 0)).first { $0.kind == "audio" })
    #expect(result.track.decodeErrors == 0)
    return result
  }

  /// The level of each 20 ms.
  private func envelope(_ samples: [Float]) -> [Double] {
    stride(from: 0, to: samples.count - 959, by: 960).map {
      AudioSamples(samples: Array(samples[$0..<($0 + 960)]), channels: 1).level
    }
  }

  /// The signal-to-noise ratio of the samples against the original, in decibels, over the given 20 ms slots.
  private func signalToNoise(_ samples: [Float], _ original: [Float], slots: [Int]) -> Double {
    var (signal, noise) = (0.0, 0.0)
    for slot in slots {
      for index in (slot * 960)..<((slot + 1) * 960) where index < min(samples.count, original.count) {
        signal += Double(original[index] * original[index])
        noise += Double((samples[index] - original[index]) * (samples[index] - original[index]))
      }
    }
    return 10 * log10(signal / max(noise, 1e-12))
  }

  /// One packet in ten, none of the first ones.
  private func tenth(of count: Int, seed: UInt64) -> Set<Int> {
    var generator = SeededGenerator(seed: seed)
    return Set((10..<(count - 2)).filter { _ in Int.random(in: 0..<10, using: &generator) == 0 })
  }

  @Test(
    "with one packet in ten lost, the audio has its length and no gap, and FEC is closer to the original")
  func tenPercent() throws {
    let pieces = try SpeechSamples.packets(8, correctsErrors: true)
    let lost = tenth(of: pieces.count, seed: 7)
    let whole = try record(pieces, lost: [])
    let original = try whole.decoded()
    let withFEC = try record(pieces, lost: lost)
    let bare = try SpeechSamples.packets(8, correctsErrors: false)
    let bareOriginal = try record(bare, lost: []).decoded()
    let withoutFEC = try record(bare, lost: lost)

    for (result, reference) in [(withFEC, original), (withoutFEC, bareOriginal)] {
      #expect(result.timestamped.count == pieces.count)
      #expect(result.isSeamless)
      let samples = try result.decoded()
      #expect(samples.count == reference.count)
      // A slot is a drop-out when less than a tenth of its loudness is left; a single one is allowed.
      let holes = zip(envelope(samples), envelope(reference)).map { $1 > 0.02 && $0 < $1 / 10 }
      #expect(!zip(holes, holes.dropFirst()).contains { $0 && $1 })
    }
    #expect((withFEC.kinds[.corrected] ?? 0) + (withFEC.kinds[.concealed] ?? 0) == lost.count)
    #expect((withFEC.kinds[.corrected] ?? 0) > lost.count * 6 / 10)
    #expect(withoutFEC.kinds == [.concealed: lost.count])
    #expect(withFEC.track.repairedByFEC == UInt64(withFEC.kinds[.corrected] ?? 0))
    #expect(withoutFEC.track.concealed == UInt64(lost.count) && withoutFEC.track.repairedByFEC == 0)

    // The same packets, compared in the same slots: those that FEC could reconstruct.
    let rebuilt = lost.filter { !lost.contains($0 + 1) }.sorted()
    let byFEC = signalToNoise(try withFEC.decoded(), original, slots: rebuilt)
    let byConcealment = signalToNoise(try withoutFEC.decoded(), bareOriginal, slots: rebuilt)
    print(
      "measured: 10 % of \(pieces.count) packets lost: \(withFEC.kinds[.corrected] ?? 0) reconstructed, \(withFEC.kinds[.concealed] ?? 0) concealed; SNR of the lost packets \(tenths(byFEC)) dB by FEC, \(tenths(byConcealment)) dB by concealment"
    )
    #expect(byFEC > byConcealment + 2)
  }

  @Test("the first 5 s of a gap of 6 s are concealed, and the rest stays a gap")
  func longHole() throws {
    let result = try record(try SpeechSamples.packets(8, correctsErrors: true), lost: Set(50..<350))
    #expect(result.kinds == [.concealed: 250])
    let made = result.timestamped.filter { $0.repair != nil }
    #expect(made.first?.position == .seconds(1) && made.last?.position == .milliseconds(5_980))
    let gap = try #require(result.track.gaps.first)
    #expect(result.track.gaps.count == 1)
    #expect(gap == .init(reason: "lost", start: 1, duration: 6, packets: 300, frames: 0, repaired: 5))
    #expect(result.track.gapTotals["lost"]?.repaired == 5)
    #expect(result.track.duration == 8)
  }

  @Test("concealed audio fades out and never becomes louder than the audio before it")
  func fades() throws {
    let result = try record(try SpeechSamples.packets(4, correctsErrors: false), lost: Set(60..<110))
    let levels = envelope(try result.decoded())
    #expect((levels[0..<60].max() ?? 0) * 1.3 > levels[60..<110].max() ?? 1)
    #expect(levels[100..<110].allSatisfy { $0 < 0.01 })
  }

  @Test("in a silence that contains a loss, no more audio is generated than was lost")
  func silenceAndLoss() throws {
    let pieces = try SpeechSamples.packets(3, correctsErrors: true)
    let result = try record(pieces, lost: Set(60..<80), reason: .dtx, counted: 2)
    #expect(result.kinds.values.reduce(0, +) == 2)
    let made = result.timestamped.filter { $0.repair != nil }.map(\.position.milliseconds)
    // The copy is of the packet right before the one that carries it.
    #expect(made == (result.kinds[.corrected] == 1 ? [1_200, 1_580] : [1_200, 1_220]))
    #expect(result.track.gaps.first?.reason == "dtx" && result.track.gaps.first?.repaired == 0.04)
  }

  @Test(
    "nothing is generated where no packet was lost",
    arguments: [
      MediaGap.Reason.senderPaused, .dtx, .muted, .streamEnded, .recoveredLate, .diskStalled, .overloaded, .memoryFull,
      .reconnect,
    ])
  func nothingLost(reason: MediaGap.Reason) throws {
    let pieces = try SpeechSamples.packets(2, correctsErrors: true)
    let result = try record(pieces, lost: Set(60..<70), reason: reason, counted: 0)
    #expect(result.kinds.isEmpty && result.timestamped.count == 90)
    // A reconnected sender's packets do not continue the lost ones.
    let reconnected = try record(pieces, lost: Set(60..<70), reason: .reconnect, counted: 10)
    #expect(reconnected.kinds.isEmpty)
  }

  @Test(
    "an absurd timestamp after a loss does not become hours of audio", arguments: [Int64(1) << 40, -(1 << 40), .min])
  func absurdHole(jump: Int64) throws {
    var pieces = try SpeechSamples.packets(2, correctsErrors: true)
    for index in 60..<pieces.count { pieces[index].ticks &+= jump }
    var repair = LossConcealment()
    var made = 0
    for (index, piece) in pieces.enumerated() where index < 58 || index >= 60 {
      let frame = EncodedFrame(
        owner: ParticipantID("anna"), codec: .opus, time: MediaTime(ticks: piece.ticks, rate: 48_000),
        payload: piece.payload, isKeyframe: true, arrival: Script.beginning,
        gap: index == 60 ? MediaGap(.lost, packetsLost: 2) : nil)
      let repaired = repair.take(frame, shape: try OpusPacket(parsing: piece.payload))
      // The recording places audio by its arrival.
      #expect(repaired.allSatisfy { $0.frame.arrived == Script.beginning })
      made += repaired.count
    }
    #expect(made <= 2)
  }

  @Test(
    "packets of every length, mono and stereo, are repaired to the exact tick",
    arguments: [120, 240, 480, 960, 1_920, 2_880, 3_840, 5_760], [1, 2])
  func everyLength(ticks: Int, channels: Int) throws {
    let pieces = try SpeechSamples.packets(
      2, ticks: ticks, channels: channels, correctsErrors: true, bitrate: 128_000)
    let begin = pieces.count / 2
    let result = try record(pieces, lost: [begin, begin + 1, begin + 4])
    #expect(result.kinds.values.reduce(0, +) == 3)
    #expect(result.timestamped.count == pieces.count && result.isSeamless)
    #expect(result.track.channels == channels)
    #expect(abs(result.track.duration - Double(pieces.count * ticks) / 48_000) < 0.000_6)
  }

  @Test("other programs read repaired files without warnings, and the length is exact")
  func files() async throws {
    let pieces = try SpeechSamples.packets(6, correctsErrors: true)
    let lost = tenth(of: pieces.count, seed: 11).union(200..<230)
    var script = Script()
    var missing = 0
    for (index, piece) in pieces.enumerated() {
      if lost.contains(index) {
        missing += 1
        continue
      }
      let at = Double(piece.ticks) / 48_000 + 0.02
      script.add(
        .frame(
          EncodedFrame(
            owner: script.owner, codec: .opus, time: MediaTime(ticks: piece.ticks, rate: 48_000),
            payload: piece.payload, isKeyframe: true, arrival: Script.beginning + .seconds(at),
            gap: missing > 0 ? MediaGap(.lost, packetsLost: missing) : nil)), at: at)
      missing = 0
    }
    script.add(try TestMedia.videoFrames(6), codec: .vp8)
    let folder = TestFolder()
    let summary = try #require(try await folder.record(script).first)
    #expect(summary.track(.audio)?.frames == 300)
    let ogg = Reader(path: "\(folder.path)/anna.ogg")
    let about = try ogg.opusinfo()
    #expect(!about.contains("WARNING") && !about.contains("ERROR") && !about.contains("exit code"), "\(about)")
    #expect(about.contains("Playback length: 0m:05.993s"), "\(about)")
    #expect(try ogg.complaints() == "")
    #expect(try ogg.packets("audio").count == 300)
    let webM = Reader(path: "\(folder.path)/anna.webm")
    #expect(try webM.complaints() == "")
    let times = try webM.packets("audio").map(\.time)
    #expect(times.count == 300)
    #expect(zip(times, times.dropFirst()).allSatisfy { abs($1 - $0 - 0.02) < 0.001_5 })
  }

  private func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
